"""Thresholds chosen by the packet-level model: the search, the choice, and a comparison with presets.

Headroom by kind of port comes first: the need of ports at the worst reaction time of a peer, against their configured
size. DCQCN parameters can be searched too: those that set how fast senders slow down and recover. Of the best
settings the one is chosen that small changes harm least and that raises no objection; its robustness is that of its
results with slightly different thresholds, or another buffer.
"""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import (
    DYNAMIC_TH,
    LARGEST_THRESHOLD,
    alpha,
    group_threshold_bytes,
    published_range,
)
from lossless.analysis.buffers.headroom.port import given_headroom
from lossless.analysis.simulation.question.nodes import reaction_ns
from lossless.analysis.simulation.question.ports import need_of, profile_of
from lossless.analysis.simulation.question.request import QUEUEING_DELAY_US, TuneProgress
from lossless.analysis.simulation.study.advice import unbounded
from lossless.analysis.simulation.study.grid import PortKind, ThresholdSetting, TrialSetting
from lossless.analysis.simulation.study.study import require_events, seeds_of, study
from lossless.analysis.simulation.study.sweep import WorkerPool
from lossless.analysis.simulation.tune.kpis import (
    LEAST_GAIN,
    Attempt,
    Case,
    Effect,
    Kpis,
    SeedFigures,
    Tried,
    TuneTask,
    case_of,
    effects,
    front,
    gain_of,
    kpis,
    seed_figures,
    try_all,
)
from lossless.analysis.simulation.tune.space import (
    KIB,
    Axis,
    OutOfRange,
    SearchSpace,
    ThresholdSearch,
    TriedSetting,
    first_grid,
    outside_published,
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
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from lossless.analysis.simulation.question.request import Limits
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.tune.space import PortThresholds
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import View
    from lossless.model.hardware.devices import NicProfile


def raised_headroom(view: View, scenarios: Iterable[Scenario], limits: Limits) -> dict[PortKind, int]:
    """Return the headroom need in bytes of each kind of port that has less; empty if all have enough.

    Enough is the need of the link by closed form, and the use of a port in any run with unlimited headroom, plus a
    frame: in runs every peer takes as long to obey PFC as IEEE 802.3 allows.
    """
    needed: dict[PortKind, int] = {}
    given: dict[PortKind, int] = {}
    for scenario in scenarios:
        for kind, switch, port in _ports(scenario):
            given.setdefault(kind, _given(scenario, switch, port))
            need = need_of(switch, port)
            needed[kind] = max(needed.get(kind, 0), 0 if need is None else need.headroom_bytes)
        for kind, used_bytes in _used(view, scenario, limits):
            needed[kind] = max(needed.get(kind, 0), used_bytes + scenario.frame_bytes)
    return {kind: -(-size // KIB) * KIB for kind, size in needed.items() if size > given.get(kind, size)}


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


def _given(scenario: Scenario, switch: Switch, port: Port) -> int:
    """Return the headroom of a port's priority group of the first class, 0 if it has none or it is unknown."""
    profile = profile_of(switch, port, scenario.classes[0])
    return 0 if profile is None or isinstance(profile, MissingInput) else given_headroom(switch, profile)


def _used(view: View, scenario: Scenario, limits: Limits) -> Iterator[tuple[PortKind, int]]:
    """Yield the headroom in bytes that ports used in runs with unlimited headroom, each with the kind of the port."""
    for seed in study(unbounded(scenario), limits).seeds:
        for use in seed.uses:
            port = None if use.place.port is None else view.port(use.place.switch, use.place.port)
            if port is not None and port.speed_bps is not None:
                switch = view.switch_by_name[use.place.switch]
                yield _kind(switch, port.speed_bps), use.used_bytes


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


BUFFERS = {"buffer -10 %": 0.9, "buffer +10 %": 1.1}
"""The sizes of buffer pools, as parts of those configured, with which a setting is tried too, by name of the change."""

MOST_CHANGES = 8 + len(BUFFERS) + 1
"""The most small changes of a setting: of thresholds, of the buffer, and other seeds."""


class Nearby(NamedTuple):
    """The key figures of a setting after a small change, such as ``Kmin -10 %``."""

    change: str
    kpis: Kpis


def with_buffer(scenario: Scenario, part: float) -> Scenario:
    """Return a scenario whose switches have a part of their buffer pools; the chip's size and headroom stay."""
    switches = {
        key: switch._replace(
            pool_bytes=round(switch.pool_bytes * part),
            other_pools=tuple(round(size * part) for size in switch.other_pools),
        )
        for key, switch in scenario.switches.items()
    }
    return scenario._replace(switches=switches)


def nearby(setting: TrialSetting) -> Iterator[tuple[str, TrialSetting]]:
    """Yield small changes of the thresholds at all ports, each with its name; without those that change nothing."""
    changes: tuple[tuple[str, Callable[[ThresholdSetting], ThresholdSetting]], ...] = (
        ("dynamic_th -1", lambda own: _alpha(own, -1)),
        ("dynamic_th +1", lambda own: _alpha(own, 1)),
        ("Kmin -10 %", lambda own: own._replace(kmin_bytes=_part(own.kmin_bytes, 0.9))),
        ("Kmin +10 %", lambda own: _in_order(own._replace(kmin_bytes=_part(own.kmin_bytes, 1.1)))),
        ("Kmax -10 %", lambda own: _in_order(own._replace(kmax_bytes=_part(own.kmax_bytes, 0.9)))),
        ("Kmax +10 %", lambda own: own._replace(kmax_bytes=_part(own.kmax_bytes, 1.1))),
        ("Pmax a step lower", lambda own: own._replace(pmax_percent=_percent(own.pmax_percent, 0.9))),
        ("Pmax a step higher", lambda own: own._replace(pmax_percent=_percent(own.pmax_percent, 1.1))),
    )
    for name, change in changes:
        changed = setting._replace(by_kind=tuple((kind, change(own)) for kind, own in setting.by_kind))
        if changed != setting:
            yield name, changed


def _alpha(own: ThresholdSetting, step: int) -> ThresholdSetting:
    if own.dynamic_th is None:
        return own
    return own._replace(dynamic_th=min(max(own.dynamic_th + step, DYNAMIC_TH[0]), DYNAMIC_TH[-1]))


def _part(size_bytes: int | None, part: float) -> int | None:
    return None if size_bytes is None else max(1, round(size_bytes * part / KIB)) * KIB


def _percent(percent: int | None, part: float) -> int | None:
    """Return Pmax a step lower or higher, 1 to 100; a step is ``part`` less or more than 1, and at least 1 percent."""
    if percent is None:
        return None
    step = max(1, round(percent * abs(part - 1)))
    return min(100, max(1, percent + (step if part > 1 else -step)))


def _in_order(own: ThresholdSetting) -> ThresholdSetting:
    """Return the thresholds with Kmin lowered to Kmax where it is above it."""
    if own.kmin_bytes is None or own.kmax_bytes is None:
        return own
    return own._replace(kmin_bytes=min(own.kmin_bytes, own.kmax_bytes))


MOST_CANDIDATES = 6
"""Settings of the front that are looked at more closely, the best first."""


class Rejected(NamedTuple):
    """A setting that was not chosen, and the objection to it."""

    setting: TrialSetting
    reason: str


class Reason(NamedTuple):
    """Why a parameter is changed, or stays as configured, at one kind of port; None: no value, as without ECN."""

    kind: PortKind
    parameter: str
    now: int | None
    chosen: int | None
    why: str


class Choice(NamedTuple):
    """The chosen setting, its results after small changes, and why each parameter has its value.

    ``place`` is its place in the front, from 1, None where it is not in the front. ``gain`` is the first figure that it
    improves against the configured setting, with seeds that the search has not used; None where it is that setting, or
    where only it is safe. ``outside`` are values beyond the published range, ``outside_gain`` what they gain against
    the best setting within it, None where that has none. ``rejected`` are settings that raised an objection.
    """

    row: TriedSetting
    near: tuple[Nearby, ...]
    place: int | None
    rejected: tuple[Rejected, ...]
    gain: Effect | None = None
    reasons: tuple[Reason, ...] = ()
    outside: tuple[OutOfRange, ...] = ()
    outside_gain: Effect | None = None

    @property
    def worst(self) -> Nearby:
        """The small change after which the setting ranks worst, with its key figures."""
        return max(self.near, key=lambda each: each.kpis.rank)

    @property
    def harm(self) -> tuple[int, ...]:
        """The rank of the setting after that change, or its own rank if that is worse."""
        return max(self.row.kpis.rank, self.worst.kpis.rank)


PARAMETERS = ("dynamic_th", "pmax_percent", "kmin_bytes", "kmax_bytes")
"""The searched thresholds, in the order in which they go back to what is configured: alpha is the vendor's."""


def reverted(
    setting: TrialSetting,
    now: Mapping[PortKind, PortThresholds],
    names: Sequence[str],
    kinds: Sequence[PortKind],
) -> TrialSetting:
    """Return a setting in which some parameters at some kinds of ports are those configured."""
    return setting._replace(
        by_kind=tuple(
            (kind, own._replace(**{name: getattr(now[kind].thresholds, name) for name in names}))
            if kind in kinds
            else (kind, own)
            for kind, own in setting.by_kind
        )
    )


def _near(
    setting: TrialSetting,
    run: Callable[[Sequence[Attempt]], Iterable[Tried]],
    cases: Sequence[Case],
    others: Mapping[str, int],
) -> Iterator[Nearby]:
    changes = [(name, Attempt(changed)) for name, changed in nearby(setting)]
    changes += [(name, Attempt(setting, variant)) for name, variant in others.items()]
    tried = run([attempt for _, attempt in changes])
    for (name, _), shown in zip(changes, tried, strict=True):
        yield Nearby(name, kpis(cases, shown))


_BATCH_EVENTS = 4_000_000
"""About how many events of trials a worker is sent at once, as in a sweep."""
_GRID_SHARE = 0.5
"""The part of all settings that thresholds alone are searched with, where DCQCN parameters are searched after them."""
_BEYOND_PUBLISHED = 2
"""How far above the published Kmax thresholds are searched, chosen for this tool."""
_KNOWN = 10
"""The number of best settings of the grid that the search over DCQCN parameters starts from."""

NOW = "now"
"""The step in which the configured setting is tried, so that nothing worse is ever chosen."""
OTHER_SEEDS = "other seeds"
"""The name of one small change: the same setting with seeds that the search has not used."""
_NEAR_LEAST = 1.1
"""How much longer than the shortest possible p99 queueing delay a proposal may have where nothing meets the bound."""
_CHECKED = 5
"""The most settings that dominate a preset in the search and are tried with fresh seeds too."""

Workloads = tuple[tuple[str, "Scenario"], ...]
"""Workloads by name, each as a scenario on the fabric."""


class TuneProblem(NamedTuple):
    """A tuning problem: the workloads on the fabric as it is, and on the fabric with the thresholds of each preset.

    ``with_dcqcn``: parameters of senders are searched too, ``with_steps``: Kmin may equal Kmax. ``acceptable`` returns
    an objection to a setting, such as a finding of lint, None if there is none. ``bound_us`` is the largest p99
    queueing delay that a proposal may have.
    """

    workloads: Workloads
    presets: tuple[tuple[str, Workloads], ...] = ()
    with_dcqcn: bool = False
    acceptable: Callable[[TrialSetting], str | None] = lambda _: None
    with_steps: bool = False
    bound_us: float = QUEUEING_DELAY_US


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
    """The margin of Kmax below T(1), the size of a single loaded group at XOFF, at one kind of port; None: unknown."""

    kind: PortKind
    xoff_bytes: int | None = None
    kmax_margin_bytes: int | None = None


class Tuned(NamedTuple):
    """The result of tuning the thresholds of one class.

    ``now`` are the thresholds of each kind of port as configured, ``axes`` those of the first grid, ``steps`` how many
    settings each step of the search tried. ``chosen`` is None if no setting is safe. ``fresh`` are its key figures with
    seeds that the search has not used. ``front`` is the Pareto front of everything tried, the best first. ``bound_us``
    is the largest p99 queueing delay that a proposal may have; ``declined`` is why what is configured stays, empty
    where another setting is proposed.
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
    bound_us: float = QUEUEING_DELAY_US
    declined: str = ""

    @property
    def margins(self) -> tuple[PortMargin, ...]:
        """The margin of the chosen setting at each kind of port; empty where none is chosen."""
        by_kind = () if self.chosen is None else self.chosen.row.setting.by_kind
        return tuple(_margin(kind, own, self.now[kind]) for kind, own in by_kind)

    def place_of(self, setting: TrialSetting) -> int | None:
        """Return the rank of a setting in the front, from 1; None where it is not in it."""
        return next((at for at, row in enumerate(self.front, 1) if row.setting == setting), None)


def _margin(kind: PortKind, own: ThresholdSetting, now: PortThresholds) -> PortMargin:
    exponent = now.thresholds.dynamic_th if own.dynamic_th is None else own.dynamic_th
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
    """Find the best thresholds of the first class of the workloads; the search tries at most ``evaluations`` settings.

    Raises:
        ScenarioError: the class has nothing to tune, or a setting of one workload takes more events than ``limits``.
        KeyboardInterrupt: running trials are stopped.
    """
    task = _task(problem, limits)
    with WorkerPool[TuneTask, Attempt, Tried](try_all, task, executor, limits.threads) as pool:
        return _Tuning(problem, task, pool, evaluations, progress or TuneProgress()).run()


def _task(problem: TuneProblem, limits: Limits) -> TuneTask:
    """Return the variants: the fabric as it is and with each preset, with two sets of seeds; then other buffers."""
    sides = [problem.workloads, *(workloads for _, workloads in problem.presets)]
    variants = [_cases(side, limits, fresh=fresh) for side in sides for fresh in (False, True)]
    for part in BUFFERS.values():
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


_IDLE = "kept: another value gains nothing beyond the noise of the seeds"


class _Seen(NamedTuple):
    """A setting with the seeds of the search, and with fresh ones; figures are those of each seed."""

    searched: Kpis
    fresh: Kpis
    searched_figures: tuple[SeedFigures, ...]
    fresh_figures: tuple[SeedFigures, ...]

    @property
    def figures(self) -> tuple[SeedFigures, ...]:
        """The figures under all seeds."""
        return self.searched_figures + self.fresh_figures

    @property
    def is_safe(self) -> bool:
        """Whether it is safe with all seeds."""
        return self.searched.verdict == self.fresh.verdict == "safe"


class _Chooser:
    """The choice of a proposal among everything that was tried.

    A proposal is safe, its p99 queueing delay is no longer than that of the configured setting and within the bound,
    it raises no objection, changes only what has an effect, gains enough in one figure to be worth a change, and loses
    in none. What trades one for another is in the front, for a person to decide.
    """

    def __init__(
        self,
        problem: TuneProblem,
        task: TuneTask,
        run: Callable[[Sequence[Attempt]], Iterable[Tried]],
        search: ThresholdSearch,
        others: Mapping[str, int],
    ) -> None:
        self._problem, self._task, self._run = problem, task, run
        self._search, self._others = search, others
        self._known: dict[TrialSetting, _Seen] = {}
        self._rejected: list[Rejected] = []
        self._now = setting_now(search.now)
        self._limits_us = self._allowed_us()

    def seen(self, setting: TrialSetting) -> _Seen:
        """Return what a setting shows with both sets of seeds."""
        if setting not in self._known:
            tried = [*self._run([Attempt(setting, at, whole=True) for at in (0, 1)])]
            cases = self._task.variants[:2]
            found = [kpis(case, shown) for case, shown in zip(cases, tried, strict=True)]
            figures = [seed_figures(case, shown) for case, shown in zip(cases, tried, strict=True)]
            self._known[setting] = _Seen(found[0], found[1], figures[0], figures[1])
        return self._known[setting]

    def _safe_rows(self) -> list[TriedSetting]:
        return [row for row in self._search.ranked() if row.kpis.verdict == "safe"]

    def _allowed_us(self) -> tuple[float, float]:
        """Return the longest p99 queueing delay with the seeds of the search, and with fresh ones.

        Safety comes before the bound: where what is configured is not safe, the shortest queues that are safe may be
        proposed although they exceed it.
        """
        now, bound_us = self.seen(self._now), self._problem.bound_us
        if now.is_safe:
            return min(bound_us, now.searched.queue_us), min(bound_us, now.fresh.queue_us)
        least_us = min((row.kpis.queue_us for row in self._safe_rows()), default=bound_us)
        return (max(bound_us, _NEAR_LEAST * least_us),) * 2

    def _permitted(self, setting: TrialSetting) -> bool:
        seen = self.seen(setting)
        short = seen.searched.queue_us <= self._limits_us[0] and seen.fresh.queue_us <= self._limits_us[1]
        return seen.is_safe and short

    def choice(self) -> tuple[Choice | None, str]:
        """Return the chosen setting, and why it is the configured one where it is."""
        now = self.seen(self._now)
        rows = [row for row in self._safe_rows() if self._may_be_proposed(row.kpis)]
        within = self._best([row for row in rows if not self._outside(row.setting)])
        found, outside_gain = within, None
        if rows and self._outside(rows[0].setting) and self._may_beat(within, rows[0].setting):
            beyond = self._best(rows)
            gain = None if within is None or beyond is None else self._gain(within, beyond)
            if within is None or (gain is not None and gain.low >= LEAST_GAIN):
                found, outside_gain = beyond, gain
        if found is None or found == self._now:
            return self._kept(self._nothing())
        gain = self._gain(self._now, found)
        if now.is_safe and gain is None:
            against = effects(now.fresh_figures, self.seen(found).fresh_figures)
            return self._kept(
                f"a change must gain {LEAST_GAIN:g} % beyond the noise of the seeds in one figure, and lose in none;"
                f" the best of those tried: {'; '.join(map(str, against[2:]))}"
            )
        return self._chosen(found, "reduced")._replace(
            gain=gain if now.is_safe else None,
            reasons=tuple(self._reasons(found)),
            outside=self._outside(found),
            outside_gain=outside_gain,
        ), ""

    def _kept(self, why: str) -> tuple[Choice | None, str]:
        """Return the configured setting as the choice, None where it is not safe."""
        if not self.seen(self._now).is_safe:
            return None, why
        reasons = (
            Reason(kind, name, getattr(own, name), getattr(own, name), f"kept: {why}")
            for kind, own in self._now.by_kind
            for name in PARAMETERS
        )
        return self._chosen(self._now, NOW)._replace(reasons=tuple(reasons)), why

    def _chosen(self, setting: TrialSetting, step: str) -> Choice:
        row = TriedSetting(setting, self.seen(setting).searched, step)
        near = tuple(_near(setting, self._run, self._task.variants[0], self._others))
        return Choice(row, near, None, tuple(self._rejected))

    def _nothing(self) -> str:
        """Return why no setting can be proposed."""
        now, bound_us = self.seen(self._now), self._problem.bound_us
        if any(row.kpis.queue_us <= self._limits_us[0] for row in self._safe_rows()):
            return "no other setting that was tried is better in something, worse in nothing, and safe with other seeds"
        least_us = min((row.kpis.queue_us for row in self._safe_rows()), default=None)
        if least_us is None:
            return "no setting that was tried is safe"
        if least_us > bound_us:
            return (
                f"no setting that was tried keeps the p99 queueing delay of every workload within {bound_us:g} us: the"
                f" least is {least_us:,.0f} us, now it is {now.searched.queue_us:,.0f} us"
            )
        return f"no setting that was tried keeps the p99 queueing delay at {now.searched.queue_us:,.0f} us or below"

    def _may_be_proposed(self, found: Kpis) -> bool:
        """Return whether a setting's queues are short enough, and with the search's seeds no figure is worse than now.

        What is safe may be worse in all else than what is not.
        """
        if found.queue_us > self._limits_us[0]:
            return False
        now = self.seen(self._now)
        return not now.is_safe or all(
            mine <= theirs + 1
            for mine, theirs in zip(found.objectives[1:3], now.searched.objectives[1:3], strict=True)
        )

    def _outside(self, setting: TrialSetting) -> tuple[OutOfRange, ...]:
        return outside_published(setting, self._search.now)

    def _may_beat(self, one: TrialSetting | None, other: TrialSetting) -> bool:
        """Return whether a setting gains against another with the seeds of the search."""
        if one is None:
            return True
        found = effects(self.seen(one).searched_figures, self.seen(other).searched_figures)
        return gain_of(found) is not None

    def _gain(self, one: TrialSetting, other: TrialSetting) -> Effect | None:
        return gain_of(effects(self.seen(one).fresh_figures, self.seen(other).fresh_figures))

    def _best(self, rows: Sequence[TriedSetting]) -> TrialSetting | None:
        """Return the acceptable setting of the front of some that small changes harm least, without idle changes."""
        best = front(rows, lambda row: row.kpis)[:MOST_CANDIDATES]
        found = [self._near_choice(row) for row in best if self._permitted(row.setting)]
        for choice in sorted(found, key=lambda choice: choice.harm):
            setting = self._reduced(choice.row.setting)
            reason = self._problem.acceptable(setting)
            if reason is None:
                return setting
            self._rejected.append(Rejected(setting, reason))
        return None

    def _near_choice(self, row: TriedSetting) -> Choice:
        near = tuple(_near(row.setting, self._run, self._task.variants[0], self._others))
        return Choice(row, near, None, ())

    def _reduced(self, setting: TrialSetting) -> TrialSetting:
        """Return a setting whose values go back to what is configured where no figure loses by that."""
        figures, left = self.seen(setting).figures, setting
        for shorter in self._reversions(setting):
            fewer = shorter(left)
            if fewer == left or not (fewer == self._now or self._search.fits(fewer)):
                continue
            harmed = any(effect.loses for effect in effects(figures, self.seen(fewer).figures))
            if self._permitted(fewer) and not harmed:
                left = fewer
        return left

    def _reversions(self, setting: TrialSetting) -> Iterator[Callable[[TrialSetting], TrialSetting]]:
        """Yield what takes parameters back: all of them, each everywhere, each kind's curve, each at each kind."""
        kinds, now = tuple(self._search.now), self._search.now
        groups = [(PARAMETERS, kinds), *(((name,), kinds) for name in PARAMETERS)]
        groups += [(PARAMETERS[1:], kinds), *((PARAMETERS[1:], (kind,)) for kind in kinds)]
        groups += [((name,), (kind,)) for name in PARAMETERS for kind in kinds]
        for name, _ in setting.dcqcn:
            yield partial(_without_dcqcn, name)
        for names, at in groups:
            yield partial(reverted, now=now, names=names, kinds=at)

    def _reasons(self, setting: TrialSetting) -> Iterator[Reason]:
        """Yield why each parameter has its value: the effect of taking it back alone."""
        figures, now = self.seen(setting).figures, self._search.now
        for name in PARAMETERS:
            changed = [
                kind
                for kind, own in setting.by_kind
                if getattr(own, name) != getattr(now[kind].thresholds, name)
            ]
            without = reverted(setting, now, (name,), changed)
            if not changed:
                why = _IDLE
            elif not (without == self._now or self._search.fits(without)):
                why = "follows the rest of the curve: with the configured value it would not fit"
            else:
                losses = effects(figures, self.seen(without).figures)
                worst = next((effect for effect in losses if effect.loses), None)
                why = (
                    f"without it: {worst}"
                    if worst is not None
                    else f"without it the p99 queueing delay is {self.seen(without).searched.queue_us:,.1f} us"
                )
            for kind, own in setting.by_kind:
                was = getattr(now[kind].thresholds, name)
                yield Reason(kind, name, was, getattr(own, name), why if kind in changed else _IDLE)


def _without_dcqcn(name: str, setting: TrialSetting) -> TrialSetting:
    """Return a setting in which senders have their own value of a parameter."""
    return setting._replace(dcqcn=tuple(each for each in setting.dcqcn if each[0] != name))


class _Tuning:
    """One tuning under way: its workers, its counts of settings and events, and the current thresholds."""

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
        """Search settings, choose the best robust one, and compare it with each preset."""
        unmarked = self._probe()
        axes = self._axes(unmarked)
        search = ThresholdSearch(
            self._counted, self._cases, self._now, self._evaluations, steps=self._problem.with_steps
        )
        search.attempt([setting_now(self._now)], NOW)
        grid = self._search(search, axes)
        ranked = search.ranked()
        first_buffer = len(self._task.variants) - len(BUFFERS)
        others = {OTHER_SEEDS: 1, **{name: first_buffer + at for at, name in enumerate(BUFFERS)}}
        best = front(ranked, lambda row: row.kpis)
        chooser = _Chooser(self._problem, self._task, self._run, search, others)
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
        """Return the axes of the curve, between the bytes in flight and the deepest queue without marks.

        Alpha is no axis: it is tried at the best curve, as it changes nothing where PFC stays silent.
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
        """Return the comparison of the chosen setting with the configured one and each preset."""
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
