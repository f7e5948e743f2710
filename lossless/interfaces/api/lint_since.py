"""What a change adds to the findings, removes and leaves, against a revision of git."""

from __future__ import annotations

from collections import Counter
from os import fspath
from typing import TYPE_CHECKING

from lossless.checks.lint.report import Change, MarginChange, RemainingFinding, Report
from lossless.formats.inputs.collect import Candidate, is_json, merged, read
from lossless.formats.inputs.revision import blob_of, blobs_at, revision_of, texts_of
from lossless.ground.basics.errors import LosslessError, UnreadableError
from lossless.ground.basics.findings import SEVERITIES, Finding
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents import load_text
from lossless.ground.documents.text import decode, read_bytes
from lossless.interfaces.api.discovery import documents_below, without_excluded
from lossless.interfaces.api.fabrics import load_fabrics
from lossless.interfaces.api.lint import finished, lint, lint_at, lint_inputs, lookup_of, settings_of
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
    from os import PathLike

    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.checks.lint.settings import Settings
    from lossless.formats.inputs.collect import Inputs
    from lossless.formats.inputs.revision import Revision
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.view import View

    Key = tuple[object, ...]


class _Before(NamedTuple):
    """What lint had to say of the files of a revision, and those of them that could not be read."""

    report: Report
    documents: tuple[Document, ...]
    unread: tuple[str, ...]


def lint_since(
    revision: str, paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS
) -> Report:
    """Lint files as they are and as they were, by the configuration of today; report what was not there then.

    A finding is the same where rule, file and object are, or rule, file and message. One that is graver now, or of
    another value, counts as added, and so do the places that have come to the others it shows on. ``revision`` with
    three dots behind it is where the work since forked off, as git has it.

    Raises:
        LosslessError: no repository, no such revision, or a path outside of the repository.
    """
    named = [fspath(path) for path in paths]
    compared_with = revision_of(revision, named)
    blobs = blobs_at(compared_with, named)
    blobs = {file: blobs[file] for file in without_excluded(blobs, named, options)}
    # Runs of traffic take the documents of all files, and intents alone are shared among processes.
    together = options.simulate or not any(map(is_json, blobs))
    compare = _by_themselves if together else _by_changes
    before, now = compare(compared_with, blobs, paths, options)
    unread = tuple(sorted({*before.unread} & now.documents.keys()))
    broken = {error.file for error in now.errors}
    added, left, gone = _compared(now.findings, before.report.findings)
    # The settings of a configuration were checked as the current one, and a file that is broken now is not fixed.
    removed = tuple(
        finding
        for finding in gone
        if finding.origin.file in before.report.documents and finding.origin.file not in broken
    )
    margins = _margins(before, paths, options) if options.simulate else ()
    change = Change(compared_with.shown, before.report._replace(findings=removed), left, unread, margins)
    return now._replace(findings=tuple(added), change=change)


def _by_themselves(
    revision: Revision, blobs: dict[str, str], paths: Sequence[str | PathLike[str]], options: Options
) -> tuple[_Before, Report]:
    """Check all files as they were, and as they are."""
    earlier = _Earlier(revision, blobs, blobs)
    inputs = merged([earlier.read(candidate) for candidate in _candidates(blobs, paths, options)])
    documents = (*inputs.documents, *(facts.document for facts in inputs.facts))
    report = lint_inputs(inputs, options)
    before = _before(report, {document.whole.file for document in documents}, blobs)
    return before._replace(documents=inputs.documents), lint(paths, options)


def _by_changes(
    revision: Revision, blobs: dict[str, str], paths: Sequence[str | PathLike[str]], options: Options
) -> tuple[_Before, Report]:
    """Check all files as they are, and those that have changed as they were."""
    from lossless.checks.lint.cache import ON_DISK, FileSource, LintCache

    like, cache, seen = next(iter(blobs.values())), LintCache(), dict[str, tuple[Candidate, str | None]]()

    def check(candidates: Sequence[Candidate], settings: Settings) -> Report:
        seen.update({each.file: (each, _blob_on_disk(each.file, like)) for each in candidates})
        return cache.check(candidates, settings, ON_DISK._replace(mark=lambda file: seen[file][1]))

    now = lint_at(paths, options, check)
    unchanged = {file: each for file, (each, blob) in seen.items() if blobs.get(file) == blob}
    # What intents declare holds for all devices: where one has changed, everything is read as it was.
    others = {file for file in (*blobs, *seen) if not is_json(file)}
    earlier = _Earlier(revision, blobs, blobs if others - unchanged.keys() else blobs.keys() - unchanged)
    candidates = [unchanged.get(each.file, each) for each in _candidates(blobs, paths, options)]
    lookup = lookup_of(options, [candidate.file for candidate in candidates])
    source = FileSource(blobs.__getitem__, earlier.read, earlier.load)
    then = cache.check(candidates, settings_of(options, lookup), source)
    return _before(finished(then, options, lookup), set(then.documents), blobs), now


