"""Torus: switches on a grid that is closed in every direction, with hosts at each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.topology.adjacency import grid, torus_pairs
from lossless.analysis.topology.shapes import PlanNode, WiringPlan, nodes_of, within
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.topology.adjacency import Place
    from lossless.analysis.topology.shapes import LinkKind
    from lossless.ground.basics.findings import Origin


class TorusShape(NamedTuple):
    """A torus by its sides, two or three of them."""

    sides: tuple[int, ...]
    links: LinkKind
    hosts_per_switch: int
    host_links: LinkKind
    origin: Origin


def torus(shape: TorusShape, room: TorusShape | None = None) -> WiringPlan:
    """Return the plan of a torus: ``sw-0-0``.. by coordinates, ``host1``.. through all switches.

    Links between switches have the first ports, whose number the sides alone decide; hosts, which may become more,
    come last.

    ``room`` is the shape that it may grow to, of the same sides: names and ports are those they have there.
    """
    if room is None:
        return _torus(shape)
    return within(_torus(room), {"switch": shape.sides, "host": (*shape.sides, shape.hosts_per_switch)})


def _torus(shape: TorusShape) -> WiringPlan:
    at = shape.origin
    places = grid(shape.sides)
    switches = tuple(PlanNode(_name(place), "switch", None, at.at("sides"), place=place) for place in places)
    hosts = tuple(nodes_of("host", (*shape.sides, shape.hosts_per_switch), at.at("hosts_per_switch")))
    down = (shape.host_links.between(_name(host.place[:-1]), host.name) for host in hosts)
    across = (shape.links.between(_name(a), _name(b)) for a, b, _ in torus_pairs(shape.sides))
    return WiringPlan((*switches, *hosts), (*across, *down))


def _name(place: Place) -> str:
    return "-".join(map(str, ("sw", *place)))
