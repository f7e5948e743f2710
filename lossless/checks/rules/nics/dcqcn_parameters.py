"""Shared by the NIC rules: DCQCN parameters of hosts in the firmware's units, and their origins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import View

_KEYS = {"min_time_between_cnps": "cnp_interval"}
"""Parameters that have another key in an intent."""


class HostDcqcn:
    """The DCQCN parameters of identical hosts."""

    def __init__(self, host: HostQos, hosts: tuple[str, ...]) -> None:
        self.host = host
        self.hosts = hosts
        self.values = dict(host.dcqcn.values)

    def at(self, *names: str) -> Origin:
        """Return the origin of the first of the named parameters that was set; that of DCQCN where none was.

        In an intent these are the stated ones; on a host that was read, those that differ from the NIC's defaults,
        or all that were read where none differs.
        """
        dcqcn = self.host.dcqcn
        written = [name for name in names if name in dcqcn.stated]
        if not written:
            return dcqcn.origin
        if dcqcn.provenance == "intent":
            return dcqcn.at(_KEYS.get(written[0], written[0]))
        return dcqcn.at(next((name for name in written if self._changed(name)), written[0]))

    def _changed(self, name: str) -> bool:
        """Return whether a parameter is known to differ from the NIC's default."""
        parameter = self.host.nic.dcqcn.get(name.upper()) if self.host.nic else None
        return parameter is not None and self.values.get(name) != parameter.default


def running(view: View) -> Iterator[HostDcqcn]:
    """Yield the parameters of each kind of host on which DCQCN is known to run."""
    for host, names in view.host_kinds:
        if host.dcqcn.enabled is True:
            yield HostDcqcn(host, names)
