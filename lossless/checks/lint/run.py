"""Runs rules over a fabric: hits of one cause are added up, gaps are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from lossless.checks.rules.base import Gap, Hit
from lossless.ground.basics.findings import SEVERITIES, Finding, NotJudged
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.checks.rules.base import Rule
    from lossless.checks.rules.table import LoadedRule
    from lossless.ground.basics.findings import Origin, Path

Form = Literal["config_db", "intent"]

RULE_PAGES = "docs/rules/"
"""Where the generated page of each rule lies, relative to the repository."""


LESSER = ("SCM", "CFG004")
"""What says that a schema refuses a value, or that it is not the intended one, apart from what traffic suffers."""

DOUBLE = "HST009"
"""What says that a host is not the intended one, which is one cause with what a rule says of the same place."""


class Verdicts(NamedTuple):
    """What rules say: findings, what could not be judged, and which findings of others they take the place of."""

    findings: tuple[Finding, ...] = ()
    not_judged: tuple[NotJudged, ...] = ()
    superseded: frozenset[tuple[str, Origin]] = frozenset()


def run(subject: Any, rules: Iterable[LoadedRule], form: Form) -> Verdicts:
    """Return what rules find in what they are given; ``form`` says how the objects of its files are written."""
    findings: list[Finding] = []
    gaps: list[NotJudged] = []
    superseded: set[tuple[str, Origin]] = set()
    for rule in rules:
        yielded = list(rule.check(subject))
        for hit in _merged(item for item in yielded if isinstance(item, Hit)):
            findings.append(_finding(rule.rule, hit, form))
            places = (hit.origin, *(one.origin for one in hit.related))
            superseded.update((code, place) for code in hit.supersedes for place in places)
        gaps += (NotJudged(rule.rule.code, g.reason, g.times) for g in yielded if isinstance(g, Gap))
    return Verdicts(tuple(findings), _added_up(gaps), frozenset(superseded))


def together(verdicts: Sequence[Verdicts]) -> Verdicts:
    """Return several verdicts as one, errors of a file first, then by place; one cause is one finding."""
    superseded = frozenset().union(*(verdict.superseded for verdict in verdicts))
    kept = [f for v in verdicts for f in v.findings if (f.code, f.origin) not in superseded]
    graver = {f.origin[:2] for f in kept if not f.code.startswith(LESSER) and f.severity != "info"}
    findings = in_order(_lessened(finding, graver) for finding in _once(kept))
    return Verdicts(findings, _added_up(gap for v in verdicts for gap in v.not_judged), superseded)


def _once(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings without the double of those that say more, and without what is milder than a double."""
    said = {f.origin[:2] for f in findings if f.code != DOUBLE and f.severity != "info"}
    doubles = {f.origin[:2] for f in findings if f.code == DOUBLE and f.severity != "info"} - said
    for finding in findings:
        place, milder = finding.origin[:2], finding.severity == "info"
        if place not in (said if finding.code == DOUBLE else doubles if milder else ()):
            yield finding


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by file, errors first, then by rule and place."""
    return tuple(sorted(findings, key=_order))


def _lessened(finding: Finding, graver: set[tuple[str, Path]]) -> Finding:
    """Return the lesser half of a cause as info, where a rule says of the same place what traffic suffers."""
    if finding.code.startswith(LESSER) and finding.origin[:2] in graver:
        return finding._replace(severity="info")
    return finding


def _merged(hits: Iterable[Hit]) -> list[Hit]:
    by_cause: dict[tuple[object, ...], Hit] = {}
    for hit in hits:
        key = (hit.origin, hit.message)
        first = by_cause.get(key)
        by_cause[key] = hit if first is None else _added(first, hit)
    return list(by_cause.values())


def _added(first: Hit, second: Hit) -> Hit:
    elements = tuple(dict.fromkeys(first.elements + second.elements))
    # What cannot be mended everywhere is not mended at all: the finding would stay.
    fix = tuple(dict.fromkeys(first.fix + second.fix)) if first.fix and second.fix else ()
    return first._replace(elements=elements, places=first.places + second.places, fix=fix)


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
        places=hit.places,
        elements=hit.elements,
        data=hit.data,
        fixable=rule.fixable if hit.fix else "no",
        object_form=form,
        fix=hit.fix,
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
