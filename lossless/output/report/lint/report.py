"""What a report is made of; only for annotations, so that nothing is paid for it at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, SkippedFile, UncheckedRule
    from lossless.ground.documents.excerpts import DocumentView


class RefusedChange(Protocol):
    """A change of a configuration that is refused."""

    @property
    def op(self) -> str:
        """What it would have done."""

    @property
    def path(self) -> tuple[str, ...]:
        """The table, row and field."""

    @property
    def why(self) -> str:
        """Why it is refused."""

    @property
    def file(self) -> str:
        """The file of the patch."""

    @property
    def line(self) -> int | None:
        """The line of the operation that asks for it, None where none alone does."""


class MoveRows(Protocol):
    """Rows that change together."""

    @property
    def phase(self) -> str:
        """When they change."""

    @property
    def port(self) -> str | None:
        """The port that is down meanwhile."""

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """The rows, as table and key."""


class RowLosingFields(Protocol):
    """A row that loses its fields before it goes."""

    @property
    def table(self) -> str:
        """Its table."""

    @property
    def key(self) -> str:
        """Its key."""

    @property
    def fields(self) -> int:
        """How many fields it loses."""

    @property
    def in_use(self) -> bool:
        """Whether something that is up uses it meanwhile."""


class PatchAnswer(Protocol):
    """What the updater answers to a patch of one device, as :class:`lossless.api.Report` has it."""

    @property
    def device(self) -> str:
        """The device or ASIC."""

    @property
    def operations(self) -> int:
        """How many operations are for it."""

    @property
    def release(self) -> str | None:
        """Its release, None where it is not known."""

    @property
    def stage(self) -> str | None:
        """Where the patch is refused, None where it is accepted."""

    @property
    def refusals(self) -> Sequence[RefusedChange]:
        """What is refused there."""

    @property
    def phases(self) -> Sequence[MoveRows]:
        """The order of moves."""

    @property
    def ports_down(self) -> Sequence[str]:
        """The ports that go down on the way."""

    @property
    def emptied(self) -> Sequence[RowLosingFields]:
        """The rows that lose fields while others refer to them."""

    @property
    def kept(self) -> Sequence[RefusedChange]:
        """What orchagent keeps."""

    @property
    def harms(self) -> Sequence[str]:
        """How lossless traffic is treated otherwise."""


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
    def patch(self) -> Sequence[PatchAnswer]:
        """What the updater answers to a patch, for each device that one changes."""

    @property
    def skipped(self) -> tuple[SkippedFile, ...]:
        """The files that were not checked, and why."""

    @property
    def ports_without_rdma(self) -> int:
        """How many ports in service carry no RDMA."""

    @property
    def suppressed(self) -> int:
        """How many findings the user has suppressed."""

    @property
    def baselined(self) -> int:
        """How many findings the baseline already knows."""
