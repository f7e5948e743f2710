"""Key figures of a threshold setting over all workloads and seeds, the order of settings, and the trial of one.

Names are those of ``draft-calabria-bmwg-ai-fabric-training-bench`` (``fcalabri/bmwg-ai-fabric-training-bench``
@e19e018, tables of primary and secondary KPIs): JCT Ratio, PFC Pause Count, PFC Pause Duration, ECN Marking Ratio and
Queue Depth. The draft counts pauses per port and second; here they are those of all ports in the time of the workload.

The trial of a setting on the workloads and their seeds is the work of one worker of a tuning.
"""

from __future__ import annotations

from functools import partial
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import BUFFER_VERDICTS
from lossless.analysis.simulation.question.instance import DEAD_FROM_NS, ScenarioInstance, instantiate
from lossless.analysis.simulation.study.grid import TrialSetting
from lossless.analysis.simulation.study.loss import step_time_ns
from lossless.analysis.simulation.study.study import LONGEST_STEPS, watch_ns
from lossless.analysis.simulation.study.trial import Trial, TrialLimits, benches, in_turn
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from lossless.analysis.buffers.verdict import BufferVerdict
    from lossless.analysis.simulation.question.scenario import Scenario


if TYPE_CHECKING:
    _Row = TypeVar("_Row")

ORDER = (
    "safe before on the edge before unsafe; then fewest runs with PFC before the first ECN mark, shortest PFC Pause"
    " Duration, lowest JCT Ratio, shortest p99 queueing delay"
)
"""The order of settings, the best first: no criterion is weighed against another."""
_PARTS = 100
"""Ports in pause and JCT Ratios are compared in hundredths: smaller differences depend on the seed."""
_DELAY_US = 10
"""The step in which queueing delays are compared."""


class Spread(NamedTuple):
    """The least, the mean and the largest value of a key figure over the seeds of a workload."""

    least: float
    mean: float
    most: float


class WorkloadKpis(NamedTuple):
    """Key figures of one workload under a setting.

    With a ``dead_nic`` on purpose, pauses and the JCT Ratio are meaningless: the watchdog ends the storm, or does not.
    ``pfc_before_ecn`` counts seeds in which a pause was requested before any frame was marked. ``headroom_left_bytes``
    is None if none was used. ``of_detection`` is the longest pause as a part of the watchdog's detection time, None
    without a watchdog, and if a dead NIC is the cause. ``queue_us`` is the p99 queueing delay: the time within
    which 99 % of all frames of the class leave the queue of a switch port again.
    """

    name: str
    dead_nic: bool
    verdict: BufferVerdict
    drops: int
    stopped_queues: int
    pfc_before_ecn: int
    seeds: int
    pause_us: Spread
    pause_count: Spread
    marking_ratio: Spread
    jct_ratio: Spread
    queue_bytes: int
    queue_us: Spread
    headroom_left_bytes: int | None
    of_detection: float | None


class Kpis(NamedTuple):
    """Key figures of a threshold setting over all workloads; ``workloads`` has those of each.

    ``pause_share`` is how many ports were in pause on average: the PFC Pause Duration of all ports over the workload's
    time at line rate. Of that and of the JCT Ratio it is the mean over workloads of the mean over seeds. ``queue_us``
    is the p99 queueing delay of the worst workload, the mean over its seeds. Workloads with a dead NIC count in the
    verdict alone.
    """

    verdict: BufferVerdict
    pfc_before_ecn: int
    pause_share: float
    jct_ratio: float
    queue_us: float
    workloads: tuple[WorkloadKpis, ...]

    @property
    def objectives(self) -> tuple[int, ...]:
        """The minimized values, the most important first, rounded to the steps in which they are compared."""
        return (
            self.pfc_before_ecn,
            round(self.pause_share * _PARTS),
            round(self.jct_ratio * _PARTS),
            round(self.queue_us / _DELAY_US),
        )

    @property
    def rank(self) -> tuple[int, ...]:
        """The sort key of settings, the best first: :data:`ORDER`."""
        return (-BUFFER_VERDICTS.index(self.verdict), *self.objectives)

    def dominates(self, other: Kpis) -> bool:
        """Return whether this setting is no worse in any figure and better in one; an unsafe one is worse in all."""
        mine, theirs = BUFFER_VERDICTS.index(self.verdict), BUFFER_VERDICTS.index(other.verdict)
        if mine != theirs:
            return mine > theirs and (other.verdict == "unsafe" or _no_worse(self, other))
        return _no_worse(self, other) and self.objectives != other.objectives


