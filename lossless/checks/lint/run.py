"""Rules run on a subject: violations of one cause are added up, missing inputs are counted; settings and reports.

Every subject that is checked gives a :class:`CheckedReport`; the reports of a run are added to one, from which
:mod:`lossless.interfaces.api.lint` removes accepted findings. A report has the effects of a change too, if files were
compared with a revision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.checks.rules.base import MissingInput, Violation, added_up
from lossless.checks.rules.precedence import replaced, resolve
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import SEVERITIES, Finding, ObjectForm, UncheckedRule, grouped
from lossless.ground.basics.foreign_text import on_one_line
from lossless.ground.basics.records import NamedTuple, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.checks.lint.baseline import BaselineKey
    from lossless.checks.rules.documentation import Rule
    from lossless.checks.rules.host_counters.traffic_tests import TrafficVerdict
    from lossless.checks.rules.precedence import Replaced
    from lossless.checks.rules.registry import Codes, LoadedRule
    from lossless.checks.rules.storms.culprit import Culprit
    from lossless.formats.inputs.intents import Progress
    from lossless.formats.sonic.capabilities.updater_sorting import EmptiedRow, MovePhase
    from lossless.formats.sonic.capabilities.updater_verdict import Stage
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import SkippedFile
    from lossless.ground.documents.excerpts import DocumentView
    from lossless.ground.documents.layout import PartLayout
    from lossless.model.fabric.model import Switch


def run(subject: Any, rules: Iterable[LoadedRule], form: ObjectForm) -> CheckedReport:
    """Return the report of rules on a subject; ``form`` is the notation of objects in its files.

    A rule of a plugin that fails is a problem of the report.
    """
    findings: list[Finding] = []
    errors: list[Problem] = []
    not_checked: list[UncheckedRule] = []
    for rule in rules:
        try:
            yielded = list(rule.check(subject))
        except InputError as failure:
            errors += failure.problems
            continue
        violations = [item for item in yielded if isinstance(item, Violation)]
        if violations:
            from lossless.checks.rules.documentation import rule_of

            metadata = rule_of(rule.code)
            findings += (_finding(metadata, violation, form) for violation in _by_cause(violations))
        missing = (item for item in yielded if isinstance(item, MissingInput))
        not_checked += (UncheckedRule(rule.code, item.reason, item.times) for item in missing)
    return CheckedReport(tuple(findings), tuple(errors), _added_up(not_checked))


def together(reports: Iterable[CheckedReport]) -> CheckedReport:
    """Return several reports as one, findings in order, without those that another one replaces."""
    whole = gathered(reports)
    superseded = replaced(whole.findings) | whole.superseded
    return whole._replace(
        findings=in_order(resolve(whole.findings, superseded)),
        errors=tuple(dict.fromkeys(whole.errors)),
        not_checked=_added_up(whole.not_checked),
        superseded=superseded,
    )


def gathered(reports: Iterable[CheckedReport]) -> CheckedReport:
    """Return several reports of rules as one, with all their findings, report after report."""
    each = tuple(reports)
    return CheckedReport(
        tuple(finding for report in each for finding in report.findings),
        tuple(error for report in each for error in report.errors),
        tuple(unchecked for report in each for unchecked in report.not_checked),
        {file: document for report in each for file, document in report.documents.items()},
        ports_without_rdma=sum(report.ports_without_rdma for report in each),
        superseded=frozenset().union(*(report.superseded for report in each)),
        layouts={name: layout for report in each for name, layout in report.layouts.items()},
    )


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by file, errors first, then by rule and place."""
    return tuple(sorted(findings, key=_order))


def _by_cause(violations: Iterable[Violation]) -> Iterator[Violation]:
    pairs = (((violation.origin, violation.message), violation) for violation in violations)
    return map(added_up, grouped(pairs).values())


def _finding(rule: Rule, violation: Violation, form: ObjectForm) -> Finding:
    # A line break in a message is that of a name; a note has lines where its rule says so.
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=violation.severity or rule.severity,
        confidence=violation.confidence or rule.confidence,
        message=on_one_line(violation.message),
        origin=violation.origin,
        note="\n".join(map(on_one_line, violation.note_lines or (violation.note,))),
        help=on_one_line(violation.help),
        related=violation.related,
        places=violation.total,
        elements=violation.elements,
        data=violation.data,
        fixable=rule.fixable if violation.fix else "no",
        object_form=form,
        fix=violation.fix,
        conclusive=violation.conclusive,
    )


def _order(finding: Finding) -> tuple[object, ...]:
    path = tuple(str(key) for key in finding.origin.path)
    severity = SEVERITIES.index(finding.severity)
    return (finding.origin.file, severity, finding.code, path, finding.message)


def _added_up(items: Iterable[UncheckedRule]) -> tuple[UncheckedRule, ...]:
    times = grouped(((item.code, item.reason), item.times) for item in items)
    return tuple(UncheckedRule(code, reason, sum(each)) for (code, reason), each in sorted(times.items()))


def every_rule(_file: str) -> Codes | None:
    """Choose all rules (None) for every file."""
    return None


def no_fabric(_file: str) -> str:
    """Assign no file to a fabric."""
    return ""


def none_named(_file: str) -> tuple[int, ...]:
    """Return the DSCPs that must be lossless in a file by default: an empty tuple."""
    return ()


def all_carry(_file: str, _switch: Switch) -> frozenset[str]:
    """Declare no port as free of RDMA."""
    return frozenset()


