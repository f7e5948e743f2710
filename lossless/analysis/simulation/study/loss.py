"""Packet loss of a lossy class in a run, and its cost against the time of a step at line rate.

Loss is harmless if transfers end about when the slowest link on their path allows. In recorded runs of uet-htsim
@40ccb05 (55 scenarios, 8 seeds each) incasts over switches that trim end within 1.25 times that in all but two, and
incasts at 400 Gb/s that time out without trimming take more than twice as long: these are the limits.

Slower transfers may have other causes, as DCQCN that recovers or links that several flows share. If packets are lost
or sent again and transfers are late, the same network runs without loss
(:func:`lossless.analysis.simulation.study.study.without_loss`), and its time counts in place of the slowest link's,
if it is longer. A step takes at line rate as long as the link that has most to carry.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.wiring import EqualPaths
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.engine.network import SimFlow, SimNetwork
    from lossless.analysis.simulation.engine.state import SimState


EDGE_SLOWDOWN, UNSAFE_SLOWDOWN = 1.25, 2.0
"""Longest completion divided by that without loss, from which loss is on the edge, and unsafe."""


class LossResult(NamedTuple):
    """The loss of one seed, in packets; ``slowdown`` is the longest completion divided by the slowest link's time.

    ``packets`` are those of the transfers, ``unfinished`` the transfers that had not ended. ``without_loss`` is the
    longest completion of the same network without loss, divided by the same time; 1 if it was not run.
    """

    packets: int
    dropped: int
    trimmed: int
    resent: int
    timeouts: int
    slowdown: float
    unfinished: int
    without_loss: float = 1.0

    @property
    def lost(self) -> int:
        """Packets dropped and packets trimmed; one that was trimmed and then dropped counts twice."""
        return self.dropped + self.trimmed

    @property
    def cost(self) -> float:
        """The longest completion divided by that without loss; 1 if no packet was lost or sent again."""
        return self.slowdown / max(1.0, self.without_loss) if self.disturbed else 1.0

    @property
    def disturbed(self) -> bool:
        """Whether packets were lost or sent again, so that late transfers may be late for this reason."""
        return self.lost > 0 or self.resent > 0


def is_late(result: LossResult) -> bool:
    """Return whether loss may have delayed transfers: packets were lost or sent again, and transfers are late."""
    return result.disturbed and (result.unfinished > 0 or result.slowdown > EDGE_SLOWDOWN)


def loss_of(state: SimState, network: SimNetwork, without_loss_ns: float | None = None) -> LossResult:
    """Return the loss of a run; ``without_loss_ns`` is the time of the same run without loss, if that was run."""
    clock, flows = state.clock[0], state.flows[state.flows["counts"] == 1]
    done_ps = flows["done_at"]
    ended_ps = int(done_ps.max(initial=0)) if (done_ps >= 0).all() else int(clock["now"])
    least_ns = bound_ns(network)
    return LossResult(
        packets=int((-(-flows["size_bytes"] // flows["mtu_bytes"])).sum()),
        dropped=int(clock["drops"]),
        trimmed=int(clock["trims"]),
        resent=int(clock["resent"]),
        timeouts=int(clock["timeouts"]),
        slowdown=ended_ps / 1000 / least_ns,
        unfinished=int((done_ps < 0).sum()),
        without_loss=1.0 if without_loss_ns is None else without_loss_ns / least_ns,
    )


def bound_ns(network: SimNetwork) -> float:
    """Return the earliest time at which all transfers can have ended: that of the slowest link, plus latency.

    The slowest link takes longest for its load. Where switches choose links, only links of hosts count.
    """
    rates_bps: dict[tuple[int, int], float] = {}
    delays_ns: dict[tuple[int, int], float] = {}
    for cable in network.cables:
        for pair in ((cable.a, cable.b), (cable.b, cable.a)):
            rates_bps[pair] = rates_bps.get(pair, 0) + cable.rate_bps
            delays_ns[pair] = cable.propagation_ns
    physics, loads = network.physics, dict.fromkeys(rates_bps, 0)
    latency_ns = 0.0
    for flow in network.flows:
        frames = -(-flow.size_bytes // flow.mtu_bytes)
        wire_bytes = flow.size_bytes + frames * (physics.overhead_bytes + physics.gap_bytes)
        hops = [*pairwise(flow.path)]
        for pair in hops if flow.spread is None else (hops[0], hops[-1]):
            loads[pair] += wire_bytes
        frame_bits = 8 * (min(flow.size_bytes, flow.mtu_bytes) + physics.overhead_bytes)
        way_ns = sum(delays_ns[pair] + frame_bits * 1e9 / rates_bps[pair] for pair in hops)
        latency_ns = max(latency_ns, way_ns)
    return max(load * 8e9 / rates_bps[pair] for pair, load in loads.items()) + latency_ns


if TYPE_CHECKING:
    Loads = dict[tuple[int, int], float]


def step_time_ns(network: SimNetwork) -> float:
    """Return how long one step takes at line rate; flows whose links switches choose share these evenly."""
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
