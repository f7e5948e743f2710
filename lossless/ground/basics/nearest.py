"""The nearest valid name, for messages about an unknown one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NAMED = 5
"""Names that a message lists; there may be thousands."""


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


def suggestion(name: str, names: Sequence[str]) -> str:
    """Return what to say behind an unknown name: ``; did you mean leaf1?``, or which names there are."""
    near = nearest(name, names)
    if near is not None:
        return f"; did you mean {near}?"
    return f"; there are {listed(names, _NAMED)}" if names else "; there are none"
