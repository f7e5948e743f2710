"""The elements a finding shows on, in few words: consecutive ports become a range."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
