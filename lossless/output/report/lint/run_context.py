"""Facts of the run for reports to other programs: names from its root, and words for its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossless.checks.lint.run import Change
    from lossless.ground.basics.findings import Confidence, Severity


class RuleHelp(NamedTuple):
    """The help of a rule in a report: one sentence, the whole documentation as Markdown, and how it is graded."""

    summary: str
    documentation: str
    severity: Severity
    confidence: Confidence


class RunContext(NamedTuple):
    """The folder of a run, and the severities that count as a failure.

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
    """A report as text, and notices of the parts that it had to leave out."""

    text: str
    notices: tuple[str, ...] = ()
