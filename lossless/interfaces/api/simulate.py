"""Simulate: whether the thresholds of a fabric are safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.pfc_load import load_data
from lossless.analysis.simulation.question.request import (
    MOST_EVENTS,
    SEEDS,
    Limits,
    Question,
    SimulationRequest,
)
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options
from lossless.model.fabric.workloads import LEAST_NICS, PATTERN, PATTERNS
from lossless.model.hardware.load_balancing import LOAD_BALANCING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from lossless.analysis.buffers.pfc_load import PfcLoad
    from lossless.analysis.buffers.verdict import BufferVerdict, FabricVerdict
    from lossless.analysis.simulation.study.recording import Recording
    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Json, MissingInput
    from lossless.interfaces.api.peaks import PeakComparison
    from lossless.model.fabric.view import View

__all__ = [
    "LEAST_NICS",
    "LOAD_BALANCING",
    "MOST_EVENTS",
    "PATTERN",
    "PATTERNS",
    "SEEDS",
    "Limits",
    "Question",
    "SimulationRequest",
    "SimulationResult",
    "is_compiled",
    "simulate",
    "why_not_simulated",
]


class SimulationResult(NamedTuple):
    """What simulation says of one fabric: by closed forms, and from runs of the packet-level model.

    ``not_run`` says why the model was not asked, or could not be; ``overall`` is the worst of both. ``recordings`` are
    what pictures are drawn from, where they were asked for. ``pfc_loads`` are what PFC carries: they change no verdict.
    ``other_classes`` are lossless, and were not run since no class was asked for. ``peaks`` compare what switches
    measured with both, where captures were named; ``problems`` are those of them that could not be read.
    """

    closed: FabricVerdict
    runs: tuple[RunVerdict, ...] = ()
    not_run: str | None = None
    recordings: tuple[Recording, ...] = ()
    pfc_loads: tuple[PfcLoad | MissingInput, ...] = ()
    other_classes: tuple[str, ...] = ()
    peaks: tuple[PeakComparison, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def overall(self) -> BufferVerdict:
        """The worst of what is known."""
        from lossless.analysis.buffers.verdict import BUFFER_VERDICTS

        return min((self.closed.overall, *(run.verdict for run in self.runs)), key=BUFFER_VERDICTS.index)

    def to_data(self) -> dict[str, Json]:
        """Return the verdict as plain data: that of the closed forms, and below ``packet_level`` that of the runs."""
        runs: list[Json] = [run.to_data() for run in self.runs]
        loads: list[Json] = [load_data(load) for load in self.pfc_loads]
        packet_level: dict[str, Json] = {"runs": runs, "not_run": self.not_run, "pfc_load": loads}
        closed = self.closed._replace(not_checked=(*self.closed.not_checked, *self._not_run_classes()))
        peaks: list[Json] = [peak.to_data() for peak in self.peaks]
        return {
            **closed.to_data(),
            "overall": self.overall,
            "packet_level": packet_level,
            "measured_peaks": peaks,
        }

    def _not_run_classes(self) -> list[str]:
        return [
            f"the packet-level model did not run class {name}; --class {name} runs it"
            for name in self.other_classes
        ]


def simulate(
    path: str | PathLike[str],
    options: Options = DEFAULT_OPTIONS,
    ask: SimulationRequest | None = None,
    *,
    captures: Sequence[str | PathLike[str]] = (),
) -> tuple[SimulationResult, ...]:
    """Say whether the thresholds of a fabric are safe: by closed forms, and by runs where ``ask`` says which.

    ``captures`` are files or folders of running state, whose watermarks are compared with both.

    Raises:
        InputError: the intent or configuration cannot be read.
        ScenarioError: what is asked cannot be, or would take too long.
    """
    from lossless.analysis.buffers.verdict import fabric_verdict
    from lossless.interfaces.api.fabrics import fabrics_to_simulate
    from lossless.model.fabric.view import View

    views = [View(fabric) for fabric in fabrics_to_simulate(path, options)]
    closed = [fabric_verdict(view) for view in views]
    if ask is None:
        results = [SimulationResult(verdict) for verdict in closed]
        return _with_peaks(views, results, captures, options)
    from lossless.analysis.simulation.study.answer import answer

    results = []
    for view, verdict in zip(views, closed, strict=True):
        answered = answer(view, ask)
        others = _other_classes(view, ask.question) if answered.runs else ()
        results.append(SimulationResult(verdict, *answered, other_classes=others))
    return _with_peaks(views, results, captures, options)


def _with_peaks(
    views: Sequence[View],
    results: Sequence[SimulationResult],
    captures: Sequence[str | PathLike[str]],
    options: Options,
) -> tuple[SimulationResult, ...]:
    """Return results with what switches measured beside them; as they are where no captures are named."""
    if not captures:
        return tuple(results)
    from lossless.interfaces.api.peaks import compared_peaks
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


def _other_classes(view: View, question: Question) -> tuple[str, ...]:
    """Return the classes that a question leaves out without saying so, as ``traffic_class`` takes them."""
    from lossless.analysis.simulation.question.classes import simulated_classes

    if question.traffic_class is not None or question.storage:
        return ()
    declared = view.fabric.declared
    _, *others = [one.name if declared else str(one.priority) for one in simulated_classes(view)] or [""]
    return tuple(others)


def why_not_simulated() -> str | None:
    """Return why the packet-level model cannot be run here, None where it can."""
    from lossless.analysis.simulation.study.answer import why_not

    return why_not()


def is_compiled() -> bool:
    """Return whether the packet-level model was compiled by an earlier run."""
    from lossless.analysis.simulation.engine.run import compiled_before

    return compiled_before()
