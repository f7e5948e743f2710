"""What the rules of NICs share: DCQCN parameters as the firmware counts them, and where they are stated."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.fabric.hosts import HostQos
    from lossless.fabric.view import View
    from lossless.findings import Origin

_KEYS = {"min_time_between_cnps": "cnp_interval"}
"""Keys of an intent that are not called as the parameter is."""


class Dcqcn:
    """The DCQCN parameters of hosts that are alike. Nothing is known of a NIC without a table of them."""

    def __init__(self, host: HostQos, hosts: tuple[str, ...]) -> None:
        self.host = host
        self.hosts = hosts
        self.values = dict(host.dcqcn.values)

    def at(self, *names: str) -> Origin:
        """Return where the first of some parameters that the intent states is written."""
        stated = next((name for name in names if name in self.host.dcqcn.stated), None)
        origin = self.host.dcqcn.origin
        return origin if stated is None else origin.at(_KEYS.get(stated, stated))


def running(view: View) -> Iterator[Dcqcn]:
    """Yield the parameters of each kind of host on which DCQCN runs."""
    for host, names in view.host_kinds:
        if host.dcqcn.enabled:
            yield Dcqcn(host, names)
