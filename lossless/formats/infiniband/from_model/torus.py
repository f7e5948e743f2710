"""The configuration of torus-2QoS for a torus: its sides, and a seed, a switch with its neighbors.

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
"""The length of a side for which opensm needs both neighbors to distinguish the two directions."""
_PORTS = 16
"""The most cables between two switches, or host ports of a switch with port 0, that opensm supports by default."""


class TorusSeed(NamedTuple):
    """One line of a seed: its word, as ``xp_link``, the GUID of the seed switch, and that of its neighbor."""

    word: str
    guid: str
    neighbor: str


class TorusConf(NamedTuple):
    """The content of torus-2QoS.conf; ``ports`` is None where opensm's default suffices."""

    sides: tuple[str, ...]
    seeds: tuple[TorusSeed, ...]
    ports: int | None


def wants_torus(subnet: Subnet) -> bool:
    """Return whether torus-2QoS routes a torus whose switches have coordinates."""
    shape, switches = subnet.shape, subnet.switches
    if ENGINE not in subnet.routing.engines or isinstance(shape, Unknown) or isinstance(switches, Unknown):
        return False
    return shape.kind == "torus" and 2 <= len(shape.sides) <= len(_AXES)


def torus_of(subnet: Subnet) -> TorusConf | None:
    """Return the configuration of torus-2QoS; None where a GUID that it needs is unknown."""
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
