"""Lines and columns of findings, and excerpts of a document that was read in another process, without its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lossless.ground.basics.findings import Finding, Origin, Path, Span
    from lossless.ground.documents.text import Document


class DocumentView(Protocol):
    """The part of a document that reports use (see :class:`~lossless.ground.documents.text.Document`)."""

    @property
    def file(self) -> str:
        """The file name by which the document was read."""

    def locate_many(self, paths: Iterable[Path], mark: Literal["value", "key"] = "value") -> dict[Path, Span]:
        """Return the span of the value, or of the key, at every path."""

    def line_text(self, number: int) -> str:
        """Return the text of line ``number``, counted from 1."""


class PathPlaces(NamedTuple):
    """The spans of keys and values of requested paths of a document, and the text of the lines where they start."""

    keys: Mapping[Path, Span]
    values: Mapping[Path, Span]
    lines: Mapping[int, str]


def places(document: Document, paths: Iterable[Path]) -> PathPlaces:
    """Return the spans of paths of a document, and the text of their lines."""
    wanted = tuple(dict.fromkeys(paths))
    if not wanted:
        return PathPlaces({}, {}, {})
    keys, values = document.locate_many(wanted, "key"), document.locate_many(wanted)
    numbers = {span.line for spans in (keys, values) for span in spans.values()}
    return PathPlaces(keys, values, {number: document.line_text(number) for number in sorted(numbers)})


class Excerpts:
    """Spans and lines of a document that another process parsed; for any other path or line the file is read again."""

    __slots__ = ("_document", "_places", "_read", "file")

    def __init__(self, file: str, path_places: PathPlaces, read: Callable[[str], Document]) -> None:
        self.file = file
        self._places = path_places
        self._read = read
        self._document: Document | None = None

    def locate_many(self, paths: Iterable[Path], mark: Literal["value", "key"] = "value") -> dict[Path, Span]:
        """Return the span of the value, or of the key, at every path."""
        known = self._places.keys if mark == "key" else self._places.values
        wanted = tuple(paths)
        if all(path in known for path in wanted):
            return {path: known[path] for path in wanted}
        return self._whole().locate_many(wanted, mark)

    def line_text(self, number: int) -> str:
        """Return the text of line ``number``, counted from 1."""
        line = self._places.lines.get(number)
        return self._whole().line_text(number) if line is None else line

    def _whole(self) -> Document:
        if self._document is None:
            self._document = self._read(self.file)
        return self._document


class Locations:
    """The lines and columns of the origins of findings.

    A value that is empty, or is not on one line with its key, has the span of its key: a brace alone has no meaning.
    """

    __slots__ = ("_documents", "_keys", "_values")

    def __init__(
        self,
        documents: Mapping[str, DocumentView],
        findings: Iterable[Finding],
        others: Iterable[Origin] = (),
    ) -> None:
        self._documents = documents
        self._keys: dict[str, dict[Path, Span]] = {}
        self._values: dict[str, dict[Path, Span]] = {}
        paths: dict[str, dict[Path, None]] = {}
        for finding in findings:
            for origin in filter(None, (*finding.origins, finding.via)):
                paths.setdefault(origin.file, {})[origin.path] = None
        for origin in others:
            paths.setdefault(origin.file, {})[origin.path] = None
        for file in paths.keys() & documents.keys():
            self._keys[file] = documents[file].locate_many(paths[file], "key")
            self._values[file] = documents[file].locate_many(paths[file])

    def span(self, origin: Origin) -> Span | None:
        """Return the span of an origin, None if its file was not read or its path was not looked up."""
        file, path, mark = origin
        if file not in self._keys or path not in self._keys[file]:
            return None
        key, value = self._keys[file][path], self._values[file][path]
        if mark == "key":
            return key
        beside_key = value.line == value.end_line == key.line and value.column < value.end_column
        return value if beside_key else key

    def line_text(self, file: str, number: int) -> str:
        """Return the text of a line of a document."""
        return self._documents[file].line_text(number)
