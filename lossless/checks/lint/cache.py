"""Repeated lint: of only the files that changed, after fixes, after a patch, and of two states that are compared.

An edit of a fix leaves the rest of a file alone. One finding's edits are made together or not at all; if two findings
need different changes of one place, the first one makes its own, and the files are checked again for another round.

A patch for SONiC's updater gives the configuration after it, the updater's answer, and the operation that each finding
is about. Of two states the findings that a change adds, removes and leaves are known, and the verdicts of traffic
simulations before and after it, part by part.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from lossless.analysis.simulation.question.request import SimulationRequest
from lossless.analysis.simulation.study.answer import checked_scenario, parts, run_study, why_not
from lossless.checks.lint.baseline import elements_of, measured, part_of
from lossless.checks.lint.files import FEWEST_FOR_WORKERS
from lossless.checks.lint.results import completed, joined
from lossless.checks.lint.run import MarginChange, PatchedDevice, PatchRefusal, RemainingFinding
from lossless.checks.lint.workers import check_file, check_in_processes
from lossless.formats.inputs.collect import is_json, load_configuration, merged, read
from lossless.formats.inputs.devices import DeviceReader
from lossless.formats.inputs.intents import declarations_of
from lossless.formats.inputs.patches import patched
from lossless.formats.inputs.subnet_manager import edited_document, is_managers
from lossless.formats.sonic.capabilities.updater_sorting import UpdaterDevice, move_phases
from lossless.formats.sonic.capabilities.updater_verdict import (
    in_database,
    kept_by_orchagent,
    patch_verdict,
    release_of,
)
from lossless.formats.sonic.changes.json_patch import PatchDoesNotApply, applied, harms, operations
from lossless.ground.basics.errors import InputError, LosslessError
from lossless.ground.basics.findings import SEVERITIES, MissingInput, Origin, RelatedPlace, grouped
from lossless.ground.basics.limits import NESTING
from lossless.ground.basics.processes import usable
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents import load_text
from lossless.ground.documents.changes import ValueChange
from lossless.ground.documents.command_lines import edited
from lossless.ground.documents.excerpts import Excerpts
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.checks.lint.devices import DeviceResult
    from lossless.checks.lint.run import CheckedReport, Settings
    from lossless.checks.rules.registry import Codes
    from lossless.formats.inputs.collect import Candidate, Inputs
    from lossless.formats.inputs.intents import Declarations
    from lossless.formats.inputs.patches import PatchFile, PatchShare
    from lossless.formats.sonic.capabilities.updater_verdict import PatchVerdict, UpdateRefusal
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Path
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric


Mark = tuple[int, int, int] | str | None
"""A value that changes with a file: its time, size and inode, or the hash of its content; None for a missing file."""


def mark_of(file: str) -> Mark:
    """Return the mark of a file as it is now on the disk: time, size and inode; None if these cannot be read."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)


class FileSource(NamedTuple):
    """The source of files: the disk, or a revision. ``load`` reads the document of a device again for reports."""

    mark: Callable[[str], Mark]
    read: Callable[[Candidate], Inputs]
    load: Callable[[str], Document]


ON_DISK = FileSource(mark_of, read, load_configuration)


class _DeviceEntry(NamedTuple):
    """The kept results of rules on the devices of a file; empty if the file is of another kind or cannot be read.

    ``basis`` are the mark of the file and the rules to run on it, with which the results are valid.
    """

    basis: tuple[Mark, Codes | None]
    results: tuple[DeviceResult, ...]
    excerpts: Excerpts | None
    problems: tuple[Problem, ...]
    others: tuple[Candidate, ...]


class _IntentEntry(NamedTuple):
    """The inputs in all files except JSON files, and the declarations of the intents among them."""

    basis: tuple[tuple[str, Mark], ...]
    inputs: Inputs
    intents: Declarations


