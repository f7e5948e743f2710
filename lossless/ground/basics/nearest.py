"""The nearest valid name, for messages about an unknown one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

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
