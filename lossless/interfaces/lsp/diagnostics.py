"""Diagnostics of an editor, made from a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol.types import (
    CodeDescription,
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    Location,
    Position,
    Range,
)
from pygls.uris import from_fs_path

from lossless.ground.basics.data_files import data_dir
from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.text import Lines
from lossless.output.report.lint.finding_text import paragraphs
from lossless.output.report.lint.locations import Locations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Origin
    from lossless.interfaces.lsp.positions import ColumnUnits
    from lossless.interfaces.lsp.workspace import LintGroup

SOURCE = "lossless"
_SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "info": DiagnosticSeverity.Information,
}


class FindingDiagnostic(NamedTuple):
    """A diagnostic, and its finding; None if the file cannot be read."""

    diagnostic: Diagnostic
    finding: Finding | None


class DiagnosticBuilder:
    """Turns reports into diagnostics; ``uris`` are the editor's URIs of open files."""

    def __init__(self, units: ColumnUnits, uris: Mapping[str, str]) -> None:
        self._units = units
        self._uris = uris

    def diagnostics(self, file: str, text: str, group: LintGroup) -> list[FindingDiagnostic]:
        """Return the diagnostics of an open file, errors of reading first."""
        report = group.report
        lines = Lines(text)
        problems = [
            FindingDiagnostic(self._of_problem(problem, lines), None)
            for problem in report.errors
            if problem.file == file
        ]
        findings = [finding for finding in report.findings if finding.origin.file == file]
        locations = Locations(report.documents, findings)
        return problems + [
            FindingDiagnostic(self._of_finding(finding, locations, group), finding) for finding in findings
        ]

    def uri(self, file: str) -> str:
        """Return the URI of a file."""
        return self._uris.get(file) or from_fs_path(file) or file

    def _of_problem(self, problem: Problem, lines: Lines) -> Diagnostic:
        place = self._units.word(lines, problem.line, problem.column)
        return Diagnostic(place, visible(problem.message), severity=DiagnosticSeverity.Error, source=SOURCE)

    def _of_finding(self, finding: Finding, locations: Locations, group: LintGroup) -> Diagnostic:
        page = _page(finding)
        return Diagnostic(
            self._range(finding.origin, locations, group),
            paragraphs(finding),
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            code_description=CodeDescription(page) if page else None,
            source=SOURCE,
            related_information=list(self._related(finding, locations, group)) or None,
        )

    def _related(
        self, finding: Finding, locations: Locations, group: LintGroup
    ) -> Iterator[DiagnosticRelatedInformation]:
        for related in finding.related:
            place = self._range(related.origin, locations, group)
            location = Location(self.uri(related.origin.file), place)
            yield DiagnosticRelatedInformation(location, visible(related.message))

    def _range(self, origin: Origin, locations: Locations, group: LintGroup) -> Range:
        span = locations.span(origin)
        if span is None:
            return Range(Position(0, 0), Position(0, 0))
        return self._units.range(group.report.documents[origin.file], span)


def _page(finding: Finding) -> str | None:
    """Return the URI of a rule's page, None in an installation without pages: hovering shows the same text."""
    page = Path(data_dir("profiles")).parent / finding.url
    return page.as_uri() if page.is_file() else None
