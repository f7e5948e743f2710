"""The verdict on what a lossy class loses over all seeds, and what makes its loss cheaper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.simulation_facts import SimulationCause
from lossless.analysis.simulation.study.loss import EDGE_SLOWDOWN, UNSAFE_SLOWDOWN
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.buffers.verdict import BufferVerdict
    from lossless.analysis.simulation.study.loss import LossResult
    from lossless.analysis.simulation.study.study import Study


class LossVerdict(NamedTuple):
    """What a lossy class lost over all seeds, each the most: shares of its packets, timeouts, and the slowdown."""

    dropped_share: float
    trimmed_share: float
    resent_share: float
    timeouts: int
    slowdown: float
    unfinished: int


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
