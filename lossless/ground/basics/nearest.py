"""The nearest valid name, for messages about an unknown one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


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
