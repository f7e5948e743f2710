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
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.checks.lint.run import PatchedDevice, PatchRefusal, Report
    from lossless.checks.rules.storms.culprit import Culprit
    from lossless.formats.sonic.capabilities.updater_sorting import MovePhase
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Json, Origin, Span
    from lossless.output.report.columns import TextStyle
    from lossless.output.report.lint.text import Locations


VERSION = 1
"""The version of the keys in the JSON object."""
MOST_ELEMENTS = 5


def json_text(report: Report) -> str:
    """Return findings, problems, skipped files and counts of a report as one JSON object, in ASCII.

    It has culprits, the verdicts on traffic tests and the updater's response to a patch too, if any; not the findings
    that a change removes and leaves.
    """
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
    if report.tests:
        data["tests"] = [{"file": shown_file(test.origin.file), **test.data} for test in report.tests]
    if report.culprits is not None:
        data["culprits"] = [culprit_data(culprit, locations) for culprit in report.culprits]
    if report.patch:
        data["patch"] = patch_data(report.patch)
    return json.dumps(data, indent=2)


def finding_data(finding: Finding, locations: Locations) -> dict[str, Json]:
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


def culprit_data(culprit: Culprit, locations: Locations) -> dict[str, Json]:
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


def patch_data(patched: Sequence[PatchedDevice]) -> list[dict[str, Any]]:
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


def _refused_data(refusal: PatchRefusal) -> dict[str, Any]:
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
