"""The routes that opensm's engines minhop, updn and dor choose, computed as opensm computes them.

All three count hops, and take for each address, of the ports that are nearest, the one that carries the fewest
addresses so far: the lowest of those. updn counts only hops that never go up again after they went down; dor takes only
ports to the neighbour behind the lowest of the nearest ports. Tests compare the tables with those that opensm dumps.

Source: linux-rdma/opensm, opensm/osm_ucast_mgr.c @917070c (order of addresses, hops), opensm/osm_switch.c @8ae061c
(osm_switch_recommend_path: the choice of a port), opensm/osm_ucast_updn.c @9b50961 (ranks and directions).
"""

from __future__ import annotations

from array import array
from collections import Counter, deque
from typing import TYPE_CHECKING

from lossless.analysis.routing.infiniband.routes import HERE, NO_PATH, Routes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from lossless.analysis.routing.infiniband.channels import Plant

FAR = 255
"""More hops than any path has: opensm's OSM_NO_PATH."""


def minhop(plant: Plant) -> Routes:
    """Return the routes of minhop: shortest paths, spread over ports."""
    return _tables(plant, lambda switch: hops_to(plant, switch))


def dor(plant: Plant) -> Routes:
    """Return the routes of dor: shortest paths, each by the neighbour behind its lowest port."""
    return _tables(plant, lambda switch: hops_to(plant, switch), one_neighbour=True)


def updn(plant: Plant, roots: Collection[int]) -> Routes:
    """Return the routes of updn with these switches as roots."""
    ranks = ranks_below(plant, roots)
    return _tables(plant, lambda switch: _legal_hops_to(plant, switch, ranks))


def hops_to(plant: Plant, destination: int) -> list[int]:
    """Return how many hops it is from the far end of each channel to a switch."""
    distance = [FAR] * len(plant.switches)
    distance[destination] = 0
    waiting = deque((destination,))
    while waiting:
        switch = waiting.popleft()
        for number in plant.out[switch]:
            near = plant.channels[number].far
            if distance[near] == FAR:
                distance[near] = distance[switch] + 1
                waiting.append(near)
    return [min(distance[channel.far] + 1, FAR) for channel in plant.channels]


def ranks_below(plant: Plant, roots: Collection[int]) -> list[int]:
    """Return how many hops each switch is from the nearest root."""
    ranks = [0 if switch in roots else FAR for switch in range(len(plant.switches))]
    waiting = deque(sorted(roots))
    while waiting:
        switch = waiting.popleft()
        for number in plant.out[switch]:
            far = plant.channels[number].far
            if ranks[far] > ranks[switch] + 1:
                ranks[far] = ranks[switch] + 1
                waiting.append(far)
    return ranks


def found_roots(plant: Plant) -> frozenset[int]:
    """Return the switches that updn takes as roots where no file names them: all HCAs are equally far from them.

    That is, more than nine tenths of all HCAs are at one distance, and more than a twentieth at no other.
    """
    hcas = [len(found) for found in plant.hcas_by_switch()]
    total, far = sum(hcas), [Counter[int]() for _ in plant.switches]
    for destination in (switch for switch, count in enumerate(hcas) if count):
        hops = hops_to(plant, destination)
        for switch, counts in enumerate(far):
            least = (
                0
                if switch == destination
                else min((hops[number] for number in plant.out[switch]), default=FAR)
            )
            counts[least] += hcas[destination]
    return frozenset(
        switch
        for switch, counts in enumerate(far)
        if sum(count > total * 0.9 for hops, count in counts.items() if hops < FAR) == 1
        and sum(count > total * 0.05 for hops, count in counts.items() if hops < FAR) == 1
    )


def upward(plant: Plant, ranks: Sequence[int]) -> list[bool]:
    """Return for each channel whether it leads up. Between two roots both directions do: opensm wants it so."""
    return [
        (ranks[channel.near] == 0 and ranks[channel.far] == 0)
        or (ranks[channel.near], plant.guids[channel.near]) > (ranks[channel.far], plant.guids[channel.far])
        for channel in plant.channels
    ]


def _legal_hops_to(plant: Plant, destination: int, ranks: Sequence[int]) -> list[int]:
    """Return how many hops it is by each channel to a switch, along paths that never go up after they went down.

    The walk begins at the destination and goes against the traffic, as opensm's does: the direction by which it came to
    a switch first is the one that counts.
    """
    up, back = upward(plant, ranks), _reverse(plant)
    hops = [FAR] * len(plant.channels)
    least = [FAR] * len(plant.switches)
    least[destination] = 0
    came_up = {destination: True}
    waiting, queued = deque((destination,)), {destination}
    while waiting:
        switch = waiting.popleft()
        queued.discard(switch)
        for number in plant.out[switch]:
            if up[number] and not came_up[switch]:
                continue
            far, against = plant.channels[number].far, back[number]
            if least[switch] + 1 >= hops[against] or far == destination:
                continue
            hops[against] = least[switch] + 1
            least[far] = min(least[far], hops[against])
            if far not in queued:
                came_up[far] = up[number]
                queued.add(far)
                waiting.append(far)
    return hops


def _reverse(plant: Plant) -> list[int]:
    """Return for each channel the other direction of its link."""
    at = plant.channel_at()
    return [at[channel.far, channel.far_port] for channel in plant.channels]


def _tables(plant: Plant, hops: Callable[[int], list[int]], *, one_neighbour: bool = False) -> Routes:
    hcas = plant.hcas_by_switch()
    tables = [array("i", [NO_PATH]) * len(plant.hcas) for _ in plant.switches]
    carried = [0] * len(plant.channels)
    for destination in _by_load(plant, hcas):
        nearest = hops(destination)
        for switch, table in enumerate(tables):
            if switch == destination:
                for hca in hcas[switch]:
                    table[hca] = HERE
                continue
            choice = _choice(plant, switch, nearest, one_neighbour=one_neighbour)
            for hca in hcas[destination] if choice else ():
                channel = min(choice, key=carried.__getitem__)
                carried[channel] += 1
                table[hca] = channel
    return Routes(tuple(tables), range(len(plant.hcas)))


def _by_load(plant: Plant, hcas: Sequence[Sequence[int]]) -> list[int]:
    """Return switches in the order in which opensm assigns the addresses of their HCAs: most first, then by GUID.

    opensm keeps GUIDs in the byte order of the network and compares them in that of the machine, a little-endian one.
    """
    with_hcas = [switch for switch, found in enumerate(hcas) if found]
    return sorted(with_hcas, key=lambda switch: (-len(hcas[switch]), _swapped(plant.guids[switch])))


def _swapped(guid: int) -> int:
    return int.from_bytes(guid.to_bytes(8, "big"), "little")


def _choice(plant: Plant, switch: int, hops: Sequence[int], *, one_neighbour: bool) -> list[int]:
    """Return the channels of a switch that are nearest, by port."""
    out = plant.out[switch]
    least = min((hops[number] for number in out), default=FAR)
    found = [number for number in out if hops[number] == least < FAR]
    if one_neighbour and found:
        first = plant.channels[found[0]].far
        found = [number for number in found if plant.channels[number].far == first]
    return found
