"""Parses JSON values that follow each other in one text, with lines of text between them.

Programs that run once for each namespace of a switch print one value for each, and a line before it. A value that is
cut off at the end of the text is read up to there.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.limits import NESTING
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_START = re.compile(r"^[ \t]*(?=\{|\[\s*(?:[\[{\]]|$))", re.MULTILINE)
"""The pattern of a possible start of a value, but not of a prompt (``[root@leaf1]#``) or an index (``[0]: name``)."""
_TOKEN = re.compile(r'"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*(?:"|\Z)|[{}\[\],]', re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}
_ATTEMPTS = 20
"""The most failed attempts to parse a value at a line that looks like its start: each costs a whole pass."""


class PrintedJson(NamedTuple):
    """A JSON value in a text: the lines before it, the line where it starts, from 1, and the keys that objects repeat.

    ``whole`` is false where the text ends within the value, or a part of it is not valid JSON; then no repeated keys
    are found.
    """

    value: Any
    before: tuple[str, ...]
    line: int
    repeated: tuple[str, ...] = ()
    whole: bool = True


def printed_json(text: str) -> tuple[PrintedJson, ...]:
    """Return the objects, and lists without a plain item on their first line, that begin a line of a text, in order.

    The search ends after ``_ATTEMPTS`` lines that only look like the start of one.
    """
    return tuple(_values(text))


def _values(text: str) -> Iterator[PrintedJson]:
    at = begun = failed = 0
    while failed < _ATTEMPTS and (match := _START.search(text, at)):
        start = match.end()
        read = _decoded(text, start)
        if read is None:
            at = _line_end(text, start)
            failed += 1
            continue
        value, end, repeated, whole = read
        line = text.count("\n", 0, start) + 1
        yield PrintedJson(value, _lines(text[begun:start]), line, repeated, whole)
        at = begun = end


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _decoded(text: str, start: int) -> tuple[Any, int, tuple[str, ...], bool] | None:
    """Return the value at an offset, its end, its repeated keys and whether it is whole; None without JSON there."""
    repeated: list[str] = []
    decoder = json.JSONDecoder(object_pairs_hook=lambda pairs: _object(pairs, repeated))
    try:
        value, end = decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        return _beginning(text, start)
    return value, end, tuple(repeated), True


def _object(pairs: list[tuple[str, Any]], repeated: list[str]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                repeated.append(key)
            seen.add(key)
    return made


def _beginning(text: str, start: int) -> tuple[Any, int, tuple[str, ...], bool] | None:
    """Return a value up to where it is cut off or invalid, as :func:`_decoded` does; None if nothing of it is read."""
    ends = _complete_until(text, start)
    for end, closers in reversed(ends[-3:]):
        try:
            value = json.loads(text[start:end] + closers)
        except (ValueError, RecursionError):
            continue
        if value:
            return value, len(text), (), False
    return None


def _complete_until(text: str, start: int) -> list[tuple[int, str]]:
    """Return the offsets up to which a JSON value is complete, each with the brackets that close it there."""
    open_: list[str] = []
    ends: list[tuple[int, str]] = []
    for token in _TOKEN.finditer(text, start):
        char = token[0]
        if char in _CLOSERS:
            open_.append(_CLOSERS[char])
            if len(open_) > NESTING:
                break
        elif char in "]}":
            if not open_ or open_.pop() != char:
                break
            ends.append((token.end(), "".join(reversed(open_))))
        elif char == ",":
            ends.append((token.start(), "".join(reversed(open_))))
    return ends
