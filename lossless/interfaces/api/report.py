"""What lint has to say: findings, and where files were compared with a revision, what a change does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, SkippedFile, UncheckedRule
    from lossless.ground.documents.excerpts import DocumentView


class Report(NamedTuple):
    """What a lint run has to say; ``documents`` by file name, to show excerpts.

    ``suppressed`` and ``baselined`` count accepted findings. ``beside`` is how many documents were not
    checked, and are there because a finding points into them: configurations and baselines. ``excluded`` are files
    that the user left out, ``skipped`` those that are not checked for another reason. ``fail_on`` is the least
    severity that shall fail the run, or ``never``, where a configuration says so. ``change`` is there where findings
    are only those that a change adds.
    """

    findings: tuple[Finding, ...]
    errors: tuple[Problem, ...]
    not_checked: tuple[UncheckedRule, ...]
    documents: Mapping[str, DocumentView]
    suppressed: int = 0
    baselined: int = 0
    beside: int = 0
    excluded: tuple[str, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    fail_on: str | None = None
    change: Change | None = None

    @property
    def files(self) -> int:
        """How many files were checked."""
        return len(self.documents) - self.beside


class MarginChange(NamedTuple):
    """What runs of traffic showed of one part of a fabric before and after; None where it was not run.

    ``part`` is the file of an intent, or the switches of deployed files that are linked.
    """

    part: str
    before: RunVerdict | None
    after: RunVerdict | None


class RemainingFinding(NamedTuple):
    """A finding that was there before; ``places`` says on how many elements it showed then."""

    finding: Finding
    places: int


class Change(NamedTuple):
    """What a change does, besides what it adds: that is what the report holds.

    ``revision`` is what was compared with. ``removed`` is a report of what is gone, as it stood then. ``unread`` are
    files that could not be read then: all that is found in them counts as added.
    """

    revision: str
    removed: Report
    left: tuple[RemainingFinding, ...]
    unread: tuple[str, ...]
    margins: tuple[MarginChange, ...]
