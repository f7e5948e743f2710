"""The report of a lint run: findings, and the effects of a change if files were compared with a revision.

The engine makes a report of every subject that it checks, and adds them to one; it is finished by
:mod:`lossless.interfaces.api.lint`, which removes accepted findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple, Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.checks.lint.baseline import BaselineKey
    from lossless.checks.rules.precedence import Replaced
    from lossless.formats.sonic.capabilities.updater_sorting import EmptiedRow, MovePhase
    from lossless.formats.sonic.capabilities.updater_verdict import Stage
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, SkippedFile, UncheckedRule
    from lossless.ground.documents.excerpts import DocumentView
    from lossless.ground.documents.layout import PartLayout


class Report(NamedTuple):
    """The result of a lint run; ``documents`` by file name, to show excerpts.

    ``suppressed`` and ``baselined`` count accepted findings. ``beside`` counts documents that were not checked, and are
    present because a finding points into them: configurations and baselines. ``excluded`` are files
    that the user left out, ``skipped`` those that are not checked for another reason. ``ports_without_rdma`` counts
    ports that carry none, by what is configured there or by lossless.toml. ``fail_on`` is the least
    severity that shall fail the run, or ``never``, where a configuration says so. ``change`` is there where findings
    are only those that a change adds, ``patch`` where a configuration was checked as a patch leaves it. ``stale`` are
    the entries of each baseline that nothing is found of any more, and on how many elements.

    ``declared`` are the switches that intents declare. ``superseded`` are findings that others replace. Until a report
    is finished, origins name documents; ``layouts`` has the places of those that are parts of files, by their names.
    """

    findings: tuple[Finding, ...] = ()
    errors: tuple[Problem, ...] = ()
    not_checked: tuple[UncheckedRule, ...] = ()
    documents: Mapping[str, DocumentView] = {}
    suppressed: int = 0
    baselined: int = 0
    beside: int = 0
    excluded: tuple[str, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    fail_on: str | None = None
    change: Change | None = None
    patch: tuple[PatchedDevice, ...] = ()
    ports_without_rdma: int = 0
    stale: Mapping[str, Mapping[BaselineKey, Mapping[str, int]]] = {}
    declared: frozenset[str] = frozenset()
    superseded: frozenset[Replaced] = frozenset()
    layouts: Mapping[str, PartLayout] = {}

    @property
    def files(self) -> int:
        """How many files were checked."""
        return len(self.documents) - self.beside


class PatchRefusal(Record):
    """A change that the updater refuses: of which table, row or field, and why; ``line`` is that of the patch."""

    op: str
    path: tuple[str, ...]
    why: str
    file: str
    line: int | None


class PatchedDevice(Record):
    """The predicted response of SONiC's updater to a patch of one device or ASIC.

    ``release`` is None if the configuration does not contain it. ``stage`` is where the patch is refused, None if it
    is accepted; then ``phases`` is the order of its moves, ``ports_down`` are ports that are up and go down on the way,
    one after another, and ``emptied`` rows that lose their fields while others refer to them. ``kept`` are changes that
    orchagent does not apply, although the updater removes the rows. ``harms`` lists effects on lossless traffic.
    """

    device: str
    operations: int
    release: str | None
    stage: Stage | None
    refusals: tuple[PatchRefusal, ...]
    phases: tuple[MovePhase, ...]
    ports_down: tuple[str, ...]
    emptied: tuple[EmptiedRow, ...]
    kept: tuple[PatchRefusal, ...]
    harms: tuple[str, ...]


class MarginChange(NamedTuple):
    """The simulation verdicts on one part of a fabric before and after a change; None if it was not run.

    ``part`` is the file of an intent, or the switches of deployed files that are linked.
    """

    part: str
    before: RunVerdict | None
    after: RunVerdict | None


class RemainingFinding(NamedTuple):
    """A finding that was there before; ``places`` is the number of elements that it affected then."""

    finding: Finding
    places: int


class Change(NamedTuple):
    """The effects of a change, besides the findings that it adds, which the report holds.

    ``revision`` is the revision compared with. ``removed`` is a report of findings that are gone, as they were then.
    ``unread`` are files that could not be read then: all findings in them count as added.
    """

    revision: str
    removed: Report
    left: tuple[RemainingFinding, ...]
    unread: tuple[str, ...]
    margins: tuple[MarginChange, ...]
