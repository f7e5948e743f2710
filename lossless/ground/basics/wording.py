"""Lists of names and numbers in messages.

The nearest valid name, for messages about an unknown one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence


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


_NAMED = 5
"""The most names that a message lists; there may be thousands."""
_SOME_LIKENESS = 0.3
"""The least similarity of two names for one to resemble the other."""


def nearest(name: str, candidates: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the candidate that ``name`` most likely means, or None when none resembles it.

    The order of the candidates does not matter; a name that differs only in case always wins. ``likeness`` is the least
    similarity, as a share of both names.
    """
    from difflib import get_close_matches

    names = sorted(set(candidates))
    for candidate in names:
        if candidate.casefold() == name.casefold():
            return candidate
    close = get_close_matches(name, names, n=1, cutoff=likeness)
    return close[0] if close else None


def ranked(name: str, candidates: Iterable[str]) -> list[str]:
    """Return candidates by how much they resemble ``name``, the nearest first; equals stay in their order."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=name.casefold(), autojunk=False)

    def likeness(candidate: str) -> float:
        matcher.set_seq1(candidate.casefold())
        ratio = matcher.ratio()
        return ratio if ratio >= _SOME_LIKENESS else 0.0

    return sorted(dict.fromkeys(candidates), key=likeness, reverse=True)


def suggestion(
    name: str, names: Iterable[str], most: int | None = _NAMED, *, meant: str | None = None, see: str = ""
) -> str:
    """Return the end of a message about an unknown name: ``; did you mean leaf1? (others: leaf2, leaf3)``.

    Without a near name it lists the names there are. The nearest come first, at most ``most``, or all without
    it. ``meant`` is the name that is known to be meant, ``see`` the command that lists all names.
    """
    known = list(dict.fromkeys(names))
    if not known:
        return "; there are none"
    near = meant or nearest(name, known)
    others = [other for other in ranked(name, known) if other != near]
    shown = listed(others, most or len(others))
    if see and most and len(others) > most:
        shown += f", see {see}"
    if near is None:
        return f"; there {'is' if len(others) == 1 else 'are'} {shown}"
    return f"; did you mean {near}?" + (f" (others: {shown})" if others else "")


def key_suggestion(
    key: str, known: Iterable[str], stated: Container[str], *, meant: str | None = None
) -> str:
    """Return the end of a message about an unknown key: every key that is not in ``stated``, the nearest first.

    Empty where no key is known. ``meant`` is as in :func:`suggestion`.
    """
    known = list(known)
    free = [name for name in known if name not in stated]
    if free or not known:
        return suggestion(key, free, most=None, meant=meant) if free else ""
    return f"; every key that is known here is stated already: {', '.join(known)}"
