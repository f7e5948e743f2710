"""Converts a switch profile to the port names of a system other than SONiC; all else stays unchanged."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from lossless.model.hardware.model import SONIC, Hwsku, PortSpec, SwitchProfile, split

if TYPE_CHECKING:
    from lossless.model.hardware.model import Cage, PortNaming


@cache
def in_format(profile: SwitchProfile, name: str) -> SwitchProfile:
    """Return a profile whose cages and ports have the names of one of its formats."""
    if name == SONIC:
        return profile
    names = profile.formats[name]
    cages = partial(_cages, profile, names)
    hwskus = tuple(_hwsku(hwsku, cages) for hwsku in profile.hwskus)
    return profile.replaced(cages=cages, hwskus=hwskus, format=name)


def _cages(profile: SwitchProfile, names: PortNaming) -> tuple[Cage, ...]:
    return tuple(
        cage._replace(name=names.of(cage.index, len(cage.lanes)), names=names) for cage in profile.cages
    )


def _hwsku(hwsku: Hwsku, cages: partial[tuple[Cage, ...]]) -> Hwsku:
    return Hwsku(
        hwsku.name,
        ports=lambda: _renamed(hwsku.ports, cages()),
        headroom=lambda: hwsku.headroom,
        buffers=lambda: hwsku.buffers,
        source=hwsku.source,
        platforms=hwsku.platforms,
        headroom_source=hwsku.headroom_source,
    )


def _renamed(ports: tuple[PortSpec, ...], cages: tuple[Cage, ...]) -> tuple[PortSpec, ...]:
    by_index: dict[int, list[PortSpec]] = {}
    for port in ports:
        by_index.setdefault(port.index, []).append(port)
    return tuple(
        port for cage in cages if cage.index in by_index for port in _ports_of(cage, by_index[cage.index])
    )


def _ports_of(cage: Cage, ports: list[PortSpec]) -> tuple[PortSpec, ...]:
    lanes = sum(len(port.lanes) for port in ports)
    return split(cage, len(ports), lanes, ports[0].speed_bps, "")
