"""Simulate: evaluates whether the thresholds of a fabric are safe; turns declared workloads into simulated traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.question.request import (
    MOST_EVENTS,
    SEEDS,
    Limits,
    NamedQuestion,
    Question,
    SimulationRequest,
)
from lossless.ground.basics.errors import InputError, LosslessError, ScenarioError
from lossless.ground.basics.units import suggestion
from lossless.interfaces.api.lint import DEFAULT_OPTIONS, Options, as_configured, drawn, hashed
from lossless.model.fabric.cluster import LEAST_NICS, PATTERN, PATTERNS, RAIL_TRAFFIC, Workload
from lossless.model.hardware.model import LOAD_BALANCING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from lossless.analysis.simulation.study.answer import SimulationResult
    from lossless.analysis.simulation.study.calculated_load import CalculatedLoad
    from lossless.ground.basics.findings import MissingInput
    from lossless.model.fabric.cluster import DeclaredWorkload
    from lossless.model.fabric.view import View

__all__ = [
    "LEAST_NICS",
    "LOAD_BALANCING",
    "MOST_EVENTS",
    "PATTERN",
    "PATTERNS",
    "RAIL_TRAFFIC",
    "SEEDS",
    "Limits",
    "Question",
    "SimulationRequest",
    "is_compiled",
    "simulate",
    "simulation_page",
    "why_not_simulated",
]


def simulate(
    path: str | PathLike[str],
    options: Options = DEFAULT_OPTIONS,
    ask: SimulationRequest | None = None,
    *,
    captures: Sequence[str | PathLike[str]] = (),
) -> tuple[SimulationResult, ...]:
    """Evaluate whether the thresholds of a fabric are safe: by closed forms, and by simulation if ``ask`` is given.

    ``captures`` are files or folders of running state, whose watermarks are compared with the peaks of both.

    Raises:
        InputError: the intent or configuration cannot be read, or one of several intents is of a cloud or a subnet.
        ScenarioError: the requested scenario is impossible, or would take too long.
    """
    from lossless.analysis.buffers.verdict import fabric_verdict
    from lossless.analysis.simulation.study.answer import SimulationResult
    from lossless.interfaces.api.fabrics import fabrics_to_simulate
    from lossless.model.fabric.view import View

    options = as_configured(options)
    try:
        views = [View(fabric) for fabric in fabrics_to_simulate(path, options)]
    except InputError:
        without = _without_model(path, options, ask)
        if without is None:
            raise
        return (without,)
    closed = [fabric_verdict(view) for view in views]
    if ask is None:
        results = [SimulationResult(verdict) for verdict in closed]
        return _with_peaks(views, results, captures, options)
    from lossless.analysis.simulation.question.lossy import other_classes
    from lossless.analysis.simulation.study.answer import answer

    results = []
    for view, verdict in zip(views, closed, strict=True):
        answered = answer(view, ask)
        others = other_classes(view, ask.question) if answered.runs else ()
        results.append(SimulationResult(verdict, *answered, other_classes=others))
    return _with_peaks(views, results, captures, options)


def simulation_page(
    results: Sequence[SimulationResult],
    path: str | PathLike[str],
    options: Options = DEFAULT_OPTIONS,
    *,
    captures: Sequence[str | PathLike[str]] = (),
) -> str:
    """Return results of :func:`simulate` as a page of HTML for people; the other arguments are those of that call.

    The files are read again, for the fabric's picture and their hashes.
    """
    from functools import partial
    from os import fspath

    from lossless.interfaces.api.fabrics import documents_at
    from lossless.output.report.pages import simulation_html

    documents, _ = documents_at(path, as_configured(options))
    captured: Sequence[str] = ()
    if captures:
        from lossless.interfaces.api.running import captured_state

        captured = tuple(captured_state(captures, (), "compare").documents)
    inputs = hashed(captured, options.profile_dirs, documents)
    return simulation_html(results, fspath(path), inputs, partial(drawn, documents, options.profile_dirs))


def _without_model(
    path: str | PathLike[str], options: Options, ask: SimulationRequest | None
) -> SimulationResult | None:
    """Return the result of an intent whose switches the model lacks, a subnet's or a cloud's; None for others."""
    from lossless.analysis.buffers.verdict import FabricVerdict
    from lossless.analysis.simulation.study.answer import SimulationResult, why_not
    from lossless.formats.inputs.intents import CLOUD_SWITCHES, declaration_of, is_intent
    from lossless.ground.basics.findings import MissingInput
    from lossless.interfaces.api.fabrics import documents_at

    documents, errors = documents_at(path, options)
    if errors or len(documents) != 1 or not is_intent(documents[0]):
        return None
    declared = declaration_of(documents[0], options.profile_dirs, errors)
    reason = f"transport: {documents[0].data.get('transport')}: {CLOUD_SWITCHES}"
    load: CalculatedLoad | MissingInput = MissingInput(reason)
    if declared.subnet is not None:
        reason = "an InfiniBand subnet has credits instead of PFC, and no thresholds of buffers"
        if (missing := why_not()) is not None:
            load = MissingInput(missing)
        else:
            from lossless.analysis.simulation.study.calculated_load import subnet_load

            load = subnet_load(declared.subnet, reason)
    elif declared.fabric is None or declared.fabric.managed is None:
        return None
    closed = FabricVerdict("not checked", (), (), (), (reason,))
    return SimulationResult(closed, not_run=reason, loads=() if ask is None else (load,))


def _with_peaks(
    views: Sequence[View],
    results: Sequence[SimulationResult],
    captures: Sequence[str | PathLike[str]],
    options: Options,
) -> tuple[SimulationResult, ...]:
    """Return results with the watermarks in captures beside the peaks of the model; unchanged without captures."""
    if not captures:
        return tuple(results)
    from lossless.checks.thresholds.tuned_intent import compared_peaks
    from lossless.interfaces.api.running import captured_state, intended_by

    captured = captured_state(captures, (), "compare")
    devices = captured.devices(intended_by([view.fabric for view in views]), options)
    return tuple(
        result._replace(
            peaks=compared_peaks(view, devices, result.closed.lines, [run.peaks for run in result.runs]),
            problems=captured.problems,
        )
        for view, result in zip(views, results, strict=True)
    )


def why_not_simulated() -> str | None:
    """Return the reason why the packet-level model cannot run on this machine, None if it can."""
    from lossless.analysis.simulation.study.answer import why_not

    return why_not()


def is_compiled() -> bool:
    """Return whether the packet-level model was compiled by an earlier run."""
    from lossless.analysis.simulation.engine.run import compiled_before

    return compiled_before()


def unused_machine_code() -> tuple[str, ...]:
    """Return the folders and files of compiled models that exist and are not used, each with the reason."""
    from lossless.analysis.simulation.engine.compiled import unused_folders

    return unused_folders()


def compile_ahead(compiling: Callable[[], None]) -> tuple[str, bool]:
    """Compile the packet-level model for all processors of this architecture.

    Return the folder that has it, and whether it was compiled now; ``compiling`` is then called before.

    Raises:
        LosslessError: the model cannot run here, no folder can be written, or numba has been imported.
    """
    from lossless.analysis.simulation.study.answer import compile_ahead as ahead

    return ahead(compiling)


DEFAULTS = (
    NamedQuestion("incast", Question(nics=17, size_bytes=4 << 20)),
    NamedQuestion("permutation", Question(pattern="permutation", nics=16, size_bytes=4 << 20)),
    NamedQuestion("all-to-all", Question(pattern="all-to-all", nics=8, size_bytes=4 << 20)),
)
"""The traffic of an intent that declares none: 16 NIC ports to one, a permutation, and all to all."""


def declared_questions(view: View, names: Sequence[str] = ()) -> tuple[NamedQuestion, ...]:
    """Return the questions of the workloads of a fabric, or of those that are named; without any, :data:`DEFAULTS`.

    Raises:
        ScenarioError: a workload that is named is not declared.
    """
    declared = {workload.name: workload for workload in view.fabric.workloads}
    for name in names:
        if name not in declared:
            known = suggestion(name, list(declared)) if declared else ": the intent declares none"
            raise ScenarioError(f"--workload: no workload is called {name!r}{known}")
    if not declared:
        return DEFAULTS
    wanted = [declared[name] for name in dict.fromkeys(names)] or list(declared.values())
    return tuple(question for workload in wanted for question in _questions(view, workload))


def _questions(view: View, workload: DeclaredWorkload) -> Iterator[NamedQuestion]:
    if workload.pattern is not None:
        size_bytes = workload.size_bytes or Question().size_bytes
        asked = Question(pattern=workload.pattern, nics=workload.nics, storage=workload.storage)
        yield NamedQuestion(workload.name, _placed(asked._replace(size_bytes=size_bytes), workload))
        return
    try:
        yield from _collective(view, workload)
    except LosslessError as error:
        yield NamedQuestion(workload.name, None, not_run=str(error))


def _placed(question: Question, workload: DeclaredWorkload) -> Question:
    return question._replace(
        target=workload.target,
        traffic_class=workload.class_name or question.traffic_class,
        failed=workload.failed,
        dead_nic=workload.dead_nic,
        slow_nic_bps=workload.slow_nic_bps,
    )


def _collective(view: View, workload: DeclaredWorkload) -> Iterator[NamedQuestion]:
    from lossless.analysis.workloads.placement import estimate
    from lossless.analysis.workloads.verdict import workload_questions

    asked = Workload(
        collective=workload.collective or Workload().collective,
        size_bytes=workload.size_bytes or Workload().size_bytes,
        algorithm=workload.algorithm,
        gpus=workload.gpus,
        sources=workload.sources,
    )
    for question, part in workload_questions(view, estimate(view.fabric, asked)):
        if isinstance(question, str):
            yield NamedQuestion(workload.name, None, not_run=question)
            continue
        name = workload.name if question.moves else f"{workload.name}, worst fan-in"
        yield NamedQuestion(name, _placed(question, workload), part)