class LintCache:
    """Results of files that were checked; :meth:`check` takes the place of ``check_files``."""

    def __init__(self) -> None:
        self._intents: _IntentEntry | None = None
        self._devices: dict[Candidate, _DeviceEntry] = {}
        self._compared: bool | None = None

    def forget(self) -> None:
        """Forget every result, after a change that all of them may depend on."""
        self._intents = None
        self._devices.clear()

    def check(
        self, candidates: Sequence[Candidate], settings: Settings, source: FileSource = ON_DISK
    ) -> CheckedReport:
        """Return the report of files as ``check_files`` does, with kept results of SONiC devices.

        Results of a file are valid while its mark and the rules that are chosen for it stay the same, the marks of all
        files but JSON files, and whether devices are compared.
        """
        devices = [candidate for candidate in candidates if is_json(candidate.file)]
        others = [candidate for candidate in candidates if not is_json(candidate.file)]
        _, inputs, intents = self._intent_entry(others, settings, source)
        settings = completed(settings, intents, [device.file for device in devices], len(inputs.facts))
        if settings.compared is not self._compared:
            # Those that are not compared have left no summary.
            self._devices.clear()
            self._compared = settings.compared
        entries = self._device_entries(devices, settings, source)
        documents = {document.file: document.whole for document in inputs.documents}
        excerpts = {entry.excerpts.file: entry.excerpts for entry in entries if entry.excerpts is not None}
        results = [result for entry in entries for result in entry.results]
        apart = merged([source.read(candidate) for entry in entries for candidate in entry.others])
        documents |= {document.file: document.whole for document in apart.documents}
        problems = (*inputs.problems, *(problem for entry in entries for problem in entry.problems))
        inputs = inputs._replace(
            documents=(*inputs.documents, *apart.documents),
            problems=problems,
            facts=(*inputs.facts, *apart.facts),
        )
        return joined(inputs, intents, results, {**documents, **excerpts}, settings)

    def _intent_entry(
        self, candidates: Sequence[Candidate], settings: Settings, source: FileSource
    ) -> _IntentEntry:
        basis = tuple((candidate.file, source.mark(candidate.file)) for candidate in candidates)
        if self._intents is None or self._intents.basis != basis:
            self._devices.clear()
            inputs = merged([source.read(candidate) for candidate in candidates])
            intents = declarations_of(inputs.documents, settings.profile_dirs, settings.progress)
            self._intents = _IntentEntry(basis, inputs, intents)
        return self._intents

    def _device_entries(
        self, candidates: Sequence[Candidate], settings: Settings, source: FileSource
    ) -> list[_DeviceEntry]:
        bases = {device: (source.mark(device.file), settings.chosen(device.file)) for device in candidates}
        present = {device: self._devices[device] for device in candidates if device in self._devices}
        self._devices = {device: entry for device, entry in present.items() if entry.basis == bases[device]}
        changed = [candidate for candidate in candidates if candidate not in self._devices]
        for candidate, results, excerpts, problems, others in _checked(changed, settings, source):
            self._devices[candidate] = _DeviceEntry(bases[candidate], results, excerpts, problems, others)
        return [self._devices[candidate] for candidate in candidates]


_CheckedDevice = tuple[
    "Candidate", "tuple[DeviceResult, ...]", "Excerpts | None", "tuple[Problem, ...]", "tuple[Candidate, ...]"
]


def _checked(
    candidates: Sequence[Candidate], settings: Settings, source: FileSource
) -> Iterable[_CheckedDevice]:
    """Yield each file with the results of rules on its devices; several processes check a large number of files."""
    if len(candidates) >= FEWEST_FOR_WORKERS and usable():
        yield from _checked_in_processes(candidates, settings, source)
        return
    reader = DeviceReader(settings.profile_dirs)
    for candidate in candidates:
        file = check_file(source.read(candidate), candidate, settings, reader)
        excerpts = Excerpts(candidate.file, file.shown, source.load) if file.results else None
        yield candidate, file.results, excerpts, file.problems, file.others


