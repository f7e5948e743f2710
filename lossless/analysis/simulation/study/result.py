"""What simulation says of one fabric: closed forms, runs, what PFC carries, and measured peaks beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import BUFFER_VERDICTS
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.buffers.pfc_load import PfcLoad
    from lossless.analysis.buffers.verdict import BufferVerdict, FabricVerdict
    from lossless.analysis.simulation.study.port_peaks import PeakComparison
    from lossless.analysis.simulation.study.recording import Recording
    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import MissingInput


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
        return min((self.closed.overall, *(run.verdict for run in self.runs)), key=BUFFER_VERDICTS.index)

    @property
    def not_checked(self) -> tuple[str, ...]:
        """What closed forms could not check, and the classes that were not run."""
        not_run = (
            f"the packet-level model did not run class {name}; --class {name} runs it"
            for name in self.other_classes
        )
        return (*self.closed.not_checked, *not_run)
