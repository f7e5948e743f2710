"""Findings as a code quality report of GitLab: a JSON list, with the further fields that Code Climate requires.

GitLab reads ``description``, ``check_name``, ``fingerprint``, ``severity`` and ``location``; ``type`` and
``categories`` are required by codeclimate/platform spec/analyzers/SPEC.md.

A fingerprint is the identity of a finding in this run and the next: rule, file and object, never a line. A finding
keeps its fingerprint when lines move and when a number in its message changes.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import cause_of
from lossless.ground.basics.foreign_text import visible
from lossless.output.report.lint.summary import ReportText
from lossless.output.report.lint.text import FileNames, headline, locate, sort_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.checks.lint.run import CheckedReport
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Json, Severity
    from lossless.ground.documents.excerpts import Locations
    from lossless.output.report.lint.summary import RunContext


UNREADABLE = "unreadable"
"""The check name of unreadable files, which no rule found."""
_SEVERITIES: dict[Severity, str] = {"error": "critical", "warning": "major", "info": "info"}
_FIRST_LINE = 1
"""The line of a finding without a known line: GitLab shows no finding without one."""


def gitlab_text(report: CheckedReport, context: RunContext) -> ReportText:
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


def finding_fingerprints(findings: Sequence[Finding], names: FileNames) -> list[str]:
    """Return the fingerprint of every finding, in their order; all differ, as equal subjects are numbered."""
    relative = {file: names.name(file) for file in {finding.origin.file for finding in findings}}
    return _told_apart((f.code, relative[f.origin.file], *map(str, f.origin.path)) for f in findings)


def cause_fingerprint(finding: Finding) -> str:
    """Return the fingerprint that findings of one cause share, in any run."""
    return _digest(repr(cause_of(finding)))


def problem_fingerprints(problems: Sequence[Problem], names: FileNames) -> list[str]:
    """Return the fingerprint of every problem of reading; all differ, also from those of findings."""
    return _told_apart(("", names.name(problem.file)) for problem in problems)


def _told_apart(subjects: Iterable[tuple[str, ...]]) -> list[str]:
    """Return a digest for each subject; equal subjects are numbered in their order."""
    seen: dict[str, int] = {}
    digests = []
    for subject in subjects:
        key = "\0".join(subject)
        seen[key] = seen.get(key, 0) + 1
        digests.append(_digest(f"{key}\0{seen[key]}"))
    return digests


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