def _checked_in_processes(
    candidates: Sequence[Candidate], settings: Settings, source: FileSource
) -> Iterable[_CheckedDevice]:
    work = check_in_processes(candidates, settings, source.read, source.load)
    results = grouped((result.file, result) for result in work.results)
    problems = grouped((problem.file, problem) for problem in work.problems)
    others = frozenset(work.others)
    for candidate in candidates:
        file = candidate.file
        other = (candidate,) if candidate in others else ()
        of_file, unread = tuple(results.get(file, ())), tuple(problems.get(file, ()))
        yield candidate, of_file, work.excerpts.get(file), unread, other


if TYPE_CHECKING:
    Check = Callable[[Sequence[Document]], Sequence[Finding]]

_Item = TypeVar("_Item")

MOST_ROUNDS = 10
"""The most rounds of fixes: a fix may uncover another finding that can be fixed."""
MOST_CHECKS = 100
"""The checks of a round, and edits of its documents, after which fixes are divided no further: to find one of 1,000
fixes that causes a finding takes 20. The fixes of a part that is left then are made or refused together.
"""


class FixedDocuments(NamedTuple):
    """Documents after fixes, and the findings that were fixed, in the order of their rounds.

    ``refused`` are findings that were not fixed because the fix would cause a new one, each with the code of the new
    one. After MOST_CHECKS checks, findings are refused in groups, of which at least one fix causes it.
    """

    documents: tuple[Document, ...]
    findings: tuple[Finding, ...]
    refused: tuple[tuple[Finding, str], ...] = ()


def fixed_documents(documents: Sequence[Document], check: Check, *, unsafe: bool) -> FixedDocuments:
    """Return documents after fixes that cause no new warning or error; ``unsafe``: also those that change behavior."""
    by_file = {document.file: document for document in documents}
    fixed: list[Finding] = []
    refused: list[tuple[Finding, str]] = []
    tried: set[tuple[object, ...]] = set()
    findings = check(documents)
    for _ in range(MOST_ROUNDS):
        fixable = [finding for finding in findings if _may(finding, unsafe) and _key(finding) not in tried]
        if not fixable:
            break
        tried.update(map(_key, fixable))
        by_file, now_fixed, now_refused, findings = _round(by_file, fixable, findings, check)
        fixed += now_fixed
        refused += now_refused
    return FixedDocuments(tuple(by_file.values()), tuple(fixed), tuple(refused))


def _round(
    by_file: dict[str, Document], fixable: list[Finding], before: Sequence[Finding], check: Check
) -> tuple[dict[str, Document], list[Finding], list[tuple[Finding, str]], Sequence[Finding]]:
    """Return the documents after fixes, the findings that were fixed and refused, and those of a check after that.

    The given findings are fixed together; where that causes a warning or error, each half of them is tried by itself,
    and so on: findings whose fix causes one are refused.
    """
    fixed: list[Finding] = []
    refused: list[tuple[Finding, str]] = []
    waiting, checks = [fixable], 0
    while waiting:
        group = waiting.pop()
        edited, made = edited_documents(by_file, group)
        if not made:
            continue
        after, checks = check(tuple(edited.values())), checks + 1
        caused = _caused(before, after)
        if not caused:
            by_file, before = edited, after
            fixed += made
        elif len(group) > 1 and checks < MOST_CHECKS:
            waiting += _halves(group)
        else:
            refused += [(finding, caused[0]) for finding in made]
    return by_file, fixed, refused, before


def _halves(group: list[_Item]) -> tuple[list[_Item], list[_Item]]:
    """Return both halves of a group, the first one last, as the next to be taken off a list."""
    middle = len(group) // 2
    return group[middle:], group[:middle]


def _caused(before: Sequence[Finding], after: Sequence[Finding]) -> list[str]:
    """Return the codes of findings after a fix that were not there before it, except those of severity info."""
    earlier = {(finding.code, finding.origin) for finding in before}
    return [f.code for f in after if f.severity != "info" and (f.code, f.origin) not in earlier]


