"""The routes of opensm's engines minhop, updn and dor, computed as opensm computes them.

All three count hops, and choose for each address, among the nearest ports, the one that carries the fewest
addresses so far: the lowest of those. updn counts only paths without a valley; dor uses only
ports to the neighbor behind the lowest of the nearest ports. Tests compare the tables with those that opensm dumps.

Source: linux-rdma/opensm, opensm/osm_ucast_mgr.c @917070c (order of addresses, hops), opensm/osm_switch.c @8ae061c
(osm_switch_recommend_path: the choice of a port), opensm/osm_ucast_updn.c @9b50961 (ranks and directions).
"""

from __future__ import annotations

from array import array
from collections import Counter, deque
from typing import TYPE_CHECKING

from lossless.analysis.routing.infiniband.routes import HERE, NO_PATH, SubnetRoutes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from lossless.analysis.routing.infiniband.channels import SubnetGraph

FAR = 255
"""More hops than any path has: opensm's OSM_NO_PATH."""


def minhop(graph: SubnetGraph) -> SubnetRoutes:
    """Return the routes of minhop: shortest paths, spread over ports."""
    return _tables(graph, lambda switch: hops_to(graph, switch))


def dor(graph: SubnetGraph) -> SubnetRoutes:
    """Return the routes of dor: shortest paths, each by the neighbor behind its lowest port."""
    return _tables(graph, lambda switch: hops_to(graph, switch), one_neighbor=True)


def updn(graph: SubnetGraph, roots: Collection[int]) -> SubnetRoutes:
    """Return the routes of updn with these switches as roots."""
    ranks = ranks_below(graph, roots)
    return _tables(graph, lambda switch: legal_hops_to(graph, switch, ranks))


def hops_to(graph: SubnetGraph, destination: int) -> list[int]:
    """Return the number of hops from the far end of each channel to a switch."""
    distance = ranks_below(graph, (destination,))
    return [min(distance[channel.far] + 1, FAR) for channel in graph.channels]


def ranks_below(graph: SubnetGraph, roots: Collection[int]) -> list[int]:
    """Return the number of hops from each switch to the nearest root."""
    ranks = [0 if switch in roots else FAR for switch in range(len(graph.switches))]
    waiting = deque(sorted(roots))
    while waiting:
        switch = waiting.popleft()
        for number in graph.out[switch]:
            far = graph.channels[number].far
            if ranks[far] > ranks[switch] + 1:
                ranks[far] = ranks[switch] + 1
                waiting.append(far)
    return ranks


def detected_roots(graph: SubnetGraph) -> frozenset[int]:
    """Return the switches that updn uses as roots without a file of roots: all HCAs are equally far from them.

    That is, more than nine tenths of all HCAs are at one distance, and more than a twentieth at no other.
    """
    hcas = [len(hcas_here) for hcas_here in graph.hcas_by_switch()]
    total, far = sum(hcas), [Counter[int]() for _ in graph.switches]
    for destination in (switch for switch, count in enumerate(hcas) if count):
        hops = hops_to(graph, destination)
        for switch, counts in enumerate(far):
            least = (
                0
                if switch == destination
                else min((hops[number] for number in graph.out[switch]), default=FAR)
            )
            if least < FAR:
                counts[least] += hcas[destination]
    return frozenset(
        switch
        for switch, counts in enumerate(far)
        if any(count > total * 0.9 for count in counts.values())
        and sum(count > total * 0.05 for count in counts.values()) == 1
    )


def upward(graph: SubnetGraph, ranks: Sequence[int]) -> list[bool]:
    """Return for each channel whether it goes up. Between two roots both directions do, as in opensm."""
    return [
        (ranks[channel.near] == 0 and ranks[channel.far] == 0)
        or (ranks[channel.near], graph.guids[channel.near]) > (ranks[channel.far], graph.guids[channel.far])
        for channel in graph.channels
    ]


def legal_hops_to(graph: SubnetGraph, destination: int, ranks: Sequence[int]) -> list[int]:
    """Return the number of hops by each channel to a switch, along paths that never go up after they went down.

    The search begins at the destination and goes against the traffic, as opensm's does: the direction by which it
    first reached a switch applies.
    """
    up, back = upward(graph, ranks), _reverse(graph)
    hops = [FAR] * len(graph.channels)
    least = [FAR] * len(graph.switches)
    least[destination] = 0
    came_up = {destination: True}
    waiting, queued = deque((destination,)), {destination}
    while waiting:
        switch = waiting.popleft()
        queued.discard(switch)
        for number in graph.out[switch]:
            if up[number] and not came_up[switch]:
                continue
            far, against = graph.channels[number].far, back[number]
            if least[switch] + 1 >= hops[against] or far == destination:
                continue
            hops[against] = least[switch] + 1
            least[far] = min(least[far], hops[against])
            if far not in queued:
                came_up[far] = up[number]
                queued.add(far)
                waiting.append(far)
    return hops


def _reverse(graph: SubnetGraph) -> list[int]:
    """Return for each channel the other direction of its link."""
    at = graph.channel_at()
    return [at[channel.far, channel.far_port] for channel in graph.channels]


def _tables(
    graph: SubnetGraph, hops: Callable[[int], list[int]], *, one_neighbor: bool = False
) -> SubnetRoutes:
    hcas = graph.hcas_by_switch()
    tables = [array("i", [NO_PATH]) * len(graph.hcas) for _ in graph.switches]
    carried = [0] * len(graph.channels)
    for destination in _by_load(graph, hcas):
        nearest = hops(destination)
        for switch, table in enumerate(tables):
            if switch == destination:
                for hca in hcas[switch]:
                    table[hca] = HERE
                continue
            choice = _choice(graph, switch, nearest, one_neighbor=one_neighbor)
            for hca in hcas[destination] if choice else ():
                channel = min(choice, key=carried.__getitem__)
                carried[channel] += 1
                table[hca] = channel
    return SubnetRoutes(tuple(tables), range(len(graph.hcas)))


def _by_load(graph: SubnetGraph, hcas: Sequence[Sequence[int]]) -> list[int]:
    """Return switches in the order in which opensm assigns the addresses of their HCAs: most first, then by GUID.

    opensm stores GUIDs in network byte order and compares them in that of the machine, a little-endian one.
    """
    with_hcas = [switch for switch, hcas_here in enumerate(hcas) if hcas_here]
    return sorted(
        with_hcas, key=lambda switch: (-len(hcas[switch]), graph.guids[switch].to_bytes(8, "little"))
    )


def nearest_channels(
    graph: SubnetGraph, destination: int, hops: Sequence[int], *, one_neighbor: bool = False
) -> list[list[int]]:
    """Return for each switch the channels nearest to a destination, among which opensm chooses.

    ``hops`` is the number of hops by each channel.
    """
    return [
        [] if switch == destination else _choice(graph, switch, hops, one_neighbor=one_neighbor)
        for switch in range(len(graph.switches))
    ]


def _choice(graph: SubnetGraph, switch: int, hops: Sequence[int], *, one_neighbor: bool) -> list[int]:
    """Return the nearest channels of a switch, by port."""
    out = graph.out[switch]
    least = min((hops[number] for number in out), default=FAR)
    nearest = [number for number in out if hops[number] == least < FAR]
    if one_neighbor and nearest:
        first = graph.channels[nearest[0]].far
        nearest = [number for number in nearest if graph.channels[number].far == first]
    return nearest
