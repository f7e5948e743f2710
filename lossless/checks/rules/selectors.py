"""Words that people choose rules by: a code, a readable name, a family with or without digits, or ``ALL``.

``WD001``, ``watchdog-missing``, ``WD`` and ``WD00`` all select rules. A family is spelled out: ``C`` selects
nothing, so that a later family is never selected by accident.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lossless.checks.rules.registry import RULES, Codes, code_of
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EVERY = "ALL"
SEE_ALL = "lossless rules lists all"
_DIGITS = "0123456789"
_EXACT = 1_000
"""How precise the name of one rule is: a family with digits says less, as much as it has characters."""


class RuleChoice(NamedTuple):
    """Which rules to run: those selected, all where none is, without those ignored."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


@cache
def codes_of(selector: str) -> Codes:
    """Return the codes that a selector stands for; none where it is unknown."""
    if selector == EVERY:
        return frozenset(RULES)
    code = code_of(selector)
    if code is not None:
        return frozenset({code})
    prefix = selector.upper()
    if prefix.rstrip(_DIGITS) not in families():
        return frozenset()
    return frozenset(code for code in RULES if code.startswith(prefix))


@cache
def families() -> tuple[str, ...]:
    """Return the letters that codes begin with, each once, in order."""
    return tuple(dict.fromkeys(code.rstrip(_DIGITS) for code in RULES))


@cache
def unknown(selector: str) -> str:
    """Return the message for a selector that matches no rule."""
    from lossless.ground.basics.nearest import nearest

    names = (row.name for row in RULES.values())
    near = nearest(selector, (*RULES, *names, *families(), EVERY))
    return f"no rule {selector!r}; " + (f"did you mean {near}? ({SEE_ALL})" if near else SEE_ALL)


def chosen(choice: RuleChoice) -> Codes:
    """Return the codes that a choice leaves: the most precise word about a rule counts, ``ignore`` in doubt."""
    ranks = [_ranks(selectors) for selectors in (choice.select or (EVERY,), choice.ignore)]
    wanted, unwanted = ranks
    return frozenset(code for code, rank in wanted.items() if rank > unwanted.get(code, -1))


def most_precise(code: str, selectors: Iterable[str]) -> str | None:
    """Return the selector that says most of a rule, None where none stands for it."""
    fitting = [selector for selector in selectors if code in codes_of(selector)]
    return max(fitting, key=_precision, default=None)


def layered(configured: RuleChoice, asked: RuleChoice) -> Codes:
    """Return the codes to run: what is asked for on the spot comes before what is configured.

    A selection takes the place of the configured choice; what is ignored on top is left out of either.
    """
    if asked.select:
        return chosen(asked)
    return chosen(configured) - _any(asked.ignore)


def _any(selectors: Sequence[str]) -> Codes:
    return frozenset().union(*map(codes_of, selectors))


def _ranks(selectors: Iterable[str]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for selector in selectors:
        for code in codes_of(selector):
            ranks[code] = max(_precision(selector), ranks.get(code, -1))
    return ranks


def _precision(selector: str) -> int:
    """Return how much a selector says: nothing for all rules, most for one by its name or code."""
    if selector == EVERY:
        return 0
    return len(selector) if code_of(selector) is None else _EXACT
