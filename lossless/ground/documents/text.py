"""Documents: the plain data of a file, its problems, and the place of each value; the decoding of bytes to text.

Bytes are decoded to text, and offsets in a text converted to lines and columns. Only UTF-8 is read.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Literal, Protocol

from lossless.ground.basics.errors import Problem, UnreadableError
from lossless.ground.basics.files import beginning
from lossless.ground.basics.findings import Span
from lossless.ground.basics.limits import DIGITS, FILE_BYTES
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from typing import NoReturn

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.layout import PartLayout, Remark


class ValuePlace(NamedTuple):
    """Offsets of a value and of its key, ends exclusive; a list item is its own key."""

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
    """Finds the offsets of values and keys in the text of a document by path."""

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
    byte-order mark, which is not in ``text``. ``dialect`` names the network operating system of the configuration of a
    switch, empty for a CONFIG_DB and for other documents. ``part`` is the part of a file that it is, None for the
    whole file.
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
        """The object that finds the offsets of values and keys by path."""
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
        """The document of the whole file, which is this one if it is no part."""
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
        """Return the span of every path, as ``locate`` would, with one request to the locator."""
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

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both counted from 1."""
        return self._lines.place(offset)

    def _span(self, place: ValuePlace, mark: Literal["value", "key"]) -> Span:
        if mark == "key":
            return self._lines.span(place.key_start, place.key_end)
        return self._lines.span(place.start, place.end)


_FOREIGN_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
UTF8_MARK = b"\xef\xbb\xbf"


def read_text(path: str | PathLike[str], limit_bytes: int = FILE_BYTES) -> str:
    """Return the text of a file, without its byte-order mark.

    Raises UnreadableError as :func:`read_bytes` and :func:`decode` do.
    """
    return decode(read_bytes(path, limit_bytes), _name(path), limit_bytes)


def is_marked(raw: bytes) -> bool:
    """Return whether a file begins with the byte-order mark of UTF-8."""
    return raw.startswith(UTF8_MARK)


