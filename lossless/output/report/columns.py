"""Rows of text under each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Return rows with every column as wide as its widest cell, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
    return "\n".join(indent + line for line in lines)


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table; a bar in a cell is escaped."""
    cells = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells)
