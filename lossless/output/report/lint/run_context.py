"""What reports for other programs need to know of the run: names from its root, and words for its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossless.checks.lint.report import Change
    from lossless.ground.basics.findings import Confidence, Severity


class RuleHelp(NamedTuple):
    """The help of a rule in a report: one sentence, the whole documentation as Markdown, and how it is graded."""

    summary: str
    documentation: str
    severity: Severity
    confidence: Confidence


class RunContext(NamedTuple):
    """Where a run happened and what it counts as a failure.

    ``folder`` is the current folder and ``root`` the one that names are relative to, both absolute. ``describe``
    gives the words for a rule's code, None where there are none. ``failing`` are the severities that make a run fail.
    ``change`` is there where a report holds only what a change adds.
    """

    folder: str
    root: str
    describe: Callable[[str], RuleHelp | None]
    failing: tuple[Severity, ...]
    change: Change | None = None


class ReportText(NamedTuple):
    """A report as text, and what it had to leave out, in words for whoever waits for it."""

    text: str
    notices: tuple[str, ...] = ()
