"""Edits of files with a key and its value a line: every other byte stays unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.documents.changes import Replacement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.ground.documents.changes import ValueChange
    from lossless.ground.documents.document import Document


def replacements(document: Document, changes: Sequence[ValueChange]) -> list[Replacement]:
    """Return the replacements that make some changes; new keys are added at the end."""
    return [_replacement(document, change) for change in changes]


def _replacement(document: Document, change: ValueChange) -> Replacement:
    text = document.text
    if not document.exists(change.path):
        feed = "" if text.endswith("\n") else "\n"
        return Replacement(len(text), len(text), f"{feed}{change.path[0]} {change.value}\n")
    place = document.places([change.path])[change.path]
    if change.action == "remove":
        end = text.find("\n", place.end)
        return Replacement(text.rfind("\n", 0, place.key_start) + 1, len(text) if end < 0 else end + 1, "")
    if change.action == "rename":
        return Replacement(place.key_start, place.key_end, str(change.value))
    # A key without a value has its place right behind it.
    blank = "" if place.start > place.key_end else " "
    return Replacement(place.start, place.end, f"{blank}{change.value}")
