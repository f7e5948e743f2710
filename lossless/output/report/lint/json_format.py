"""Findings and problems for machines: always one JSON object.

Names once shipped stay; ``version`` increases when they change.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.output.report.lint.fingerprints import cause_fingerprint
from lossless.output.report.lint.locations import locate, shown_file, sort_problems
from lossless.output.report.lint.summary import summarise

if TYPE_CHECKING:
    from lossless.checks.lint.report import Report
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Json, Origin, Span
    from lossless.output.report.lint.locations import Locations

VERSION = 1
"""Of the names in the object."""
MOST_ELEMENTS = 5


def json_text(report: Report) -> str:
    """Return the whole report as one JSON object, in ASCII and in a stable order."""
    locations, findings = locate(report)
    data: dict[str, Any] = {
        "version": VERSION,
        "findings": [
            {**finding_data(finding, locations), "cause": cause_fingerprint(finding)} for finding in findings
        ],
        "errors": [problem_data(problem) for problem in sort_problems(report.errors)],
        "skipped": [{"file": shown_file(each.file), "reason": each.reason} for each in report.skipped],
        "summary": summarise(report)._asdict(),
    }
    if report.patch:
        from lossless.output.report.lint.patch_text import patch_data

        data["patch"] = patch_data(report.patch)
    return json.dumps(data, indent=2)


def finding_data(finding: Finding, locations: Locations) -> dict[str, Json]:
    """Return one finding as the report has it."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        "note": finding.note or None,
        "help": finding.help or None,
        "url": finding.url or None,
        "file": shown_file(finding.origin.file),
        "path": list(finding.origin.path),
        "object": finding.object,
        **_positions(locations.span(finding.origin)),
        "origin": None if finding.via is None else _intent_key(finding.via, locations),
        "related": [
            {**_start(related.origin, locations), "message": related.message} for related in finding.related
        ],
        "count": finding.places,
        "elements": list(finding.elements[:MOST_ELEMENTS]),
        "data": dict(finding.data),
        "fixable": finding.fixable,
    }


def _positions(span: Span | None) -> dict[str, Json]:
    if span is None:
        return dict.fromkeys(("line", "column", "end_line", "end_column"))
    return dict(span._asdict())


def _start(origin: Origin, locations: Locations) -> dict[str, Json]:
    span = locations.span(origin)
    return {
        "file": shown_file(origin.file),
        "path": list(origin.path),
        "line": span.line if span else None,
        "column": span.column if span else None,
    }


def _intent_key(origin: Origin, locations: Locations) -> dict[str, Json]:
    return {**_start(origin, locations), "object": ".".join(map(str, origin.path))}


def problem_data(problem: Problem) -> dict[str, Json]:
    """Return the message and location of a file that could not be read."""
    return {
        "file": shown_file(problem.file),
        "line": problem.line,
        "column": problem.column,
        "message": problem.message,
    }
