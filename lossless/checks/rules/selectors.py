"""Selectors of rules: a code, a readable name, a family with or without digits, or ``ALL``.

``WD001``, ``watchdog-missing``, ``WD`` and ``WD00`` all select rules. A family must be complete: ``C`` selects nothing,
so that a later family is never selected by accident.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lossless.checks.rules.registry import RULES, Codes, code_of
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

EVERY = "ALL"
SEE_ALL = "lossless rules lists all"
_DIGITS = "0123456789"
_EXACT = 1_000
"""The precision of the code or name of one rule; that of a family is its number of characters."""


class RuleChoice(NamedTuple):
    """The selectors of the rules to run, all rules without one, and of those to ignore; :func:`chosen` weighs them."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


@cache
def codes_of(selector: str) -> Codes:
    """Return the codes of the rules that a selector matches; empty where it matches none."""
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
    """Return the families of rules, the letters that codes begin with, each once, in order of the codes."""
    return tuple(dict.fromkeys(code.rstrip(_DIGITS) for code in RULES))


@cache
def unknown(selector: str) -> str:
    """Return the message for a selector that matches no rule, with the nearest selector if there is one."""
    from lossless.ground.basics.units import nearest

    names = (row.name for row in RULES.values())
    near = nearest(selector, (*RULES, *names, *families(), EVERY))
    return f"no rule {selector!r}; " + (f"did you mean {near}? ({SEE_ALL})" if near else SEE_ALL)


def chosen(choice: RuleChoice) -> Codes:
    """Return the codes that a choice selects: for each rule the most precise selector counts, on a tie ``ignore``."""
    ranks = [_ranks(selectors) for selectors in (choice.select or (EVERY,), choice.ignore)]
    wanted, unwanted = ranks
    return frozenset(code for code, rank in wanted.items() if rank > unwanted.get(code, -1))


def most_precise(code: str, selectors: Iterable[str]) -> str | None:
    """Return the most precise selector that matches a rule; None where no selector matches it."""
    fitting = [selector for selector in selectors if code in codes_of(selector)]
    return max(fitting, key=_precision, default=None)


def layered(configured: RuleChoice, asked: RuleChoice) -> Codes:
    """Return the codes to run, by the configured choice and by that of the command line, which has precedence.

    A selection in ``asked`` replaces the configured choice. Without one, the rules that ``asked`` ignores are removed
    from the configured choice.
    """
    if asked.select:
        return chosen(asked)
    return chosen(configured) - frozenset().union(*map(codes_of, asked.ignore))


def _ranks(selectors: Iterable[str]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for selector in selectors:
        for code in codes_of(selector):
            ranks[code] = max(_precision(selector), ranks.get(code, -1))
    return ranks


def _precision(selector: str) -> int:
    """Return the precision of a selector: 0 for ``ALL``, its length for a family, the highest for a code or name."""
    if selector == EVERY:
        return 0
    return len(selector) if code_of(selector) is None else _EXACT
