"""Runs rules over a fabric: hits of one cause are added up, gaps are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lossless.findings import SEVERITIES, Finding, NotJudged
from lossless.rules.base import Gap, Hit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.fabric.view import View
    from lossless.rules.base import Rule
    from lossless.rules.table import LoadedRule

RULE_PAGES = "docs/rules/"
"""Where the generated page of each rule lies, relative to the repository."""


class Verdicts(NamedTuple):
    """What the rules say of one fabric."""

    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]


def run(view: View, rules: Iterable[LoadedRule]) -> Verdicts:
    """Return what rules find in a fabric, errors first, then by place; the order of rules does not matter."""
    findings: list[Finding] = []
    gaps: list[NotJudged] = []
    for rule in rules:
        yielded = list(rule.check(view))
        hits = _merged(item for item in yielded if isinstance(item, Hit))
        findings += (_finding(rule.rule, hit, view.fabric.door == "config_db") for hit in hits)
        gaps += (NotJudged(rule.rule.code, g.reason, g.times) for g in yielded if isinstance(g, Gap))
    return Verdicts(tuple(sorted(findings, key=_order)), _added_up(gaps))


def _merged(hits: Iterable[Hit]) -> list[Hit]:
    by_cause: dict[tuple[object, ...], Hit] = {}
    for hit in hits:
        key = (hit.origin, hit.message)
        first = by_cause.get(key)
        by_cause[key] = hit if first is None else _added(first, hit)
    return list(by_cause.values())


def _added(first: Hit, second: Hit) -> Hit:
    elements = tuple(dict.fromkeys(first.elements + second.elements))
    return first._replace(elements=elements, places=first.places + second.places)


def _finding(rule: Rule, hit: Hit, from_config_db: bool) -> Finding:
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
        places=hit.places,
        elements=hit.elements,
        data=hit.data,
        fixable="no",
        object_form="config_db" if from_config_db else "intent",
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
