"""Findings as a code quality report of GitLab: a JSON list, with the further fields that Code Climate requires.

GitLab reads ``description``, ``check_name``, ``fingerprint``, ``severity`` and ``location``; ``type`` and
``categories`` are required by codeclimate/platform spec/analyzers/SPEC.md.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import visible
from lossless.output.report.lint.file_names import FileNames
from lossless.output.report.lint.finding_text import headline
from lossless.output.report.lint.fingerprints import finding_fingerprints, problem_fingerprints
from lossless.output.report.lint.locations import locate, sort_problems
from lossless.output.report.lint.run_context import ReportText

if TYPE_CHECKING:
    from lossless.checks.lint.report import Report
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Json, Severity
    from lossless.output.report.lint.locations import Locations
    from lossless.output.report.lint.run_context import RunContext

UNREADABLE = "unreadable"
"""The check name of unreadable files, which no rule found."""
_SEVERITIES: dict[Severity, str] = {"error": "critical", "warning": "major", "info": "info"}
_FIRST_LINE = 1
"""The line of a finding that has none: GitLab shows no finding without one."""


def gitlab_text(report: Report, context: RunContext) -> ReportText:
    """Return the whole report as a JSON list; every fingerprint in it differs."""
    names = FileNames(context.folder, context.root)
    locations, findings = locate(report)
    problems = sort_problems(report.errors)
    unread = zip(problems, problem_fingerprints(problems, names), strict=True)
    marked = zip(findings, finding_fingerprints(findings, names), strict=True)
    issues = [_problem(problem, mark, names) for problem, mark in unread]
    issues += [_finding(finding, mark, locations, names) for finding, mark in marked]
    return ReportText(json.dumps(issues, indent=2))


def _finding(finding: Finding, mark: str, locations: Locations, names: FileNames) -> dict[str, Json]:
    span = locations.span(finding.origin)
    lines = (span.line, span.end_line) if span else (_FIRST_LINE, _FIRST_LINE)
    text = f"{finding.code} {finding.name}: {headline(finding)}"
    place = _place(finding.origin.file, *lines, names)
    return _issue(finding.code, text, _SEVERITIES[finding.severity], mark, place)


def _problem(problem: Problem, mark: str, names: FileNames) -> dict[str, Json]:
    line = problem.line or _FIRST_LINE
    return _issue(
        UNREADABLE, visible(problem.message), "blocker", mark, _place(problem.file, line, line, names)
    )


def _issue(check: str, text: str, severity: str, mark: str, place: dict[str, Json]) -> dict[str, Json]:
    return {
        "type": "issue",
        "check_name": check,
        "description": text,
        "categories": ["Bug Risk"],
        "severity": severity,
        "fingerprint": mark,
        "location": place,
    }


def _place(file: str, begin: int, end: int, names: FileNames) -> dict[str, Json]:
    return {"path": names.name(file), "lines": {"begin": begin, "end": end}}
