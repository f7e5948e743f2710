"""The rules: the requirement and the reason of each, and the words that select them."""

from __future__ import annotations

from lossless.checks.rules.documentation import Rule, rule_of
from lossless.checks.rules.registry import RULES, code_of
from lossless.checks.rules.selectors import SEE_ALL, codes_of, families, unknown
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.wording import nearest

__all__ = ["Rule", "families", "find_rule", "rule", "rule_names", "rules", "unknown_selector"]


def rules() -> tuple[Rule, ...]:
    """Return all rules, by code."""
    return tuple(map(rule_of, RULES))


def rule(word: str) -> Rule:
    """Return the rule of a code (``WD001``) or name (``watchdog-missing``).

    Raises:
        LosslessError: there is none; the message has the nearest one.
    """
    match = find_rule(word)
    if match is not None:
        return match
    codes = {word: code for code, name in rule_names().items() for word in (code, name)}
    near = nearest(word, codes)
    if near is None:
        raise LosslessError(f"no rule {word!r}; {SEE_ALL}")
    meant = f"{codes[near]} ({RULES[codes[near]].name})"
    raise LosslessError(f"no rule {word!r}; did you mean {meant}? ({SEE_ALL})")


def find_rule(word: str) -> Rule | None:
    """Return the rule of a code or name, None where there is none."""
    code = code_of(word)
    return None if code is None else rule_of(code)


def rule_names() -> dict[str, str]:
    """Return the name of each rule by its code; no rule is loaded for it."""
    return {code: row.name for code, row in RULES.items()}


def unknown_selector(word: str) -> str | None:
    """Return why a word of ``select`` or ``ignore`` matches no rule, None where it matches one."""
    return None if codes_of(word) else unknown(word)
