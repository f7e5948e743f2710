"""What a lossy class lost in a run, and what that cost.

Loss is harmless where transfers end about when the slowest link on their way lets them. In recorded runs of uet-htsim
@40ccb05 (55 scenarios, 8 seeds each) incasts over switches that trim end within 1.25 times that in all but two, and
incasts at 400 Gb/s that time out without trimming take more than twice as long: these are the limits.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.network import SimNetwork
    from lossless.analysis.simulation.engine.state import SimState

EDGE_SLOWDOWN, UNSAFE_SLOWDOWN = 1.25, 2.0
"""Longest completion over what the slowest link allows, from which loss is on the edge, and unsafe."""


class LossResult(NamedTuple):
    """What one seed lost, in packets; ``slowdown`` is the longest completion over what the slowest link allows.

    ``packets`` are those of the transfers, ``unfinished`` the transfers that had not ended.
    """

    packets: int
    dropped: int
    trimmed: int
    resent: int
    timeouts: int
    slowdown: float
    unfinished: int


def loss_of(state: SimState, network: SimNetwork) -> LossResult:
    """Return what a run lost."""
    clock, flows = state.clock[0], state.flows[state.flows["counts"] == 1]
    done_ps = flows["done_at"]
    ended_ps = int(done_ps.max(initial=0)) if (done_ps >= 0).all() else int(clock["now"])
    return LossResult(
        packets=int((-(-flows["size_bytes"] // flows["mtu_bytes"])).sum()),
        dropped=int(clock["drops"]),
        trimmed=int(clock["trims"]),
        resent=int(clock["resent"]),
        timeouts=int(clock["timeouts"]),
        slowdown=ended_ps / 1000 / bound_ns(network),
        unfinished=int((done_ps < 0).sum()),
    )


def bound_ns(network: SimNetwork) -> float:
    """Return when all transfers have ended at the earliest: the time of the link that has most to carry, and latency.

    Where switches choose links packet by packet, those of hosts alone count.
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
