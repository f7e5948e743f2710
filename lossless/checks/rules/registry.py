"""The registry: rules by their code, each loaded when it is needed (rows: :mod:`lossless.checks.rules.compiled_rows`).

A code and its name, once shipped, never change meaning. The docstring of a rule has its severity, subject, summary and
sources (:mod:`lossless.checks.rules.documentation`). :mod:`lossless.checks.rules.precedence` has the rules that replace
others.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lossless.checks.rules.compiled_rows import ROWS
from lossless.checks.rules.rule_rows import FUNCTIONS, RuleRow, Subject as Subject
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lossless.checks.rules.base import MissingInput, Violation

Codes = frozenset[str]

RULES: dict[str, RuleRow] = {row.code: row for row in ROWS}
"""All rules by code, in the order of codes."""


class LoadedRule(NamedTuple):
    """A rule and its function for one subject."""

    code: str
    check: Callable[[Any], Iterator[Violation | MissingInput]]


def load(code: str) -> LoadedRule:
    """Return one rule with its function for the first of its subjects.

    Raises:
        LosslessError: no such code.
    """
    if code not in RULES:
        raise LosslessError(f"no rule {code!r}")
    return _load(code, RULES[code].subjects[0])


def rules_for(
    *subjects: Subject, chosen: Codes | None = None, has: Iterable[str] | None = None
) -> tuple[LoadedRule, ...]:
    """Return the rules for each of the given subjects; only those with a code in ``chosen``, where it is given.

    ``has`` names the data of the subject: a rule whose ``needs`` is not among them is left out. With None, the needs of
    rules are not checked.
    """
    return _rules_for(subjects, chosen, None if has is None else needs().intersection(has))


@cache
def _rules_for(
    subjects: tuple[Subject, ...], chosen: Codes | None, has: frozenset[str] | None
) -> tuple[LoadedRule, ...]:
    return tuple(
        _load(row.code, subject)
        for row in ROWS
        for subject in subjects
        if subject in row.subjects
        and (chosen is None or row.code in chosen)
        and (has is None or not row.needs or row.needs in has)
    )


@cache
def codes_for(subject: Subject, needs: str | None = None) -> Codes:
    """Return the codes of the rules for a subject; with ``needs``, only of the rules that have this need."""
    return frozenset(
        row.code for row in ROWS if subject in row.subjects and (needs is None or row.needs == needs)
    )


@cache
def needs() -> frozenset[str]:
    """Return the data that rules need their subject to have: tables of CONFIG_DB, ``intent`` and others."""
    return frozenset(row.needs for row in ROWS if row.needs)


def module_of(code: str) -> str:
    """Return the dotted name of a rule's module."""
    return f"lossless.checks.rules.{RULES[code].module}"


def _load(code: str, subject: Subject) -> LoadedRule:
    return LoadedRule(code, getattr(import_module(module_of(code)), FUNCTIONS.get(subject, "check")))


def code_of(name: str) -> str | None:
    """Return the code of a rule by its code, in any case, or by its readable name; None where there is no such rule."""
    return name.upper() if name.upper() in RULES else _codes_by_name().get(name)


@cache
def _codes_by_name() -> dict[str, str]:
    return {row.name: row.code for row in ROWS}
