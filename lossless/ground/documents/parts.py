"""Parts of a file as documents: one for each device that the file describes, or for its content in another form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.documents.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import DocumentPart, ValuePlace
    from lossless.ground.documents.layout import PartLayout


def part(data: dict[Any, Any], of: DocumentPart) -> Document:
    """Return a part of a file as a document with its own data."""
    whole = of.whole
    document = Document(whole.file, whole.text, data, _PartLocator(whole, of.layout))
    document.part = of
    document.marked = whole.marked
    return document


class _PartLocator:
    """Finds places of a part in its file."""

    __slots__ = ("_layout", "_whole")

    def __init__(self, whole: Document, layout: PartLayout) -> None:
        self._whole = whole
        self._layout = layout

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return, for each path, the place of its deepest prefix that exists."""
        written = {path: self._layout.written(path) for path in paths}
        place_by_path = self._whole.places(written.values())
        return {path: place_by_path[place] for path, place in written.items()}