def _blob_on_disk(file: str, like: str) -> str | None:
    try:
        return blob_of(read_bytes(file), like)
    except UnreadableError:
        return None


class _Earlier:
    """Files as they were, by the names that they have today."""

    def __init__(self, revision: Revision, blobs: Mapping[str, str], needed: Iterable[str]) -> None:
        self._revision, self._blobs = revision, blobs
        self._texts = texts_of(revision, {file: blobs[file] for file in needed})

    def read(self, candidate: Candidate) -> Inputs:
        """Read a file; one that could not be read then is no error of today's."""
        return read(candidate, self.load, self._text)._replace(problems=())

    def load(self, file: str) -> Document:
        """Read a file that may hold a configuration; raises InputError."""
        return load_text(self._text(file), file, lists=True)

    def _text(self, file: str) -> str:
        if file not in self._texts:
            # What devices are compared with is another, as there is one more of them: all are checked again.
            left = {name: blob for name, blob in self._blobs.items() if name not in self._texts}
            self._texts |= texts_of(self._revision, left)
        return decode(self._texts[file], file)


def _candidates(
    files: Iterable[str], paths: Sequence[str | PathLike[str]], options: Options
) -> list[Candidate]:
    named = {fspath(path) for path in paths}
    return [Candidate(file, expected=file in named and not options.per_file) for file in sorted(files)]


def _before(report: Report, files: AbstractSet[str], asked: Iterable[str]) -> _Before:
    """Return what lint has to say of files as they were; ``files`` are those that are ours."""
    shown = report._replace(documents={file: report.documents[file] for file in files})
    return _Before(shown, (), (*({*asked} - files), *(error.file for error in report.errors)))


def _compared(
    now: Iterable[Finding], then: Iterable[Finding]
) -> tuple[list[Finding], tuple[RemainingFinding, ...], list[Finding]]:
    """Return what is new, what was there, and what is gone; pairs by object come before pairs by message."""
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
    """Return what is the same where an entry was put before another one of a list."""
    return (finding.code, finding.origin.file, finding.message)


def _parts(now: Finding, then: Finding) -> tuple[Finding | None, Finding | None]:
    """Return what is new of a finding, and what was there: by severity, value and places."""
    from lossless.checks.lint.baseline import elements_of, measured, part_of

    is_graver = SEVERITIES.index(now.severity) < SEVERITIES.index(then.severity)
    if is_graver or measured(now) != measured(then):
        return now, None
    elements, before = elements_of(now), elements_of(then)
    return part_of(now, elements - before), part_of(now, elements & before)


def _margins(
    then: _Before, paths: Sequence[str | PathLike[str]], options: Options
) -> tuple[MarginChange, ...]:
    """Return what runs show before and after, part by part."""
    before = dict(_runs(then.documents, options))
    after = dict(_runs(documents_below(paths, options), options))
    parts = dict.fromkeys((*after, *before))
    return tuple(MarginChange(part, before.get(key), after.get(key)) for key in parts for part in [key[0]])


def _runs(documents: Sequence[Document], options: Options) -> Iterator[tuple[tuple[str, int], RunVerdict]]:
    """Yield what runs show of fabrics, by the name of the part and the number of its run."""
    from lossless.analysis.simulation.study.answer import parts, why_not
    from lossless.model.fabric.view import View

    if why_not() is not None:
        return
    number = Counter[str]()
    for fabric in load_fabrics(documents, options).fabrics:
        for part in parts(View(fabric)):
            verdict = _verdict(part) if part.lossless_sets else None
            if verdict is not None:
                name = _name(part)
                number[name] += 1
                yield (name, number[name]), verdict


def _verdict(part: View) -> RunVerdict | None:
    """Return what runs show of one part, None where it cannot be run: lint counts that as not checked."""
    from lossless.analysis.simulation.question.request import SimulationRequest
    from lossless.analysis.simulation.study.answer import checked_scenario, run_study
    from lossless.analysis.simulation.study.verdict import run_verdict
    from lossless.ground.basics.findings import MissingInput

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
