"""Lint of changes: findings that are new since a revision of git, and findings after a patch for SONiC's updater.

A change adds, removes and leaves findings. For a patch the patched configuration is checked, and the updater's
response predicted.
"""

from __future__ import annotations

from os import fspath
from typing import TYPE_CHECKING

from lossless.checks.lint.cache import (
    ON_DISK,
    FileSource,
    LintCache,
    compared,
    margins_between,
    patched_configuration,
    placed,
    updater_answer,
)
from lossless.checks.lint.run import Change, CheckedReport
from lossless.formats.inputs.collect import Candidate, devices_in, gather, is_device, is_json, merged
from lossless.formats.inputs.patches import read_patch, shares_of
from lossless.formats.inputs.revision import EarlierFiles, blob_of, blobs_at, revision_of
from lossless.ground.basics.errors import InputError, UnreadableError
from lossless.ground.basics.findings import UncheckedRule
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.text import read_bytes
from lossless.interfaces.api.fabrics import load_fabrics
from lossless.interfaces.api.lint import (
    DEFAULT_OPTIONS,
    Options,
    Report,
    as_configured,
    documents_below,
    exclusions_of,
    finished,
    lint,
    lint_at,
    lint_inputs,
    lookup_of,
    settings_of,
    without_excluded,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set as AbstractSet
    from os import PathLike

    from lossless.checks.lint.run import MarginChange, Settings
    from lossless.formats.inputs.revision import Revision
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.text import Document


class _Before(NamedTuple):
    """The report on the files of a revision, the documents that are simulated, and the files that were not read."""

    report: Report
    documents: tuple[Document, ...]
    unread: tuple[str, ...]


def lint_since(
    revision: str, paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS
) -> Report:
    """Lint files as they are now and at a revision, with the current configuration, and report new findings.

    Two findings are the same if rule, file and object are equal, or rule, file and message. A finding that is more
    severe now, or has another value, counts as added, and so do newly affected places. ``revision`` with three dots
    behind it means the merge base with the current commit, as in git.

    Raises:
        LosslessError: git is missing or fails, no repository, no such revision, or a path outside of the repository.
    """
    options = as_configured(options)
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
    added, left, gone = compared(now.findings, before.report.findings)
    # The settings of a configuration were checked as the current one, and a file that is broken now is not fixed.
    removed = tuple(
        finding
        for finding in gone
        if finding.origin.file in before.report.documents and finding.origin.file not in broken
    )
    margins: tuple[MarginChange, ...] = ()
    if options.simulate:
        then, today = (
            load_fabrics(documents, options).fabrics
            for documents in (before.documents, documents_below(paths, options))
        )
        margins = margins_between(then, today)
    change = Change(compared_with.shown, before.report._replace(findings=removed), left, unread, margins)
    return now._replace(findings=tuple(added), change=change)


def _by_themselves(
    revision: Revision, blobs: dict[str, str], paths: Sequence[str | PathLike[str]], options: Options
) -> tuple[_Before, Report]:
    """Check all files as they were at a revision, and as they are now."""
    earlier = EarlierFiles(revision, blobs, blobs)
    inputs = merged([earlier.read(candidate) for candidate in _candidates(blobs, paths, options)])
    documents = (*inputs.documents, *(facts.document for facts in inputs.facts))
    report = lint_inputs(inputs, options)
    before = _before(report, {document.whole.file for document in documents}, blobs)
    return before._replace(documents=inputs.documents), lint(paths, options)


def _by_changes(
    revision: Revision, blobs: dict[str, str], paths: Sequence[str | PathLike[str]], options: Options
) -> tuple[_Before, Report]:
    """Check all files as they are now and at a revision; one check is enough for devices without a change."""
    like, cache, seen = next(iter(blobs.values())), LintCache(), dict[str, tuple[Candidate, str | None]]()

    def check(candidates: Sequence[Candidate], settings: Settings) -> CheckedReport:
        seen.update({each.file: (each, _blob_on_disk(each.file, like)) for each in candidates})
        return cache.check(candidates, settings, ON_DISK._replace(mark=lambda file: seen[file][1]))

    now = lint_at(paths, options, check)
    unchanged = {file: each for file, (each, blob) in seen.items() if blobs.get(file) == blob}
    # What intents declare holds for all devices: where one has changed, everything is read as it was.
    others = {file for file in (*blobs, *seen) if not is_json(file)}
    earlier = EarlierFiles(revision, blobs, blobs if others - unchanged.keys() else blobs.keys() - unchanged)
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


def _candidates(
    files: Iterable[str], paths: Sequence[str | PathLike[str]], options: Options
) -> list[Candidate]:
    named = {fspath(path) for path in paths}
    return [Candidate(file, expected=file in named and not options.per_file) for file in sorted(files)]


def _before(report: Report, files: AbstractSet[str], asked: Iterable[str]) -> _Before:
    """Return the report on a revision with the documents of ``files``, and the names of files that were not read."""
    shown = report._replace(documents={file: report.documents[file] for file in files})
    return _Before(shown, (), (*({*asked} - files), *(error.file for error in report.errors)))


_NO_RELEASE = (
    "the updater's own rules of tables and fields: the configuration does not say its release (VERSIONS)"
)


def lint_patch(
    patch: str | PathLike[str], paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS
) -> Report:
    """Check configurations as they are after a patch; the report also contains the updater's predicted response.

    ``paths`` are the configuration of one switch, as one file or one for each ASIC. A finding about an object that the
    patch changes names the operation. Files and operations that cannot be read or applied are in the errors.
    """
    options = as_configured(options)
    try:
        read = read_patch(fspath(patch))
        given = gather(paths, lenient=options.per_file, excludes=exclusions_of(options))
        split = merged([devices_in(document) for document in given.documents])
        documents = split.documents
        _require_read((*given.problems, *split.problems))
        shares = shares_of(read, [document for document in documents if is_device(document)])
        done = [patched_configuration(read, share) for share in shares]
    except InputError as error:
        return Report((), tuple(error.problems), (), {})
    replaced = {each.share.document.name: each.after for each in done}
    after = tuple(replaced.get(document.name, document) for document in documents)
    report = lint_inputs(given._replace(documents=after), options)
    shown = {**report.documents, read.document.file: read.document}
    unknown = tuple(UncheckedRule("", _NO_RELEASE) for each in done if each.release is None)
    return report._replace(
        findings=tuple(placed(report.findings, read, done)),
        not_checked=(*report.not_checked, *unknown),
        documents=shown,
        beside=report.beside + (read.document.file not in report.documents),
        patch=tuple(updater_answer(read, each) for each in done),
    )


def _require_read(problems: tuple[Problem, ...]) -> None:
    """Refuse to go on where a configuration cannot be read.

    Raises:
        InputError: there is a problem; all of them are in the error.
    """
    if problems:
        raise InputError(problems)
