"""How often each rule found something: where to begin with a repository that was never linted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import SEVERITIES, by_cause, grouped
from lossless.output.report.columns import PLAIN, TextStyle, table

if TYPE_CHECKING:
    from lossless.checks.lint.run import Report

_HEADS = ("findings", "places", "severity", "rule")


def statistics_text(report: Report, style: TextStyle = PLAIN) -> str:
    """Return one row for each rule and severity, the most frequent first; empty where nothing was found."""
    causes = ((same[0], sum(finding.places for finding in same)) for same in by_cause(report.findings))
    places = grouped(((first.severity, first.code, first.name), total) for first, total in causes)
    if not places:
        return ""
    keys = sorted(places, key=lambda key: (-len(places[key]), SEVERITIES.index(key[0]), key[1]))
    rows = [(str(len(places[key])), str(sum(places[key])), key[0], f"{key[1]} {key[2]}") for key in keys]
    return table([_HEADS, *rows], style)
