"""Sweeps: many settings of the same thresholds on one scenario, ranked by verdict, drops, pauses and goodput.

Settings are tried in batches, in order, by threads of this process, by any executor of :mod:`concurrent.futures` or
by a cluster (:mod:`lossless.analysis.simulation.study.cluster`): :class:`WorkerPool` maps a pure function of a task
and a batch. The result of a setting is a row of numbers, and no array is kept for it.
"""

from __future__ import annotations

import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from queue import SimpleQueue
from statistics import median
from threading import Event
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from lossless.analysis.buffers.verdict import BUFFER_VERDICTS, BufferVerdict
from lossless.analysis.simulation.question.instance import DEAD_FROM_NS, instantiate
from lossless.analysis.simulation.study.cluster import ClusterExecutor, is_unwanted
from lossless.analysis.simulation.study.grid import LOSSY_ALONE, Grid, ThresholdSetting, checked, settings
from lossless.analysis.simulation.study.study import is_random, require_events, seeds_of, watch_ns
from lossless.analysis.simulation.study.trial import SweepTask, Trial, TrialLimits, trials
from lossless.analysis.simulation.study.verdict import describe
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future
    from types import TracebackType

    from lossless.analysis.simulation.engine.network import SimPort
    from lossless.analysis.simulation.question.request import Limits
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.verdict import LossVerdict


ORDER = (
    "safe before on the edge before unsafe, then fewest frames dropped, fewest pauses, shortest longest pause,"
    " most goodput"
)
"""The order of settings, the best first."""


class SweepRow(NamedTuple):
    """The results of one setting: the worst over all seeds; of goodput the median.

    ``pauses`` counts how often a group paused its peer, ``pfc_seeds`` the seeds in which one did.
    ``headroom_left_bytes`` is None if no headroom was used; ``stopped_queues`` counts watchdog triggers.
    ``cut``: traffic was still under way at the end of some seed, so that values may grow. ``loss`` is the loss of a
    lossy class, for which no PFC fires and ``drops`` are no harm by themselves; None for a lossless class.
    """

    setting: ThresholdSetting
    verdict: BufferVerdict
    drops: int
    pauses: int
    pfc_seeds: int
    longest_pause_us: float
    goodput_bps: int
    egress_bytes: int
    headroom_left_bytes: int | None
    marks: int
    stopped_queues: int
    cut: bool
    loss: LossVerdict | None = None

    @property
    def nothing_lost(self) -> bool:
        """Whether no packet was dropped or trimmed."""
        return not self.drops and (self.loss is None or not self.loss.trimmed_share)

    @property
    def silent(self) -> bool:
        """Whether PFC never fired."""
        return not self.pauses


class Sweep(NamedTuple):
    """The results of a sweep: ``rows`` of all valid settings, the best first by ``order``, and of the configured one.

    ``skipped`` counts settings whose Kmin would be above Kmax, ``names`` the thresholds that were varied, those of the
    class ``class_name``.
    """

    scenario: str
    names: tuple[str, ...]
    configured: SweepRow
    rows: tuple[SweepRow, ...]
    skipped: int
    seeds: int
    horizon_us: float
    events: int
    assumed: tuple[str, ...]
    class_name: str
    order: str = ORDER

    @property
    def is_lossy(self) -> bool:
        """Whether the class is lossy, so that loss is counted instead of pauses."""
        return self.configured.loss is not None

    @property
    def cut(self) -> int:
        """The number of settings with traffic still under way at the end."""
        return sum(row.cut for row in self.rows)


