"""The counts at the end of a report, the context of a run for reports to programs, and statistics of rules.

The context has the folders of the run and the help of its rules. Statistics count the findings of each rule: where to
begin with a repository that was never linted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import SEVERITIES, by_cause, grouped
from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.records import NamedTuple
from lossless.output.report.columns import PLAIN, TextStyle, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.checks.lint.run import Change, CheckedReport
    from lossless.ground.basics.findings import Confidence, Finding, Severity, SkippedFile, UncheckedRule


_MOST_NAMES = 4
"""The most names of files in the line of one reason for skipping."""


class ReportSummary(NamedTuple):
    """Counts of a report: findings by severity, suppressed and baselined ones, unchecked rules, and files.

    ``causes`` counts equal findings of several devices once, ``ports_without_rdma`` the ports in service
    that rules of lossless classes leave out.
    """

    error: int
    warning: int
    info: int
    suppressed: int
    baselined: int
    not_checked: int
    files: int
    causes: int
    excluded: int
    skipped: int
    ports_without_rdma: int


def summarise(report: CheckedReport) -> ReportSummary:
    """Return the counts of a report: findings, unchecked rules, and files."""
    severities = [finding.severity for finding in report.findings]
    return ReportSummary(
        error=severities.count("error"),
        warning=severities.count("warning"),
        info=severities.count("info"),
        suppressed=report.suppressed,
        baselined=report.baselined,
        not_checked=sum(rule.times for rule in report.not_checked),
        files=report.files,
        causes=len(by_cause(report.findings)),
        excluded=len(report.excluded),
        skipped=len(report.skipped),
        ports_without_rdma=report.ports_without_rdma,
    )


def causes_by_severity(findings: Iterable[Finding]) -> list[tuple[int, Severity]]:
    """Return the number of distinct causes of each severity, most severe first; 0 for a severity without any."""
    severities = [same[0].severity for same in by_cause(findings)]
    return [(severities.count(severity), severity) for severity in SEVERITIES]


def counted(number: int, noun: str) -> str:
    """Return a number and its noun as text: ``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def not_checked_text(unchecked: Iterable[UncheckedRule], style: TextStyle = PLAIN) -> Iterator[str]:
    """Yield a line for each rule that was not checked and each reason, sorted."""
    for each in sorted(unchecked):
        times = f" ({each.times} times)" if each.times > 1 else ""
        rule = f"{each.code}: " if each.code else ""
        yield fitted(f"not checked: {rule}{visible(each.reason)}{times}", style)


def skipped_text(
    skipped: Sequence[SkippedFile], style: TextStyle = PLAIN, *, verbose: bool = False
) -> Iterator[str]:
    """Yield a line for each reason for skipping files, with names; ``verbose``: also of files that are only counted."""
    if not skipped:
        return
    from lossless.output.report.lint.text import shown_file

    by_reason = grouped((each.reason, shown_file(each.file)) for each in skipped if verbose or each.named)
    for reason, files in sorted(by_reason.items()):
        names = ", ".join(map(visible, files[:_MOST_NAMES]))
        more = f" and {len(files) - _MOST_NAMES} more" if len(files) > _MOST_NAMES else ""
        yield fitted(f"skipped: {names}{more}: {visible(reason)}", style)


def summary_text(report: CheckedReport, style: TextStyle = PLAIN) -> str:
    """Return the last line of a report: findings by severity, also zero, other counts, and files left out.

    Equal findings of several devices are counted once.
    """
    counts = summarise(report)
    severities = ", ".join(
        style.paint(counted(number, noun), noun if number else "plain")
        for number, noun in causes_by_severity(report.findings)
    )
    kept = f"{counts.suppressed} suppressed, {counts.baselined} baselined, {counts.not_checked} not checked"
    repeated = len(report.findings) - counts.causes
    kept += f"; {repeated} more of the same in other files" if repeated else ""
    left_out = [(counts.excluded, "excluded"), (counts.skipped, "skipped")]
    kept += "".join(f"; {counted(number, 'file')} {how}" for number, how in left_out if number)
    outside = counts.ports_without_rdma
    kept += f"; {counted(outside, 'port')} without RDMA" if outside else ""
    text = f"{_incomplete(report)}{severities} in {counted(counts.files, 'file')} ({kept})"
    return text if style is PLAIN else _fitting_summary(report, text, style)


def _incomplete(report: CheckedReport) -> str:
    """Return the words before the counts if a file could not be read, as the counts leave it out; empty otherwise."""
    if not report.errors:
        return ""
    return f"check incomplete ({counted(len(report.errors), 'problem')} in the input); the rest: "


def _fitting_summary(report: CheckedReport, text: str, style: TextStyle) -> str:
    """Return a summary on one line if it fits, else on several lines without colors."""
    plain = summary_text(report)
    return text if len(plain) <= style.columns else fitted(plain, style)


def fitted(text: str, style: TextStyle) -> str:
    """Return text wrapped to the columns of the style."""
    if len(text) <= style.columns:
        return text

    return wrapped(text, style)


class RuleHelp(NamedTuple):
    """The help of a rule in a report: one sentence, its documentation as Markdown, severity and confidence."""

    summary: str
    documentation: str
    severity: Severity
    confidence: Confidence


class RunContext(NamedTuple):
    """The folders of a run, the help of its rules, and the severities that count as a failure.

    ``folder`` is the current folder and ``root`` the one that names are relative to, both absolute. ``describe``
    gives the words for a rule's code, None if there are none. ``failing`` are the severities that make a run fail.
    ``change`` is set if a report holds only the findings that a change adds.
    """

    folder: str
    root: str
    describe: Callable[[str], RuleHelp | None]
    failing: tuple[Severity, ...]
    change: Change | None = None


class ReportText(NamedTuple):
    """A report as text, and notices about findings that it leaves out."""

    text: str
    notices: tuple[str, ...] = ()


STATISTICS_HEADS = ("findings", "places", "severity", "rule")


def statistics_text(report: CheckedReport, style: TextStyle = PLAIN) -> str:
    """Return a table with a row for each rule and severity, the one with most causes first; empty without findings."""
    rows = statistics_rows(report)
    return table([STATISTICS_HEADS, *rows], style) if rows else ""


def statistics_rows(report: CheckedReport) -> list[tuple[str, ...]]:
    """Return a row for each rule and severity, the one with most causes first."""
    causes = ((same[0], sum(finding.places for finding in same)) for same in by_cause(report.findings))
    places = grouped(((first.severity, first.code, first.name), total) for first, total in causes)
    keys = sorted(places, key=lambda key: (-len(places[key]), SEVERITIES.index(key[0]), key[1]))
    return [(str(len(places[key])), str(sum(places[key])), key[0], f"{key[1]} {key[2]}") for key in keys]