def decode(raw: bytes, file: str, limit_bytes: int = FILE_BYTES) -> str:
    """Return ``raw`` as text, without its byte-order mark; ``file`` is the name for problems.

    Raises UnreadableError when ``raw`` is larger than ``limit_bytes``, blank, binary or not UTF-8, or has a number
    of more than ``DIGITS`` digits.
    """
    if len(raw) > limit_bytes:
        _refuse(file, f"larger than {limit_bytes} bytes, the most that is read from one file")
    if not raw:
        _refuse(file, "the file is empty")
    for mark, encoding in _FOREIGN_MARKS:
        if raw.startswith(mark):
            _refuse(file, f"is encoded as {encoding}; expected UTF-8", 1, 1)
    nul = raw.find(b"\0")
    if nul >= 0:
        line, column = _place(raw, nul)
        _refuse(file, f"is binary: a NUL byte at byte {nul + 1}; expected text in UTF-8", line, column)
    _refuse_long_numbers(raw, file)
    try:
        text = raw.removeprefix(UTF8_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse_byte(raw, file, error.start + len(raw) - len(raw.removeprefix(UTF8_MARK)))
    if text.isspace() or not text:
        _refuse(file, "the file is blank")
    return text


def _name(path: str | PathLike[str]) -> str:
    return path if isinstance(path, str) else path.__fspath__()


def read_bytes(path: str | PathLike[str], limit_bytes: int = FILE_BYTES) -> bytes:
    """Return the bytes of a file, one more than ``limit_bytes`` where it is larger.

    Raises UnreadableError when the file is missing, not a regular file, not permitted, or cannot be read.
    """
    file = _name(path)
    if "\0" in file:
        _refuse(file.replace("\0", "\\0"), "a file name cannot hold a NUL character")
    try:
        return beginning(file, limit_bytes + 1)
    except FileNotFoundError:
        _refuse(file, "no such file")
    except IsADirectoryError:
        _refuse(file, "is a directory; expected a file")
    except PermissionError:
        _refuse(file, "no permission to read this file")
    except OSError as error:
        _refuse(file, f"cannot be read: {error.strerror}")


_AS_DIGITS = b" " * ord("0") + b"0" * 10 + b" " * (255 - ord("9"))
"""The translation of every digit to 0 and every other byte to a blank: a long number is then a fixed text to find."""
_TOO_LONG = b"0" * (DIGITS + 1)


_SAMPLED = (DIGITS + 1) // 2
"""The distance of sampled bytes: a number that is too long covers two consecutive samples."""


def _may_hold_long_number(raw: bytes) -> bool:
    samples = raw[::_SAMPLED].translate(_AS_DIGITS)
    index = samples.find(b"00")
    while index >= 0 and not raw[index * _SAMPLED : (index + 1) * _SAMPLED].isdigit():
        index = samples.find(b"00", index + 1)
    return index >= 0


def _refuse_long_numbers(raw: bytes, file: str) -> None:
    offset = raw.translate(_AS_DIGITS).find(_TOO_LONG) if _may_hold_long_number(raw) else -1
    if offset >= 0:
        line, column = _place(raw, offset)
        _refuse(file, f"a number of more than {DIGITS} digits, the most that is read", line, column)


def _refuse_byte(raw: bytes, file: str, offset: int) -> NoReturn:
    line, column = _place(raw, offset)
    _refuse(file, f"is not UTF-8: byte 0x{raw[offset]:02X} at byte {offset + 1} of the file", line, column)


def _place(raw: bytes, offset: int) -> tuple[int, int]:
    before = raw[:offset].removeprefix(UTF8_MARK).decode("utf-8", "replace")
    return Lines(before).place(len(before))


def _refuse(file: str, message: str, line: int | None = None, column: int | None = None) -> NoReturn:
    raise UnreadableError([Problem(file, line, column, message)]) from None


class Lines:
    """The lines of a text: offsets to 1-based lines and columns, in code points.

    A line ends at LF, CR LF or CR, as in YAML 1.2.2 section 5.4. In a text without CR the first few places are found by
    counting; else a table of all lines is built.
    """

    __slots__ = ("_near", "_searched", "_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._searched = 0
        self._starts: list[int] = []
        self._near: dict[int, int] = {}

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset."""
        if not self._starts and self._searched <= len(self._text) and "\r" not in self._text:
            start = self._text.rfind("\n", 0, offset) + 1
            # A text may be one line: then each search for its start goes over all that is before.
            self._searched += offset - start
            line = self._near.get(start) or self._counted(start)
            if line:
                return line, offset - start + 1
        starts = self._table()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """Return the span from offset ``start`` to offset ``end``, exclusive."""
        return Span(*self.place(start), *self.place(end))

    def start(self, number: int) -> int:
        """Return the offset at which line ``number`` begins, counted from 1; IndexError after the last line."""
        return self._table()[number - 1]

    def line_text(self, number: int) -> str:
        """Return line ``number`` without its line break; IndexError when the text has no such line."""
        starts = self._starts
        near = next((start for start, line in self._near.items() if line == number), None)
        if near is not None and not starts:
            end = self._text.find("\n", near)
            return self._text[near : end if end >= 0 else len(self._text)]
        starts = self._table()
        if not 1 <= number <= len(starts):
            raise IndexError(f"no line {number} in a text of {len(starts)}")
        end = starts[number] if number < len(starts) else len(self._text)
        return self._text[starts[number - 1] : end].rstrip("\r\n")

    def _counted(self, start: int) -> int:
        """Return the line that begins at an offset by counting, 0 when building the table is cheaper."""
        if len(self._near) >= _COUNTED:
            return 0
        line = self._near[start] = self._text.count("\n", 0, start) + 1
        return line

    def _table(self) -> list[int]:
        if not self._starts:
            self._starts = _line_starts(self._text)
        return self._starts


_COUNTED = 8
"""The number of lines that are found by counting; building a table costs as much as about this many."""


def _line_starts(text: str) -> list[int]:
    if "\r" in text:
        import re

        return [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]
    from itertools import accumulate, count
    from operator import add

    # The lengths of the lines before, and a break for each of them.
    *before, _ = map(add, accumulate(map(len, text.split("\n"))), count(1))
    return [0, *before]
