"""The choice of a proposal among tried thresholds, with small changes around it and a reason for each parameter.

Of the best settings the one is chosen that small changes harm least and that raises no objection; its robustness is
that of its results with slightly different thresholds, or another buffer.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import DYNAMIC_TH
from lossless.analysis.buffers.verdict import BUFFER_VERDICTS
from lossless.analysis.simulation.study.grid import PortKind, ThresholdSetting, TrialSetting
from lossless.analysis.simulation.tune.kpis import (
    LEAST_GAIN,
    Attempt,
    Case,
    Effect,
    Kpis,
    SeedFigures,
    Tried,
    TuneTask,
    effects,
    figures_of_each,
    front,
    gain_of,
    kpis,
    seed_figures,
)
from lossless.analysis.simulation.tune.space import (
    KIB,
    PARAMETERS,
    OutOfRange,
    ThresholdSearch,
    TriedSetting,
    outside_published,
    setting_now,
)
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.buffers.verdict import BufferVerdict
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.tune.space import PortThresholds


BUFFERS = {"buffer -10 %": 0.9, "buffer +10 %": 1.1}
"""The sizes of buffer pools, as parts of those configured, with which a setting is tried too, by name of the change."""


SHARED_POOL = 0.25
"""The part of each buffer pool with which a proposal must lose nothing either, as other queues may hold the rest: a
convention of this project. Six other groups that are loaded as much hold three quarters at alpha 1: T(7) is B / 8.
Without it deep thresholds win wherever one incast alone fits the buffer."""


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
    """Return Pmax times ``part`` in percent, changed by at least 1, within 1 to 100; None without a Pmax."""
    if percent is None:
        return None
    step = max(1, round(percent * abs(part - 1)))
    return min(100, max(1, percent + (step if part > 1 else -step)))


def _in_order(own: ThresholdSetting) -> ThresholdSetting:
    """Return the thresholds with Kmin lowered to Kmax where Kmin is above Kmax."""
    if own.kmin_bytes is None or own.kmax_bytes is None:
        return own
    return own._replace(kmin_bytes=min(own.kmin_bytes, own.kmax_bytes))


MOST_CANDIDATES = 6
"""Settings of the front that improve the configured one and are looked at more closely, the best first."""


class Rejected(NamedTuple):
    """A setting that was not chosen, and the objection to it."""

    setting: TrialSetting
    reason: str


class Reason(NamedTuple):
    """The reason why a parameter is changed or kept at one kind of port.

    ``now`` and ``chosen`` are None where the parameter has no value, as without ECN.
    """

    kind: PortKind
    parameter: str
    now: int | None
    chosen: int | None
    why: str


class Choice(NamedTuple):
    """The chosen setting, its results after small changes, and why each parameter has its value.

    ``place`` is its place in the front, from 1, None where it is not in the front. ``gain`` is the first figure that it
    improves against the configured setting, with seeds that the search has not used; None if the choice is that
    setting, or if that setting is not safe. ``outside`` are values beyond the published range, ``outside_gain`` their
    gain against the best setting within that range, None without such values or such a setting. ``rejected`` are
    settings that raised an objection.
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


NOW = "now"
"""The step in which the configured setting is tried."""


_NEAR_LEAST = 1.1
"""How much longer than the shortest p99 queueing delay that is safe a proposal may have where the configured setting is
not safe, and none within the bound is."""


Workloads = tuple[tuple[str, "Scenario"], ...]
"""Workloads by name, each as a scenario on the fabric."""


class TuneProblem(NamedTuple):
    """A tuning problem: the workloads on the fabric as it is, and on the fabric with the thresholds of each preset.

    ``with_dcqcn``: parameters of senders are searched too, ``with_steps``: Kmin may equal Kmax. ``acceptable`` returns
    an objection to a setting, such as a finding of lint, None if there is none. ``bound_us`` is the largest p99
    queueing delay that the intent permits, None where it states none.
    """

    workloads: Workloads
    presets: tuple[tuple[str, Workloads], ...] = ()
    with_dcqcn: bool = False
    acceptable: Callable[[TrialSetting], str | None] = lambda _: None
    with_steps: bool = False
    bound_us: float | None = None


