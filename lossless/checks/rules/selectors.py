"""Selectors of rules: a code, a readable name, a family with or without digits, or ``ALL``.

``WD001``, ``watchdog-missing``, ``WD`` and ``WD00`` all select rules. A family must be complete: ``C`` selects nothing,
so that a later family is never selected by accident.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.registry import Codes, cached_with_plugins, code_of, known_rules
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


@cached_with_plugins
def codes_of(selector: str) -> Codes:
    """Return the codes of the rules that a selector matches; empty where it matches none."""
    if selector == EVERY:
        return frozenset(known_rules())
    code = code_of(selector)
    if code is not None:
        return frozenset({code})
    prefix = selector.upper()
    family = prefix.rstrip(_DIGITS)
    return frozenset(
        code for code in known_rules() if code.startswith(prefix) and code.rstrip(_DIGITS) == family
    )


@cached_with_plugins
def families() -> tuple[str, ...]:
    """Return the families of rules, the letters that codes begin with, each once, in order of the codes."""
    return tuple(dict.fromkeys(code.rstrip(_DIGITS) for code in known_rules()))


@cached_with_plugins
def unknown(selector: str) -> str:
    """Return the message for a selector that matches no rule, with the nearest selector if there is one.

    One with the letters of a plugin's codes has the option instead that names plugins.
    """
    import re

    from lossless.ground.basics.units import nearest

    if re.fullmatch(r"[A-Z]{4,}[0-9]+", selector):
        return f"no rule {selector!r}; a rule of a plugin needs --plugin PACKAGE ({SEE_ALL})"
    rules = known_rules()
    names = (row.name for row in rules.values())
    near = nearest(selector, (*rules, *names, *families(), EVERY))
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
