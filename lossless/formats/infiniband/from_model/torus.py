"""What torus-2QoS has to be told of a torus: its sides, and a switch with its neighbors to begin with.

Form: torus-2QoS.conf(5) of opensm 3.3.23. One seed is written, at the switch whose coordinates are 0.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.ground.basics.known import Unknown
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.model.fabric.infiniband.subnet import Subnet

    Places = Mapping[tuple[int, ...], int | None]

ENGINE = "torus-2QoS"
_AXES = "xyz"
_BOTH_NEIGHBORS = 4
"""The length of a side at which opensm wants both neighbors: it cannot tell the two directions by the length."""
_PORTS = 16
"""How many cables between two switches, or host ports and port 0 of one, opensm has room for by default."""


class TorusSeed(NamedTuple):
    """``xp_link``, the GUID of the switch to begin with, and that of its neighbor."""

    word: str
    guid: str
    neighbor: str


class TorusConf(NamedTuple):
    """What torus-2QoS.conf says; ``ports`` is None where opensm's default has room enough."""

    sides: tuple[str, ...]
    seeds: tuple[TorusSeed, ...]
    ports: int | None


def wants_torus(subnet: Subnet) -> bool:
    """Return whether torus-2QoS is to route a torus whose switches have places in it."""
    shape, switches = subnet.shape, subnet.switches
    if ENGINE not in subnet.routing.engines or isinstance(shape, Unknown) or isinstance(switches, Unknown):
        return False
    return shape.kind == "torus" and 2 <= len(shape.sides) <= len(_AXES)


def torus_of(subnet: Subnet) -> TorusConf | None:
    """Return what torus-2QoS is told; None where a GUID that it needs is not stated."""
    assert not isinstance(subnet.shape, Unknown)
    assert not isinstance(subnet.switches, Unknown)
    sides = subnet.shape.sides
    places = {switch.coordinates: switch.guid for switch in subnet.switches}
    seeds = tuple(_seeds(sides, places))
    if any(seed is None for seed in seeds):
        return None
    shown = tuple(f"{side}m" if side <= 2 else str(side) for side in (*sides, 1)[: len(_AXES)])
    ports = _most_ports(subnet)
    whole = tuple(seed for seed in seeds if seed is not None)
    return TorusConf(shown, whole, ports if ports > _PORTS else None)


def _seeds(sides: tuple[int, ...], places: Places) -> Iterator[TorusSeed | None]:
    origin = (0,) * len(sides)
    for axis, side in enumerate(sides):
        steps = {"p": 1, "m": side - 1} if side == _BOTH_NEIGHBORS else {"p": 1}
        for way, step in steps.items() if side > 1 else ():
            place = (*origin[:axis], step, *origin[axis + 1 :])
            here, there = places.get(origin), places.get(place)
            both = here is not None and there is not None
            yield TorusSeed(f"{_AXES[axis]}{way}_link", f"{here:#018x}", f"{there:#018x}") if both else None


def _most_ports(subnet: Subnet) -> int:
    """Return the most ports of one group: cables to one neighbor, or host ports with port 0 of the switch."""
    if isinstance(subnet.links, Unknown):
        return 0
    hosts = Counter(link.a for link in subnet.links if link.to_hca)
    cables = Counter(tuple(sorted((link.a, link.b))) for link in subnet.links if not link.to_hca)
    return max([0, *cables.values(), *(count + 1 for count in hosts.values())])
