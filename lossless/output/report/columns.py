"""Lays out the text of reports in the columns of the terminal: paragraphs, facts and tables.

A style has the colors, the width and the level of detail of a text report.
"""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import coloured

_CODES = {
    "plain": "",
    "place": "1",
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "gutter": "34",
    "label": "1",
}
COLUMNS = 100
"""Columns of a line of a report if the width of the terminal is unknown."""
NARROWEST = 40
"""The least columns of a line of a report, as an excerpt needs them."""


class TextStyle:
    """The style of text: color, the number of columns of a line, and the level of detail.

    ``source`` shows the source line of a finding; ``brief`` shows one line of every finding; ``verbose`` shows the
    parts that a report leaves out by default. ``whole_heads`` keeps the first line of a finding on one line, for
    programs that look for it.
    """

    __slots__ = ("_colour", "brief", "columns", "source", "verbose", "whole_heads")

    def __init__(
        self,
        *,
        colour: bool = False,
        columns: int = COLUMNS,
        source: bool = True,
        brief: bool = False,
        verbose: bool = False,
        whole_heads: bool = True,
    ) -> None:
        self._colour = colour
        self.columns = max(columns, NARROWEST)
        self.source = source and not brief
        self.brief = brief
        self.verbose = verbose
        self.whole_heads = whole_heads or brief

    def showing(self, *, source: bool = True, brief: bool = False, verbose: bool = False) -> TextStyle:
        """Return a style with the same colors and width, and this level of detail."""
        return TextStyle(
            colour=self._colour,
            columns=self.columns,
            source=source,
            brief=brief,
            verbose=verbose,
            whole_heads=self.whole_heads,
        )

    def paint(self, text: str, role: str) -> str:
        """Return text in the color of its role; as it is where there are no colors."""
        code = _CODES[role] if self._colour else ""
        return coloured(text, code) if code and text else text


PLAIN = TextStyle()


if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = Sequence[str]

ROWS = 12
"""Rows of a table that are shown without -v."""
_GLUED = re.compile(
    r"(?<=[0-9]) (?=(?:k?B|[KMGT]i?B|[GT]b/s|[num]?s|m|%|of|identical)\b)|(?<= of) (?=[0-9])|(?<=[0-9]) (?=%)"
    r"|(?<! ) ++(?=::|##)"
)
"""Spaces at which no line breaks: between a number and its unit, and before the commands of a CI runner."""
_COPIED = re.compile(
    r"^.*?(?=:[0-9]+(?::[0-9]+)?: )|`[^`]*`|(?<!\w)'[^']*'(?!\w)|(?:\bpip install|\blossless [-a-z]+)(?: -\S+)*"
)
"""Parts of a message that people copy: the place that it begins with, quoted names, commands with their options."""
_BLOCK = re.compile(
    r"^(?P<fenced>```(?s:.*?)(?:^```$|\Z))|^[^\n#|].*(?:\n(?![-#|`]|[0-9]+\. |[^\S\n]*+$).+)*", re.MULTILINE
)
"""A fenced block, or a paragraph or item of Markdown."""
_GLUE = "\N{NO-BREAK SPACE}"
_FIGURE = re.compile(r"[-+]?[0-9][0-9,.]*(?: ?%|:1)?")
_NO_FIGURE = re.compile(r"\D*")


def wrapped(text: str, style: TextStyle = PLAIN, indent: str = "", hanging: str = "  ") -> str:
    """Return text in lines within the style's columns, unless a word is longer; ``hanging`` indents later ones."""
    return "\n".join(_wrapped(text, style.columns, indent, indent + hanging) or [indent])


def wrapped_message(text: str, style: TextStyle, hanging: str = "  ") -> str:
    """Return a message in lines within the style's columns; its place, commands and quoted names are not split."""
    return wrapped(_COPIED.sub(lambda words: words[0].replace(" ", _GLUE), text), style, hanging=hanging)


def wrapped_markdown(text: str, style: TextStyle) -> str:
    """Return Markdown whose paragraphs and items fit the style's columns; fenced blocks are copied unchanged."""

    def fitting(block: re.Match[str]) -> str:
        lines = block[0].split("\n")
        if block["fenced"] or max(map(len, lines)) <= style.columns:
            return block[0]
        return wrapped_message(" ".join(map(str.strip, lines)), style, "  " if lines[0][:2] == "- " else "")

    return _BLOCK.sub(fitting, text)


def facts(rows: Sequence[Row], style: TextStyle = PLAIN, indent: str = "") -> str:
    """Return rows in aligned columns without heads; cells wrap where a line would be too long."""
    return _laid_out([], rows, style, indent)


