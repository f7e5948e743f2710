"""Findings as SARIF 2.1.0, for code scanning and SARIF viewers.

The names are those of the OASIS standard (oasis-tcs/sarif-spec Schemata/sarif-schema-2.1.0.json @0a8091f). URIs are
relative to the root of the repository, absolute for files outside it, and fingerprints carry no line. Findings beyond
the limits of GitHub's code scanning are left out here, the least severe first, with a notice.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.files import build_version
from lossless.ground.basics.findings import SEVERITIES
from lossless.ground.basics.foreign_text import visible
from lossless.output.report.lint.gitlab import finding_fingerprints
from lossless.output.report.lint.summary import ReportText, summarise
from lossless.output.report.lint.text import FileNames, locate, object_of, paragraphs, sort_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.checks.lint.run import CheckedReport
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Origin, Severity, Span
    from lossless.ground.documents.excerpts import Locations
    from lossless.output.report.lint.summary import RuleHelp, RunContext

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 5_000
"""Results of a run that GitHub shows; it takes 25,000 and does not pick the most severe itself (github/docs #38085)."""
MOST_PLACES = 100
"""Locations of a result that GitHub shows (docs.github.com, SARIF results exceed limits)."""
FINGERPRINT = "lossless/v1"
"""The key of the fingerprints here: under GitHub's own key they would be taken for a hash of the line."""
_ROOT = "%SRCROOT%"
_json = json.JSONEncoder(separators=(",", ":")).encode
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_GRADES: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "recommendation"}


def sarif_text(report: CheckedReport, context: RunContext) -> ReportText:
    """Return a report as one SARIF log with one run, the most severe results first and at most MOST_RESULTS of them."""
    locations, findings = locate(report)
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    names = _Artifacts(context)
    kept = findings[:MOST_RESULTS]
    notices = _notices(len(findings))
    codes = sorted({finding.code: finding for finding in kept}.items())
    index = {code: number for number, (code, _) in enumerate(codes)}
    marks = finding_fingerprints(kept, names.files)
    head = {
        "tool": {"driver": _driver([_rule(finding, context) for _, finding in codes])},
        "automationDetails": {"id": "lossless/lint/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "the root of the repository"}}},
        "invocations": [_invocation(report, notices, names)],
        "properties": dict(summarise(report)._asdict()),
    }
    results = (
        _json(_result(finding, index[finding.code], mark, locations, names))
        for finding, mark in zip(kept, marks, strict=True)
    )
    return ReportText(_log(head, results), notices)


def _log(head: dict[str, Any], results: Iterable[str]) -> str:
    """Return a log with one run, a result a line, so that a diff shows the results that differ."""
    lines = ",\n".join(results)
    run = f'{_json(head)[:-1]},"results":[\n{lines}\n]}}'
    return f'{{"$schema":"{SCHEMA}","version":"2.1.0","runs":[{run}]}}'


def _notices(findings: int) -> tuple[str, ...]:
    if findings <= MOST_RESULTS:
        return ()
    return (
        f"{findings - MOST_RESULTS:,} of {findings:,} findings are left out, the least severe: "
        f"code scanning shows {MOST_RESULTS:,} of a run",
    )


class _Artifacts:
    """The artifact locations of files in SARIF, each made once."""

    __slots__ = ("_made", "files")

    def __init__(self, context: RunContext) -> None:
        self.files = FileNames(context.folder, context.root)
        self._made: dict[str, dict[str, str]] = {}

    def artifact(self, file: str) -> dict[str, str]:
        """Return the location of a file: relative to the root, absolute only where it lies outside."""
        if file not in self._made:
            from urllib.parse import quote

            name = self.files.relative(file)
            outside = {"uri": "file://" + quote(self.files.absolute(file), errors="surrogateescape")}
            self._made[file] = (
                outside
                if name is None
                else {"uri": quote(name, errors="surrogateescape"), "uriBaseId": _ROOT}
            )
        return self._made[file]


def _driver(rules: list[dict[str, Any]]) -> dict[str, Any]:
    version = build_version()
    return {"name": "lossless", "version": version, "semanticVersion": version, "rules": rules}


def _rule(finding: Finding, context: RunContext) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": finding.code, "name": finding.name}
    if finding.url:
        rule["helpUri"] = finding.url
    text = context.describe(finding.code)
    return rule if text is None else rule | _described(text)


def _described(text: RuleHelp) -> dict[str, Any]:
    return {
        "shortDescription": {"text": text.summary},
        # Documentation takes no arguments: its braces are those of the snippets in it.
        "help": {"text": text.documentation, "markdown": text.documentation},
        "defaultConfiguration": {"level": _LEVELS[text.severity]},
        "properties": {"precision": text.confidence, "problem.severity": _GRADES[text.severity]},
    }


def _invocation(report: CheckedReport, notices: Sequence[str], names: _Artifacts) -> dict[str, Any]:
    """Return the invocation object of the run: not successful if a file could not be read; problems and notices."""
    notifications = [_problem(problem, names) for problem in sort_problems(report.errors)]
    notifications += [{"level": "warning", "message": _message(notice)} for notice in notices]
    return {"executionSuccessful": not report.errors, "toolExecutionNotifications": notifications}


def _problem(problem: Problem, names: _Artifacts) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": names.artifact(problem.file)}
    if problem.line is not None:
        place["region"] = {"startLine": problem.line}
        if problem.column is not None:
            place["region"]["startColumn"] = problem.column
    text = visible(problem.message)
    return {"level": "error", "message": _message(text), "locations": [{"physicalLocation": place}]}


def _result(
    finding: Finding, rule: int, mark: str, locations: Locations, names: _Artifacts
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": _message(paragraphs(finding)),
        "locations": [_location(finding.origin, locations, names)],
        "partialFingerprints": {FINGERPRINT: mark},
        "occurrenceCount": finding.places,
        "properties": {"confidence": finding.confidence, "data": dict(finding.data)},
    }
    related = _related(finding, locations, names)
    if related:
        result["relatedLocations"] = related
    return result


def _related(finding: Finding, locations: Locations, names: _Artifacts) -> list[dict[str, Any]]:
    """Return the related locations of a finding, at most MOST_PLACES with its own."""
    places = [(related.origin, related.message) for related in finding.related]
    if finding.via is not None:
        places.append((finding.via, "the intent behind it"))
    return [
        {"id": number, "message": _message(visible(text)), **_location(origin, locations, names)}
        for number, (origin, text) in enumerate(places[: MOST_PLACES - 1], 1)
    ]


def _location(origin: Origin, locations: Locations, names: _Artifacts) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": names.artifact(origin.file)}
    span = locations.span(origin)
    if span is not None:
        place["region"] = _region(span)
    location: dict[str, Any] = {"physicalLocation": place}
    if origin.path:
        location["logicalLocations"] = [{"fullyQualifiedName": object_of(origin.path, whole=True)}]
    return location


def _region(span: Span) -> dict[str, int]:
    line, column, end_line, end_column = span
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _message(text: str) -> dict[str, str]:
    """Return a message object; braces are doubled, since a single one begins a placeholder (SARIF 2.1.0, 3.11.5)."""
    return {"text": text.replace("{", "{{").replace("}", "}}")}
