"""How often each rule found something: where to begin with a repository that was never linted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import SEVERITIES
from lossless.output.report.columns import columns

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Severity
    from lossless.output.report.lint.report import LintReport

_HEADS = ("findings", "places", "severity", "rule")


def statistics_text(report: LintReport) -> str:
    """Return one row for each rule and severity, the most frequent first; empty where nothing was found."""
    findings: dict[tuple[Severity, str, str], int] = {}
    places: dict[tuple[Severity, str, str], int] = {}
    for finding in report.findings:
        key = (finding.severity, finding.code, finding.name)
        findings[key] = findings.get(key, 0) + 1
        places[key] = places.get(key, 0) + finding.places
    if not findings:
        return ""
    ranks = {severity: rank for rank, severity in enumerate(SEVERITIES)}
    keys = sorted(findings, key=lambda key: (-findings[key], ranks[key[0]], key[1]))
    rows = [(str(findings[key]), str(places[key]), key[0], f"{key[1]} {key[2]}") for key in keys]
    return columns(
        [_HEADS, *([a.rjust(len(_HEADS[0])), b.rjust(len(_HEADS[1])), c, d] for a, b, c, d in rows)]
    )
