"""Runs rules over a fabric: violations of one cause are added up, missing inputs are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.checks.lint.report import Report
from lossless.checks.rules.base import MissingInput, Violation, added_up
from lossless.checks.rules.precedence import replaced, resolve
from lossless.ground.basics.findings import SEVERITIES, Finding, ObjectForm, UncheckedRule
from lossless.ground.basics.foreign_text import on_one_line
from lossless.ground.basics.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.checks.rules.documentation import Rule
    from lossless.checks.rules.registry import LoadedRule

RULE_PAGES = "docs/rules/"
"""Where the generated page of each rule lies, relative to the repository."""


def run(subject: Any, rules: Iterable[LoadedRule], form: ObjectForm) -> Report:
    """Run rules on a subject and return the report; ``form`` is the notation of objects in its files."""
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
    return Report(tuple(findings), not_checked=_added_up(not_checked))


def together(reports: Iterable[Report]) -> Report:
    """Return several reports as one, errors of a file first, then by place; one cause is one finding."""
    whole = gathered(reports)
    superseded = replaced(whole.findings) | whole.superseded
    return whole._replace(
        findings=in_order(resolve(whole.findings, superseded)),
        not_checked=_added_up(whole.not_checked),
        superseded=superseded,
    )


def gathered(reports: Iterable[Report]) -> Report:
    """Return several reports of rules as one, with their findings as they come."""
    each = tuple(reports)
    return Report(
        tuple(finding for report in each for finding in report.findings),
        tuple(error for report in each for error in report.errors),
        tuple(unchecked for report in each for unchecked in report.not_checked),
        {file: document for report in each for file, document in report.documents.items()},
        ports_without_rdma=sum(report.ports_without_rdma for report in each),
        superseded=frozenset().union(*(report.superseded for report in each)),
        layouts={name: layout for report in each for name, layout in report.layouts.items()},
    )


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
