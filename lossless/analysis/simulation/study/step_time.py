"""How long a step takes at line rate: that of the link that has most to carry."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.equal_paths import EqualPaths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.engine.network import SimFlow, SimNetwork

    Loads = dict[tuple[int, int], float]


def step_time_ns(network: SimNetwork) -> float:
    """Return how long one step takes at line rate; flows whose links are chosen on the way share them evenly."""
    loads: Loads = defaultdict(float)
    spread: Loads = defaultdict(float)
    for flow in network.flows:
        frames = -(-flow.size_bytes // flow.mtu_bytes)
        wire_bytes = flow.size_bytes + frames * (network.physics.overhead_bytes + network.physics.gap_bytes)
        for pair in _stated(flow):
            loads[pair] += wire_bytes
        if flow.spread is not None:
            spread[flow.path[1], flow.path[-2]] += wire_bytes
    _share(network, spread, loads)
    rates: Loads = defaultdict(float)
    for a, b, rate_bps in _directions(network):
        rates[a, b] += rate_bps
    return max(load * 8e9 / rates[pair] for pair, load in loads.items())


def _stated(flow: SimFlow) -> Iterator[tuple[int, int]]:
    """Yield the hops that a flow surely takes: all, or those beside its hosts."""
    hops = list(pairwise(flow.path))
    yield from hops if flow.spread is None else (hops[0], hops[-1])


def _directions(network: SimNetwork) -> Iterator[tuple[int, int, float]]:
    for cable in network.cables:
        yield cable.a, cable.b, cable.rate_bps
        yield cable.b, cable.a, cable.rate_bps


def _share(network: SimNetwork, spread: Loads, loads: Loads) -> None:
    """Add the load between two switches to the hops between them, in equal parts to each link of equal paths."""
    if not spread:
        return
    ends = [(a, b) for a, b, _ in _directions(network)]
    link_of: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, pair in enumerate(ends):
        link_of[pair].append(number)
    paths = EqualPaths(network, link_of)
    sources: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for (first, last), wire_bytes in spread.items():
        sources[last][first] += wire_bytes
    for last, amounts in sources.items():
        # The farthest switches come last of those toward one, so that all that reaches a switch is known in its turn.
        for node, links in reversed([*paths.toward(last).items()]):
            for link in links if amounts.get(node) else ():
                part = amounts[node] / len(links)
                loads[ends[link]] += part
                amounts[ends[link][1]] += part
