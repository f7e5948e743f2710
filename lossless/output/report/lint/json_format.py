"""The report of lint as one JSON object for machines, and the updater's predicted response to a patch as text.

Keys once shipped stay; ``version`` increases when they change.

For a patch, the predicted response of SONiC's updater follows the findings on the patched configuration.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.units import listed
from lossless.output.report.lint.gitlab import cause_fingerprint
from lossless.output.report.lint.summary import counted, fitted, summarise
from lossless.output.report.lint.text import locate, shown_file, sort_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Annotated, Literal, NotRequired, TypedDict

    from lossless.checks.lint.run import CheckedReport, PatchedDevice, PatchRefusal
    from lossless.checks.rules.host_counters.traffic_tests import TrafficVerdict
    from lossless.checks.rules.storms.culprit import Culprit, Kind
    from lossless.formats.sonic.capabilities.updater_sorting import MovePhase, Phase
    from lossless.formats.sonic.capabilities.updater_verdict import Stage
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import (
        Confidence,
        Finding,
        Fixable,
        Json,
        Origin,
        Severity,
        Span,
    )
    from lossless.ground.documents.excerpts import Locations
    from lossless.output.report.columns import TextStyle
    from lossless.output.report.lint.summary import ReportSummary

    class StartData(TypedDict):
        """The start of a place in a file."""

        file: str
        path: list[str | int]
        line: int | None
        column: int | None

    class KeyData(StartData):
        """The key of an intent behind a finding on rendered output."""

        object: str

    class RemarkData(StartData):
        """A place, and a message about its value."""

        message: str

    class PositionData(TypedDict):
        """The span of a value, in lines and code points from 1."""

        line: int | None
        column: int | None
        end_line: int | None
        end_column: int | None

    class FindingData(PositionData):
        """One finding."""

        code: str
        name: str
        severity: Severity
        confidence: Confidence
        message: str
        note: str | None
        help: str | None
        url: str | None
        file: str
        path: list[str | int]
        object: str
        origin: KeyData | None
        related: list[RemarkData]
        count: int
        elements: list[str]
        data: Mapping[str, Json]
        fixable: Fixable

    class CausedFindingData(FindingData):
        """One finding, with a fingerprint that equal findings of several devices share."""

        cause: str

    class ProblemData(TypedDict):
        """A problem of reading a file."""

        file: str
        line: int | None
        column: int | None
        message: str

    class SkippedData(TypedDict):
        """A file that is not checked."""

        file: str
        reason: str

    class CulpritData(TypedDict):
        """One culprit of pauses or losses."""

        kind: Kind
        device: str
        port: str | None
        seen_at: str | None
        priority: str | None
        what: str
        confidence: Confidence
        since_boot: bool
        evidence: list[RemarkData]
        against: list[str]
        missing: list[str]
        help: str

    class RefusalData(TypedDict):
        """A change that the updater refuses, or that orchagent does not apply."""

        op: str
        object: str
        why: str
        file: str
        line: int | None

    class PhaseData(TypedDict):
        """Rows of CONFIG_DB that the updater changes together."""

        phase: Phase
        port: str | None
        rows: list[str]

    class EmptiedData(TypedDict):
        """A row that loses fields before it goes."""

        row: str
        fields: int
        in_use: bool

    class PatchData(TypedDict):
        """The predicted response of SONiC's updater on one device."""

        device: str
        operations: int
        release: str | None
        accepted: bool
        stage: Stage | None
        refused: list[RefusalData]
        order: list[PhaseData]
        ports_down: list[str]
        emptied: list[EmptiedData]
        kept: list[RefusalData]
        traffic: list[str]

    class FileData(TypedDict):
        """The file of a verdict."""

        file: str

    class ExpectedData(TypedDict):
        """The expected range of a measured value, and the remark on it."""

        expected_low: float | None
        expected_high: float | None
        note: str | None

    TestData = Annotated[
        dict[str, Any], FileData, TrafficVerdict, ("origin", "low", "high", "help"), ExpectedData
    ]
    """The verdict on one traffic test."""

    class ReportData(TypedDict):
        """A report of findings."""

        version: Literal[1]
        findings: list[CausedFindingData]
        errors: list[ProblemData]
        skipped: list[SkippedData]
        summary: Annotated[dict[str, Any], ReportSummary]
        tests: NotRequired[list[TestData]]
        culprits: NotRequired[list[CulpritData]]
        patch: NotRequired[list[PatchData]]


VERSION: Literal[1] = 1
"""The version of the keys in the JSON object."""
MOST_ELEMENTS = 5


def json_text(report: CheckedReport) -> str:
    """Return findings, problems, skipped files and counts of a report as one JSON object, in ASCII.

    It has culprits, the verdicts on traffic tests and the updater's response to a patch too, if any; not the findings
    that a change removes and leaves.
    """
    locations, findings = locate(report)
    data: ReportData = {
        "version": VERSION,
        "findings": [
            {**finding_data(finding, locations), "cause": cause_fingerprint(finding)} for finding in findings
        ],
        "errors": [problem_data(problem) for problem in sort_problems(report.errors)],
        "skipped": [{"file": shown_file(each.file), "reason": each.reason} for each in report.skipped],
        "summary": summarise(report)._asdict(),
    }
    if report.tests:
        data["tests"] = [{"file": shown_file(test.origin.file), **test.data} for test in report.tests]
    if report.culprits is not None:
        data["culprits"] = [culprit_data(culprit, locations) for culprit in report.culprits]
    if report.patch:
        data["patch"] = patch_data(report.patch)
    return json.dumps(data, indent=2)


def finding_data(finding: Finding, locations: Locations) -> FindingData:
    """Return one finding as plain data for the JSON report, with its first MOST_ELEMENTS elements."""
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


