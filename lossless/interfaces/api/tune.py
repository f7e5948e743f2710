"""Tune and sweep: chooses thresholds by the packet-level model, or simulates each setting of a grid.

Tuning is for the workloads that an intent declares, or default ones. A sweep finds whether each setting is safe; a
setting can be written into the intent.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from lossless.analysis.simulation.question.request import (
    EVALUATIONS,
    TUNE_SEEDS,
    SimulationRequest,
    TuneAsk,
    TuneProgress,
)
from lossless.analysis.simulation.study.grid import Grid, parse_grid
from lossless.ground.basics.errors import ScenarioError
from lossless.interfaces.api.fabrics import fabrics_to_simulate
from lossless.interfaces.api.lint import DEFAULT_OPTIONS, Options, as_configured, lint_intent

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from os import PathLike

    from lossless.analysis.simulation.study.grid import ThresholdSetting
    from lossless.analysis.simulation.study.sweep import Sweep
    from lossless.checks.thresholds.tuned_intent import TunedIntent, TuneResult
    from lossless.formats.intent.class_changes import StatedThresholds

__all__ = [
    "EVALUATIONS",
    "TUNE_SEEDS",
    "Grid",
    "TuneAsk",
    "TuneProgress",
    "parse_grid",
    "state_thresholds",
    "sweep",
    "tune",
    "write_thresholds",
    "write_tuned",
]


def tune(
    path: str | PathLike[str],
    ask: TuneAsk | None = None,
    options: Options = DEFAULT_OPTIONS,
    *,
    executor: Executor | None = None,
    cluster: str | None = None,
    waiting: Callable[[], None] | None = None,
    compiling: Callable[[], None] | None = None,
    progress: TuneProgress | None = None,
) -> TuneResult:
    """Search thresholds of a lossless class: safe for its workloads first, then without PFC, then fast; writes nothing.

    ``executor``, ``cluster`` and ``waiting`` are as for :func:`lossless.api.sweep`.

    Raises:
        InputError: there is not exactly one intent, it is invalid, or it has no Ethernet switches of its own.
        ScenarioError: no such class or workload, nothing can be tuned, a workload takes too long, or numba is missing.
        QuantityError, ProgramError: as for :func:`lossless.api.sweep`.
        LosslessError: optuna or dask.distributed is missing.
    """
    from lossless.analysis.simulation.study.answer import compile_for, why_not

    if (reason := why_not()) is not None:
        raise ScenarioError(reason)
    from lossless.analysis.simulation.study.cluster import cluster_executor
    from lossless.analysis.simulation.tune.space import require_optuna
    from lossless.analysis.simulation.tune.tune import tune as search

    asked = ask or TuneAsk()
    if asked.dcqcn:
        require_optuna()
    subject = tuned_intent(path, asked, options)
    problem = subject.problem()
    workers: AbstractContextManager[Executor | None]
    workers = nullcontext(executor) if cluster is None else cluster_executor(cluster, waiting)
    for _, scenario in problem.workloads:
        compile_for(SimulationRequest(scenario.question, compiling=compiling))
    with workers as entered:
        tuned = search(problem, asked.evaluations, asked.limits, entered, progress)
    return subject.result(tuned)


def tuned_intent(path: str | PathLike[str], ask: TuneAsk, options: Options) -> TunedIntent:
    """Return the intent at a path with its tuning request, profiles and checks.

    Raises:
        InputError: there is not exactly one intent, it is invalid, or it has no Ethernet switches of its own.
        ScenarioError: no such class or workload, or nothing can be tuned.
    """
    from lossless.checks.thresholds.tuned_intent import TunedIntent
    from lossless.formats.inputs.fabrics import intent_at
    from lossless.interfaces.api.simulate import declared_questions

    return TunedIntent(
        intent_at(path),
        ask,
        options.profile_dirs,
        declared_questions,
        lambda document: lint_intent(document, options)[0].findings,
    )


def write_tuned(result: TuneResult, place: int | None = None) -> StatedThresholds:
    """Write the chosen setting, or that at a place of the Pareto front, into the intent; every other byte stays.

    Raises:
        LosslessError: there is no such setting, the intent has changed meanwhile, or it cannot be written.
        InputError: as :meth:`TuneResult.stated`.
    """
    from lossless.ground.documents.atomic import rewrite

    stated = result.stated(place)
    rewrite(stated.file, stated.before, stated.after)
    return stated


def sweep(
    path: str | PathLike[str],
    grid: Grid,
    options: Options = DEFAULT_OPTIONS,
    ask: SimulationRequest | None = None,
    *,
    horizon_ns: int | None = None,
    executor: Executor | None = None,
    cluster: str | None = None,
    waiting: Callable[[], None] | None = None,
) -> tuple[Sweep, ...]:
    """Simulate every setting of ``grid`` with the traffic of ``ask``, by default an incast with one seed.

    A lossless class is simulated for ``horizon_ns`` (3 ms for None), a lossy one until its transfers have ended or are
    certain to take too long.

    Any ``executor`` of :mod:`concurrent.futures` may do the work, or a ``cluster`` of dask.distributed: ``local`` or
    ``local:N`` for processes of this machine, or the address of a scheduler; else threads do. ``waiting`` is called
    while that scheduler has no worker yet.

    Raises:
        InputError: the intent or configuration cannot be read, or a cloud runs the switches.
        ScenarioError: the requested scenario is impossible or would take too long, ``horizon_ns`` is stated for a lossy
            class, or numba is missing.
        QuantityError: ``cluster`` is neither ``local``, ``local:N`` nor an address.
        ProgramError: no scheduler answers, it is lost, or a worker has another version than this.
        LosslessError: dask.distributed is missing.
    """
    from lossless.analysis.simulation.study.answer import why_not

    if (reason := why_not()) is not None:
        raise ScenarioError(reason)
    from lossless.analysis.simulation.study.cluster import cluster_executor
    from lossless.analysis.simulation.study.lossy_sweep import sweep_fabrics

    workers: AbstractContextManager[Executor | None]
    workers = nullcontext(executor) if cluster is None else cluster_executor(cluster, waiting)
    fabrics = fabrics_to_simulate(path, as_configured(options))
    return sweep_fabrics(fabrics, grid, ask, horizon_ns, workers)


def state_thresholds(
    path: str | PathLike[str], class_name: str, setting: ThresholdSetting, options: Options = DEFAULT_OPTIONS
) -> StatedThresholds:
    """Return the text of the intent at a path with a setting of a class's thresholds; every other byte of it stays.

    Raises:
        InputError: there is not exactly one intent, it is invalid, or it cannot state the setting.
    """
    from lossless.formats.inputs.fabrics import intent_at
    from lossless.formats.intent.class_changes import stated_setting

    return stated_setting(intent_at(path), class_name, setting, options.profile_dirs)


def write_thresholds(
    path: str | PathLike[str], class_name: str, setting: ThresholdSetting, options: Options = DEFAULT_OPTIONS
) -> StatedThresholds:
    """Write a setting of a class's thresholds into the intent at a path, as :func:`state_thresholds` states it.

    Raises:
        InputError: there is not exactly one intent, it is invalid, or it cannot state the setting.
        LosslessError: it has changed meanwhile, or cannot be written.
    """
    from lossless.ground.documents.atomic import rewrite

    stated = state_thresholds(path, class_name, setting, options)
    rewrite(stated.file, stated.before, stated.after)
    return stated
