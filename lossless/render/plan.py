"""What a render writes: files with their text, planned whole before anything is written."""

from __future__ import annotations

from lossless.records import NamedTuple


class PlannedFile(NamedTuple):
    """One file of the tree, by its path below the output folder."""

    path: str
    text: str
    executable: bool = False


class RenderPlan(NamedTuple):
    """Every file of a fabric, and what is not rendered and why."""

    files: tuple[PlannedFile, ...]
    notes: tuple[str, ...]
