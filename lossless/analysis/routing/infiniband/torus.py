"""torus-2QoS on a torus without faults: one dimension after another, and two VLs that cut every ring at its dateline.

A path has one bit of its service level for each dimension; it is set where the path crosses from the last coordinate to
the first, or back. In that dimension the bit chooses the VL (torus-2QoS(8), UNICAST ROUTING). Where both directions
around a ring are equally short, opensm chooses one of them; here the upward one stands for both: they mirror each
other, and share no channel.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import TYPE_CHECKING

from lossless.analysis.routing.infiniband.routes import HERE, NO_PATH, Lanes, SubnetRoutes
from lossless.ground.basics.known import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lossless.analysis.routing.infiniband.channels import SubnetGraph
    from lossless.model.fabric.infiniband.subnet import Subnet

NEEDED_VLS = 2
"""Data VLs below which opensm refuses: ``ERR 4E48: Too few data VLs to support torus routing without credit loops``,
seen from opensm 3.3.23 with max_op_vls 1 on a torus of 5 x 5."""


def torus_routes(
    graph: SubnetGraph, subnet: Subnet, *, halfway: bool = True
) -> tuple[SubnetRoutes, Lanes] | str:
    """Return routes and lanes of a whole torus; for a fabric that is not one, the reason as text.

    Without ``halfway``, paths that are equally short in both directions around a ring are omitted, which opensm divides
    between the two.
    """
    if isinstance(subnet.shape, Unknown) or subnet.shape.kind != "torus":
        return "torus-2QoS routes a torus, and the intent declares none"
    places = [switch.coordinates for switch in graph.switches]
    sides = subnet.shape.sides
    numbers = {place: number for number, place in enumerate(places)}
    steps = _steps(graph, places)
    if len(numbers) < len(places) or any(len(place) != len(sides) for place in places):
        return "the switches have no places in a torus"
    tables = [array("i", [NO_PATH]) * len(graph.hcas) for _ in places]
    for hca, attached in enumerate(graph.attached):
        for switch, table in enumerate(tables):
            table[hca] = _next(places[switch], places[attached.switch], sides, steps[switch], halfway=halfway)
    routes = SubnetRoutes(tuple(tables), range(len(graph.hcas)))
    return routes, Lanes(torus_levels(graph, routes, places), _lane(graph, places))


def _steps(graph: SubnetGraph, places: Sequence[tuple[int, ...]]) -> list[dict[tuple[int, ...], int]]:
    """Return, for each switch, the channel to each neighboring place."""
    return [{places[graph.channels[number].far]: number for number in reversed(out)} for out in graph.out]


def _next(
    here: tuple[int, ...],
    there: tuple[int, ...],
    sides: tuple[int, ...],
    steps: dict[tuple[int, ...], int],
    *,
    halfway: bool,
) -> int:
    """Return the channel of the next step: in the first dimension that differs, the shorter direction around."""
    for axis, side in enumerate(sides):
        ahead = (there[axis] - here[axis]) % side
        if ahead * 2 == side > 2 and not halfway:
            return NO_PATH
        if ahead:
            step = 1 if ahead * 2 <= side else -1
            place = (*here[:axis], (here[axis] + step) % side, *here[axis + 1 :])
            return steps.get(place, NO_PATH)
    return HERE


def torus_levels(
    graph: SubnetGraph, routes: SubnetRoutes, places: Sequence[tuple[int, ...]]
) -> Callable[[int, int], int]:
    """Return the service level of a path, by sending HCA and column: a bit for each dateline it crosses.

    The dateline of a dimension lies between its first and its last coordinate.
    """
    sides = [max(axis) + 1 for axis in zip(*places, strict=True)]
    crossing = [
        sum(
            1 << axis
            for axis, side in enumerate(sides)
            if side > 2 and {places[channel.near][axis], places[channel.far][axis]} == {0, side - 1}
        )
        for channel in graph.channels
    ]

    # The rest of a path is that of the switch it comes to: known once for each switch of a column.
    @lru_cache(maxsize=1)
    def known_of(_column: int) -> dict[int, int]:
        return {}

    def level(hca: int, column: int) -> int:
        known, switch = known_of(column), graph.attached[hca].switch
        path: list[tuple[int, int]] = []
        while switch not in known:
            number = routes.tables[switch][column]
            if number < 0 or len(path) > len(routes.tables):
                known[switch] = 0
            else:
                path.append((switch, crossing[number]))
                switch = graph.channels[number].far
        crossed = known[switch]
        for switch, dateline in reversed(path):
            crossed |= dateline
            known[switch] = crossed
        return crossed

    return level


def _lane(graph: SubnetGraph, places: Sequence[tuple[int, ...]]) -> Callable[[int, int, int, int], int]:
    axes = {
        (channel.near, channel.port): next(
            axis
            for axis, (a, b) in enumerate(zip(places[channel.near], places[channel.far], strict=True))
            if a != b
        )
        for channel in graph.channels
    }
    return lambda switch, entering, leaving, level: level >> axes[switch, leaving] & 1  # noqa: ARG005
