"""Parses tables in the output of commands: rulers of dashes, boxes, dotted lists, pairs between rulers, and text.

The forms are those of the Python package tabulate (``simple``, ``grid``, ``pretty`` and ``psql``). A row is split at
the columns of its ruler; where a cell is wider than its column, at two or more blanks; where cells are one blank apart,
at the columns of the ruler again.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Spans = tuple[tuple[int, int], ...]
"""The start and the end of each column of a table."""
_RULER = re.compile(r"[ \t]*-+(?:[ \t]+-+)+[ \t]*")
_WORDS = re.compile(r"\S+(?: \S+)*")
_DASHES = re.compile(r"-+")
_DOTTED = re.compile(r"[ \t]*(\S.*?)\.{3,}+[ \t]*+(.*)")
_BOX_RULER = re.compile(r"[ \t]*[+|](?:[-=]+[+|])+[ \t]*")
_BOX_ROW = re.compile(r"[ \t]*\|(.*)\|[ \t]*")
_PROMPT = re.compile(r"[#$>] \S|\S*[\w\])][#$>] ?\S|==> ?\S")
"""The pattern of a line with which the next command starts."""


class PrintedRow(NamedTuple):
    """One row: its cells without surrounding blanks, and its line, from 1."""

    cells: tuple[str, ...]
    line: int


class PrintedTable(NamedTuple):
    """One table: the headings of its columns, and its rows; ``line`` is that of its headings.

    ``unread_line`` is the first row that is left out, 0 without any: the text ends within it, or a box has more or
    fewer cells there.
    """

    headings: tuple[str, ...]
    rows: tuple[PrintedRow, ...]
    line: int
    unread_line: int = 0


class PrintedPairs(NamedTuple):
    """Names and values between two rulers, or a list with dots between name and value; ``line`` is the first."""

    rows: tuple[PrintedRow, ...]
    line: int


class TextLine(NamedTuple):
    """A line of text between tables."""

    text: str
    line: int


PrintedBlock = PrintedTable | PrintedPairs | TextLine


def printed_blocks(text: str) -> tuple[PrintedBlock, ...]:
    """Return the tables of a text and the lines between them, in order; blank lines are left out."""
    lines = text.split("\n")
    return tuple(_Blocks([line.rstrip("\r") for line in lines], lines[-1] != "").blocks())


def cells_of(line: str, spans: Spans) -> tuple[str, ...]:
    """Return the cells of a line, split at the columns of its table, at two or more blanks, or between words."""
    line = line.expandtabs()
    bounds = [start for start, _ in spans][1:]
    gaps = [(end, start) for (_, end), (start, _) in pairwise(spans)]
    if all(not line[end:start].strip() for end, start in gaps):
        return tuple(line[a:b].strip() for a, b in zip([0, *bounds], [*bounds, None], strict=True))
    words = list(_WORDS.finditer(line))
    if len(words) == len(spans):
        return tuple(match[0] for match in words)
    return _by_overlap(line, words, spans)


def spans_of(headings: str) -> Spans:
    """Return the columns of a table without a ruler, whose cells begin below their headings."""
    starts = [match.start() for match in _WORDS.finditer(headings.expandtabs())]
    # A column begins where its heading does, and ends one blank before the next.
    ends = [start - 1 for start in starts[1:]]
    return tuple(zip(starts, [*ends, max([len(headings), *starts])], strict=True))


def _by_overlap(line: str, words: list[re.Match[str]], spans: Spans) -> tuple[str, ...]:
    """Return the cells of a line with some cells one blank apart: words belong to the column below which they are."""
    cells: list[list[str]] = [[] for _ in spans]
    for group in words:
        columns = {_column(word, spans) for word in _singles(line, group)}
        if len(columns) == 1 or len(words) > len(spans):
            cells[_column((group.start(), group.end()), spans)].append(group[0])
            continue
        for start, end in _singles(line, group):
            cells[_column((start, end), spans)].append(line[start:end])
    return tuple(" ".join(words) for words in cells)


def _is_title(line: str) -> bool:
    """Return whether a line ends with a colon, with or without a remark in parentheses: a row of a table does not."""
    bare = line.rstrip()
    return bare.endswith(":") or (bare.endswith(")") and ": (" in bare)


def _singles(line: str, group: re.Match[str]) -> list[tuple[int, int]]:
    return [match.span() for match in re.compile(r"\S+").finditer(line, group.start(), group.end())]


def _column(place: tuple[int, int], spans: Spans) -> int:
    """Return the index of the column that a word overlaps most, else of the nearest column."""

    def shared(index: int) -> tuple[int, int]:
        start, end = spans[index]
        return min(end, place[1]) - max(start, place[0]), -index

    return max(range(len(spans)), key=shared)


class _Blocks:
    """Splits the lines of a text into tables, lists of names and values, and other lines."""

    def __init__(self, lines: Sequence[str], is_open: bool) -> None:
        self._lines = lines
        self._is_open = is_open
        self._at = 0

    def blocks(self) -> Iterator[PrintedBlock]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip():
                self._at += 1
            elif _BOX_RULER.fullmatch(line):
                yield from self._box()
            elif self._is_ruler(self._at):
                yield self._pairs()
            elif self._is_ruler(self._at + 1) and self._has_headings(self._at):
                yield self._table()
            elif _DOTTED.match(line):
                yield self._dotted()
            else:
                yield TextLine(line.strip(), self._at + 1)
                self._at += 1

    def _line(self, at: int) -> str:
        return self._lines[at] if at < len(self._lines) else ""

    def _is_ruler(self, at: int) -> bool:
        return _RULER.fullmatch(self._line(at)) is not None

    def _has_headings(self, at: int) -> bool:
        """Return whether a line above a ruler has its headings, and is not the title of pairs."""
        spans = _ruler_spans(self._lines[at + 1])
        headings = len(_WORDS.findall(self._lines[at].expandtabs()))
        return headings >= len(spans) or (
            headings > 1 and sum(map(bool, cells_of(self._lines[at], spans))) > 1
        )

    def _table(self) -> PrintedTable:
        line = self._at + 1
        spans = _ruler_spans(self._lines[self._at + 1])
        headings = cells_of(self._lines[self._at], spans)
        self._at += 2
        rows = self._rows(spans)
        if self._is_cut(rows, spans):
            return PrintedTable(headings, tuple(rows[:-1]), line, rows[-1].line)
        return PrintedTable(headings, tuple(rows), line)

    def _is_cut(self, rows: list[PrintedRow], spans: Spans) -> bool:
        """Return whether the text ends within a row: without a line end, with fewer cells or a shorter last cell."""
        if not rows or not self._is_open or self._at < len(self._lines):
            return False
        if not rows[-1].cells[-1]:
            return True
        ends = {len(self._lines[row.line - 1].rstrip()) for row in rows[:-1]}
        return ends == {spans[-1][1]} and len(self._lines[-1].rstrip()) < spans[-1][1]

    def _rows(self, spans: Spans, closing: str | None = None) -> list[PrintedRow]:
        """Return the rows up to the end of a table, or to the ruler that closes it."""
        rows: list[PrintedRow] = []
        while self._is_row(spans, closing) or (rows and self._goes_on(spans)):
            cells = cells_of(self._lines[self._at], spans)
            if rows and not cells[0] and _continues(rows[-1].cells, cells):
                rows[-1] = PrintedRow(_joined(rows[-1].cells, cells), rows[-1].line)
            else:
                rows.append(PrintedRow(cells, self._at + 1))
            self._at += 1
        return rows

    def _is_row(self, spans: Spans, closing: str | None) -> bool:
        """Return whether the next line is a row: not blank, no text or title, prompt, or headings of another table."""
        line = self._line(self._at)
        if not line.strip() or self._is_ruler(self._at):
            return False
        if self._is_ruler(self._at + 1) and self._line(self._at + 1).strip() != closing:
            return False
        if _is_title(line) or _PROMPT.match(line) or _BOX_RULER.fullmatch(line):
            return False
        words = _WORDS.findall(line.expandtabs())
        return len(words) > 1 or " " not in words[0] or len(line) - len(line.lstrip()) >= spans[0][1]

    def _goes_on(self, spans: Spans) -> bool:
        """Skip a blank line in a table if the next line has a cell in each column; return whether that was done."""
        after = self._at + 1
        if self._line(self._at).strip() or not self._line(after).strip():
            return False
        line = self._lines[after].expandtabs()
        if self._is_ruler(after + 1) or _PROMPT.match(line) or len(_WORDS.findall(line)) != len(spans):
            return False
        if any(line[end:start].strip() for (_, end), (start, _) in pairwise(spans)):
            return False
        self._at = after
        return True

    def _pairs(self) -> PrintedPairs:
        line = self._at + 1
        spans = _ruler_spans(self._lines[self._at])
        closing = self._lines[self._at].strip()
        self._at += 1
        rows = self._rows(spans, closing)
        if self._is_ruler(self._at):
            self._at += 1
        return PrintedPairs(tuple(rows), line)

    def _dotted(self) -> PrintedPairs:
        """Return the pairs of a dotted list; blank lines divide it into groups, and do not end it."""
        line = self._at + 1
        rows: list[PrintedRow] = []
        while self._at < len(self._lines):
            text = self._lines[self._at]
            match = _DOTTED.match(text)
            if match is None and text.strip():
                break
            if match is not None:
                rows.append(PrintedRow((match[1].strip(), match[2].rstrip(" \t")), self._at + 1))
            self._at += 1
        return PrintedPairs(tuple(rows), line)

    def _box(self) -> Iterator[PrintedTable]:
        """Parse a table in a box; its first row has the headings."""
        line = self._at + 2
        groups: list[list[PrintedRow]] = [[]]
        while self._at < len(self._lines):
            text = self._lines[self._at]
            if match := _BOX_ROW.fullmatch(text) if not _BOX_RULER.fullmatch(text) else None:
                cells = tuple(cell.strip() for cell in match[1].split("|"))
                groups[-1].append(PrintedRow(cells, self._at + 1))
            elif _BOX_RULER.fullmatch(text):
                groups.append([])
            else:
                break
            self._at += 1
        yield from _boxed([group for group in groups if group], line)


def _boxed(groups: list[list[PrintedRow]], line: int) -> Iterator[PrintedTable]:
    if not groups:
        return
    headings, *bodies = groups
    # With one ruler below the headings each line is a row; with one after each row, its lines are wrapped cells.
    rows = bodies[0] if len(bodies) == 1 else [_folded(body) for body in bodies]
    names = _folded(headings).cells
    fitting = tuple(row for row in rows if len(row.cells) == len(names))
    unread = next((row.line for row in rows if len(row.cells) != len(names)), 0)
    yield PrintedTable(names, fitting, line, unread)


def _folded(rows: list[PrintedRow]) -> PrintedRow:
    """Return the lines between two rulers of a box as one row with unwrapped cells."""
    cells = rows[0].cells
    for row in rows[1:]:
        cells = _joined(cells, row.cells)
    return PrintedRow(cells, rows[0].line)


def _ruler_spans(ruler: str) -> Spans:
    return tuple(match.span() for match in _DASHES.finditer(ruler.expandtabs()))


def _continues(above: tuple[str, ...], cells: tuple[str, ...]) -> bool:
    """Return whether cells without a first one continue those above: each is below an existing cell."""
    return any(cells) and all(upper for upper, cell in zip(above, cells, strict=False) if cell)


def _joined(above: tuple[str, ...], below: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(" ".join(filter(None, pair)) for pair in zip(above, below, strict=False))
