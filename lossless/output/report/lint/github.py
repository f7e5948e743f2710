"""Findings as annotations of GitHub Actions: one command a line, read from the log of a step.

GitHub shows ten annotations of each kind beside the change (actions/toolkit docs/problem-matchers.md). The most severe
come first; the rest is in the log as plain lines, and a last notice gives their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import SEVERITIES
from lossless.ground.basics.foreign_text import visible, workflow_data, workflow_property
from lossless.ground.basics.records import NamedTuple
from lossless.output.report.lint.summary import ReportText, counted
from lossless.output.report.lint.text import (
    FileNames,
    locate,
    other_places,
    paragraphs,
    sort_problems,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.checks.lint.run import CheckedReport
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Severity
    from lossless.ground.documents.excerpts import Locations
    from lossless.output.report.lint.summary import RunContext

MOST_OF_A_KIND = 10
_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


class _Annotation(NamedTuple):
    """One annotation: severity, title and text, and its file, lines and column; None where unknown."""

    severity: Severity
    title: str
    text: str
    file: str
    line: int | None
    end_line: int | None
    column: int | None


def github_text(report: CheckedReport, context: RunContext) -> ReportText:
    """Return the commands for findings and unreadable files, most severe first, then plain lines for the rest."""
    names = FileNames(context.folder, context.root)
    locations, findings = locate(report)
    notes = [_problem(problem, names) for problem in sort_problems(report.errors)]
    notes += [_finding(finding, locations, names) for finding in findings]
    return ReportText("\n".join(_lines(notes)))


def _lines(notes: list[_Annotation]) -> Iterator[str]:
    shown, rest = _cut(notes)
    yield from map(_command, shown)
    for note in rest:
        yield _plain(note)
    if rest:
        what = f"{counted(len(rest), 'more finding')}, in the log of this step"
        yield f"::notice title=lossless::{what}: {MOST_OF_A_KIND} of a kind are shown"


def _cut(notes: Iterable[_Annotation]) -> tuple[list[_Annotation], list[_Annotation]]:
    """Return the annotations to show and the rest; if there is a rest, one notice is reserved to report it."""
    by_kind = {severity: [note for note in notes if note.severity == severity] for severity in SEVERITIES}
    is_cut = any(len(kind) > MOST_OF_A_KIND for kind in by_kind.values())
    shown, rest = [], []
    for severity, kind in by_kind.items():
        room = MOST_OF_A_KIND - 1 if is_cut and severity == "info" else MOST_OF_A_KIND
        shown += kind[:room]
        rest += kind[room:]
    return shown, rest


def _finding(finding: Finding, locations: Locations, names: FileNames) -> _Annotation:
    span = locations.span(finding.origin)
    place = (span.line, span.end_line, span.column) if span else (None, None, None)
    title = f"{finding.code} {finding.name}"
    text = paragraphs(finding, other_places(finding, locations, names.name))
    return _Annotation(finding.severity, title, text, names.name(finding.origin.file), *place)


def _problem(problem: Problem, names: FileNames) -> _Annotation:
    file, line = names.name(problem.file), problem.line
    return _Annotation("error", "cannot be read", visible(problem.message), file, line, line, problem.column)


def _command(note: _Annotation) -> str:
    places = {"file": note.file, "line": note.line, "endLine": note.end_line, "col": note.column}
    given = {**places, "title": note.title}
    properties = ",".join(
        f"{key}={workflow_property(value)}" for key, value in given.items() if value is not None
    )
    return f"::{_COMMANDS[note.severity]} {properties}::{workflow_data(note.text)}"


def _plain(note: _Annotation) -> str:
    """Return a line of the log; a line with a leading dash is never taken for a command."""
    place = ":".join(str(part) for part in (note.file, note.line, note.column) if part is not None)
    first = note.text.partition("\n")[0]
    return visible(f"- {place}: {note.severity}: {note.title}: {first}")