def table(rows: Sequence[Row], style: TextStyle = PLAIN, indent: str = "", *, whole: bool = False) -> str:
    """Return a table whose first row has the heads; columns of figures are aligned to the right.

    Without -v more than :data:`ROWS` are cut, unless the user requested the ``whole`` table.
    """
    head, *body = rows
    shown = body if style.verbose or whole else body[:ROWS]
    laid_out = _laid_out([head], shown, style, indent)
    return "\n".join([laid_out, *more_rows(len(body) - len(shown), indent)])


def cut(lines: Sequence[str], style: TextStyle, indent: str = "") -> list[str]:
    """Return the entries of a list; without -v at most ROWS of them, and the number of the rest."""
    shown = [*lines] if style.verbose else [*lines[:ROWS]]
    return [*shown, *more_rows(len(lines) - len(shown), indent)]


def more_rows(more: int, indent: str = "") -> list[str]:
    """Return the line with the number of rows not shown, as a list; empty if all are shown."""
    return [f"{indent}... {more:,} more, -v shows all"] if more > 0 else []


def _laid_out(heads: Sequence[Row], body: Sequence[Row], style: TextStyle, indent: str) -> str:
    """Return heads, if any, and rows in columns; rows with heads as records where not even wrapped cells fit."""
    rows = [[_glued(cell) for cell in row] for row in (*heads, *body)]
    room = style.columns - len(indent) - 2 * (len(rows[0]) - 1)
    widths = _widths(rows, len(heads), room)
    if sum(widths) > room and heads:
        lines = _records(rows, style, indent)
    else:
        right = [_are_figures(column[len(heads) :]) for column in zip(*rows, strict=True)]
        lines = [indent + line for row in rows for line in _wrapped_row(row, widths, right)]
    return "\n".join(line.rstrip() for line in lines).replace(_GLUE, " ")


def _widths(rows: Sequence[Row], heads: int, room: int) -> list[int]:
    """Return the widths of columns, within ``room`` if words allow it: heads wrap first, then the widest column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    least = [
        max(len(word) for cell in column for word in cell.split(" ")) for column in zip(*rows, strict=True)
    ]
    below = [max(map(len, column)) for column in zip(*(rows[heads:] or rows), strict=True)]
    while sum(widths) > room:
        narrower = [number for number, width in enumerate(widths) if width > least[number]]
        if not narrower:
            return widths if heads else _overflowing(widths, room)
        widths[max(narrower, key=lambda number: (widths[number] > below[number], widths[number]))] -= 1
    return widths


def _overflowing(widths: list[int], room: int) -> list[int]:
    """Return the widths with that of the widest column reduced to the remaining room, but not below NARROWEST."""
    widest = widths.index(max(widths))
    least = min(widths[widest], NARROWEST)
    return [
        max(room - sum(widths) + width, least) if at == widest else width for at, width in enumerate(widths)
    ]


def _are_figures(cells: Row) -> bool:
    """Return whether a column is aligned to the right: its cells are figures, and words without digits beside them."""
    figures = [cell for cell in cells if _FIGURE.fullmatch(cell)]
    return bool(figures) and all(cell in figures or _NO_FIGURE.fullmatch(cell) for cell in cells)


def _wrapped_row(row: Row, widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    """Return the lines of one row, each cell wrapped to its width."""
    cells = [
        [cell] if len(cell) <= width else _wrapped(cell, width)
        for cell, width in zip(row, widths, strict=True)
    ]
    return [
        "  ".join(
            _set(cell[at] if at < len(cell) else "", width, right=to_right)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        )
        for at in range(max(map(len, cells)))
    ]


def _set(text: str, width: int, *, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def _records(rows: Sequence[Row], style: TextStyle, indent: str) -> list[str]:
    """Return each row as lines below each other, every cell after its head."""
    head, *body = rows
    lines = []
    for first, *rest in body:
        title = f"{head[0]}: {first}" if head[0] else first
        lines += _wrapped(title, style.columns, indent, f"{indent}  ")
        for name, cell in zip(head[1:], rest, strict=True):
            lines += _wrapped(f"{name}: {cell}", style.columns, f"{indent}  ", f"{indent}    ")
    return lines


def _wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    glued = wrap(
        _glued(text),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_GLUE, " ") for line in glued]


def _glued(text: str) -> str:
    """Return text of the same length with no-break spaces where no line may break, as before a unit."""
    return _GLUED.sub(lambda blanks: _GLUE * len(blanks[0]), text)


def markdown_table(heads: Row, rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table; a bar in a cell is escaped."""
    cells = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells)
