"""The counts at the end of every report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
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
