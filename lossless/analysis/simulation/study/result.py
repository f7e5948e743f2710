"""The results of a simulation of one fabric: closed forms, runs, load on PFC, and measured peaks for comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import BUFFER_VERDICTS
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.buffers.verdict import BufferVerdict, FabricVerdict, PfcLoad
    from lossless.analysis.simulation.study.measure import PeakComparison
    from lossless.analysis.simulation.study.recording import Recording
    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import MissingInput


class SimulationResult(NamedTuple):
    """The buffer verdicts on one fabric: from closed forms, and from runs of the packet-level model.

    ``not_run`` is the reason why the model did not run; ``overall`` is the worst verdict of both. ``recordings`` are
    the data of pictures, if requested. ``pfc_loads`` have the load on PFC: they change no verdict. ``other_classes``
    were not run since no class was requested. ``peaks`` compare the watermarks of switches with both, if captures were
    given; ``problems`` are the captures that could not be read.
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
        """The worst of the known verdicts of closed forms and runs."""
        return min((self.closed.overall, *(run.verdict for run in self.runs)), key=BUFFER_VERDICTS.index)

    @property
    def not_checked(self) -> tuple[str, ...]:
        """Properties that closed forms could not check, and the classes that were not run."""
        not_run = (
            f"the packet-level model did not run class {name}; --class {name} runs it"
            for name in self.other_classes
        )
        return (*self.closed.not_checked, *not_run)
