"""Indexes into the arrays: links by number, switches by memory unit, flows by the link they start on."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.equal_paths import EqualPaths
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.simulation.engine.network import SimCable, SimFlow, SimNetwork


class Wiring(NamedTuple):
    """The links of a network, those of one sender together.

    ``ends`` has the two nodes of each link, ``cables`` its cable and whether it leads from a to b, ``cable_of`` that
    cable's number in the network; ``link_of``
    gives the parallel links between two nodes, ``unit_of`` the memory unit of a switch. ``routes`` has the links of
    each flow's path and ``returns`` those of its path back, ``all_routes`` and ``all_returns`` all that its
    packets and their ACKs can take: one alone, unless switches choose; ``acked`` names the flows whose ACKs are
    simulated. ``classes`` counts one more than the network where ACKs travel apart.
    """

    ends: tuple[tuple[int, int], ...]
    cables: tuple[tuple[SimCable, bool], ...]
    cable_of: tuple[int, ...]
    link_of: dict[tuple[int, int], list[int]]
    unit_of: dict[int, int]
    routes: tuple[tuple[int, ...], ...]
    returns: tuple[tuple[int, ...], ...]
    all_routes: tuple[tuple[tuple[int, ...], ...], ...]
    all_returns: tuple[tuple[tuple[int, ...], ...], ...]
    acked: tuple[int, ...]
    classes: int


def wire(network: SimNetwork) -> Wiring:
    """Return the indexes of the links and flows of a network."""
    numbered = _directions(network)
    both = [(cable, True) for cable in network.cables] + [(cable, False) for cable in network.cables]
    cables = [both[at] for at in numbered]
    ends = [(cable.a, cable.b) if forward else (cable.b, cable.a) for cable, forward in cables]
    link_of: dict[tuple[int, int], list[int]] = {}
    for number, pair in enumerate(ends):
        link_of.setdefault(pair, []).append(number)
    lanes = [flow.lanes or (number,) * len(flow.path) for number, flow in enumerate(network.flows)]
    laned = list(zip(network.flows, lanes, strict=True))
    routes = tuple(_route(flow.path, own, link_of) for flow, own in laned)
    returns = tuple(_route(flow.path[::-1], own[: len(flow.path) - 1][::-1], link_of) for flow, own in laned)
    paths = EqualPaths(network, link_of)
    all_routes, all_returns = (
        tuple(_all_routes(flow, route, paths, ends) for flow, route in zip(network.flows, of, strict=True))
        for of in (routes, returns)
    )
    acked = _acked(all_routes, all_returns)
    apart = any(acks_apart(network, number) for number in acked)
    return Wiring(
        ends=tuple(ends),
        cables=tuple(cables),
        cable_of=tuple(at % len(network.cables) for at in numbered),
        link_of=link_of,
        unit_of={node: number for number, node in enumerate(sorted(network.switches))},
        routes=routes,
        returns=returns,
        all_routes=all_routes,
        all_returns=all_returns,
        acked=acked,
        classes=network.classes + apart,
    )


def _directions(network: SimNetwork) -> list[int]:
    """Return the directions of all cables in the order of links: first each from a to b, then each back."""
    many = len(network.cables)
    senders = [cable.a for cable in network.cables] + [cable.b for cable in network.cables]
    return sorted(range(2 * many), key=lambda at: (senders[at], at % many))


def _route(
    path: Sequence[int], lanes: Sequence[int], link_of: dict[tuple[int, int], list[int]]
) -> tuple[int, ...]:
    """Return the links of a path; of parallel ones, that of the flow's lane at this hop."""
    hops = (link_of[pair] for pair in pairwise(path))
    return tuple(parallel[lane % len(parallel)] for parallel, lane in zip(hops, lanes, strict=False))


def _all_routes(
    flow: SimFlow, route: tuple[int, ...], paths: EqualPaths, ends: Sequence[tuple[int, int]]
) -> tuple[tuple[int, ...], ...]:
    """Return every route from the first node to the last that packets may take; ``route`` is one of them."""
    if flow.spread is None:
        return (route,)
    first, last = ends[route[0]][1], ends[route[-1]][0]
    return tuple((route[0], *between, route[-1]) for between in paths.routes(first, last, ends))


def _acked(
    routes: Sequence[Sequence[Sequence[int]]], returns: Sequence[Sequence[Sequence[int]]]
) -> tuple[int, ...]:
    """Return the flows whose ACKs may meet data on their path back; elsewhere ACKs delay nothing."""
    carrying = {link for each in routes for route in each for link in route}
    return tuple(
        number for number, each in enumerate(returns) if any(not carrying.isdisjoint(back) for back in each)
    )


def acks_apart(network: SimNetwork, number: int) -> bool:
    """Return whether the ACKs of a flow travel apart from data: those of a sender with a window always do."""
    return network.physics.acks == "apart" or network.flows[number].window is not None
