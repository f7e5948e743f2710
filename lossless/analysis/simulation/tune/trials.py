"""Settings tried on every workload and seed: the work of a worker of a tuning."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lossless.analysis.simulation.question.instance import DEAD_FROM_NS, ScenarioInstance, instantiate
from lossless.analysis.simulation.study.settings import TrialSetting
from lossless.analysis.simulation.study.step_time import step_time_ns
from lossless.analysis.simulation.study.study import LONGEST_STEPS, watch_ns
from lossless.analysis.simulation.study.trial import Trial, benches, in_turn
from lossless.analysis.simulation.study.trial_limits import TrialLimits
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lossless.analysis.simulation.question.scenario import Scenario


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

    The first variant is the fabric whose thresholds are searched; others have other buffers or other seeds.
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
    """Return a workload as a case: each seed is followed until all has arrived, up to 20 times the time of its step."""
    stages = tuple((seed, instantiate(scenario, seed)) for seed in seeds)
    step_ns = step_time_ns(stages[0][1].network)
    dead = scenario.question.dead_nic
    horizon_ns = DEAD_FROM_NS + watch_ns(scenario) if dead and scenario.watchdogs else LONGEST_STEPS * step_ns
    return Case(name, stages, step_ns, horizon_ns, TrialLimits.of(scenario), dead)


def try_all(
    task: TuneTask, attempts: Sequence[Attempt], stopped: Callable[[], bool] | None = None
) -> list[Tried]:
    """Try settings one after another.

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
