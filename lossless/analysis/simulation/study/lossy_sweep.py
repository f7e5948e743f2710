"""Sweeps of fabrics over a grid of settings, and the sweep of a lossy class's thresholds on one scenario.

A setting of a lossy class is tried for whether it keeps loss harmless. It gets the result that ``lossless simulate``
has for the same question: networks are built for the setting, and followed until their transfers have ended or their
loss can no longer be harmless.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.buffers.verdict import BUFFER_VERDICTS
from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.request import Limits, SimulationRequest
from lossless.analysis.simulation.study.answer import checked_scenario, compile_for, parts
from lossless.analysis.simulation.study.grid import LOSSLESS_ALONE, checked
from lossless.analysis.simulation.study.study import require_events, seeds_of, times_of
from lossless.analysis.simulation.study.sweep import (
    Followed,
    Sweep,
    SweepRow,
    WorkerPool,
    assumed_of_all,
    fitting,
    sweep,
    tried_rows,
)
from lossless.analysis.simulation.study.trial import LossTrial, LossyTask, loss_trials
from lossless.analysis.simulation.study.verdict import describe, harm, worst_loss
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.findings import MissingInput
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from lossless.analysis.simulation.engine.network import SimPort
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.grid import Grid, ThresholdSetting
    from lossless.model.fabric.model import Fabric


ORDER = "safe before on the edge before unsafe, then shortest longest completion, fewest packets resent, most goodput"
"""The order of settings of a lossy class, the best first."""


def lossy_sweep(
    scenario: Scenario,
    grid: Grid,
    limits: Limits,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Return the sweep of a grid's settings on a scenario whose class is lossy.

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
    """Return the switch ports at the ends of a task's cables, each kind once."""
    cables = (cable for instance in task.stages for cable in instance.network.cables)
    ends = (end for cable in cables for end in (cable.a_end, cable.b_end))
    return tuple({id(end): end for end in ends if end is not None}.values())


def _check(scenario: Scenario, grid: Grid) -> None:
    """Raise an error for varied thresholds that the lossy class of a scenario does not have.

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


HORIZON_NS = 3_000_000
"""How long a setting of a lossless class is followed at most, by default: ten rate-increase timers of a ConnectX."""


def sweep_fabrics(
    fabrics: Iterable[Fabric],
    grid: Grid,
    request: SimulationRequest | None,
    horizon_ns: float | None,
    executor: AbstractContextManager[Executor | None],
) -> tuple[Sweep, ...]:
    """Return a sweep of each fabric, or of each part of it that is a fabric of its own.

    A lossless class is followed for up to ``horizon_ns``, :data:`HORIZON_NS` if that is None; a lossy one takes none.

    ``executor`` is entered once there are scenarios of all of them.

    Raises:
        ScenarioError: the request is invalid or would take too long, or an input is missing.
    """
    grid, request = checked(grid), request or SimulationRequest(limits=Limits(seeds=1))
    scenarios = [
        _scenario(part, request) for fabric in fabrics for part in parts(View(with_computed_buffers(fabric)))
    ]
    compile_for(request)
    with executor as entered:
        return tuple(_swept(scenario, grid, request, horizon_ns, entered) for scenario in scenarios)


def _swept(
    scenario: Scenario,
    grid: Grid,
    request: SimulationRequest,
    horizon_ns: float | None,
    executor: Executor | None,
) -> Sweep:
    if not scenario.is_lossy:
        own_ns = HORIZON_NS if horizon_ns is None else horizon_ns
        return sweep(scenario, grid, request.limits, own_ns, executor, request.progress)

    if horizon_ns is not None:
        raise ScenarioError(
            f"--horizon: class {scenario.classes[0].name} is lossy, and followed until its transfers have ended or"
            " can be harmless no more; leave it out"
        )
    return lossy_sweep(scenario, grid, request.limits, executor, request.progress)


def _scenario(view: View, request: SimulationRequest) -> Scenario:
    scenario = checked_scenario(view, request.question)
    if isinstance(scenario, MissingInput):
        raise ScenarioError(f"nothing to sweep: {scenario.reason}")
    return scenario