class Settings(NamedTuple):
    """The settings of a lint run; ``rdma_dscps`` must be lossless on devices without an intent, before ``named_in``.

    ``intended`` are switches of intents by name, with which devices are compared; ``compared``: devices are
    compared with others or hosts. ``chosen`` returns the rules to run on a file, ``fabric_of`` the fabric that it is
    assigned to, ``named_in`` the DSCPs that must be lossless in it, ``without_rdma`` the ports of a switch in it that
    are declared to carry no RDMA. ``apart``: no file is checked by the content of another. ``progress`` is called with
    the number of files that are done, and of all.
    """

    rdma_dscps: tuple[int, ...] = ()
    profile_dirs: tuple[str, ...] = ()
    intended: Mapping[str, Switch] = {}
    compared: bool = False
    chosen: Callable[[str], Codes | None] = every_rule
    fabric_of: Callable[[str], str] = no_fabric
    named_in: Callable[[str], tuple[int, ...]] = none_named
    without_rdma: Callable[[str, Switch], frozenset[str]] = all_carry
    apart: bool = False
    progress: Progress | None = None

    def intended_switch(self, name: str) -> Switch | None:
        """Return the intended switch of a device's name, also of a name that differs in case or domain, else None."""
        found = self.intended.get(name)
        if found is None and self.intended:
            from lossless.model.fabric.cabling import among

            found = self.intended.get(among(tuple(self.intended)).find(name) or "")
        return found

    def dscps_of(self, file: str) -> tuple[int, ...]:
        """Return the DSCPs that must be lossless on the devices of a file, of this run or of its configuration."""
        return self.rdma_dscps or self.named_in(file)

    def is_chosen(self, finding: Finding) -> bool:
        """Return whether the rule of a finding is chosen for the file that it is in."""
        codes = self.chosen(finding.origin.file)
        return codes is None or finding.code in codes


class CheckedReport(NamedTuple):
    """The result of a lint run, or of a part of one; ``documents`` by file name, to show excerpts.

    ``suppressed`` and ``baselined`` count accepted findings. ``beside`` counts documents that were not checked, such as
    configurations and baselines that a finding points into. ``excluded`` are files
    that the user left out, ``skipped`` those that are not checked for another reason. ``ports_without_rdma`` counts
    ports that carry none, by their configuration, their host's or lossless.toml. ``fail_on`` is the least
    severity that shall fail the run, or ``never``, where a configuration says so. ``change`` is there where findings
    are only those that a change adds, ``patch`` where a configuration was checked as a patch leaves it. ``stale`` has,
    by baseline, the entries whose findings no longer occur, with the number of times for each element.

    ``declared`` are the switches that intents declare. ``superseded`` are findings that others replace. Until a report
    is finished, origins name documents; ``layouts`` has the places of those that are parts of files, by their names.
    ``tests`` are the verdicts on traffic tests among captures, those that pass included.
    ``culprits`` are the answers to who caused pauses and losses, by captures; None where none were checked.
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
    tests: tuple[TrafficVerdict, ...] = ()
    culprits: tuple[Culprit, ...] | None = None

    @property
    def files(self) -> int:
        """The number of files that were checked."""
        return len(self.documents) - self.beside

    def placed(self) -> tuple[PlacedFinding, ...]:
        """Return the findings in their order with the places of their values, which each call looks up in documents."""
        from lossless.ground.documents.excerpts import Locations

        locations = Locations(self.documents, self.findings)
        spans = ((finding, locations.span(finding.origin)) for finding in self.findings)
        return tuple(
            PlacedFinding(finding, finding.file, *((span.line, span.column) if span else (None, None)))
            for finding, span in spans
        )


class PlacedFinding(NamedTuple):
    """A finding, its file, and the line and column of its value, from 1; None without the text of the file.

    A column counts code points. These are the places of the text, JSON and SARIF of ``lossless lint``.
    """

    finding: Finding
    file: str
    line: int | None
    column: int | None


class PatchRefusal(Record):
    """A change that the updater refuses, or orchagent does not apply: its table, row or field, and the reason.

    ``line`` is that of the patch, None if no operation of it is at this place.
    """

    op: str
    path: tuple[str, ...]
    why: str
    file: str
    line: int | None


class PatchedDevice(Record):
    """The predicted response of SONiC's updater to a patch of one device or ASIC.

    ``release`` is None if the configuration does not contain it. ``stage`` is where the patch is refused, None if it is
    accepted; then ``phases`` is the order of its moves, ``ports_down`` are ports that are up and go down on the way,
    one after another, and ``emptied`` removed rows that first lose fields while others refer to them. ``kept`` are
    changes that orchagent does not apply, although the updater removes the rows. ``harms`` lists effects on lossless
    traffic.
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
    """The simulation verdicts on one part of a fabric before and after a change; None if it was not simulated.

    ``part`` is the file of an intent, or switches of deployed files: linked ones, or one alone.
    """

    part: str
    before: RunVerdict | None
    after: RunVerdict | None


class RemainingFinding(NamedTuple):
    """A finding that was there before a change; ``places`` is the number of elements that it affected then."""

    finding: Finding
    places: int


class Change(NamedTuple):
    """The effects of a change, besides the findings that it adds, which the report holds.

    ``revision`` is the revision compared with. ``removed`` is a report of findings that are gone, as they were then.
    ``unread`` are files that could not be read then: all findings in them count as added.
    """

    revision: str
    removed: CheckedReport
    left: tuple[RemainingFinding, ...]
    unread: tuple[str, ...]
    margins: tuple[MarginChange, ...]