def _no_worse(one: Kpis, other: Kpis) -> bool:
    return all(mine <= theirs for mine, theirs in zip(one.objectives, other.objectives, strict=True))


def kpis(cases: Sequence[Case], tried: Tried) -> Kpis:
    """Return the key figures of a setting on the workloads that it ran on; an unsafe one may not have run on all."""
    shown = [workload_kpis(case, trials) for case, trials in zip(cases, tried, strict=False)]
    timed = [(case, each) for case, each in zip(cases, shown, strict=False) if not case.dead_nic]
    return Kpis(
        verdict=min((each.verdict for each in shown), key=BUFFER_VERDICTS.index),
        pfc_before_ecn=sum(each.pfc_before_ecn for _, each in timed),
        pause_share=_mean(each.pause_us.mean * 1000 / case.step_ns for case, each in timed),
        jct_ratio=_mean(each.jct_ratio.mean for _, each in timed),
        queue_us=max((each.queue_us.mean for _, each in timed), default=0.0),
        workloads=tuple(shown),
    )


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return fmean(known) if known else 0.0


class SeedFigures(NamedTuple):
    """The compared figures of a setting under one seed, in their order, over workloads as in :class:`Kpis`."""

    pfc_before_ecn: float
    pause_share: float
    jct_ratio: float
    queue_us: float


def seed_figures(cases: Sequence[Case], tried: Tried) -> tuple[SeedFigures, ...]:
    """Return the compared figures seed by seed, without those of cases with a dead NIC.

    A workload without randomness has the same figures under each seed. A delay below the step of comparison counts as
    that step, so that the ratio of two very short delays is no gain.
    """
    timed = [(case, trials) for case, trials in zip(cases, tried, strict=True) if not case.dead_nic]
    seeds = max((len(trials) for _, trials in timed), default=0)
    return tuple(
        _figures([(case, trials[at % len(trials)]) for case, trials in timed]) for at in range(seeds)
    )


def _figures(runs: Sequence[tuple[Case, Trial]]) -> SeedFigures:
    return SeedFigures(
        sum(trial.pfc_first for _, trial in runs),
        _mean(trial.paused_ps / 1000 / case.step_ns for case, trial in runs),
        _mean(_jct_ratio(case, trial) for case, trial in runs),
        max(_DELAY_US, *(trial.p99_queue_ps / 1e6 for _, trial in runs)),
    )


def figures_of_each(cases: Sequence[Case], tried: Tried) -> dict[str, tuple[SeedFigures, ...]]:
    """Return the compared figures of each workload by itself, by its name, without those with a dead NIC."""
    return {
        case.name: seed_figures((case,), (trials,))
        for case, trials in zip(cases, tried, strict=True)
        if not case.dead_nic
    }


class Effect(NamedTuple):
    """The decrease of one figure from a setting to another: the mean over seeds, and its 95 % confidence interval.

    It is in percent of the first setting's figure. Ports in pause are in percent of one port's time, and runs with PFC
    before ECN in runs a seed.
    """

    figure: str
    mean: float
    low: float
    high: float

    @property
    def gains(self) -> bool:
        """Whether the figure falls beyond the seeds' noise, and (but for PFC before ECN) by :data:`LEAST_GAIN`."""
        return self.low > 0 and (self.figure == "pfc_before_ecn" or self.mean >= LEAST_GAIN)

    @property
    def loses(self) -> bool:
        """Whether the figure rises beyond the seeds' noise, and (but for PFC before ECN) by more than a hundredth."""
        return self.high < 0 and (self.figure == "pfc_before_ecn" or self.mean < -_NO_LOSS)

    def __str__(self) -> str:
        """Return the effect in words, with its interval."""
        name, unit = _WORDS[self.figure]
        least, most = (self.low, self.high) if self.mean >= 0 else (-self.high, -self.low)
        interval = "" if least == most else f" (95 % interval {least:.1f} to {most:.1f})"
        return f"{name} {abs(self.mean):.1f}{unit} {'less' if self.mean >= 0 else 'more'}{interval}"


