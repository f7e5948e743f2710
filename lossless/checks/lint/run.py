"""Runs rules over a fabric: hits of one cause are added up, gaps are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from lossless.checks.rules.base import Gap, Hit, added_up
from lossless.checks.rules.documentation import rule_of
from lossless.checks.rules.precedence import replaced, resolve
from lossless.ground.basics.findings import SEVERITIES, Finding, NotJudged
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.checks.rules.documentation import Rule
    from lossless.checks.rules.precedence import Replaced
    from lossless.checks.rules.registry import LoadedRule

Form = Literal["config_db", "intent"]

RULE_PAGES = "docs/rules/"
"""Where the generated page of each rule lies, relative to the repository."""


class Verdicts(NamedTuple):
    """What rules say: findings, what could not be judged, and which findings of others they take the place of."""

    findings: tuple[Finding, ...] = ()
    not_judged: tuple[NotJudged, ...] = ()
    superseded: frozenset[Replaced] = frozenset()


def run(subject: Any, rules: Iterable[LoadedRule], form: Form) -> Verdicts:
    """Return what rules find in what they are given; ``form`` says how the objects of its files are written."""
    findings: list[Finding] = []
    gaps: list[NotJudged] = []
    for rule in rules:
        yielded = list(rule.check(subject))
        hits = [item for item in yielded if isinstance(item, Hit)]
        if hits:
            metadata = rule_of(rule.code)
            findings += (_finding(metadata, hit, form) for hit in _by_cause(hits))
        gaps += (NotJudged(rule.code, gap.reason, gap.times) for gap in yielded if isinstance(gap, Gap))
    return Verdicts(tuple(findings), _added_up(gaps))


def together(verdicts: Sequence[Verdicts]) -> Verdicts:
    """Return several verdicts as one, errors of a file first, then by place; one cause is one finding."""
    findings = [finding for verdict in verdicts for finding in verdict.findings]
    superseded = replaced(findings).union(*(verdict.superseded for verdict in verdicts))
    in_place = in_order(resolve(findings, superseded))
    return Verdicts(in_place, _added_up(gap for v in verdicts for gap in v.not_judged), superseded)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by file, errors first, then by rule and place."""
    return tuple(sorted(findings, key=_order))


def _by_cause(hits: Iterable[Hit]) -> Iterator[Hit]:
    return map(added_up, grouped(((hit.origin, hit.message), hit) for hit in hits).values())


def _finding(rule: Rule, hit: Hit, form: Form) -> Finding:
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=hit.severity or rule.severity,
        confidence=hit.confidence or rule.confidence,
        message=hit.message,
        origin=hit.origin,
        note=hit.note,
        help=hit.help,
        url=f"{RULE_PAGES}{rule.code}.md",
        related=hit.related,
        places=hit.total,
        elements=hit.elements,
        data=hit.data,
        fixable=rule.fixable if hit.fix else "no",
        object_form=form,
        fix=hit.fix,
        conclusive=hit.conclusive,
    )


def _order(finding: Finding) -> tuple[object, ...]:
    path = tuple(str(key) for key in finding.origin.path)
    severity = SEVERITIES.index(finding.severity)
    return (finding.origin.file, severity, finding.code, path, finding.message)


def _added_up(gaps: Iterable[NotJudged]) -> tuple[NotJudged, ...]:
    times: dict[tuple[str, str], int] = {}
    for gap in gaps:
        times[gap.code, gap.reason] = times.get((gap.code, gap.reason), 0) + gap.times
    return tuple(NotJudged(code, reason, n) for (code, reason), n in sorted(times.items()))
