"""One line of a file with a caret under the part that matters."""

from __future__ import annotations

from lossless.ground.basics.foreign_text import visible_chars

_TAB = "    "
_CUT = "..."


def excerpt(line: str, start: int, end: int, columns: int) -> tuple[str, str]:
    """Return a line as it is shown, and the carets below it.

    ``start`` and ``end`` are 0-based code points of the line, the end exclusive. Tabs become four spaces,
    East Asian wide characters count two columns, combining ones none. A line longer than ``columns`` is cut
    on both sides of the caret.
    """
    first = max(0, start - columns)
    cells = [_TAB if cell == "\\t" else cell for cell in visible_chars(line[first : start + 2 * columns])]
    start, end = start - first, max(end, start + 1) - first
    left, right = _window(cells, start, end, columns)
    before = _CUT if first or left else ""
    after = _CUT if right < len(cells) or first + len(cells) < len(line) else ""
    text = before + "".join(cells[left:right]) + after
    indent = len(before) + sum(map(_width, cells[left:start]))
    carets = sum(map(_width, cells[start : min(end, right)]))
    return text.rstrip(), " " * indent + "^" * max(carets, 1)


def _window(cells: list[str], start: int, end: int, columns: int) -> tuple[int, int]:
    """Return the cells to show: all, from the first, or from a third of the room before the caret."""
    widths = [_width(cell) for cell in cells]
    if sum(widths) <= columns:
        return 0, len(cells)
    room, left = columns - len(_CUT), 0
    if sum(widths[:end]) > room and sum(widths[:start]) > room // 3:
        room, left, lead = room - len(_CUT), start, 0
        while left > 0 and lead + widths[left - 1] <= room // 3:
            left -= 1
            lead += widths[left]
    right, used = left, 0
    while right < len(cells) and used + widths[right] <= room:
        used += widths[right]
        right += 1
    return left, right


def _width(cell: str) -> int:
    if cell.isascii():
        return len(cell)
    # Imported late: nearly every line of a configuration is ASCII, and the table of characters is not small.
    from unicodedata import category, east_asian_width

    return 0 if category(cell) in ("Mn", "Me", "Cf") else 2 if east_asian_width(cell) in "WF" else 1
