"""Tune: thresholds chosen by the packet-level model for the workloads that an intent declares."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from lossless.analysis.simulation.question.request import (
    EVALUATIONS,
    TUNE_SEEDS,
    TuneAsk,
    TuneProgress,
)
from lossless.ground.basics.errors import ScenarioError
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from os import PathLike

    from lossless.checks.thresholds.tuned_intent import TunedIntent, TuneResult
    from lossless.formats.intent.class_changes import StatedThresholds

__all__ = ["EVALUATIONS", "TUNE_SEEDS", "TuneAsk", "TuneProgress", "tune", "write_tuned"]


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
    """Find thresholds of a class that keep its workloads safe, then PFC silent, then fast; nothing is written.

    ``executor``, ``cluster`` and ``waiting`` are as for :func:`lossless.api.sweep`.

    Raises:
        InputError: there is not exactly one intent, or it cannot be read.
        ScenarioError: nothing can be tuned, a workload takes too long, or numba is missing.
        QuantityError, ProgramError: as for :func:`lossless.api.sweep`.
        LosslessError: optuna or dask.distributed is missing.
    """
    from lossless.analysis.simulation.question.request import SimulationRequest
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
    """Return the intent at a path as it is tuned.

    Raises:
        InputError: there is not exactly one intent, or it cannot be read.
        ScenarioError: nothing of it can be tuned.
    """
    from lossless.checks.thresholds.tuned_intent import TunedIntent
    from lossless.formats.inputs.fabrics import intent_at
    from lossless.interfaces.api.declared import declared_questions
    from lossless.interfaces.api.lint import lint_intent

    return TunedIntent(
        intent_at(path),
        ask,
        options.profile_dirs,
        declared_questions,
        lambda document: lint_intent(document, options)[0].findings,
    )


def write_tuned(result: TuneResult, place: int | None = None) -> StatedThresholds:
    """State the chosen setting in the intent, or the one at a place of the front; every other byte of it stays.

    Raises:
        LosslessError: there is no such setting, the intent has changed meanwhile, or it cannot be written.
        InputError: as :meth:`TuneResult.stated`.
    """
    from lossless.ground.documents.atomic import rewrite

    stated = result.stated(place)
    rewrite(stated.file, stated.before, stated.after)
    return stated