_IDLE = "kept: the proposal needs no other value"


class _Seen(NamedTuple):
    """The results of a setting with the seeds of the search, and with fresh ones; figures are those of each seed.

    ``fresh_by_workload`` are those of each workload by itself.
    """

    searched: Kpis
    fresh: Kpis
    searched_figures: tuple[SeedFigures, ...]
    fresh_figures: tuple[SeedFigures, ...]
    fresh_by_workload: Mapping[str, tuple[SeedFigures, ...]]

    @property
    def figures(self) -> tuple[SeedFigures, ...]:
        """The figures under all seeds."""
        return self.searched_figures + self.fresh_figures

    @property
    def is_safe(self) -> bool:
        """Whether the setting is safe with all seeds."""
        return self.searched.verdict == self.fresh.verdict == "safe"


class Chooser:
    """The choice of a proposal among everything that was tried.

    A proposal is safe, raises no objection, and changes only parameters with an effect. Where the configured setting is
    safe, a proposal has no longer p99 queueing delay than that setting, and keeps to the bound of the intent, if any;
    it gains enough in one figure to be worth a change, and loses in no figure and no workload, also where other queues
    hold most of the buffer. A setting that trades one figure for another is in the front, for a person to decide.
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
        self._with_shared_pool: dict[TrialSetting, tuple[BufferVerdict, tuple[SeedFigures, ...]]] = {}
        self._declined = ""
        self._now = setting_now(search.now)
        self._limits_us = self._allowed_us()

    def seen(self, setting: TrialSetting) -> _Seen:
        """Return the results of a setting with both sets of seeds."""
        if setting not in self._known:
            tried = [*self._run([Attempt(setting, at, whole=True) for at in (0, 1)])]
            cases = self._task.variants[:2]
            found = [kpis(case, shown) for case, shown in zip(cases, tried, strict=True)]
            figures = [seed_figures(case, shown) for case, shown in zip(cases, tried, strict=True)]
            each = figures_of_each(cases[1], tried[1])
            self._known[setting] = _Seen(found[0], found[1], figures[0], figures[1], each)
        return self._known[setting]

    def _safe_rows(self) -> list[TriedSetting]:
        return [row for row in self._search.ranked() if row.kpis.verdict == "safe"]

    def _allowed_us(self) -> tuple[float, float]:
        """Return the longest p99 queueing delay a proposal may have, with the seeds of the search and with fresh ones.

        That is no longer than now, and within the bound of the intent, if any. Safety comes first: where the configured
        setting is not safe, the shortest queues that are safe may be proposed although they exceed the bound.
        """
        now, bound_us = self.seen(self._now), self._problem.bound_us
        if now.is_safe:
            most_us = inf if bound_us is None else bound_us
            return min(most_us, now.searched.queue_us), min(most_us, now.fresh.queue_us)
        least_us = min((row.kpis.queue_us for row in self._safe_rows()), default=0.0)
        return (max(bound_us or 0.0, _NEAR_LEAST * least_us),) * 2

    def _permitted(self, setting: TrialSetting) -> bool:
        seen = self.seen(setting)
        short = seen.searched.queue_us <= self._limits_us[0] and seen.fresh.queue_us <= self._limits_us[1]
        return seen.is_safe and short

    def choice(self) -> tuple[Choice | None, str]:
        """Return the choice, and the reason why only the configured setting is proposed, empty if another one is.

        The choice is None where the configured setting is not safe, and no other one can be proposed.
        """
        rows = [row for row in self._safe_rows() if self._may_be_proposed(row.kpis)]
        within = self._best([row for row in rows if not self._outside(row.setting)])
        found, outside_gain = within, None
        if rows and self._outside(rows[0].setting) and self._may_beat(within, rows[0].setting):
            beyond = self._best([row for row in rows if self._outside(row.setting)])
            gain = None if within is None or beyond is None else self._gain(within, beyond)
            if within is None or (gain is not None and gain.low >= LEAST_GAIN):
                found, outside_gain = beyond, gain
        if found is None:
            return self._kept(self._nothing())
        return self._chosen(found, "reduced")._replace(
            gain=self._gain(self._now, found) if self.seen(self._now).is_safe else None,
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
        """Return the reason why no setting can be proposed."""
        now, bound_us = self.seen(self._now), self._problem.bound_us
        if self._declined:
            return (
                f"a change must gain {LEAST_GAIN:g} % beyond the noise of the seeds in one figure, and lose in none,"
                f" in no workload and not with {SHARED_POOL:.0%} of the buffer; the best of those tried:"
                f" {self._declined}"
            )
        if any(row.kpis.queue_us <= self._limits_us[0] for row in self._safe_rows()):
            return "no other setting that was tried is better in something, worse in nothing, and safe with other seeds"
        least_us = min((row.kpis.queue_us for row in self._safe_rows()), default=None)
        if least_us is None:
            return "no setting that was tried is safe"
        if bound_us is not None and least_us > bound_us:
            return (
                f"no setting that was tried keeps the p99 queueing delay of every workload within {bound_us:g} us: the"
                f" least is {least_us:,.0f} us, now it is {now.searched.queue_us:,.0f} us"
            )
        return f"no setting that was tried keeps the p99 queueing delay at {now.searched.queue_us:,.0f} us or below"

    def _may_be_proposed(self, found: Kpis) -> bool:
        """Return whether a setting's queues are short enough, and time in pause and JCT Ratio not much worse than now.

        Much is more than a step of comparison, with the search's seeds. A safe setting may be worse in both than one
        that is not.
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
        """Return whether going from one setting to the other gains, with the seeds of the search; True without one."""
        if one is None:
            return True
        found = effects(self.seen(one).searched_figures, self.seen(other).searched_figures)
        return gain_of(found) is not None

    def _gain(self, one: TrialSetting, other: TrialSetting) -> Effect | None:
        """Return the gain from a setting to another, None without a gain or where a figure gets worse."""
        found = effects(self.seen(one).fresh_figures, self.seen(other).fresh_figures)
        return None if self._losses(one, other) else gain_of(found)

    def _losses(self, one: TrialSetting, other: TrialSetting) -> list[str]:
        return workload_losses(self.seen(one).fresh_by_workload, self.seen(other).fresh_by_workload)

    def _improves(self, setting: TrialSetting) -> bool:
        """Return whether a setting is worth a change; the reasons against the first that is not are kept."""
        if setting == self._now:
            return False
        if not self.seen(self._now).is_safe:
            return True
        gains = self._gain(self._now, setting) is not None
        shared = self._shared_losses(setting) if gains else []
        if not self._declined and (shared or not gains):
            found = effects(self.seen(self._now).fresh_figures, self.seen(setting).fresh_figures)
            self._declined = "; ".join([*map(str, found[2:]), *self._losses(self._now, setting), *shared])
        return gains and not shared

    def _shared_losses(self, setting: TrialSetting) -> list[str]:
        """Return the losses to the configured setting where other queues hold most of the buffer, as texts."""
        (before, was), (after, figures) = self._sharing(self._now), self._sharing(setting)
        losses = [str(effect) for effect in effects(was, figures) if effect.loses]
        if BUFFER_VERDICTS.index(after) < BUFFER_VERDICTS.index(before):
            losses.insert(0, after)
        return [f"with {SHARED_POOL:.0%} of the buffer: {loss}" for loss in losses]

    def _sharing(self, setting: TrialSetting) -> tuple[BufferVerdict, tuple[SeedFigures, ...]]:
        """Return the verdict and the figures of a setting on the last variant, that of the shared buffer."""
        if setting not in self._with_shared_pool:
            (tried,) = self._run([Attempt(setting, len(self._task.variants) - 1, whole=True)])
            cases = self._task.variants[-1]
            self._with_shared_pool[setting] = kpis(cases, tried).verdict, seed_figures(cases, tried)
        return self._with_shared_pool[setting]

    def _best(self, rows: Sequence[TriedSetting]) -> TrialSetting | None:
        """Return the acceptable setting in the front of ``rows`` that small changes harm least, None without one.

        It improves on the configured setting; its changes without an effect are reverted.
        """
        best = (
            row
            for row in front(rows, lambda row: row.kpis)
            if self._permitted(row.setting) and self._improves(row.setting)
        )
        found = [self._near_choice(row) for row in islice(best, MOST_CANDIDATES)]
        for choice in sorted(found, key=lambda choice: choice.harm):
            setting = self._reduced(choice.row.setting)
            if not self._improves(setting):
                continue
            reason = self._problem.acceptable(setting)
            if reason is None:
                return setting
            self._rejected.append(Rejected(setting, reason))
        return None

    def _near_choice(self, row: TriedSetting) -> Choice:
        near = tuple(_near(row.setting, self._run, self._task.variants[0], self._others))
        return Choice(row, near, None, ())

    def _reduced(self, setting: TrialSetting) -> TrialSetting:
        """Return a setting whose values go back to the configured ones where no figure gets worse by that."""
        figures, left = self.seen(setting).figures, setting
        for shorter in self._reversions(setting):
            fewer = shorter(left)
            if fewer == left or not (fewer == self._now or self._search.fits(fewer)):
                continue
            harmed = any(effect.loses for effect in effects(figures, self.seen(fewer).figures))
            if self._permitted(fewer) and not harmed and not self._losses(setting, fewer):
                left = fewer
        return left

    def _reversions(self, setting: TrialSetting) -> Iterator[Callable[[TrialSetting], TrialSetting]]:
        """Yield functions that reset parameters to their configured values.

        First each parameter of DCQCN; then all thresholds, each of them, and the curve, on all kinds of ports; then the
        curve, and each threshold, on each kind.
        """
        kinds, now = tuple(self._search.now), self._search.now
        groups = [(PARAMETERS, kinds), *(((name,), kinds) for name in PARAMETERS)]
        groups += [(PARAMETERS[1:], kinds), *((PARAMETERS[1:], (kind,)) for kind in kinds)]
        groups += [((name,), (kind,)) for name in PARAMETERS for kind in kinds]
        for name, _ in setting.dcqcn:
            yield partial(_without_dcqcn, name)
        for names, at in groups:
            yield partial(reverted, now=now, names=names, kinds=at)

    def _reasons(self, setting: TrialSetting) -> Iterator[Reason]:
        """Yield the reason for each parameter's value: the effect of taking it back alone."""
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
                overall = effects(figures, self.seen(without).figures)
                losses = [str(effect) for effect in overall if effect.loses] or self._losses(setting, without)
                why = (
                    f"without it: {losses[0]}"
                    if losses
                    else f"without it the p99 queueing delay is {self.seen(without).searched.queue_us:,.1f} us"
                )
            for kind, own in setting.by_kind:
                was = getattr(now[kind].thresholds, name)
                yield Reason(kind, name, was, getattr(own, name), why if kind in changed else _IDLE)


def workload_losses(
    before: Mapping[str, Sequence[SeedFigures]], after: Mapping[str, Sequence[SeedFigures]]
) -> list[str]:
    """Return the losses from a setting to another in each workload by itself, as texts; their mean may hide them."""
    return [
        f"{name}: {effect}"
        for name, figures in before.items()
        for effect in effects(figures, after[name])
        if effect.loses
    ]


def _without_dcqcn(name: str, setting: TrialSetting) -> TrialSetting:
    """Return a setting in which senders have their own value of a parameter."""
    return setting._replace(dcqcn=tuple(each for each in setting.dcqcn if each[0] != name))
