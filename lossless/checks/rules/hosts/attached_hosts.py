"""Hosts that were read together with the switches to which they are attached, without an intent for either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.deployed_devices import DeployedDevices, LinkEnd
    from lossless.model.fabric.hosts import HostQos


class HostAttachment(NamedTuple):
    """One interface of a host, and the switch port that it is attached to."""

    host: HostQos
    near: LinkEnd
    switch: LinkEnd

    @property
    def name(self) -> str:
        """The link as text: both ends with a hyphen between them."""
        return f"{self.near.name} - {self.switch.name}"


def attached_hosts(devices: DeployedDevices) -> Iterator[HostAttachment]:
    """Yield the interfaces of hosts with their switch ports, for links in service.

    Hosts that an intent declares are left out: they are compared with the intent.
    """
    for pair in devices.compared:
        for near, far in ((pair.near, pair.far), (pair.far, pair.near)):
            if near.host is not None and far.host is None:
                yield HostAttachment(near.host, near, far)
