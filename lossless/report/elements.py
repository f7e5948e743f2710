"""The elements a finding shows on, in few words: consecutive ports become a range."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHOWN_RUNS = 3
_SHORTEST_RANGE = 3


class _Run(NamedTuple):
    """Names that differ only in a number that grows in even steps; ``head`` is what they begin with."""

    head: str
    numbers: tuple[int, ...]

    def names(self) -> list[str]:
        """Return every name of the run, or the range they make."""
        if len(self.numbers) < _SHORTEST_RANGE:
            return [f"{self.head}{number}" for number in self.numbers]
        stem = self.head.rpartition(":")[2]
        return [f"{self.head}{self.numbers[0]}-{stem}{self.numbers[-1]}"]


def on(elements: Sequence[str], places: int) -> str:
    """Return ``leaf1:Ethernet0-Ethernet60, leaf2:Ethernet0-Ethernet60 and 32 more (64 ports)``.

    ``places`` may exceed the elements that are named. The number stands there when the names alone do not
    tell it.
    """
    shown, named, is_range = [], 0, False
    for run in list(_runs(elements))[:_SHOWN_RUNS]:
        shown += run.names() if isinstance(run, _Run) else [run]
        named += len(run.numbers) if isinstance(run, _Run) else 1
        is_range = is_range or (isinstance(run, _Run) and len(run.numbers) >= _SHORTEST_RANGE)
    text = ", ".join(shown)
    if places > named:
        text += f" and {places - named} more"
    if places > named or is_range:
        text += f" ({places} {'ports' if ':' in elements[0] else 'in all'})"
    return text


def _runs(elements: Sequence[str]) -> Iterator[_Run | str]:
    """Yield names in the order people count, those that belong together as one run."""
    run: _Run | None = None
    for element in sorted(elements, key=_natural):
        head, number = _split(element)
        if run is not None and number is not None and _continues(run, head, number):
            run = _Run(head, (*run.numbers, number))
            continue
        if run is not None:
            yield run
        run = None if number is None else _Run(head, (number,))
        if run is None:
            yield element
    if run is not None:
        yield run


def _natural(name: str) -> list[tuple[int, str]]:
    """Return what sorts ``leaf2`` before ``leaf10``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _continues(run: _Run, head: str, number: int) -> bool:
    step = number - run.numbers[-1]
    if head != run.head or step <= 0:
        return False
    return len(run.numbers) < 2 or step == run.numbers[-1] - run.numbers[-2]


def _split(element: str) -> tuple[str, int | None]:
    """Return a name as its beginning and the number it ends in; a number with a leading 0 stays text."""
    head = element.rstrip("0123456789")
    digits = element[len(head) :]
    if not digits or (digits[0] == "0" and digits != "0"):
        return element, None
    return head, int(digits)