def _may(finding: Finding, unsafe: bool) -> bool:
    return finding.fixable == "safe" or (unsafe and finding.fixable == "unsafe")


def _key(finding: Finding) -> tuple[object, ...]:
    """Return the identity of a finding before and after a fix: if it occurs again, the fix has failed."""
    return finding.code, finding.origin, finding.message


def edited_documents(
    by_file: dict[str, Document], findings: Iterable[Finding]
) -> tuple[dict[str, Document], list[Finding]]:
    """Return the documents after the edits of findings, and the findings whose edits were made.

    A finding is left out if its edits conflict with those of an earlier one, concern a file without a document here, or
    cannot be expressed in the format of a document.
    """
    touched = _Touched()
    apart = [
        (finding, own)
        for finding in findings
        for own in [_changes(finding)]
        if own.keys() <= by_file.keys() and touched.takes(own)
    ]
    documents, made = dict(by_file), []
    waiting, tries = [apart], 0
    while waiting:
        group = waiting.pop()
        edited, tries = _together(documents, [own for _, own in group]), tries + 1
        if edited is not None:
            documents |= edited
            made += [finding for finding, _ in group]
        elif len(group) > 1 and tries < MOST_CHECKS:
            waiting += _halves(group)
    return documents, made


def _together(
    documents: Mapping[str, Document], several: Iterable[Mapping[str, Sequence[ValueChange]]]
) -> dict[str, Document] | None:
    """Return the changed documents by file, None if the format of one cannot express exactly the changes."""
    by_file = grouped(
        (file, change) for own in several for file, changes in own.items() for change in changes
    )
    edited: dict[str, Document] = {}
    for file, changes in by_file.items():
        document = _after(documents[file], changes)
        if document is None:
            return None
        edited[file] = document
    return edited


def _after(document: Document, changes: Sequence[ValueChange]) -> Document | None:
    """Return a document with the given changes, None if its format cannot express exactly these."""
    if is_managers(document.file):
        return edited_document(document, changes)
    text = edited(document, changes)
    return None if text is None else load_text(text, document.file)


class _Touched:
    """The changes that fixes make so far, by place: no other fix may change the same places differently."""

    def __init__(self) -> None:
        self._at: dict[tuple[str, Path], list[ValueChange]] = {}
        self._above: set[tuple[str, Path]] = set()

    def takes(self, own: Mapping[str, Sequence[ValueChange]]) -> bool:
        """Add the changes of a fix; return False, and add none, where one conflicts with an earlier change.

        Changes conflict if the place of one is below that of the other, or both change one place differently.
        """
        placed = [(file, change) for file, changes in own.items() for change in changes]
        if any(self._meets(file, change) for file, change in placed):
            return False
        for file, change in placed:
            same = self._at.setdefault((file, change.path), [])
            if change not in same:
                same.append(change)
                self._above.update((file, change.path[:length]) for length in range(len(change.path)))
        return True

    def _meets(self, file: str, change: ValueChange) -> bool:
        path = change.path
        return (
            (file, path) in self._above
            or any((file, path[:length]) in self._at for length in range(len(path)))
            or any(other != change for other in self._at.get((file, path), ()))
        )


def _changes(finding: Finding) -> dict[str, list[ValueChange]]:
    return grouped(
        (edit.origin.file, ValueChange(edit.origin.path, edit.action, edit.value)) for edit in finding.fix
    )


def margins_between(then: Sequence[Fabric], now: Sequence[Fabric]) -> tuple[MarginChange, ...]:
    """Return the simulation verdicts before and after a change, on each fabric or linked group that can be run."""
    before, after = dict(_runs(then)), dict(_runs(now))
    parts_of_both = dict.fromkeys((*after, *before))
    return tuple(
        MarginChange(part, before.get(key), after.get(key)) for key in parts_of_both for part in [key[0]]
    )


