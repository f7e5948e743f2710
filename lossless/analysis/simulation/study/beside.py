"""The results of the storage class that runs beside the requested class, and their part of the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.simulation_facts import SimulationCause
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.analysis.simulation.study.study import Study


class BesideVerdict(NamedTuple):
    """The results of the storage class beside the requested one: seeds with drops and with PFC, the longest pause."""

    name: str
    lossless: bool
    dropping_seeds: int
    pfc_seeds: int
    longest_pause_us: float


def beside_verdict(results: Study) -> BesideVerdict | None:
    """Return the results of the storage class over all seeds, None without storage."""
    seen = [seed.beside for seed in results.seeds if seed.beside is not None]
    if not seen:
        return None
    own = results.scenario.classes[1]
    return BesideVerdict(
        name=own.name,
        lossless=own.lossless,
        dropping_seeds=sum(each.drops > 0 for each in seen),
        pfc_seeds=sum(each.pauses > 0 for each in seen),
        longest_pause_us=max(each.longest_pause_ns for each in seen) / 1000,
    )


def dropped_beside(results: Study) -> Iterable[SimulationCause]:
    """Yield the cause where storage rides a lossless class that loses frames."""
    classes = results.scenario.classes
    dropping = [seed for seed in results.seeds if seed.beside is not None and seed.beside.drops]
    if dropping and classes[1].lossless:
        seeds = f"{len(dropping)} of {len(results.seeds)} seeds"
        text = f"lossless frames of class {classes[1].name} are dropped in {seeds}"
        yield SimulationCause("drop", "unsafe", text, len(dropping))


def edges_beside(results: Study, frame_bytes: int) -> Iterable[SimulationCause]:
    """Yield the cause where storage rides a lossless class that has next to no headroom left."""
    left = [seed.beside.margin_bytes for seed in results.seeds if seed.beside is not None]
    near = [each for each in left if each is not None and each < frame_bytes]
    dropped = any(seed.beside is not None and seed.beside.drops for seed in results.seeds)
    if near and not dropped and results.scenario.classes[1].lossless:
        text = f"{format_bytes(max(0, min(near)))} of headroom of class {results.scenario.classes[1].name} were left"
        yield SimulationCause("headroom", "on the edge", text, len(near))
