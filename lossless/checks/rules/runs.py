"""A run of the packet-level model, as rules that judge runs are given it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.buffers.simulation_facts import SimulationFacts
    from lossless.ground.basics.findings import Finding


class Ran(NamedTuple):
    """What a run showed, and what other rules have found in the same files: one cause is one finding."""

    run: SimulationFacts
    said: tuple[Finding, ...] = ()
