"""Lists of names and numbers in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def listed(names: Sequence[str], most: int = 4, separator: str = ", ") -> str:
    """Return ``a, b, c, d and 3 more``."""
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def joined(names: Iterable[str], most: int | None = None) -> str:
    """Return ``a, b and c``; of more than ``most`` the first ones and the number of the rest."""
    every = list(names)
    if most is not None and len(every) > most:
        return listed(every, most)
    return " and ".join(filter(None, [", ".join(every[:-1]), *every[-1:]]))


def one_of(names: Iterable[str]) -> str:
    """Return ``a, b or c``."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def spell(priorities: Iterable[int]) -> str:
    """Return ``priority 3`` or ``priorities 3 and 4``; ``no priority`` for none."""
    numbers = [str(priority) for priority in sorted(priorities)]
    if not numbers:
        return "no priority"
    return f"{'priorities' if len(numbers) > 1 else 'priority'} {joined(numbers)}"


def number_ranges(numbers: Iterable[int]) -> str:
    """Return numbers in ascending order, neighbors joined: ``24-25, 27-31``."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
