"""A document as written: plain data, the problems found while reading it, and the place of each value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.text import Lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Path, Span
    from lossless.ground.documents.layout import PartLayout, Remark


class ValuePlace(NamedTuple):
    """Offsets of a value and of its key, ends exclusive; a list item and the top level are their own key."""

    key_start: int
    key_end: int
    start: int
    end: int


class DuplicateKey(NamedTuple):
    """A repeated key of an object: its path, the place of the repetition, and the line of the first occurrence."""

    path: Path
    line: int
    column: int
    first_line: int


class Locator(Protocol):
    """Finds offsets by path."""

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return, for each path, the place of its deepest prefix that exists."""


class DocumentPart(NamedTuple):
    """Identity and layout of a document that is a part of its file.

    ``name`` distinguishes it from all others, ``shown`` is its name for people. ``device`` is the name of its
    device, None where its own data has that. ``remarks`` list each normalization made to build it.
    """

    whole: Document
    name: str
    shown: str
    layout: PartLayout
    device: str | None = None
    remarks: tuple[Remark, ...] = ()


class Document:
    """One file that was read; treat ``data`` as read-only, aliases share it.

    ``problems`` are mistakes that left the rest readable. ``duplicates`` are repeated JSON keys, which are valid (the
    last one applies) and so are not problems; a repeated YAML key is a problem. ``marked``: the file began with a
    byte-order mark, which is not in ``text``. ``dialect`` names the network operating system of the configuration,
    empty where the name of the file determines its kind. ``part`` is the part of a file that it is, None for the whole
    file.
    """

    __slots__ = (
        "_lines",
        "_locator",
        "_places",
        "data",
        "dialect",
        "duplicates",
        "file",
        "marked",
        "part",
        "problems",
        "text",
    )

    def __init__(
        self,
        file: str,
        text: str,
        data: dict[Any, Any],
        locator: Locator,
        problems: tuple[Problem, ...] = (),
        duplicates: tuple[DuplicateKey, ...] = (),
    ) -> None:
        self.file = file
        self.text = text
        self.data = data
        self.problems = problems
        self.duplicates = duplicates
        self.marked = False
        self.dialect = ""
        self.part: DocumentPart | None = None
        self._locator = locator
        self._lines = Lines(text)
        self._places: dict[Path, ValuePlace] = {}

    @property
    def locator(self) -> Locator:
        """The object that finds offsets by path."""
        return self._locator

    @property
    def name(self) -> str:
        """The name of the document in origins: its file, or the name of the part."""
        return self.part.name if self.part else self.file

    @property
    def shown(self) -> str:
        """The name of the document for people."""
        return self.part.shown if self.part else self.file

    @property
    def whole(self) -> Document:
        """The document of the whole file."""
        return self.part.whole if self.part else self

    def exists(self, path: Path) -> bool:
        """Return whether the data has a value at this path."""
        value: Any = self.data
        for key in path:
            is_index = isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value)
            if not is_index and not (isinstance(value, dict) and key in value):
                return False
            value = value[key]
        return True

    def locate(self, path: Path, mark: Literal["value", "key"] = "value") -> Span:
        """Return the span of the value at ``path``, or of its key; without a value, of its deepest existing prefix."""
        return self.locate_many([path], mark)[path]

    def locate_many(self, paths: Iterable[Path], mark: Literal["value", "key"] = "value") -> dict[Path, Span]:
        """Return the span of every path, as ``locate`` would, in one pass over the text."""
        return {path: self._span(place, mark) for path, place in self.places(paths).items()}

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return the offsets of every path, or of its deepest prefix; each is searched once."""
        wanted = dict.fromkeys(paths)
        unknown = [path for path in wanted if path not in self._places]
        if unknown:
            self._places.update(self._locator.places(unknown))
        return {path: self._places[path] for path in wanted}

    def line_text(self, number: int) -> str:
        """Return line ``number``, counted from 1, without its line break; IndexError when there is none."""
        return self._lines.line_text(number)

    def _span(self, place: ValuePlace, mark: Literal["value", "key"]) -> Span:
        if mark == "key":
            return self._lines.span(place.key_start, place.key_end)
        return self._lines.span(place.start, place.end)
