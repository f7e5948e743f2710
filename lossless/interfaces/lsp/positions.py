"""Places in a text as the protocol counts them: lines from 0, columns in the units that client and server agreed on.

Lines end at LF, CR LF and CR, for the protocol and for :mod:`lossless.ground.documents` identical.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol.types import Position, PositionEncodingKind, Range

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Span
    from lossless.ground.documents.excerpts import DocumentView
    from lossless.ground.documents.text import Lines

_CODECS = {PositionEncodingKind.Utf8: ("utf-8", 1), PositionEncodingKind.Utf16: ("utf-16-le", 2)}
_WORD = re.compile(r""""[^"]*"|'[^']*'|[^\s,:{}\[\]"']+""")


class ColumnUnits:
    """The unit of a column: bytes of UTF-8, units of UTF-16 (unless agreed otherwise), or code points."""

    __slots__ = ("_codec", "_width")

    def __init__(self, encoding: str | None = None) -> None:
        wanted = PositionEncodingKind(encoding or PositionEncodingKind.Utf16)
        self._codec, self._width = _CODECS.get(wanted, ("", 1))

    def length(self, text: str) -> int:
        """Return how many units a text has."""
        if not self._codec or text.isascii():
            return len(text)
        return len(text.encode(self._codec, "surrogatepass")) // self._width

    def column(self, line: str, character: int) -> int:
        """Return the column of a line, in code points from 0; that of its end if the line is shorter."""
        if not self._codec or line.isascii():
            return min(character, len(line))
        units = 0
        for at, letter in enumerate(line):
            if units >= character:
                return at
            units += self.length(letter)
        return len(line)

    def position(self, lines: Lines | DocumentView, line: int, column: int) -> Position:
        """Return a place that counts from 1 in code points, as findings do."""
        try:
            before = lines.line_text(line)[: column - 1]
        except IndexError:
            before = ""
        return Position(line - 1, self.length(before))

    def range(self, lines: Lines | DocumentView, span: Span) -> Range:
        """Return the range of a span."""
        start = self.position(lines, span.line, span.column)
        return Range(start, self.position(lines, span.end_line, span.end_column))

    def word(self, lines: Lines, line: int | None, column: int | None) -> Range:
        """Return the range of the word at a place; of the first line where a whole file is meant."""
        if line is None:
            return Range(Position(0, 0), self.position(lines, 1, len(_line(lines, 1)) + 1))
        column = column or 1
        text = _line(lines, line)
        match = _WORD.match(text, column - 1)
        end = match.end() if match else min(column, len(text))
        return Range(self.position(lines, line, column), self.position(lines, line, end + 1))


def _line(lines: Lines, number: int) -> str:
    try:
        return lines.line_text(number)
    except IndexError:
        return ""


def meets(first: Range, second: Range) -> bool:
    """Return whether two ranges touch."""
    return _order(first.start) <= _order(second.end) and _order(second.start) <= _order(first.end)


def _order(position: Position) -> tuple[int, int]:
    return position.line, position.character