def culprit_data(culprit: Culprit, locations: Locations) -> CulpritData:
    """Return one culprit of pauses or losses as plain data for the JSON report."""
    return {
        "kind": culprit.kind,
        "device": culprit.device,
        "port": culprit.port or None,
        "seen_at": culprit.seen_at or None,
        "priority": culprit.priority or None,
        "what": culprit.what,
        "confidence": culprit.confidence,
        "since_boot": culprit.since_boot,
        "evidence": [{**_start(fact.origin, locations), "message": fact.text} for fact in culprit.evidence],
        "against": list(culprit.against),
        "missing": list(culprit.missing),
        "help": culprit.help,
    }


def _positions(span: Span | None) -> PositionData:
    if span is None:
        return {"line": None, "column": None, "end_line": None, "end_column": None}
    return {
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _start(origin: Origin, locations: Locations) -> StartData:
    span = locations.span(origin)
    return {
        "file": shown_file(origin.file),
        "path": list(origin.path),
        "line": span.line if span else None,
        "column": span.column if span else None,
    }


def _intent_key(origin: Origin, locations: Locations) -> KeyData:
    return {**_start(origin, locations), "object": ".".join(map(str, origin.path))}


def problem_data(problem: Problem) -> ProblemData:
    """Return a problem of reading a file as plain data: its location and message."""
    return {
        "file": shown_file(problem.file),
        "line": problem.line,
        "column": problem.column,
        "message": problem.message,
    }


_MOST_PORTS = 6
"""The most ports that go down of which each has its own line."""
_STAGES = {
    "patch": "it does not apply",
    "field-operation": "its own rules of tables and fields",
    "empty-table": "a table is left empty",
    "table-without-yang": "a table that SONiC's models do not know",
    "target-yang": "SONiC's models refuse the result",
}


def patch_text(patched: Sequence[PatchedDevice], style: TextStyle) -> Iterator[str]:
    """Yield a block for each device that a patch changes: the verdict, refusals, moves, ports that go down, and harms.

    In a brief style yield only a line for each change that is refused.
    """
    for each in patched:
        if style.brief:
            yield from _refusals(each.refusals)
        else:
            yield "\n".join(fitted(line, style) for line in _lines(each))


def patch_data(patched: Sequence[PatchedDevice]) -> list[PatchData]:
    """Return the predicted response of SONiC's updater on each device as plain data for the JSON report."""
    return [
        {
            "device": each.device,
            "operations": each.operations,
            "release": each.release,
            "accepted": each.stage is None,
            "stage": each.stage,
            "refused": [_refused_data(refusal) for refusal in each.refusals],
            "order": [
                {"phase": phase.phase, "port": phase.port, "rows": ["|".join(row) for row in phase.rows]}
                for phase in each.phases
            ],
            "ports_down": list(each.ports_down),
            "emptied": [
                {"row": f"{row.table}|{row.key}", "fields": row.fields, "in_use": row.in_use}
                for row in each.emptied
            ],
            "kept": [_refused_data(kept) for kept in each.kept],
            "traffic": list(each.harms),
        }
        for each in patched
    ]


def _refused_data(refusal: PatchRefusal) -> RefusalData:
    return {
        "op": refusal.op,
        "object": "|".join(refusal.path),
        "why": refusal.why,
        "file": shown_file(refusal.file),
        "line": refusal.line,
    }


def _lines(each: PatchedDevice) -> Iterator[str]:
    release = f", SONiC {each.release}" if each.release else ""
    verdict = "accepts" if each.stage is None else "refuses"
    what = f"{counted(each.operations, 'operation')} on {visible(each.device)}{release}"
    yield f"the updater {verdict} the patch: {what}"
    if each.stage is not None:
        yield f"  refused by: {_STAGES[each.stage]}"
        yield from (f"  {line}" for line in _refusals(each.refusals))
    elif each.release is None:
        yield "  not checked: its own rules of tables and fields, which go by the release; no VERSIONS row says it"
    if each.phases:
        yield "  order of moves:"
        yield from (f"    {number}. {line}" for number, line in enumerate(_order(each.phases), 1))
    if each.stage is None:
        down = listed(each.ports_down) or "no port"
        down += ", one after another" if len(each.ports_down) > 1 else ""
        yield f"  goes down on the way: {down}"
    for row in each.emptied:
        use = "while ports that are up use it" if row.in_use else "before it goes"
        fields = counted(row.fields, "field")
        yield f"  {row.table}|{visible(row.key)} loses {fields} {use}: rebind first, remove it by a second patch"
    for line in _refusals(each.kept):
        yield f"  removed from the configuration alone: {line}"
    yield from (f"  lossless traffic: {harm}" for harm in each.harms)


def _refusals(refusals: Iterable[PatchRefusal]) -> Iterator[str]:
    for each in refusals:
        place = shown_file(each.file) + (f":{each.line}" if each.line else "")
        yield f"{place}: {visible('|'.join(each.path))}: {visible(each.why)}"


def _order(phases: Sequence[MovePhase]) -> Iterator[str]:
    ports = [phase for phase in phases if phase.port]
    for phase in phases:
        rows = visible(listed(["|".join(row) for row in phase.rows]))
        if phase.port is None:
            with_ports = {"ports up": "", "no port down": " (no port has to go down)", "last": " (they go)"}
            yield f"{rows}{with_ports[phase.phase]}"
        elif phase in ports[:_MOST_PORTS]:
            changed = f", {rows}" if phase.rows else ""
            yield f"{visible(phase.port)} down{changed}, up again"
        elif phase == ports[_MOST_PORTS]:
            yield f"{len(ports) - _MOST_PORTS} more ports, each the same way"
