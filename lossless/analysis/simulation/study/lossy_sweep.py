"""Many settings of a lossy class's thresholds on one scenario: which keep its loss harmless, and which is best.

Each setting is the answer of ``lossless simulate`` to the same question: networks are built for it, and followed until
their transfers have ended or can be harmless no more.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import BUFFER_VERDICTS
from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.study.grid import LOSSLESS_ALONE, checked
from lossless.analysis.simulation.study.loss_verdict import harm, worst_loss
from lossless.analysis.simulation.study.lossy_trial import LossTrial, LossyTask, loss_trials
from lossless.analysis.simulation.study.study import require_events, seeds_of, times_of
from lossless.analysis.simulation.study.sweep import Sweep, SweepRow, assumed_of_all, fitting
from lossless.analysis.simulation.study.tried import Followed, tried_rows
from lossless.analysis.simulation.study.verdict import describe
from lossless.analysis.simulation.study.workers import WorkerPool
from lossless.ground.basics.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from lossless.analysis.simulation.engine.network import SimPort
    from lossless.analysis.simulation.question.request import Limits
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.grid import Grid, ThresholdSetting

ORDER = "safe before on the edge before unsafe, then shortest longest completion, fewest packets resent, most goodput"
"""The order of settings of a lossy class, the best first."""


def lossy_sweep(
    scenario: Scenario,
    grid: Grid,
    limits: Limits,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Try every setting of a grid on a scenario whose class is lossy.

    ``executor`` does the work if given, as that of :func:`.sweep.sweep`; ``progress`` is called with how many settings
    are done of how many.

    Raises:
        ScenarioError: the grid is invalid, or would take more events than ``limits`` allow.
        KeyboardInterrupt: running trials are stopped, and results so far are discarded.
    """
    grid = checked(grid)
    task = _task(scenario, limits)
    _check(scenario, grid)
    tried, skipped = fitting(grid, _varied_ends(task))
    with WorkerPool[LossyTask, "ThresholdSetting", tuple[LossTrial, ...]](
        loss_trials, task, executor, limits.threads
    ) as pool:
        configured, rows, events = tried_rows(tried, pool, Followed(limits, progress), _row)
    rows.sort(key=_badness)
    assumed = (*scenario.assumed, *_assumed(scenario, grid, len(task.stages)))
    return Sweep(
        describe(scenario), grid.names, configured, tuple(rows), skipped, len(task.stages),
        task.times.horizon_ns / 1000, events, assumed, scenario.classes[0].name, ORDER,
    )  # fmt: skip


def _task(scenario: Scenario, limits: Limits) -> LossyTask:
    seeds = seeds_of(scenario, limits)
    first = instantiate(scenario, 1)
    times = times_of(scenario, first.network)
    require_events(first.network, times.horizon_ns, limits._replace(seeds=len(seeds)))
    stages = (first, *(instantiate(scenario, seed) for seed in seeds[1:]))
    return LossyTask(stages, times, tuple(scenario.ends.values()), scenario.senders)


def _varied_ends(task: LossyTask) -> tuple[SimPort, ...]:
    """Return the ends of cables in switches, each kind once."""
    cables = (cable for instance in task.stages for cable in instance.network.cables)
    ends = (end for cable in cables for end in (cable.a_end, cable.b_end))
    return tuple({id(end): end for end in ends if end is not None}.values())


def _check(scenario: Scenario, grid: Grid) -> None:
    """Raise an error for thresholds that a lossy class does not have.

    Raises:
        ScenarioError: the grid varies such a threshold.
    """
    name = scenario.classes[0].name
    for field in LOSSLESS_ALONE:
        if getattr(grid, field):
            what = field.removesuffix("_bytes")
            raise ScenarioError(
                f"{what} cannot be varied: class {name} is lossy, and its queues limit it; vary queue_dynamic_th"
            )
    if grid.queue_dynamic_th and any(not end.queues[0].alpha for end in scenario.ends.values()):
        raise ScenarioError(
            f"queue_dynamic_th cannot be varied: queues of class {name} have no dynamic threshold; state"
            f" classes.{name}.queue.dynamic_th"
        )
    if grid.trimming and not scenario.trims:
        raise ScenarioError(
            f"trimming cannot be varied: nothing states what class {name} is trimmed into; state trimming"
        )


def _assumed(scenario: Scenario, grid: Grid, seeds: int) -> Iterator[str]:
    yield from assumed_of_all(scenario, seeds)
    if (
        scenario.dcqcn is None
        and scenario.senders is None
        and (grid.kmin_bytes or grid.kmax_bytes or grid.pmax_percent)
    ):
        yield "no sender runs DCQCN: kmin, kmax and pmax change what is marked, and nothing else"


def _row(setting: ThresholdSetting, seeds: Sequence[LossTrial]) -> SweepRow:
    losses = [trial.loss for trial in seeds]
    loss = worst_loss(losses)
    return SweepRow(
        setting=setting,
        verdict=next((cause.verdict for cause in harm(losses)), "safe"),
        drops=max(each.dropped for each in losses),
        pauses=0,
        pfc_seeds=0,
        longest_pause_us=0.0,
        goodput_bps=round(median(trial.goodput_bps for trial in seeds)),
        egress_bytes=max(trial.egress_bytes for trial in seeds),
        headroom_left_bytes=None,
        marks=max(trial.marks for trial in seeds),
        stopped_queues=0,
        cut=loss.unfinished > 0,
        loss=loss,
    )


def _badness(row: SweepRow) -> tuple[float, ...]:
    """Return the sort key of a row, the best first: :data:`ORDER`."""
    assert row.loss is not None
    rank = -BUFFER_VERDICTS.index(row.verdict)
    return rank, row.loss.unfinished, row.loss.slowdown, row.loss.resent_share, -row.goodput_bps
