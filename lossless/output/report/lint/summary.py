"""The counts at the end of every report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.output.report.text_style import PLAIN, TextStyle, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.ground.basics.findings import UncheckedRule
    from lossless.output.report.lint.report import LintReport


class ReportSummary(NamedTuple):
    """Findings by severity, what was suppressed, baselined and not checked, and the files that were read."""

    error: int
    warning: int
    info: int
    suppressed: int
    baselined: int
    not_judged: int
    files: int


def summarise(report: LintReport) -> ReportSummary:
    """Count what a run has to say."""
    severities = [finding.severity for finding in report.findings]
    return ReportSummary(
        error=severities.count("error"),
        warning=severities.count("warning"),
        info=severities.count("info"),
        suppressed=report.suppressed,
        baselined=report.baselined,
        not_judged=sum(gap.times for gap in report.not_judged),
        files=report.files,
    )


def counted(number: int, noun: str) -> str:
    """Return ``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def not_judged_text(gaps: Iterable[UncheckedRule]) -> Iterator[str]:
    """Yield a line for everything that was not checked, and why."""
    for gap in sorted(gaps):
        times = f" ({gap.times} times)" if gap.times > 1 else ""
        rule = f"{gap.code}: " if gap.code else ""
        yield f"not judged: {rule}{visible(gap.reason)}{times}"


def summary_text(report: LintReport, style: TextStyle = PLAIN) -> str:
    """Return the last line of a report: every count, also those that are zero."""
    counts = summarise(report)
    severities = ", ".join(
        style.paint(counted(number, noun), noun if number else "plain")
        for number, noun in ((counts.error, "error"), (counts.warning, "warning"), (counts.info, "info"))
    )
    kept = f"{counts.suppressed} suppressed, {counts.baselined} baselined, {counts.not_judged} not judged"
    problems = f"; {counted(len(report.errors), 'problem')} in the input" if report.errors else ""
    return f"{severities} in {counted(counts.files, 'file')} ({kept}){problems}"
