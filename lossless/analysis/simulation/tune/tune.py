"""Thresholds chosen by the packet-level model: the search, the choice, and a comparison with presets.

Headroom by kind of port comes first: the need of ports at the worst reaction time of a peer, against their configured
size. DCQCN parameters can be searched too: those that set how fast senders slow down and recover.
"""

from __future__ import annotations

import uuid
from itertools import chain
from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import (
    LARGEST_THRESHOLD,
    alpha,
    group_threshold_bytes,
    published_range,
)
from lossless.analysis.buffers.headroom.port import given_headroom
from lossless.analysis.simulation.question.nodes import reaction_ns
from lossless.analysis.simulation.question.ports import need_of, profile_of
from lossless.analysis.simulation.question.request import TuneProgress
from lossless.analysis.simulation.study.advice import unbounded
from lossless.analysis.simulation.study.grid import PortKind, ThresholdSetting, TrialSetting
from lossless.analysis.simulation.study.study import require_events, seeds_of, study
from lossless.analysis.simulation.study.sweep import WorkerPool
from lossless.analysis.simulation.tune.choose import (
    BUFFERS,
    MOST_CANDIDATES,
    MOST_CHANGES,
    NOW,
    SHARED_POOL,
    Choice,
    Chooser,
    TuneProblem,
    Workloads,
    with_buffer,
)
from lossless.analysis.simulation.tune.kpis import (
    Attempt,
    Case,
    Kpis,
    Tried,
    TuneTask,
    case_of,
    front,
    kpis,
    try_all,
)
from lossless.analysis.simulation.tune.space import (
    KIB,
    Axis,
    SearchSpace,
    ThresholdSearch,
    TriedSetting,
    first_grid,
    search_alpha,
    search_by_kind,
    search_grid,
    search_optuna,
    setting_now,
    threshold_axes,
    thresholds_now,
)
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import role_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from lossless.analysis.simulation.question.request import Limits
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.tune.space import PortThresholds
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import View
    from lossless.model.hardware.devices import NicProfile


