"""The counts at the end of every report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.output.report.lint.report import Judged


class Summary(NamedTuple):
    """Findings by severity, what was kept back and what could not be judged, and the files that were read."""

    error: int
    warning: int
    info: int
    suppressed: int
    baselined: int
    not_judged: int
    files: int


def summarise(judged: Judged) -> Summary:
    """Count what a run has to say."""
    severities = [finding.severity for finding in judged.findings]
    return Summary(
        error=severities.count("error"),
        warning=severities.count("warning"),
        info=severities.count("info"),
        suppressed=judged.suppressed,
        baselined=judged.baselined,
        not_judged=sum(gap.times for gap in judged.not_judged),
        files=judged.files,
    )


def counted(number: int, noun: str) -> str:
    """Return ``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