LEAST_GAIN = 2.0
"""The least gain of a proposal in percent, a convention of this project: a change of every switch costs a maintenance
window, and the model is compared with other simulators to a few percent (docs/validation.md)."""
_WORDS = {
    "pfc_before_ecn": ("runs with PFC before ECN", " a seed"),
    "pause_share": ("PFC Pause Duration", " % of a port's time"),
    "jct_ratio": ("completion time", " %"),
    "queue_us": ("p99 queueing delay", " %"),
}
_NO_LOSS = 1.0
"""Percent that a figure may rise without a loss: the step in which settings are compared."""
_T_975 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13)
"""The 97.5 % point of Student's t distribution with 1, 2, 3 ... degrees of freedom; the last is used above too."""


def effects(before: Sequence[SeedFigures], after: Sequence[SeedFigures]) -> tuple[Effect, ...]:
    """Return the effect of going from a setting to another on each figure, seed by seed under the same seeds."""
    return tuple(
        _effect(name, [seed[at] for seed in before], [seed[at] for seed in after])
        for at, name in enumerate(SeedFigures._fields)
    )


def _effect(name: str, before: Sequence[float], after: Sequence[float]) -> Effect:
    if not before:
        return Effect(name, 0.0, 0.0, 0.0)
    whole = {"pfc_before_ecn": 1.0, "pause_share": 1.0}.get(name, fmean(before) or 1.0)
    unit = 1.0 if name == "pfc_before_ecn" else 100.0
    falls = [unit * (was - now) / whole for was, now in zip(before, after, strict=True)]
    mean = fmean(falls)
    if len(falls) < 2:
        return Effect(name, mean, mean, mean)
    freedom = len(falls) - 1
    point = _T_975[min(freedom, len(_T_975)) - 1]
    half = point * stdev(falls) / sqrt(len(falls))
    return Effect(name, mean, mean - half, mean + half)


def gain_of(found: Sequence[Effect]) -> Effect | None:
    """Return the first figure in their order that gains, None where none gains, or any loses."""
    if any(effect.loses for effect in found):
        return None
    return next((effect for effect in found if effect.gains), None)


def workload_kpis(case: Case, trials: Sequence[Trial]) -> WorkloadKpis:
    """Return the key figures of one workload over the trials of its seeds."""
    limits = case.limits
    left = [trial.margin_bytes for trial in trials if trial.margin_bytes is not None]
    return WorkloadKpis(
        name=case.name,
        dead_nic=case.dead_nic,
        verdict=limits.verdict(trials),
        drops=max(trial.drops for trial in trials),
        stopped_queues=max(trial.storms for trial in trials),
        pfc_before_ecn=sum(trial.pfc_first for trial in trials),
        seeds=len(trials),
        pause_us=_spread(trials, lambda trial: trial.paused_ps / 1e6),
        pause_count=_spread(trials, lambda trial: trial.pauses_begun),
        marking_ratio=_spread(trials, lambda trial: trial.marks / max(1, trial.frames)),
        jct_ratio=_spread(trials, lambda trial: _jct_ratio(case, trial)),
        queue_bytes=max(trial.egress_bytes for trial in trials),
        queue_us=_spread(trials, lambda trial: trial.p99_queue_ps / 1e6),
        headroom_left_bytes=min(left, default=None),
        of_detection=None
        if limits.pause_edge_ns == float("inf")
        else max(trial.longest_watched_ns for trial in trials) / limits.detection_ns,
    )


def _spread(trials: Sequence[Trial], measure: Callable[[Trial], float]) -> Spread:
    values = [measure(trial) for trial in trials]
    return Spread(min(values), fmean(values), max(values))


