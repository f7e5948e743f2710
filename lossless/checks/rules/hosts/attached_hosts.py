"""Hosts that were read beside the switches they are attached to, where no intent says what either should be."""

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
        """The link as people write it."""
        return f"{self.near.name} - {self.switch.name}"


def attached_hosts(devices: DeployedDevices) -> Iterator[HostAttachment]:
    """Yield interfaces of hosts with the switch ports they are attached to, those in service.

    Hosts of which an intent says what they should be are compared with that.
    """
    for pair in devices.compared:
        for near, far in ((pair.near, pair.far), (pair.far, pair.near)):
            if near.host is not None and far.host is None:
                yield HostAttachment(near.host, near, far)
