"""The registry: rules by their code, each loaded when it is needed (rows: :mod:`lossless.checks.rules.compiled_rows`).

A code and its name, once shipped, never change meaning. The docstring of a rule has its severity, subject, summary and
sources (:mod:`lossless.checks.rules.documentation`). :mod:`lossless.checks.rules.precedence` has the rules that replace
others. Rules of plugins are added for one context alone: a run, or a block of the Python API.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lossless.checks.rules.compiled_rows import ROWS
from lossless.checks.rules.rule_rows import FUNCTIONS, RuleRow, Subject as Subject
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import ParamSpec, TypeVar

    from lossless.checks.rules.base import MissingInput, Violation

    P = ParamSpec("P")
    T = TypeVar("T")

Codes = frozenset[str]

RULES: dict[str, RuleRow] = {row.code: row for row in ROWS}
"""All rules of this package by code, in the order of codes."""

added: ContextVar[tuple[RuleRow, ...]] = ContextVar("added", default=())
"""The rules of plugins in this context; their ``module`` is its whole dotted name."""


def known_rules() -> dict[str, RuleRow]:
    """Return all rules of this context by code: those of this package, then those of plugins."""
    rows = added.get()
    return RULES | {row.code: row for row in rows} if rows else RULES


def cached_with_plugins(function: Callable[P, T]) -> Callable[P, T]:
    """Cache the results of a function by its arguments and the rules of plugins."""
    results: Callable[..., T] = cache(lambda _rows, *args, **named: function(*args, **named))

    @wraps(function)
    def cached(*args: P.args, **named: P.kwargs) -> T:
        return results(added.get(), *args, **named)

    return cached


class LoadedRule(NamedTuple):
    """A rule and its function for one subject."""

    code: str
    check: Callable[[Any], Iterator[Violation | MissingInput]]


def load(code: str) -> LoadedRule:
    """Return one rule with its function for the first of its subjects.

    Raises:
        LosslessError: no such code.
    """
    rules = known_rules()
    if code not in rules:
        raise LosslessError(f"no rule {code!r}")
    return _load(code, rules[code].subjects[0])


def rules_for(
    *subjects: Subject, chosen: Codes | None = None, has: Iterable[str] | None = None
) -> tuple[LoadedRule, ...]:
    """Return the rules for each of the given subjects; only those with a code in ``chosen``, where it is given.

    ``has`` names the data of the subject: a rule whose ``needs`` is not among them is left out. With None, the needs of
    rules are not checked.
    """
    return _rules_for(subjects, chosen, None if has is None else needs().intersection(has), added.get())


@cache
def _rules_for(
    subjects: tuple[Subject, ...],
    chosen: Codes | None,
    has: frozenset[str] | None,
    plugins: tuple[RuleRow, ...],
) -> tuple[LoadedRule, ...]:
    return tuple(
        _load(row.code, subject)
        for row in (*ROWS, *plugins)
        for subject in subjects
        if subject in row.subjects
        and (chosen is None or row.code in chosen)
        and (has is None or not row.needs or row.needs in has)
    )


@cached_with_plugins
def codes_for(subject: Subject, needs: str | None = None) -> Codes:
    """Return the codes of the rules for a subject; with ``needs``, only of the rules that have this need."""
    return frozenset(
        row.code
        for row in known_rules().values()
        if subject in row.subjects and (needs is None or row.needs == needs)
    )


@cached_with_plugins
def needs() -> frozenset[str]:
    """Return the data that rules need their subject to have: tables of CONFIG_DB, ``intent`` and others."""
    return frozenset(row.needs for row in known_rules().values() if row.needs)


def module_of(code: str) -> str:
    """Return the dotted name of a rule's module."""
    row = RULES.get(code)
    return known_rules()[code].module if row is None else f"lossless.checks.rules.{row.module}"


def _load(code: str, subject: Subject) -> LoadedRule:
    module = import_module(module_of(code))
    check = getattr(module, FUNCTIONS.get(subject, "check"))
    if code not in RULES:
        from lossless.checks.rules.base import guarded

        check = guarded(code, check, module)
    return LoadedRule(code, check)


def code_of(name: str) -> str | None:
    """Return the code of a rule by its code, in any case, or by its readable name; None where there is no such rule."""
    return name.upper() if name.upper() in known_rules() else _codes_by_name().get(name)


@cached_with_plugins
def _codes_by_name() -> dict[str, str]:
    return {row.name: row.code for row in known_rules().values()}
