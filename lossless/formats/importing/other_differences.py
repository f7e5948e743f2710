"""Explains settings of switches of other systems that an import and a render do not reproduce."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.differences import UNEXPLAINED, ImportDifference
from lossless.formats.importing.majority import most
from lossless.ground.basics.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.sonic.changes.meaning import Cell

KINDS_BY_PART = {
    "dscp": "another queue",
    "paused": "another queue",
    "pfc": "auto",
    "scheduler": "scheduler",
    "ecn": "row of a class",
    "cable": "cable",
}


def other_differences(
    cells: Mapping[str, Sequence[tuple[str, Cell]]],
) -> Iterator[ImportDifference]:
    """Yield the settings that differ after import and render, by device; those of most ports are declared for all."""
    said = grouped((cell.field, cell.deployed) for of in cells.values() for _, cell in of)
    usual = {field: most(values)[0] for field, values in said.items()}
    for device, of in cells.items():
        for part, cell in of:
            if cell.state != "same":
                differs = cell.deployed != usual[cell.field]
                yield ImportDifference(device, "unlike most" if differs else _kind(part, cell), cell)


def _kind(part: str, cell: Cell) -> str:
    if part.startswith("watchdog"):
        return "watchdog"
    if part == "scheduler" and cell.state == "gone":
        return "queue without class"
    if part in ("scheduler", "dscp") and cell.state == "new":
        return "row of a class" if part == "scheduler" else "trust"
    return KINDS_BY_PART.get(part, UNEXPLAINED)