def sweep(
    scenario: Scenario,
    grid: Grid,
    limits: Limits,
    horizon_ns: float,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Return the sweep of the valid settings of a grid on a scenario, each followed for up to ``horizon_ns``.

    ``executor`` does the work if given: processes and machines are sent plain data. Otherwise threads do, as many as
    ``limits`` allow. ``progress`` is called with how many settings are done of how many.

    Raises:
        ScenarioError: the grid or the horizon is invalid, or would take more events than ``limits`` allow.
        KeyboardInterrupt: running trials are stopped, and results so far are discarded.
    """
    grid = checked(grid)
    if horizon_ns <= 0:
        raise ScenarioError(f"horizon is {horizon_ns:g} ns; expected a time above zero")
    if scenario.question.dead_nic and scenario.watchdogs:
        due_ns = DEAD_FROM_NS + watch_ns(scenario)
        if horizon_ns < due_ns:
            raise ScenarioError(
                f"horizon is {format_duration(round(horizon_ns))}; a dead NIC is followed until the watchdog has had"
                f" its time twice, at least {due_ns / 1e6:,.1f} ms"
            )
    seeds = seeds_of(scenario, limits)
    first = instantiate(scenario, 1)
    require_events(first.network, horizon_ns, limits._replace(seeds=len(seeds)))
    stages = (first, *(instantiate(scenario, seed) for seed in seeds[1:]))
    job = SweepTask(uuid.uuid4().hex, stages, horizon_ns)
    tried, skipped = _fitting(grid, job)
    with WorkerPool[SweepTask, ThresholdSetting, tuple[Trial, ...]](
        trials, job, executor, limits.threads
    ) as pool:
        row = partial(_row, TrialLimits.of(scenario))
        configured, rows, events = tried_rows(tried, pool, Followed(limits, progress), row)
    rows.sort(key=_badness)
    assumed = (*scenario.assumed, *_assumed(scenario, grid, job))
    return Sweep(
        describe(scenario), grid.names, configured, tuple(rows), skipped, len(job.stages), horizon_ns / 1000, events,
        assumed, scenario.classes[0].name,
    )  # fmt: skip


def _fitting(grid: Grid, job: SweepTask) -> tuple[list[ThresholdSetting], int]:
    """Return the valid settings, and the number of invalid ones.

    Raises:
        ScenarioError: a varied threshold has no meaning on some port, or no setting is valid.
    """
    ends = _ends(job)
    lossy = next((name for name in LOSSY_ALONE if getattr(grid, name)), None)
    if lossy is not None:
        raise ScenarioError(
            f"{lossy} cannot be varied: the class is lossless, and pauses before its queues are full"
        )
    if grid.dynamic_th and any(
        end.groups[0].headroom_bytes is not None and end.groups[0].alpha is None for end in ends
    ):
        raise ScenarioError("dynamic_th cannot be varied: lossless groups have a static threshold")
    if grid.headroom_bytes and all(end.groups[0].headroom_bytes is None for end in ends):
        raise ScenarioError("headroom cannot be varied: no port on the paths has PFC on for the class")
    return fitting(grid, ends)


def fitting(grid: Grid, ends: Sequence[SimPort]) -> tuple[list[ThresholdSetting], int]:
    """Return the settings of a grid that are valid on all ports, and how many are not, as Kmin would be above Kmax.

    Raises:
        ScenarioError: a part of an ECN curve is varied where some queue has no curve, or no setting is valid.
    """
    _require_curves(grid, ends)
    curves = {(wred.kmin_bytes, wred.kmax_bytes) for end in ends if (wred := end.queues[0].wred) is not None}
    tried = [setting for setting in settings(grid) if _in_order(setting, curves)]
    if not tried:
        raise ScenarioError(f"Kmin would be above Kmax in every one of {grid.size:,} settings")
    return tried, grid.size - len(tried)


def _ends(job: SweepTask) -> tuple[SimPort, ...]:
    """Return the switch ports at the ends of a task's cables, each kind once."""
    cables = (cable for instance in job.stages for cable in instance.network.cables)
    return tuple(
        {id(end): end for cable in cables for end in (cable.a_end, cable.b_end) if end is not None}.values()
    )


def _require_curves(grid: Grid, ends: Sequence[SimPort]) -> None:
    varied = [name for name in ("kmin_bytes", "kmax_bytes", "pmax_percent") if getattr(grid, name)]
    if 0 < len(varied) < 3 and any(end.queues[0].wred is None for end in ends):
        raise ScenarioError(
            f"{', '.join(varied)} cannot be varied alone: a queue of the class has no ECN curve;"
            " vary kmin, kmax and pmax together"
        )


def _in_order(setting: ThresholdSetting, curves: set[tuple[float, float]]) -> bool:
    kmin, kmax = setting.kmin_bytes, setting.kmax_bytes
    if kmin is not None and kmax is not None:
        return kmin <= kmax
    return all((low if kmin is None else kmin) <= (high if kmax is None else kmax) for low, high in curves)


def assumed_of_all(scenario: Scenario, seeds: int) -> Iterator[str]:
    """Yield the assumptions of sweeps of any class, one sentence each."""
    yield "every switch port on the paths has the same setting"
    if is_random(scenario) and seeds == 1:
        what = "what is lost" if scenario.is_lossy else "whether PFC fires"
        yield f"one random seed: {what} may depend on the seed, and --seeds runs more of them"


def _assumed(scenario: Scenario, grid: Grid, job: SweepTask) -> Iterator[str]:
    yield from assumed_of_all(scenario, len(job.stages))
    if scenario.dcqcn is None and (grid.kmin_bytes or grid.kmax_bytes or grid.pmax_percent):
        yield "no sender runs DCQCN: kmin, kmax and pmax change what is marked, and nothing else"
    if grid.headroom_bytes:
        yield (
            "the shared pool keeps its size: where a switch takes headroom out of it, more headroom leaves less to"
            " share"
        )


def _row(trial_limits: TrialLimits, setting: ThresholdSetting, seeds: Sequence[Trial]) -> SweepRow:
    return SweepRow(
        setting=setting,
        verdict=trial_limits.verdict(seeds),
        drops=max(trial.drops for trial in seeds),
        pauses=max(trial.pauses for trial in seeds),
        pfc_seeds=sum(trial.pauses > 0 for trial in seeds),
        longest_pause_us=max(trial.longest_pause_ns for trial in seeds) / 1000,
        goodput_bps=round(median(trial.delivered_bytes * 8e12 / max(1, trial.ended_ps) for trial in seeds)),
        egress_bytes=max(trial.egress_bytes for trial in seeds),
        headroom_left_bytes=min((t.margin_bytes for t in seeds if t.margin_bytes is not None), default=None),
        marks=max(trial.marks for trial in seeds),
        stopped_queues=max(trial.storms for trial in seeds),
        cut=any(trial.cut for trial in seeds),
    )


def _badness(row: SweepRow) -> tuple[float, ...]:
    """Return the sort key of a row, the best first: :data:`ORDER`."""
    rank = -BUFFER_VERDICTS.index(row.verdict)
    return rank, row.drops, row.pauses, row.longest_pause_us, -row.goodput_bps


BATCH_EVENTS = 4_000_000
"""About how many events of trials a worker is sent at once: a fraction of a second, so that progress is seen."""


class Counted(Protocol):
    """The results of one setting with one seed, with their number of events."""

    @property
    def events(self) -> int:
        """The number of events that the trial took."""


_Task = TypeVar("_Task")
_Trial = TypeVar("_Trial", bound=Counted)
_Row = TypeVar("_Row")


class Followed(NamedTuple):
    """The limits of a sweep, and the callback that gets how many settings are done of how many."""

    limits: Limits
    progress: Callable[[int, int], None] | None = None


def tried_rows(
    tried: Sequence[ThresholdSetting],
    pool: WorkerPool[_Task, ThresholdSetting, tuple[_Trial, ...]],
    followed: Followed,
    row: Callable[[ThresholdSetting, Sequence[_Trial]], _Row],
) -> tuple[_Row, list[_Row], int]:
    """Return the row of the configured setting, one for each setting in their order, and the number of events.

    Raises:
        ScenarioError: the settings would take more events than the limits allow.
    """
    (probes,) = pool.map([(ThresholdSetting(), tried[0], tried[-1])])
    most = max(sum(trial.events for trial in seeds) for seeds in probes)
    _require_events(len(tried), most, followed.limits)
    batches = pool.batches(tried, max(1, BATCH_EVENTS // max(1, most)))
    rows: list[_Row] = []
    events = 0
    for batch, results in zip(batches, pool.map(batches), strict=True):
        rows += map(row, batch, results)
        events += sum(trial.events for seeds in results for trial in seeds)
        if followed.progress is not None:
            followed.progress(len(rows), len(tried))
    return row(ThresholdSetting(), probes[0]), rows, events


def _require_events(many: int, most: int, limits: Limits) -> None:
    if many * most > limits.events:
        raise ScenarioError(
            f"{many:,} settings would take about {many * most / 1e9:.1f} billion events ({most:,} each was measured),"
            f" more than the {limits.events / 1e9:g} billion allowed; name fewer values, make --horizon, --size, --nics"
            " or --seeds smaller, or allow more with --max-events"
        )


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

BATCHES_PER_WORKER = 8
"""The least batches for each worker, if there are enough settings, so that all workers end at about the same time."""


class WorkerPool(Generic[_Task, _Item, _Result]):
    """Workers that map ``work`` over batches: it gets task and batch, and in threads or on a cluster a stop check.

    ``workers`` is how many batches can run at once; for an executor of the caller's the limit of threads, else the
    number of processors, stands in for it.

    The workers are threads of this process, which can be stopped, an executor of the caller's, or a cluster.

    Results are waited for in a queue, not by :func:`concurrent.futures.wait`: that takes a lock of every future in
    turn, and an interrupt that comes meanwhile leaves those locked that threads must set.
    """

    def __init__(
        self, work: Callable[..., list[_Result]], task: _Task, executor: Executor | None, threads: int | None
    ) -> None:
        self._work = work
        self._owned = executor is None
        self._task: Any = task
        self._stopping: tuple[Callable[[], bool], ...] = ()
        self._stop = Event()
        self.workers, self._least = threads or os.cpu_count() or 1, 1
        self._executor = ThreadPoolExecutor(self.workers) if executor is None else executor
        if isinstance(self._executor, ThreadPoolExecutor):
            self._stopping = (self._stop.is_set,)
        elif isinstance(self._executor, ClusterExecutor):
            self.workers, self._least = self._executor.workers, self._executor.least
            self._task, self._stopping = self._executor.shared(task), (is_unwanted,)
        self._pending: dict[Future[list[_Result]], int] = {}
        self._done: SimpleQueue[Future[list[_Result]]] = SimpleQueue()

    def __enter__(self) -> WorkerPool[_Task, _Item, _Result]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        for future in self._pending:
            future.cancel()
        if self._owned:
            self._executor.shutdown(cancel_futures=True)

    def batches(self, items: Sequence[_Item], most: int) -> list[Sequence[_Item]]:
        """Return items in batches of about equal size: at most about ``most``, at least the minimum of a cluster."""
        size = max(self._least, min(most, -(-len(items) // (BATCHES_PER_WORKER * self.workers))))
        many = max(1, len(items) // size)
        ends = [len(items) * number // many for number in range(many + 1)]
        return [items[start:end] for start, end in pairwise(ends)]

    def map(self, batches: Iterable[Sequence[_Item]]) -> Iterator[list[_Result]]:
        """Submit all batches, and yield the results of each in their order, as soon as all earlier ones are done."""
        for number, batch in enumerate(batches):
            self._submit(batch, number)
        early: dict[int, list[_Result]] = {}
        due = 0
        while self._pending:
            future = self._done.get()
            early[self._pending.pop(future)] = future.result()
            while due in early:
                yield early.pop(due)
                due += 1

    def _submit(self, batch: Sequence[_Item], number: int) -> None:
        future = self._executor.submit(self._work, self._task, batch, *self._stopping)
        self._pending[future] = number
        future.add_done_callback(self._done.put)
