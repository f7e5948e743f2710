"""Names of hosts and HCAs as intents write them: ``host[1-16]``, ``host1:mlx5_0``, ``@storage``, and opensm's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from lossless.formats.intent.base import refused
from lossless.ground.basics.nearest import suggestion
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.infiniband.subnet import HostRole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.model.fabric.infiniband.subnet import SubnetHost

_RANGES = re.compile(r"([^\[\]]*)\[([0-9,\- ]+)\]([^\[\]]*)")
_MOST = 1_000_000


class HostNames(NamedTuple):
    """The hosts of a subnet and the names of their HCAs, by name of host."""

    hosts: Mapping[str, SubnetHost]

    def hosts_of(self, entry: str) -> list[SubnetHost]:
        """Return the hosts that an entry names; raises PydanticCustomError for an unknown name."""
        if entry.startswith("@"):
            return self._of_role(entry[1:])
        return [self._host(name) for name in expanded(entry)]

    def hcas_of(self, entry: str) -> list[str]:
        """Return the HCAs that an entry names, all HCAs for a host; raises PydanticCustomError for an unknown name."""
        if ":" not in entry:
            return [hca for host in self.hosts_of(entry) for hca in host.hcas]
        hcas = []
        for name in expanded(entry):
            host = self._host(name.partition(":")[0])
            if name not in host.hcas:
                raise refused(f"{host.name} has no HCA {name.partition(':')[2]}{suggestion(name, host.hcas)}")
            hcas.append(name)
        return hcas

    def _host(self, name: str) -> SubnetHost:
        if name not in self.hosts:
            raise refused(f"there is no host {name}{suggestion(name, self.hosts)}")
        return self.hosts[name]

    def _of_role(self, role: str) -> list[SubnetHost]:
        roles = get_args(HostRole)
        if role not in roles:
            raise refused(f"@{role} is no role of hosts{suggestion(role, roles)}")
        return [host for host in self.hosts.values() if host.role == role]


def expanded(entry: str) -> Iterator[str]:
    """Yield the names of an entry with ranges: ``host[1-3,7]``, ``host[01-16]``; raises PydanticCustomError."""
    match = _RANGES.fullmatch(entry)
    if match is None:
        if "[" in entry or "]" in entry:
            raise refused(f"{entry} is no list of names; write it like host[1-16,20]")
        yield entry
        return
    before, ranges, after = match.groups()
    for part in ranges.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        last = last if dash else first
        if not first.isdecimal() or not last.isdecimal() or not 0 <= int(last) - int(first) < _MOST:
            raise refused(f"{part.strip()!r} in {entry} is no range; write it like 1-16")
        for number in range(int(first), int(last) + 1):
            yield f"{before}{number:0{len(first)}d}{after}"
