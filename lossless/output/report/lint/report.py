"""What a report is made of; only for annotations, so that nothing is paid for it at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, SkippedFile, UncheckedRule
    from lossless.ground.documents.excerpts import DocumentView


class LintReport(Protocol):
    """The outcome of a lint run, as :class:`lossless.api.Report` has it."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the rules found."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        """What could not be read."""

    @property
    def not_checked(self) -> tuple[UncheckedRule, ...]:
        """What was not checked, and why."""

    @property
    def documents(self) -> Mapping[str, DocumentView]:
        """The documents by file name."""

    @property
    def files(self) -> int:
        """How many files were checked; a document more is there where a finding points into a configuration."""

    @property
    def excluded(self) -> tuple[str, ...]:
        """The files that the user left out."""

    @property
    def skipped(self) -> tuple[SkippedFile, ...]:
        """The files that were not checked, and why."""

    @property
    def suppressed(self) -> int:
        """How many findings the user has suppressed."""

    @property
    def baselined(self) -> int:
        """How many findings the baseline already knows."""