def _jct_ratio(case: Case, trial: Trial) -> float:
    """Return the time of a workload over its time at line rate, both for the bytes delivered so far."""
    size_bytes = sum(flow.size_bytes for flow in case.stages[0][1].network.flows)
    ended_ps = trial.ended_ps if trial.cut else trial.done_ps
    return ended_ps / 1000 / case.step_ns * size_bytes / max(1, trial.delivered_bytes)


def front(rows: Sequence[_Row], kpis_of: Callable[[_Row], Kpis]) -> tuple[_Row, ...]:
    """Return the Pareto front of the safe settings, the best first; of equally good ones only the first."""
    return tuple(_front(sorted(rows, key=lambda row: kpis_of(row).rank), kpis_of))


def _front(ranked: Sequence[_Row], kpis_of: Callable[[_Row], Kpis]) -> Iterator[_Row]:
    """Yield the front of ranked settings: every setting that dominates another comes before it."""
    kept: list[Kpis] = []
    for row in ranked:
        seen = kpis_of(row)
        if seen.verdict == "safe" and not any(_no_worse(before, seen) for before in kept):
            kept.append(seen)
            yield row


class Case(NamedTuple):
    """A workload with the networks of its seeds, by number, as data that can be sent to another process.

    ``step_ns`` is its time at line rate. With a ``dead_nic`` it shows whether the watchdog ends the storm; pauses and
    time then depend on the dead NIC alone.
    """

    name: str
    stages: tuple[tuple[int, ScenarioInstance], ...]
    step_ns: float
    horizon_ns: float
    limits: TrialLimits
    dead_nic: bool


class TuneTask(NamedTuple):
    """The input of a worker: a key that no other task has, and the workloads, once for each variant of the fabric.

    The first variant is the fabric whose thresholds are searched; others have other seeds, presets or buffers.
    """

    key: str
    variants: tuple[tuple[Case, ...], ...]


class Attempt(NamedTuple):
    """A setting to be tried on a variant.

    A setting that is unsafe for one workload is tried on those after it only where it is to be tried ``whole``.
    """

    setting: TrialSetting = TrialSetting()
    variant: int = 0
    whole: bool = False


Tried = tuple[tuple[Trial, ...], ...]
"""The results of an attempt: the trials of each workload that was tried."""


def case_of(name: str, scenario: Scenario, seeds: Iterable[int]) -> Case:
    """Return a workload as a case: each seed is followed for up to 20 times the time of its step at line rate.

    With a dead NIC and a watchdog it is followed for as long as the watchdog needs to trigger twice.
    """
    stages = tuple((seed, instantiate(scenario, seed)) for seed in seeds)
    step_ns = step_time_ns(stages[0][1].network)
    dead = scenario.question.dead_nic
    horizon_ns = DEAD_FROM_NS + watch_ns(scenario) if dead and scenario.watchdogs else LONGEST_STEPS * step_ns
    return Case(name, stages, step_ns, horizon_ns, TrialLimits.of(scenario), dead)


def try_all(
    task: TuneTask, attempts: Sequence[Attempt], stopped: Callable[[], bool] | None = None
) -> list[Tried]:
    """Try settings one after another on the variants of a task; return the trials of each.

    Raises:
        StoppedError: ``stopped`` returns that the results are no longer needed.
    """

    return in_turn(attempts, partial(_try, task), stopped)


def _try(task: TuneTask, attempt: Attempt, go_on: Callable[[], bool]) -> Tried:
    cases = task.variants[attempt.variant]
    stages = (stage for case in cases for stage in case.stages)
    arrays = iter(benches(f"{task.key}/{attempt.variant}", stages))
    shown: list[tuple[Trial, ...]] = []
    for case in cases:
        own = [next(arrays) for _ in case.stages]
        shown.append(tuple(bench.trial(attempt.setting, case.horizon_ns, go_on) for bench in own))
        if not attempt.whole and case.limits.verdict(shown[-1]) == "unsafe":
            break
    return tuple(shown)
