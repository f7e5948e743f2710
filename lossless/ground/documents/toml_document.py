"""TOML with positions: the standard library parses it, and one pass over the valid text records all places."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.documents.text import Document, Lines, ValuePlace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.ground.basics.findings import Path

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\]|\\.)*"|' + r"'[^']*'", re.DOTALL
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# A date and a time may have a space between them.
_BARE_VALUE = re.compile(r"[^\s,\]}#]+(?: [0-9][0-9]:[^\s,\]}#]+)?")
_WHERE = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")


def load_toml(text: str, file: str) -> Document:
    """Return the document of a TOML text.

    Raises:
        InputError: it is not TOML, or is nested too deep.
    """
    import tomllib

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError([_problem(text, file, str(error))]) from None
    except RecursionError:
        raise InputError([Problem(file, 1, 1, "nested too deep")]) from None
    return Document(file, text, data, TomlLocator(text))


def _problem(text: str, file: str, message: str) -> Problem:
    """Return the problem with its place, which the standard library has only in its message."""
    match = _WHERE.search(message)
    reason = f"not valid TOML: {_WHERE.sub('', message)}"
    if match is None or match[1] is None:
        return Problem(file, *Lines(text).place(len(text.rstrip())), reason)
    return Problem(file, int(match[1]), int(match[2]), reason)


class TomlLocator:
    """Finds places in a valid TOML text, which is walked once, at the first request.

    The place of a table is that of its header; the path of a table of a list has its number, as in ``("suppress", 0)``.
    """

    __slots__ = ("_places", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._places: dict[Path, ValuePlace] = {}

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return, for each path, the place of its deepest prefix that exists."""
        if not self._places:
            self._places = _Walk(self._text).places
        return {path: self._deepest(path) for path in paths}

    def _deepest(self, path: Path) -> ValuePlace:
        while path not in self._places:
            path = path[:-1]
        return self._places[path]


class _Walk:
    """One pass of a text; every value is visited once, in the order of the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lengths: dict[Path, int] = {}
        start = self._blank(0)
        self.places: dict[Path, ValuePlace] = {(): ValuePlace(start, start, start, start)}
        self._document()

    def _document(self) -> None:
        table: Path = ()
        offset = self._blank(0)
        while offset < len(self._text):
            if self._text[offset] == "[":
                table, offset = self._header(offset)
            else:
                offset = self._member(table, offset)
            offset = self._blank(offset)

    def _header(self, start: int) -> tuple[Path, int]:
        brackets = 2 if self._text.startswith("[[", start) else 1
        keys, end = self._dotted(self._space(start + brackets))
        end = self._space(end) + brackets
        path = self._below((), [key for key, _, _ in keys[:-1]])
        path = (*path, keys[-1][0])
        for length in range(1, len(path) + 1):
            self.places.setdefault(path[:length], ValuePlace(start, end, start, end))
        if brackets == 2:
            number = self._lengths.get(path, 0)
            self._lengths[path] = number + 1
            path = (*path, number)
            self.places[path] = ValuePlace(start, end, start, end)
        elif path in self._lengths:
            path = (*path, self._lengths[path] - 1)
        return path, end

    def _below(self, path: Path, keys: Iterable[str]) -> Path:
        """Return the path of keys below a path; in a list of tables it leads to the last table so far."""
        for key in keys:
            path = (*path, key)
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
        return path

    def _member(self, table: Path, start: int) -> int:
        keys, end = self._dotted(start)
        # Behind the keys stands an equals sign.
        value_start = self._space(self._space(end) + 1)
        path = table
        for key, key_start, key_end in keys:
            path = (*path, key)
            self.places.setdefault(path, ValuePlace(key_start, key_end, key_start, key_end))
        value_end = self._value(path, value_start)
        _, key_start, key_end = keys[-1]
        self.places[path] = ValuePlace(key_start, key_end, value_start, value_end)
        return value_end

    def _dotted(self, offset: int) -> tuple[list[tuple[str, int, int]], int]:
        """Return the keys between dots, each with its offsets, and the offset of their end."""
        keys = []
        while True:
            quoted = _STRING.match(self._text, offset)
            match = quoted or _BARE_KEY.match(self._text, offset)
            assert match is not None, "the text was read before"
            keys.append((_unquoted(match[0]) if quoted else match[0], offset, match.end()))
            dot = self._space(match.end())
            if self._text[dot : dot + 1] != ".":
                return keys, match.end()
            offset = self._space(dot + 1)

    def _value(self, path: Path, start: int) -> int:
        if self._text[start] == "[":
            return self._array(path, start)
        if self._text[start] == "{":
            return self._inline(path, start)
        match = _STRING.match(self._text, start) or _BARE_VALUE.match(self._text, start)
        assert match is not None, "the text was read before"
        return match.end()

    def _array(self, path: Path, start: int) -> int:
        number, offset = 0, self._blank(start + 1)
        while self._text[offset] != "]":
            end = self._value((*path, number), offset)
            self.places[*path, number] = ValuePlace(offset, end, offset, end)
            number, offset = number + 1, self._next(end)
        return offset + 1

    def _inline(self, path: Path, start: int) -> int:
        offset = self._blank(start + 1)
        while self._text[offset] != "}":
            offset = self._next(self._member(path, offset))
        return offset + 1

    def _next(self, offset: int) -> int:
        offset = self._blank(offset)
        return self._blank(offset + 1) if self._text[offset] == "," else offset

    def _blank(self, offset: int) -> int:
        match = _BLANK.match(self._text, offset)
        return match.end() if match else offset

    def _space(self, offset: int) -> int:
        match = _SPACE.match(self._text, offset)
        return match.end() if match else offset


def _unquoted(token: str) -> str:
    import tomllib

    read: dict[str, Any] = tomllib.loads(f"key = {token}")
    return str(read["key"])
