"""The nearest valid name, for messages about an unknown one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NAMED = 5
"""Names that a message lists; there may be thousands."""
_SOME_LIKENESS = 0.3
"""Part of two names that is the same at least where one resembles the other."""


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that ``name`` most likely means, or None when none resembles it.

    The order of the candidates does not matter; a name that differs only in case always wins.
    """
    from difflib import get_close_matches

    names = sorted(set(candidates))
    for candidate in names:
        if candidate.casefold() == name.casefold():
            return candidate
    close = get_close_matches(name, names, n=1)
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


def suggestion(name: str, names: Sequence[str], most: int | None = _NAMED) -> str:
    """Return what to say behind an unknown name: ``; did you mean leaf1?``, or which names there are.

    The nearest come first; no more than ``most`` are named, all without it.
    """
    near = nearest(name, names)
    if near is not None:
        return f"; did you mean {near}?"
    return f"; there are {listed(ranked(name, names), most or len(names))}" if names else "; there are none"
