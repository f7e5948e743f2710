"""Precedence of rules: of findings with one cause, that of the most specific rule remains.

The relations between rules are data, which pure functions apply to the findings of all rules together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import SEVERITIES, grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Finding, Origin, Path, Severity

    Place = tuple[str, Path]

SUPERSEDES: dict[str, tuple[str, ...]] = {
    "BUF001": ("BUF024",),
    "BUF002": ("BUF024",),
    "BUF010": ("BUF024",),
    "CFG002": ("PFC005", "SWS014"),
    "CLS001": ("BUF015", "PFC018"),
    "CLS016": ("CLS001",),
    "CTR004": ("CTR003",),
    "ECN012": ("ECN004", "ECN005"),
    "HST007": ("CLS008", "HST001", "HST008", "HST009"),
    "IB016": ("IB004", "IB028", "IB033"),
    "IB020": ("IB002",),
    "ISO005": ("WD001", "ECN001", "BUF022", "PFC016"),
    "PFC003": ("PFC001",),
    "PFC012": ("WD001",),
    "PFC014": ("PFC001",),
    "SIM001": ("BUF001", "BUF002", "BUF007", "SIM002"),
    "SIM002": ("BUF001", "BUF002", "BUF007"),
    "STM003": ("STM001", "STM005"),
    "SWS003": ("ECN001", "ECN002", "ECN003", "ECN004", "ECN005", "ECN007", "ECN012"),
    "SWS005": ("WD003",),
    "SWS015": ("BUF004",),
    "TOP005": ("TOP006",),
    "TOP016": ("TOP015",),
}
"""Rules by the code of the more specific rule that replaces their findings at the same or a related place."""

RESTATES = ("SCM", "CFG004")
"""Codes and families that report a value that a schema refuses or that differs from the intent. They become information
where another rule reports the effect on traffic at the same place, and as severely."""

DOUBLES = "HST009"
"""The rule that reports that a host differs from the intent.

Its findings are left out where another rule reports the same place as an error or a warning.
"""

IN_ROW = {"PFC004": "CLS001"}
"""A more specific rule for a row of a map, and the rule whose warnings in that row it replaces. Where the latter has an
error of the same entry or of the whole row, the finding of the former is left out."""

ROOTS = {
    "CFG002": ("ECN001",),
    "SWS001": ("CLS001",),
    "SWS005": ("WD005",),
    "SWS009": ("PFC001", "PFC005", "PFC018", "CLS012"),
}
"""A rule that reports a value that daemons do not apply as intended, and the rules that report its effects. Their
findings in the same row, on no other elements, are left out, and the cause gets the highest of the severities."""

PROGRAMMED = frozenset({"SWS018", "CLS016"})
"""Rules that report a row, or a command, that makes a class lossy (:mod:`lossless.checks.rules.programmed_causes`)."""

Replaced = tuple[str, "Origin"]
"""The code of a rule, and a place at which its findings are replaced."""


def replaced(findings: Iterable[Finding]) -> frozenset[Replaced]:
    """Return the codes and places at which conclusive findings replace those of other rules (:data:`SUPERSEDES`)."""
    return frozenset(
        (code, place)
        for finding in findings
        if finding.conclusive
        for code in SUPERSEDES.get(finding.code, ())
        for place in finding.origins
    )


def resolve(findings: Sequence[Finding], superseded: frozenset[Replaced]) -> list[Finding]:
    """Return the findings that no other replaces, with restatements lowered to information (:func:`_lessened`)."""
    spoken = {
        (IN_ROW[finding.code], _row(finding.origin.place)) for finding in findings if finding.code in IN_ROW
    }
    said = {
        (finding.code, finding.origin.place)
        for finding in findings
        if finding.severity == "error" and finding.code in IN_ROW.values()
    }
    remaining = [
        finding
        for finding in _rooted(findings)
        if (finding.code, finding.origin) not in superseded
        and (finding.severity == "error" or (finding.code, _row(finding.origin.place)) not in spoken)
        and said.isdisjoint((IN_ROW.get(finding.code), place) for place in _within(finding.origin.place))
    ]
    if any(finding.code in PROGRAMMED for finding in remaining):
        from lossless.checks.rules.programmed_causes import one_cause

        remaining = list(one_cause(remaining, PROGRAMMED, RESTATES))
    others = [finding for finding in remaining if not finding.code.startswith(RESTATES)]
    at = _worst((finding.origin.place, finding.severity) for finding in others)
    # Drift is reported for a whole row, its effect on traffic often for one field of that row.
    in_row = {**at, **_worst((_row(finding.origin.place), finding.severity) for finding in others)}
    return [_lessened(finding, in_row if finding.code == "CFG004" else at) for finding in _once(remaining)]


def _rooted(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Return findings without the effects of an error or warning in their row (:data:`ROOTS`).

    The error or warning gets the highest severity of its effects and its own. Effects on other elements are kept.
    """
    roots = [
        (number, finding)
        for number, finding in enumerate(findings)
        if finding.code in ROOTS and finding.severity != "info"
    ]
    if not roots:
        return findings
    effects = frozenset(code for finding in roots for code in ROOTS[finding[1].code])
    in_row = grouped(
        (row, number)
        for number, finding in enumerate(findings)
        if finding.code in effects
        for row in dict.fromkeys(_row(origin.place) for origin in finding.origins)
    )
    kept: list[Finding | None] = [*findings]
    for number, root in roots:
        elements, severity = {*root.elements}, root.severity
        for other in in_row.get(_row(root.origin.place), ()):
            finding = findings[other]
            if finding.code in ROOTS[root.code] and (not elements or elements.issuperset(finding.elements)):
                kept[other] = None
                severity = min(severity, finding.severity, key=SEVERITIES.index)
        kept[number] = root._replace(severity=severity)
    return [finding for finding in kept if finding is not None]


def _within(place: Place) -> tuple[Place, Place]:
    """Return a place and the row of a table that it is in."""
    return place, _row(place)


def _row(place: Place) -> Place:
    """Return the row of a table that a place is in."""
    file, path = place
    return file, path[:2]


def _worst(severities: Iterable[tuple[Place, Severity]]) -> dict[Place, Severity]:
    worst: dict[Place, Severity] = {}
    for place, severity in severities:
        worst[place] = min(worst.get(place, severity), severity, key=SEVERITIES.index)
    return worst


def _once(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings without those of :data:`DOUBLES` at a place that another rule's error or warning reports.

    Where one of these is an error or warning and stays, information at its place is left out.
    """
    grave = [finding for finding in findings if finding.severity != "info"]
    reported = {finding.origin.place for finding in grave if finding.code != DOUBLES}
    doubles = {finding.origin.place for finding in grave if finding.code == DOUBLES} - reported
    for finding in findings:
        milder = doubles if finding.severity == "info" else ()
        if finding.origin.place not in (reported if finding.code == DOUBLES else milder):
            yield finding


def _lessened(finding: Finding, worst: Mapping[Place, Severity]) -> Finding:
    """Return a finding; one of :data:`RESTATES` as information where another rule reports its place as severely."""
    if not finding.code.startswith(RESTATES):
        return finding
    other = worst.get(finding.origin.place, "info")
    is_said = SEVERITIES.index(other) <= SEVERITIES.index(finding.severity)
    return finding._replace(severity="info") if is_said else finding