def _runs(fabrics: Sequence[Fabric]) -> Iterator[tuple[tuple[str, int], RunVerdict]]:
    """Yield the verdict on each fabric or linked group of devices that can be run, by name and number for the name."""
    if why_not() is not None:
        return
    number = Counter[str]()
    for fabric in fabrics:
        for part in parts(View(fabric)):
            verdict = _verdict(part) if part.lossless_sets else None
            if verdict is not None:
                name = _name(part)
                number[name] += 1
                yield (name, number[name]), verdict


def _verdict(part: View) -> RunVerdict | None:
    """Return the simulation verdict on a fabric or group, None if it cannot be run: lint reports it as not checked."""
    from lossless.analysis.simulation.study.verdict import run_verdict

    try:
        scenario = checked_scenario(part, SimulationRequest().question)
        if isinstance(scenario, MissingInput):
            return None
        results, reaction_limit = run_study(part, scenario, SimulationRequest())
    except LosslessError:
        return None
    return run_verdict(results, (), reaction_limit)


def _name(part: View) -> str:
    fabric = part.fabric
    if fabric.declared:
        return fabric.sources[0]
    names = [switch.name for switch in fabric.switches]
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


class PatchedConfiguration(NamedTuple):
    """The configuration of one device or ASIC before and after a patch, its release, and the updater's verdict."""

    share: PatchShare
    after: Document
    release: str | None
    verdict: PatchVerdict


def patched_configuration(patch: PatchFile, share: PatchShare) -> PatchedConfiguration:
    """Return a configuration after its operations of a patch, and the updater's verdict on them.

    Raises:
        InputError: an operation does not apply.
    """
    running = in_database(share.document.data)
    steps = [each.operation for each in share.operations]
    try:
        target = applied(running, steps)
    except PatchDoesNotApply as error:
        index = share.operations[error.index].number
        message = f"does not apply to {share.document.shown}: {error.op} {error.path}: {error}"
        raise InputError([patch.problem(index, message)]) from error
    release = release_of(running)
    device = None if release is None else UpdaterDevice(_hwsku(running), release)
    verdict = patch_verdict(running, steps, device)
    return PatchedConfiguration(share, patched(share.document, target), release, verdict)


def _hwsku(running: Mapping[str, Any]) -> str:
    row = running.get("DEVICE_METADATA", {}).get("localhost", {})
    return str(row.get("hwsku", "")) if isinstance(row, dict) else ""


def updater_answer(patch: PatchFile, done: PatchedConfiguration) -> PatchedDevice:
    """Return the updater's predicted response to a patch of one device or ASIC."""
    running, verdict = in_database(done.share.document.data), done.verdict
    target = verdict.target or {}
    touching = _OperationsByPath(done.share)

    def refused(refusal: UpdateRefusal) -> PatchRefusal:
        index = touching.of(tuple(map(str, refusal.path)))
        line = None if index is None else patch.document.locate((index,)).line
        return PatchRefusal(refusal.op, refusal.path, refusal.why, patch.document.file, line)

    return PatchedDevice(
        _device(done.share.document),
        len(done.share.operations),
        done.release,
        verdict.stage,
        tuple(map(refused, verdict.refusals)),
        move_phases(running, target) if verdict.accepted else (),
        verdict.ports_down,
        verdict.emptied,
        tuple(map(refused, kept_by_orchagent(operations(running, target)))),
        harms(running, target),
    )


def _device(document: Document) -> str:
    """Return the name of a device or ASIC: of its part of a file, else its hostname, else its file."""
    row = document.data.get("DEVICE_METADATA", {}).get("localhost", {})
    named = str(row.get("hostname", "")) if isinstance(row, dict) else ""
    return (document.part.device if document.part else None) or named or document.shown


