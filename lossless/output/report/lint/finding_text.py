"""The words of a finding in every format: its object, its explanation and its fix.

One line of a file with a caret under the part that matters.

The elements a finding shows on, in few words: consecutive ports become a range.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import visible, visible_chars, visible_lines
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.ground.basics.findings import Finding, Origin, Path
    from lossless.output.report.lint.locations import Locations

    Detail = tuple[str, str]
    """A label and what it says."""

_LONGEST_OBJECT = 60
_SHOWN_PLACES = 3


def headline(finding: Finding) -> str:
    """Return the message on one line; in a CONFIG_DB the object comes first, since line numbers mean little there."""
    message = visible(finding.message.replace("\n", " "))
    if finding.object_form == "config_db" and finding.origin.path:
        return f"{object_of(finding.origin.path)}: {message}"
    return message


def object_of(path: Path, *, whole: bool = False) -> str:
    """Return a path as people write it, on one line; unless ``whole``, dozens of ports in a key as their ranges.

    Tables of CONFIG_DB have upper-case names, keys of an intent have not, and commands have blanks.
    """
    first = str(path[0]) if path else ""
    separator = "|" if first.isupper() or " " in first else "."
    text = visible(separator.join(map(str, path)))
    if len(text) > _LONGEST_OBJECT and not whole:
        # A row of CONFIG_DB can name its ports in its key: Ethernet0,Ethernet4,...|3.
        parts = [",".join(name_ranges(part.split(","))) for part in text.split(separator)]
        text = _shortened(separator.join(parts))
    return text


def details(finding: Finding, others: Iterable[Detail] = ()) -> Iterator[Detail]:
    """Yield the lines below a message, each with its label; ``others`` come before the help, which ends it."""
    if finding.elements:
        yield "on", visible(elements_text(finding.elements, finding.places))
    if finding.note:
        yield "note", finding.note
    yield from others
    if finding.help:
        yield "help", finding.help


def other_places(finding: Finding, locations: Locations, name: Callable[[str], str]) -> Iterator[Detail]:
    """Yield the other places of a finding in words; ``name`` returns the shown name of a file."""
    for related in finding.related:
        path = related.origin.path
        # In an intent the line says it all; in a CONFIG_DB of thousands of lines the object does.
        named = f"{object_of(path)}: " if path and str(path[0]).isupper() else ""
        yield "also", f"{_place(related.origin, locations, name)}: {named}{visible(related.message)}"
    if finding.via is not None:
        yield "from", f"{_place(finding.via, locations, name)}: {object_of(finding.via.path)}"


def together(same: Sequence[Finding]) -> Finding:
    """Return the first of the findings of one cause, with the elements of all."""
    elements = tuple(dict.fromkeys(name for finding in same for name in finding.elements))
    return same[0]._replace(elements=elements, places=sum(finding.places for finding in same))


def same_elsewhere(
    same: Sequence[Finding], locations: Locations, name: Callable[[str], str]
) -> Iterator[Detail]:
    """Yield the other places of the findings of one cause; of many the first."""
    if len(same) > 1:
        named = [_place(finding.origin, locations, name) for finding in same[1 : 1 + _SHOWN_PLACES]]
        unnamed = len(same) - 1 - len(named)
        yield "also", ", ".join(named) + (f" and {unnamed} more (--quiet lists each)" if unnamed else "")


def paragraphs(finding: Finding, others: Iterable[Detail] = ()) -> str:
    """Return a finding in words alone, a line for each remark."""
    labelled = details(finding, others)
    return "\n".join([headline(finding), *(f"{label}: {visible_lines(text)}" for label, text in labelled)])


def _place(origin: Origin, locations: Locations, name: Callable[[str], str]) -> str:
    span = locations.span(origin)
    file = visible(name(origin.file))
    return f"{file}:{span.line}:{span.column}" if span else file


def _shortened(text: str) -> str:
    """Return an object, with its middle cut if it is too long for a line."""
    half = (_LONGEST_OBJECT - 3) // 2
    return text if len(text) <= _LONGEST_OBJECT else f"{text[:half]}...{text[-half:]}"


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


_SHOWN_RUNS = 3
_SHORTEST_RANGE = 3


class _NameRun(NamedTuple):
    """Names that differ only in a number that grows in even steps; ``head`` is their common beginning."""

    head: str
    numbers: tuple[int, ...]

    def names(self) -> list[str]:
        """Return every name of the run, or the range they make."""
        if len(self.numbers) < _SHORTEST_RANGE:
            return [f"{self.head}{number}" for number in self.numbers]
        stem = self.head.rpartition(":")[2]
        return [f"{self.head}{self.numbers[0]}-{stem}{self.numbers[-1]}"]


def elements_text(elements: Sequence[str], places: int) -> str:
    """Return ``leaf1:Ethernet0-Ethernet60, leaf2:Ethernet0-Ethernet60 and 32 more (64 ports)``.

    ``places`` may exceed the elements that are named. The number is added when the names alone do not
    show it.
    """
    shown, named, is_range = [], 0, False
    for run in list(_runs(elements))[:_SHOWN_RUNS]:
        shown += run.names() if isinstance(run, _NameRun) else [run]
        named += len(run.numbers) if isinstance(run, _NameRun) else 1
        is_range = is_range or (isinstance(run, _NameRun) and len(run.numbers) >= _SHORTEST_RANGE)
    text = ", ".join(shown)
    if places > named:
        text += f" and {places - named} more"
    if places > named or is_range:
        text += f" ({places} {'ports' if all(map(_is_port, elements)) else 'in all'})"
    return text


def _is_port(element: str) -> bool:
    """Return whether an element is a port, ``leaf1:Ethernet0``: a queue or a group has one part more."""
    return element.count(":") == 1 and "|" not in element


def name_ranges(names: Sequence[str]) -> list[str]:
    """Return names with those that belong together as one range: ``Ethernet0-Ethernet60``."""
    return [name for run in _runs(names) for name in (run.names() if isinstance(run, _NameRun) else [run])]


def _runs(elements: Sequence[str]) -> Iterator[_NameRun | str]:
    """Yield names in the order people count, those that belong together as one run."""
    numbers: dict[str, list[int]] = {}
    alone: set[str] = set()
    for element in elements:
        head = element.rstrip("0123456789")
        digits = element[len(head) :]
        # A number with a leading 0 stays text.
        if digits and (digits[0] != "0" or digits == "0"):
            numbers.setdefault(head, []).append(int(digits))
        else:
            numbers.setdefault(element, [])
            alone.add(element)
    for head in sorted(numbers, key=_natural) if len(numbers) > 1 else numbers:
        if head in alone:
            yield head
        yield from (_NameRun(head, run) for run in _even(sorted(numbers[head])))


def _even(numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield ascending numbers by runs in which each is as far from the next."""
    start = 0
    for end in range(1, len(numbers) + 1):
        length = end - start
        is_last = end == len(numbers)
        if is_last or (length > 1 and numbers[end] - numbers[end - 1] != numbers[start + 1] - numbers[start]):
            yield tuple(numbers[start:end])
            start = end


def _natural(name: str) -> tuple[tuple[tuple[int, str], ...], str]:
    """Return a key that sorts ``leaf2`` before ``leaf10``."""
    parts = re.split(r"(\d+)", name)
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts), name
