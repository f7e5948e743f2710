"""What a lossy class lost, what that cost, and the verdict on it.

Loss is harmless where transfers end about when the slowest link on their way lets them. In recorded runs of uet-htsim
@40ccb05 (55 scenarios, 8 seeds each) incasts over switches that trim end within 1.25 times that in all but two, and
incasts at 400 Gb/s that time out without trimming take more than twice as long: these are the limits.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.analysis.buffers.simulation_facts import SimulationCause
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.buffers.verdict import BufferVerdict
    from lossless.analysis.simulation.engine.network import SimNetwork
    from lossless.analysis.simulation.engine.state import SimState
    from lossless.analysis.simulation.study.study import Study

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


class LossVerdict(NamedTuple):
    """What a lossy class lost over all seeds, each the most: shares of its packets, timeouts, and the slowdown."""

    dropped_share: float
    trimmed_share: float
    resent_share: float
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


def loss_verdict(results: Study) -> LossVerdict | None:
    """Return what all seeds lost, None of a lossless class."""
    seen = _seen(results)
    if not seen:
        return None
    return LossVerdict(
        dropped_share=max(each.dropped / each.packets for each in seen),
        trimmed_share=max(each.trimmed / each.packets for each in seen),
        resent_share=max(each.resent / each.packets for each in seen),
        timeouts=max(each.timeouts for each in seen),
        slowdown=max(each.slowdown for each in seen),
        unfinished=max(each.unfinished for each in seen),
    )


def harm(results: Study) -> Iterator[SimulationCause]:
    """Yield what loss does to transfers; loss that delays none beyond its limit is none."""
    seen, seeds = _seen(results), len(results.seeds)
    stuck = [each for each in seen if each.unfinished and each.dropped + each.trimmed]
    late = [each for each in seen if each.dropped + each.trimmed and each.slowdown > EDGE_SLOWDOWN]
    if stuck:
        most = max(each.unfinished for each in stuck)
        ratio = results.horizon_ns / results.step_ns
        after = f"{most} transfers had not ended after {ratio:.1f} times what the slowest link allows"
        text = f"packets are lost, and up to {after}, in {len(stuck)} of {seeds} seeds"
        yield SimulationCause("drop", "unsafe", text, len(stuck))
    elif late:
        worst = max(each.slowdown for each in late)
        text = f"packets that are lost make transfers take up to {worst:.1f} times as long as the slowest link allows"
        verdict: BufferVerdict = "unsafe" if worst > UNSAFE_SLOWDOWN else "on the edge"
        yield SimulationCause("drop", verdict, f"{text}, in {len(late)} of {seeds} seeds", len(late))


def lossy_advice(results: Study) -> Iterator[str]:
    """Yield what makes loss cheaper, where it is not harmless."""
    scenario = results.scenario
    if not any(harm(results)):
        return
    if scenario.senders is None:
        yield "make the class lossless, or have NICs repeat lost packets alone where they can: a loss costs a go-back"
    elif not scenario.trims:
        yield "trim instead of dropping (trimming, SONiC 202505 and later): a receiver then asks at once"
    else:
        yield "send less at once into one NIC, or give the class of trimmed packets a larger share of its link"
    if not scenario.marks:
        yield "give the class an ECN curve: senders learn of congestion by loss alone"


def _seen(results: Study) -> Sequence[LossResult]:
    return [seed.loss for seed in results.seeds if seed.loss is not None]
