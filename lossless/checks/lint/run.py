"""Runs rules over a fabric: violations of one cause are added up, missing inputs are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.checks.rules.base import MissingInput, Violation, added_up
from lossless.checks.rules.precedence import replaced, resolve
from lossless.ground.basics.findings import SEVERITIES, Finding, ObjectForm, UncheckedRule
from lossless.ground.basics.foreign_text import on_one_line
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.checks.rules.documentation import Rule
    from lossless.checks.rules.precedence import Replaced
    from lossless.checks.rules.registry import LoadedRule

RULE_PAGES = "docs/rules/"
"""Where the generated page of each rule lies, relative to the repository."""


class Verdicts(NamedTuple):
    """The results of rules: findings, checks that lacked an input, and findings that others replace.

    ``ports_outside`` counts ports that carry no RDMA, and that rules of lossless classes leave out.
    """

    findings: tuple[Finding, ...] = ()
    not_checked: tuple[UncheckedRule, ...] = ()
    superseded: frozenset[Replaced] = frozenset()
    ports_outside: int = 0


def run(subject: Any, rules: Iterable[LoadedRule], form: ObjectForm) -> Verdicts:
    """Return what rules find in what they are given; ``form`` says how the objects of its files are written."""
    findings: list[Finding] = []
    not_checked: list[UncheckedRule] = []
    for rule in rules:
        yielded = list(rule.check(subject))
        violations = [item for item in yielded if isinstance(item, Violation)]
        if violations:
            from lossless.checks.rules.documentation import rule_of

            metadata = rule_of(rule.code)
            findings += (_finding(metadata, violation, form) for violation in _by_cause(violations))
        missing = (item for item in yielded if isinstance(item, MissingInput))
        not_checked += (UncheckedRule(rule.code, item.reason, item.times) for item in missing)
    return Verdicts(tuple(findings), _added_up(not_checked))


def together(verdicts: Sequence[Verdicts]) -> Verdicts:
    """Return several verdicts as one, errors of a file first, then by place; one cause is one finding."""
    findings = [finding for verdict in verdicts for finding in verdict.findings]
    superseded = replaced(findings).union(*(verdict.superseded for verdict in verdicts))
    in_place = in_order(resolve(findings, superseded))
    not_checked = _added_up(item for v in verdicts for item in v.not_checked)
    return Verdicts(in_place, not_checked, superseded, sum(v.ports_outside for v in verdicts))


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by file, errors first, then by rule and place."""
    return tuple(sorted(findings, key=_order))


def _by_cause(violations: Iterable[Violation]) -> Iterator[Violation]:
    pairs = (((violation.origin, violation.message), violation) for violation in violations)
    return map(added_up, grouped(pairs).values())


def _finding(rule: Rule, violation: Violation, form: ObjectForm) -> Finding:
    # A line break in a message is that of a name; a note has lines where its rule says so.
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=violation.severity or rule.severity,
        confidence=violation.confidence or rule.confidence,
        message=on_one_line(violation.message),
        origin=violation.origin,
        note="\n".join(map(on_one_line, violation.note_lines or (violation.note,))),
        help=on_one_line(violation.help),
        url=f"{RULE_PAGES}{rule.code}.md",
        related=violation.related,
        places=violation.total,
        elements=violation.elements,
        data=violation.data,
        fixable=rule.fixable if violation.fix else "no",
        object_form=form,
        fix=violation.fix,
        conclusive=violation.conclusive,
    )


def _order(finding: Finding) -> tuple[object, ...]:
    path = tuple(str(key) for key in finding.origin.path)
    severity = SEVERITIES.index(finding.severity)
    return (finding.origin.file, severity, finding.code, path, finding.message)


def _added_up(items: Iterable[UncheckedRule]) -> tuple[UncheckedRule, ...]:
    times = grouped(((item.code, item.reason), item.times) for item in items)
    return tuple(UncheckedRule(code, reason, sum(each)) for (code, reason), each in sorted(times.items()))