def raised_headroom(view: View, scenarios: Iterable[Scenario], limits: Limits) -> dict[PortKind, int]:
    """Return the headroom need in bytes of each kind of port of which some have less; empty if all have enough.

    Enough is the need of a port's link by closed form, and its use in any run with unlimited headroom, plus a frame: in
    runs every peer takes as long to obey PFC as IEEE 802.3 allows. Each port is compared with its own headroom, as
    cables, profiles and exceptions of one kind may differ; the need of a kind is the most that any port of it needs.
    """
    needed: dict[PortKind, int] = {}
    short: set[PortKind] = set()
    for scenario in scenarios:
        links = ((*each, _need(*each[1:])) for each in _ports(scenario))
        for kind, switch, port, need_bytes in chain(links, _used(view, scenario, limits)):
            needed[kind] = max(needed.get(kind, 0), need_bytes)
            if need_bytes > _given(scenario, switch, port):
                short.add(kind)
    return {kind: -(-size // KIB) * KIB for kind, size in needed.items() if kind in short}


def _ports(scenario: Scenario) -> Iterator[tuple[PortKind, Switch, Port]]:
    """Yield the switch ports of a scenario's links, each with its kind and its switch."""
    topology = scenario.topology
    for wire in topology.wires:
        for node, port in ((wire.a, wire.a_port), (wire.b, wire.b_port)):
            switch = topology.switch_of.get(node)
            if switch is not None and port is not None and scenario.end(node, port) is not None:
                yield _kind(switch, wire.rate_bps), switch, port


def _kind(switch: Switch, rate_bps: float) -> PortKind:
    return PortKind(role_word(switch.device_type, switch.tier), rate_bps)


def _need(switch: Switch, port: Port) -> int:
    """Return the headroom that the link of a port needs by closed form, 0 if that is unknown."""
    need = need_of(switch, port)
    return 0 if need is None else need.headroom_bytes


def _given(scenario: Scenario, switch: Switch, port: Port) -> int:
    """Return the headroom of a port's priority group of the first class, 0 if it has none or it is unknown."""
    profile = profile_of(switch, port, scenario.classes[0])
    return 0 if profile is None or isinstance(profile, MissingInput) else given_headroom(switch, profile)


def _used(view: View, scenario: Scenario, limits: Limits) -> Iterator[tuple[PortKind, Switch, Port, int]]:
    """Yield the ports that used headroom in runs without its limits: kind, switch, port, bytes used plus a frame."""
    for seed in study(unbounded(scenario), limits).seeds:
        for use in seed.uses:
            port = None if use.place.port is None else view.port(use.place.switch, use.place.port)
            if port is not None and port.speed_bps is not None:
                switch = view.switch_by_name[use.place.switch]
                yield _kind(switch, port.speed_bps), switch, port, use.used_bytes + scenario.frame_bytes


SEARCHED = (
    "rpg_ai_rate",
    "rpg_hai_rate",
    "rpg_time_reset",
    "rate_reduce_monitor_period",
    "min_time_between_cnps",
    "dce_tcp_g",
)
"""The DCQCN parameters that are searched, by ConnectX's names, lower case. Their meaning: Zhu et al., SIGCOMM 2015,
section 3."""
_DOWN, _UP = 16, 64
"""Factors of the search range below and above the current value of a DCQCN parameter, chosen for this tool."""
_G_LEAST = 896
"""The least DCE_TCP_G that is searched, in 1/1024: a CNP then weighs an eighth in alpha."""


def dcqcn_axes(scenario: Scenario) -> tuple[Axis, ...]:
    """Return the axes of DCQCN parameters, each with its value at the first sender with DCQCN; empty without one."""
    for nic in scenario.nics:
        host = scenario.topology.host_of[nic]
        if host is not None and host.nic is not None and scenario.dcqcn_of.get(nic) is not None:
            return tuple(_axes(host.nic, dict(host.dcqcn.values)))
    return ()


def _axes(nic: NicProfile, values: dict[str, int]) -> Iterator[Axis]:
    for name in SEARCHED:
        parameter = nic.dcqcn[name.upper()]
        low = 0 if parameter.minimum is None else parameter.minimum
        high = values[name] * _UP if parameter.maximum is None else parameter.maximum
        if name == "dce_tcp_g":
            yield Axis(name, (values[name],), min(max(low, _G_LEAST), values[name]), high)
        else:
            own = max(1, values[name])
            least, most = max(low, own // _DOWN, 1), min(high, own * _UP)
            yield Axis(name, (own,), least, most, geometric=True)


_BATCH_EVENTS = 4_000_000
"""About how many events of trials a worker is sent at once, as in a sweep."""
_GRID_SHARE = 0.5
"""The part of all settings that thresholds alone are searched with, where DCQCN parameters are searched after them."""
_BEYOND_PUBLISHED = 2
"""How far above the published Kmax thresholds are searched, chosen for this tool."""
_KNOWN = 10
"""The number of best settings of the grid that the search over DCQCN parameters starts from."""

OTHER_SEEDS = "other seeds"
"""The name of one small change: the same setting with seeds that the search has not used."""
_CHECKED = 5
"""The most settings that dominate a preset in the search and are tried with fresh seeds too."""


class Standing(NamedTuple):
    """A preset, or the configured setting (``now``), compared with the chosen setting.

    ``fresh`` are its key figures with seeds that the search has not used, ``searched`` those with the seeds of the
    search. ``dominated``: the chosen setting is no worse in any figure and better in one, with both sets of seeds.
    ``beaten`` counts the settings that dominate the preset in the search; ``beaten_by`` is the best of the first five
    that does so with fresh seeds too, or None.
    """

    name: str
    fresh: Kpis
    searched: Kpis
    dominated: bool
    beaten: int
    beaten_by: TriedSetting | None


class PortMargin(NamedTuple):
    """The margin of Kmax below T(1), the size of a single loaded group at XOFF, at a kind of port; None without one."""

    kind: PortKind
    xoff_bytes: int | None = None
    kmax_margin_bytes: int | None = None


class Tuned(NamedTuple):
    """The result of tuning the thresholds of one class.

    ``now`` are the thresholds of each kind of port as configured, ``axes`` those of the first grid, ``steps`` how many
    settings each step of the search tried. ``chosen`` is None if the configured setting is not safe, and no other one
    can be proposed. ``fresh`` are its key figures with seeds that the search has not used. ``front`` is the Pareto
    front of everything tried, the best first. ``bound_us`` is the largest p99 queueing delay that the intent permits,
    None where it states none; ``declined`` is why no other setting than the configured one is proposed, empty where one
    is.
    """

    class_name: str
    now: Mapping[PortKind, PortThresholds]
    axes: tuple[Axis, ...]
    steps: Mapping[str, int]
    rows: tuple[TriedSetting, ...]
    chosen: Choice | None
    fresh: Kpis | None
    front: tuple[TriedSetting, ...]
    standings: tuple[Standing, ...]
    seeds: int
    events: int
    assumed: tuple[str, ...]
    bound_us: float | None = None
    declined: str = ""

    @property
    def margins(self) -> tuple[PortMargin, ...]:
        """The margin of the chosen setting at each kind of port; empty where none is chosen."""
        by_kind = () if self.chosen is None else self.chosen.row.setting.by_kind
        return tuple(_margin(kind, own, self.now[kind]) for kind, own in by_kind)

    def place_of(self, setting: TrialSetting) -> int | None:
        """Return the rank of a setting in the front, from 1; None where it is not in the front."""
        return next((at for at, row in enumerate(self.front, 1) if row.setting == setting), None)


def _margin(kind: PortKind, own: ThresholdSetting, now: PortThresholds) -> PortMargin:
    exponent = now.least_dynamic_th if own.dynamic_th is None else own.dynamic_th
    if exponent is None or own.kmax_bytes is None:
        return PortMargin(kind)
    xoff_bytes = round(group_threshold_bytes(alpha(exponent), now.pool_bytes, 1))
    return PortMargin(kind, xoff_bytes, xoff_bytes - own.kmax_bytes)


def tune(
    problem: TuneProblem,
    evaluations: int,
    limits: Limits,
    executor: Executor | None = None,
    progress: TuneProgress | None = None,
) -> Tuned:
    """Return the result of tuning the first class of the workloads; at most ``evaluations`` settings are searched.

    Raises:
        ScenarioError: the class has nothing to tune, or a setting of one workload takes more events than ``limits``.
        KeyboardInterrupt: running trials are stopped, but for those in processes of ``executor``.
    """
    task = _task(problem, limits)
    with WorkerPool[TuneTask, Attempt, Tried](try_all, task, executor, limits.threads) as pool:
        return _Tuning(problem, task, pool, evaluations, progress or TuneProgress()).run()


def _task(problem: TuneProblem, limits: Limits) -> TuneTask:
    """Return the variants: the fabric as it is and with each preset, with two sets of seeds; then other buffers.

    The last one has the buffer that is left where other queues hold most of it.
    """
    sides = [problem.workloads, *(workloads for _, workloads in problem.presets)]
    variants = [_cases(side, limits, fresh=fresh) for side in sides for fresh in (False, True)]
    for part in (*BUFFERS.values(), SHARED_POOL):
        changed = tuple((name, with_buffer(scenario, part)) for name, scenario in problem.workloads)
        variants.append(_cases(changed, limits, fresh=False))
    return TuneTask(uuid.uuid4().hex, tuple(variants))


def _cases(workloads: Workloads, limits: Limits, *, fresh: bool) -> tuple[Case, ...]:
    cases = []
    for name, scenario in workloads:
        seeds = seeds_of(scenario, limits)
        # Where nothing is random there is one seed, and no other shows anything else.
        shift = len(seeds) if fresh and len(seeds) > 1 else 0
        case = case_of(name, scenario, (seed + shift for seed in seeds))
        require_events(case.stages[0][1].network, case.horizon_ns, limits._replace(seeds=len(seeds)))
        cases.append(case)
    return tuple(cases)


class _Tuning:
    """One tuning under way: its workers, its counts of settings and events, and the configured thresholds."""

    def __init__(
        self,
        problem: TuneProblem,
        task: TuneTask,
        pool: WorkerPool[TuneTask, Attempt, Tried],
        evaluations: int,
        progress: TuneProgress,
    ) -> None:
        self._problem, self._task, self._pool = problem, task, pool
        self._evaluations, self._progress = evaluations, progress
        self._cases = task.variants[0]
        self._now = thresholds_now(self._cases)
        self._kinds = tuple(self._now)
        self._batch, self._events, self._done = 1, 0, 0

    def run(self) -> Tuned:
        """Return the settings that were tried, the best robust one of them, and its comparison with each preset."""
        unmarked = self._probe()
        axes = self._axes(unmarked)
        search = ThresholdSearch(
            self._counted, self._cases, self._now, self._evaluations, steps=self._problem.with_steps
        )
        search.attempt([setting_now(self._now)], NOW)
        grid = self._search(search, axes)
        ranked = search.ranked()
        first_buffer = len(self._task.variants) - len(BUFFERS) - 1
        others = {OTHER_SEEDS: 1, **{name: first_buffer + at for at, name in enumerate(BUFFERS)}}
        best = front(ranked, lambda row: row.kpis)
        chooser = Chooser(self._problem, self._task, self._run, search, others)
        chosen, declined = chooser.choice()
        steps: dict[str, int] = {}
        for row in search.rows:
            steps[row.step] = steps.get(row.step, 0) + 1
        first = self._problem.workloads[0][1]
        tuned = Tuned(
            class_name=first.classes[0].name,
            now=self._now,
            axes=grid.axes,
            steps=steps,
            rows=search.rows,
            chosen=None,
            fresh=None if chosen is None else chooser.seen(chosen.row.setting).fresh,
            front=best,
            standings=(),
            seeds=max(len(case.stages) for case in self._cases),
            events=self._events,
            assumed=tuple(dict.fromkeys(self._assumed())),
            bound_us=self._problem.bound_us,
            declined=declined,
        )
        if chosen is not None:
            chosen = chosen._replace(place=tuned.place_of(chosen.row.setting))
        return tuned._replace(chosen=chosen, standings=self._compared(ranked, chosen, tuned.fresh))

    def _run(self, attempts: Sequence[Attempt]) -> Iterator[Tried]:
        for batch in self._pool.map(self._pool.batches(attempts, self._batch)) if attempts else ():
            for tried in batch:
                self._events += sum(trial.events for trials in tried for trial in trials)
                yield tried

    def _counted(self, attempts: Sequence[Attempt]) -> Iterator[Tried]:
        for tried in self._run(attempts):
            self._done += 1
            self._progress.done(self._done, self._evaluations)
            yield tried

    def _probe(self) -> Tried:
        """Try the fabric as it is, and with marking off; return the results without marking."""
        self._progress.measured(None, self._pool.workers)
        list(self._run([Attempt(whole=True)]))
        others = len(self._problem.presets) * (2 + _CHECKED) + (MOST_CANDIDATES + 1) * MOST_CHANGES
        self._progress.measured(self._evaluations + others, self._pool.workers)
        self._batch = max(1, _BATCH_EVENTS // max(1, self._events))
        never = ThresholdSetting(None, LARGEST_THRESHOLD, LARGEST_THRESHOLD, 1)
        return next(self._run([Attempt(TrialSetting(never), whole=True)]))

    def _axes(self, unmarked: Tried) -> tuple[Axis, ...]:
        """Return the axes of the first grid: those of the ECN curve, or only that of alpha if no sender has DCQCN.

        The curve ranges from the most bytes in flight up to at most the deepest queue without marks. Beside a curve,
        alpha is tried later: it changes nothing where PFC stays silent.

        Raises:
            ScenarioError: nothing can be tuned.
        """
        slowest, fastest = self._kinds[0].rate_bps, self._kinds[-1].rate_bps
        least = round(reaction_ns(round(slowest)) * slowest / 8e9)
        deepest = max(trial.egress_bytes for trials in unmarked for trial in trials)
        most = min(
            deepest,
            max(own.pool_bytes for own in self._now.values()),
            round(LARGEST_THRESHOLD * slowest / fastest),
            _BEYOND_PUBLISHED * published_range(slowest).kmax_bytes[1],
        )
        marks = any(scenario.dcqcn is not None for _, scenario in self._problem.workloads)
        axes = threshold_axes(
            dynamic=not marks and all(own.thresholds.dynamic_th is not None for own in self._now.values()),
            least_bytes=-(-least // KIB) * KIB,
            most_bytes=most // KIB * KIB if marks else 0,
        )
        if not axes:
            raise ScenarioError(
                "nothing can be tuned: lossless groups have a static threshold, and no queue grows deep enough for"
                " marks to change anything"
            )
        return axes

    def _search(self, search: ThresholdSearch, axes: tuple[Axis, ...]) -> SearchSpace:
        """Search thresholds, then DCQCN parameters with them if requested; return the first grid."""
        extra = dcqcn_axes(self._problem.workloads[0][1]) if self._problem.with_dcqcn else ()
        every = search.left
        if extra:
            search.left = round(every * _GRID_SHARE)
        alphas = {kind: own.thresholds.dynamic_th for kind, own in self._now.items()}
        grid = first_grid(search, SearchSpace(self._kinds, axes, alphas))
        points = search_grid(search, grid)
        search_alpha(search)
        search_by_kind(search, self._kinds)
        if extra:
            search.left += every - round(every * _GRID_SHARE)
            ranked = (points[row.setting] for row in search.ranked() if row.setting in points)
            own = tuple(axis.values[0] for axis in extra)
            known = [(*point, *own) for point, _ in zip(ranked, range(_KNOWN), strict=False)]
            search_optuna(search, SearchSpace(self._kinds, (*axes, *extra), alphas), known)
        return grid

    def _compared(
        self, ranked: Sequence[TriedSetting], chosen: Choice | None, fresh: Kpis | None
    ) -> tuple[Standing, ...]:
        """Return the comparison of the chosen setting with each preset; the configured one may be among these."""
        names = [name for name, _ in self._problem.presets]
        shown = self._shown([Attempt(variant=at, whole=True) for at in range(2, 2 + 2 * len(names))])
        best = None if chosen is None else chosen.row.kpis
        return tuple(
            self._standing(name, searched, other, ranked)._replace(
                dominated=best is not None
                and fresh is not None
                and best.dominates(searched)
                and fresh.dominates(other)
            )
            for name, searched, other in zip(names, shown[::2], shown[1::2], strict=True)
        )

    def _standing(self, name: str, searched: Kpis, fresh: Kpis, ranked: Sequence[TriedSetting]) -> Standing:
        beating = [row for row in ranked if row.kpis.dominates(searched)]
        again = self._shown([Attempt(row.setting, 1, whole=True) for row in beating[:_CHECKED]])
        by = next((row for row, seen in zip(beating, again, strict=False) if seen.dominates(fresh)), None)
        return Standing(name, fresh, searched, False, len(beating), by)

    def _shown(self, attempts: Sequence[Attempt]) -> list[Kpis]:
        tried = zip(attempts, self._run(attempts), strict=True)
        return [kpis(self._task.variants[attempt.variant], shown) for attempt, shown in tried]

    def _assumed(self) -> Iterator[str]:
        for _, scenario in self._problem.workloads:
            yield from scenario.assumed
        yield "ports of one role and speed have the same thresholds"
