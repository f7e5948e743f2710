"""Documents of line-based files, whose readers record the place of each value while they parse it; parts of files.

A part is a document by itself: one for each device that the file describes, or for its content in another form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import Problem
from lossless.ground.documents.text import Document, Lines, ValuePlace, decode, is_marked, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.layout import PartLayout
    from lossless.ground.documents.text import DocumentPart


BYTE_ORDER_MARK = "\ufeff"


class Marks:
    """The places by path and the problems that a reader of a line-based file has recorded so far.

    ``text`` is the text to parse: it has a blank in place of a byte-order mark, which is reported as a problem.
    """

    __slots__ = ("_hidden", "_lines", "_written", "file", "places", "problems", "text")

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._written = text
        self.text = f" {text[1:]}" if text.startswith(BYTE_ORDER_MARK) else text
        self.places: dict[Path, ValuePlace] = {(): ValuePlace(0, 0, 0, len(text))}
        self.problems: list[Problem] = []
        self._hidden: list[tuple[int, int]] = []
        self._lines = Lines(text)
        if self.text is not text:
            self.wrong(
                0,
                "the file begins with a byte-order mark, which is taken for a part of its first word: save it without",
            )

    def mark(self, path: Path, start: int, end: int, key: tuple[int, int] | None = None) -> None:
        """Record the offsets of the value at a path; without a key it is its own key."""
        self.places[path] = ValuePlace(*(key or (start, end)), start, end)

    def wrong(self, offset: int, message: str) -> None:
        """Record a problem and the offset of its beginning."""
        self.problems.append(Problem(self.file, *self._lines.place(offset), message))

    def hide(self, start: int, end: int) -> None:
        """Hide a part of the text: in lines that are shown it is replaced by stars."""
        self._hidden.append((start, end))

    def seen(self, start: int, end: int) -> str:
        """Return a part of the text with hidden parts replaced by stars."""
        return _starred(self.text, self._hidden)[start:end] if self._hidden else self.text[start:end]

    def document(self, data: dict[Any, Any]) -> Document:
        """Return the document of the text, its problems in the order of lines."""
        problems = tuple(sorted(self.problems, key=lambda problem: (problem.line or 0, problem.column or 0)))
        masked_document = _MaskedDocument(self.file, self._written, data, KnownPlaces(self.places), problems)
        masked_document.shown_lines = Lines(_starred(self.text, self._hidden)) if self._hidden else None
        return masked_document


class _MaskedDocument(Document):
    """A document of which parts may be hidden."""

    __slots__ = ("shown_lines",)

    shown_lines: Lines | None

    def line_text(self, number: int) -> str:
        """Return line ``number``, counted from 1, with stars for hidden parts; IndexError when there is none."""
        return super().line_text(number) if self.shown_lines is None else self.shown_lines.line_text(number)


def _starred(text: str, hidden: Iterable[tuple[int, int]]) -> str:
    for start, end in hidden:
        text = text[:start] + "*" * (end - start) + text[end:]
    return text


class KnownPlaces:
    """Finds offsets in a table: a locator for files whose places were all recorded while they were parsed."""

    __slots__ = ("_places",)

    def __init__(self, places: dict[Path, ValuePlace]) -> None:
        self._places = places

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return, for each path, the place of its deepest prefix that exists."""
        return {path: self._deepest(path) for path in paths}

    def first_on_lines(self, lines: Lines) -> dict[int, Path]:
        """Return the outermost path whose key is on each line, for lines that have one."""
        first: dict[int, Path] = {}
        for path, place in self._places.items():
            line = lines.place(place.key_start)[0]
            if path and (line not in first or len(path) < len(first[line])):
                first[line] = path
        return first

    def _deepest(self, path: Path) -> ValuePlace:
        while path not in self._places:
            path = path[:-1]
        return self._places[path]


def read_as_written(path: str) -> str:
    """Return the text of a file with its byte-order mark, for readers that report it.

    Raises:
        UnreadableError: as :func:`~lossless.ground.documents.text.read_text`.
    """
    raw = read_bytes(path)
    return (BYTE_ORDER_MARK if is_marked(raw) else "") + decode(raw, path)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each line, without its line feed, the only end of a line in C."""
    offset = 0
    for line in text.split("\n"):
        yield offset, line
        offset += len(line) + 1


def carriage_return(text: str) -> int | None:
    """Return the offset of the first carriage return outside comments, None without one."""
    if "\r" not in text:
        return None
    offsets = (start + line.find("\r") for start, line in lines_of(text) if "\r" in line.partition("#")[0])
    return next(offsets, None)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the offsets of a part of a text without the blanks around it."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


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
