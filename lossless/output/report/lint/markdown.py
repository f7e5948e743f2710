"""Findings as Markdown, for a comment below a merge request or the summary of a job.

Names and messages come from files that anyone can propose: they are escaped, so that none of them acts as Markdown or
HTML, or mentions a user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import by_cause
from lossless.ground.basics.foreign_text import markdown
from lossless.output.report.columns import markdown_table
from lossless.output.report.lint.summary import ReportText, causes_by_severity, counted
from lossless.output.report.lint.text import (
    MARGINS,
    MOST_CULPRITS,
    FileNames,
    culprit_heading,
    headline,
    left_by_rule,
    locate,
    margin_row,
    sort_problems,
    unread_note,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.lint.run import Change, CheckedReport
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.excerpts import Locations
    from lossless.output.report.lint.summary import RunContext

MOST_ROWS = 100
"""The most rows of one table, each with the findings of one cause; GitHub takes comments of 65,536 characters."""

_LONGEST = 400
_HEAD = ("severity", "rule", "where", "what")


def markdown_text(report: CheckedReport, context: RunContext) -> ReportText:
    """Return the findings as tables of at most MOST_ROWS rows: the added and removed ones if a change is compared."""
    change = context.change
    shown = _FindingRows(FileNames(context.folder, context.root))
    parts = [f"### lossless: {_counts(report, change)}", *_problems(report, shown)]
    parts += _table("Added" if change else "", report, shown)
    parts += _culprits(report)
    if change is not None:
        parts += [*_table("Gone", change.removed, shown), *_left(change), *_margins(change)]
        parts += [escaped(unread_note(change, file)) for file in change.unread]
    rows = max(len(by_cause(each.findings)) for each in (report, *([change.removed] if change else [])))
    notices = (f"{MOST_ROWS} findings of a table are shown, of {rows}",) if rows > MOST_ROWS else ()
    return ReportText("\n\n".join(parts), notices)


def escaped(text: str) -> str:
    """Return a text, at most its first 400 characters, escaped so that Markdown shows it literally."""
    return markdown(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


class _FindingRows:
    """Makes rows of a table of findings; files are named from the root of the repository."""

    def __init__(self, names: FileNames) -> None:
        self.name = names.name

    def row(self, same: Sequence[Finding], locations: Locations) -> tuple[str, ...]:
        """Return the row of the findings of one cause: severity, rule, place and message."""
        finding = same[0]
        span = locations.span(finding.origin)
        line = f":{span.line}" if span else ""
        others = f" and {len(same) - 1} more" if len(same) > 1 else ""
        place = f"{self.name(finding.origin.file)}{line}{others}"
        cell = escaped(headline(finding))
        if finding.help:
            cell += f"<br>**help** {escaped(finding.help)}"
        return (finding.severity, f"{finding.code} {finding.name}", escaped(place), cell)


def _counts(report: CheckedReport, change: Change | None) -> str:
    if change is not None:
        gone, left = len(change.removed.findings), len(change.left)
        since = f"since {escaped(change.revision)}"
        return f"{len(report.findings)} added, {gone} gone, {left} left {since}"
    severities = causes_by_severity(report.findings)
    return f"{', '.join(counted(*count) for count in severities)} in {counted(report.files, 'file')}"


def _problems(report: CheckedReport, shown: _FindingRows) -> Iterator[str]:
    if report.errors:
        lines = [
            f"- {escaped(str(problem._replace(file=shown.name(problem.file))))}"
            for problem in sort_problems(report.errors)[:MOST_ROWS]
        ]
        yield "\n".join(["**Not read**", "", *lines])


def _table(title: str, report: CheckedReport, shown: _FindingRows) -> Iterator[str]:
    if not report.findings:
        return
    locations, findings = locate(report)
    causes = by_cause(findings)
    rows = [shown.row(same, locations) for same in causes[:MOST_ROWS]]
    more = [f"… and {len(causes) - MOST_ROWS} more"] if len(causes) > MOST_ROWS else []
    yield "\n\n".join([*([f"**{title}**"] if title else []), markdown_table(_HEAD, rows), *more])


def _culprits(report: CheckedReport) -> Iterator[str]:
    """Yield the first culprits of pauses and losses, each with its evidence and the facts against it."""
    for culprit in (report.culprits or ())[:MOST_CULPRITS]:
        facts = [*(fact.text for fact in culprit.evidence), *(f"against: {text}" for text in culprit.against)]
        lines = "\n".join(f"- {escaped(text)}" for text in facts)
        yield f"**Who did it** {escaped(culprit_heading(culprit))}\n\n{lines}"


def _left(change: Change) -> Iterator[str]:
    if change.left:
        lines = "\n".join(f"- {escaped(line)}" for line in left_by_rule(change.left))
        yield f"**Left**\n\n{lines}"


def _margins(change: Change) -> Iterator[str]:
    if change.margins:
        rows = [tuple(map(_arrow, margin_row(margin))) for margin in change.margins]
        yield f"**Under traffic**\n\n{markdown_table(MARGINS, rows)}"


def _arrow(text: str) -> str:
    return " → ".join(map(escaped, text.split(" -> ")))
