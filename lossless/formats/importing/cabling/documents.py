"""Files of cables as documents, so that findings can refer to lines of any kind of file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.documents.marked_document import Marks
from lossless.ground.documents.text import Lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.ground.basics.findings import Finding, Path
    from lossless.ground.documents.document import Document


def line_path(line: int) -> Path:
    """Return the finding path of a line in a file of cables."""
    return (f"line {line}",)


def cable_documents(texts: Mapping[str, str], findings: Iterable[Finding]) -> dict[str, Document]:
    """Return files of cables as documents, with the places of the lines that findings refer to."""
    wanted: dict[str, set[Path]] = {file: set() for file in texts}
    for finding in findings:
        for origin in (finding.origin, *(place.origin for place in finding.related)):
            if origin.file in wanted:
                wanted[origin.file].add(origin.path)
    return {file: _document(file, text, wanted[file]) for file, text in texts.items()}


def _document(file: str, text: str, paths: Iterable[Path]) -> Document:
    marks, lines = Marks(file, text), Lines(text)
    data: dict[str | int, str] = {}
    for path in paths:
        number = int(str(path[0]).removeprefix("line "))
        start, words = lines.start(number), lines.line_text(number)
        data[path[0]] = words
        marks.mark(path, start + len(words) - len(words.lstrip()), start + len(words.rstrip()))
    return marks.document(data)
