"""The verdict on the loss of a lossy class over all seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.simulation_facts import SimulationCause
from lossless.analysis.simulation.study.loss import EDGE_SLOWDOWN, UNSAFE_SLOWDOWN, is_late
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.buffers.verdict import BufferVerdict
    from lossless.analysis.simulation.study.loss import LossResult
    from lossless.analysis.simulation.study.study import Study

_LOST = "packets that are lost", "without loss"
_OUT_OF_ORDER = (
    "packets that are sent again since they arrive out of order",
    "where NICs take them in any order",
)
"""The cause that delays transfers, and the reference that they are compared with."""


class LossVerdict(NamedTuple):
    """The loss of a lossy class, each the maximum over all seeds: shares of its packets, timeouts, and the slowdown.

    ``slowdown`` is the longest completion divided by the slowest link's time, ``cost`` divided by that without loss.
    """

    dropped_share: float
    trimmed_share: float
    resent_share: float
    timeouts: int
    slowdown: float
    cost: float
    unfinished: int


def loss_verdict(results: Study) -> LossVerdict | None:
    """Return the loss over all seeds, None for a lossless class."""
    seen = losses(results)
    return worst_loss(seen) if seen else None


def worst_loss(seen: Sequence[LossResult]) -> LossVerdict:
    """Return the maximum of each figure of loss over some seeds."""
    return LossVerdict(
        dropped_share=max(each.dropped / each.packets for each in seen),
        trimmed_share=max(each.trimmed / each.packets for each in seen),
        resent_share=max(each.resent / each.packets for each in seen),
        timeouts=max(each.timeouts for each in seen),
        slowdown=max(each.slowdown for each in seen),
        cost=max(each.cost for each in seen),
        unfinished=max(each.unfinished for each in seen),
    )


def harm(seen: Sequence[LossResult]) -> Iterator[SimulationCause]:
    """Yield the harm of loss to transfers over all seeds; loss that delays none beyond its limit is harmless."""
    late = [each for each in seen if is_late(each) and (each.unfinished or each.cost > EDGE_SLOWDOWN)]
    if not late:
        return
    worst = max(late, key=lambda each: (each.unfinished, each.cost))
    verdict: BufferVerdict = "unsafe" if worst.unfinished or worst.cost > UNSAFE_SLOWDOWN else "on the edge"
    limit = UNSAFE_SLOWDOWN if verdict == "unsafe" else EDGE_SLOWDOWN
    why, against = _LOST if any(each.lost for each in late) else _OUT_OF_ORDER
    taking = f"{worst.cost:.1f} times as long as {against} (limit {limit:g})"
    text = f"make transfers take up to {taking}"
    if worst.unfinished:
        many = "1 transfer" if worst.unfinished == 1 else f"{worst.unfinished} transfers"
        text = f"leave {many} unfinished after {taking}"
    yield SimulationCause("drop", verdict, f"{why} {text}, in {len(late)} of {len(seen)} seeds", len(late))


def losses(results: Study) -> Sequence[LossResult]:
    """Return the loss of each seed; empty for a lossless class."""
    return [seed.loss for seed in results.seeds if seed.loss is not None]