class _OperationsByPath:
    """The operations of a patch on one device or ASIC, found by the table, row and field that they change."""

    def __init__(self, share: PatchShare) -> None:
        self._at: dict[tuple[str, ...], int] = {}
        self._below: dict[tuple[str, ...], tuple[int, int]] = {}
        for operation in share.operations:
            own, number = operation.path, operation.number
            self._at.setdefault(own, number)
            for length in range(2, min(len(own), NESTING) + 1):
                longest = self._below.get(own[:length])
                if longest is None or longest[0] < len(own):
                    self._below[own[:length]] = (len(own), number)

    def of(self, names: tuple[str, ...]) -> int | None:
        """Return the number of the operation at or above a path in tables, None without one.

        Operations below a path of two keys or more count too. Of several, the one with the longest path counts.
        """
        below = self._below.get(names)
        if below is not None:
            return below[1]
        above = (names[:length] for length in range(len(names), -1, -1))
        return next((self._at[path] for path in above if path in self._at), None)


def placed(
    findings: Iterable[Finding], patch: PatchFile, done: Iterable[PatchedConfiguration]
) -> Iterator[Finding]:
    """Yield findings with the operation of the patch that changes their object as a related place, if there is one."""
    touching: dict[tuple[str, Path], _OperationsByPath] = {}
    for each in done:
        whole, of = each.share.document.whole, each.share.document.part
        root = of.layout.root if of is not None else ()
        touching.setdefault((whole.file, root), _OperationsByPath(each.share))
    for finding in findings:
        file, path = finding.origin.file, finding.origin.path
        indexes = (
            touching[file, path[:length]].of(tuple(map(str, path[length:])))
            for length in range(len(path) + 1)
            if (file, path[:length]) in touching
        )
        index = next((index for index in indexes if index is not None), None)
        if index is None:
            yield finding
        else:
            origin = Origin(patch.document.file, (index,))
            place = RelatedPlace(origin, "this operation of the patch changes it")
            yield finding._replace(related=(*finding.related, place))


if TYPE_CHECKING:
    Key = tuple[object, ...]


def compared(
    now: Iterable[Finding], then: Iterable[Finding]
) -> tuple[list[Finding], tuple[RemainingFinding, ...], list[Finding]]:
    """Return added, remaining and removed findings of two runs, paired by object first, then by message."""
    left: list[RemainingFinding] = []
    worse: list[Finding] = []
    added, gone = list(now), list(then)
    for key in (_by_object, _by_message):
        added, gone, pairs = _paired(added, gone, key)
        for finding, was in pairs:
            new, known = _parts(finding, was)
            worse += filter(None, [new])
            left += [RemainingFinding(known, was.places)] if known else []
    return [*added, *worse], tuple(left), gone


def _paired(
    now: Sequence[Finding], then: Sequence[Finding], key: Callable[[Finding], Key]
) -> tuple[list[Finding], list[Finding], list[tuple[Finding, Finding]]]:
    waiting: dict[Key, list[Finding]] = {}
    for finding in then:
        waiting.setdefault(key(finding), []).append(finding)
    added, pairs = [], []
    for finding in now:
        if waiting.get(key(finding)):
            pairs.append((finding, waiting[key(finding)].pop(0)))
        else:
            added.append(finding)
    return added, [finding for findings in waiting.values() for finding in findings], pairs


def _by_object(finding: Finding) -> Key:
    return (finding.code, finding.origin.file, finding.origin.path)


def _by_message(finding: Finding) -> Key:
    """Return a key of a finding that stays the same if an entry is inserted before its object in a list."""
    return (finding.code, finding.origin.file, finding.message)


def _parts(now: Finding, then: Finding) -> tuple[Finding | None, Finding | None]:
    """Return the new part of a finding and the part that was there before, each None if empty.

    A finding of higher severity or with another value is new as a whole.
    """
    is_graver = SEVERITIES.index(now.severity) < SEVERITIES.index(then.severity)
    if is_graver or measured(now) != measured(then):
        return now, None
    elements, before = elements_of(now), elements_of(then)
    return part_of(now, elements - before), part_of(now, elements & before)
