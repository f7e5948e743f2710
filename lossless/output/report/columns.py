"""Rows of text under each other."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = 100
"""The width of reports, whatever the terminal has: they are meant for tickets too."""


_GLUED = re.compile(r"(?<=\d) (?=(?:k?B|[KMGT]i?B|[GT]b/s|[num]?s|m|%|of|identical)\b)|(?<= of) (?=\d)")
"""Spaces at which no cell is wrapped: between a number and its unit."""
_GLUE = "\N{NO-BREAK SPACE}"


def columns(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Return rows with every column as wide as its widest cell, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
    return "\n".join(indent + line for line in lines)


def fitted_columns(rows: Sequence[Sequence[str]], indent: str = "", limit: int = COLUMNS) -> str:
    """Return rows as :func:`columns`, with cells wrapped at spaces where a line would exceed ``limit``.

    Heads, which are the first row, wrap first, then the widest column. A line stays longer only where single words are.
    """
    rows = [[_GLUED.sub(_GLUE, cell) for cell in row] for row in rows]
    head, *body = ([cell.split(" ") for cell in row] for row in rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    least = [max(len(word) for cell in column for word in cell) for column in zip(head, *body, strict=True)]
    below = [max(map(len, column)) for column in zip(*(rows[1:] or rows), strict=True)]
    room = limit - len(indent) - 2 * (len(widths) - 1)
    while sum(widths) > room:
        narrower = [number for number, width in enumerate(widths) if width > least[number]]
        if not narrower:
            break
        widths[max(narrower, key=lambda number: (widths[number] > below[number], widths[number]))] -= 1
    lines = (line for row in rows for line in _wrapped_row(row, widths))
    return "\n".join((indent + line).rstrip() for line in lines).replace(_GLUE, " ")


def _wrapped_row(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Return the lines of one row, each cell within its width."""
    cells = [
        [cell] if len(cell) <= width else wrap(cell, width, break_long_words=False, break_on_hyphens=False)
        for cell, width in zip(row, widths, strict=True)
    ]
    return [
        "  ".join(
            (cell[at] if at < len(cell) else "").ljust(width)
            for cell, width in zip(cells, widths, strict=True)
        )
        for at in range(max(map(len, cells)))
    ]


def wrapped(text: str, indent: str = "", hanging: str = "  ") -> str:
    """Return text in lines of at most :data:`COLUMNS`, those after the first indented further."""
    return "\n".join(
        wrap(
            text,
            COLUMNS,
            initial_indent=indent,
            subsequent_indent=indent + hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )
        or [indent]
    )


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table; a bar in a cell is escaped."""
    cells = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells)
