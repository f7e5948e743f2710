"""Lint a patch for SONiC's config updater: the configuration after it, and what the updater does on the way."""

from __future__ import annotations

from os import fspath
from typing import TYPE_CHECKING, Any

from lossless.checks.lint.report import PatchedDevice, PatchRefusal, Report
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import Origin, RelatedPlace, UncheckedRule
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.discovery import exclusions_of
from lossless.interfaces.api.lint import lint_inputs
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from lossless.formats.inputs.patches import PatchFile, PatchShare
    from lossless.formats.sonic.capabilities.updater_verdict import PatchVerdict, UpdateRefusal
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.document import Document

_NO_RELEASE = (
    "the updater's own rules of tables and fields: the configuration does not say its release (VERSIONS)"
)


class _Patched(NamedTuple):
    """A configuration before and after a patch, and the updater's verdict."""

    share: PatchShare
    after: Document
    release: str | None
    verdict: PatchVerdict


def lint_patch(
    patch: str | PathLike[str], paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS
) -> Report:
    """Check configurations as they are after a patch; the report says too what the updater answers to it.

    ``paths`` are the configuration of one switch, as one file or one for each ASIC. A finding that an operation of the
    patch has to do with names it. What cannot be read or applied is among the errors.
    """
    from lossless.formats.inputs.collect import devices_in, gather, is_device, merged
    from lossless.formats.inputs.patches import read_patch, shares_of

    try:
        read = read_patch(fspath(patch))
        given = gather(paths, lenient=options.per_file, excludes=exclusions_of(options))
        split = merged([devices_in(document) for document in given.documents])
        documents = split.documents
        _require_read((*given.problems, *split.problems))
        shares = shares_of(read, [document for document in documents if is_device(document)])
        done = [_patched(read, share) for share in shares]
    except InputError as error:
        return Report((), tuple(error.problems), (), {})
    replaced = {each.share.document.name: each.after for each in done}
    after = tuple(replaced.get(document.name, document) for document in documents)
    report = lint_inputs(given._replace(documents=after), options)
    shown = {**report.documents, read.document.file: read.document}
    unknown = tuple(UncheckedRule("", _NO_RELEASE) for each in done if each.release is None)
    return report._replace(
        findings=tuple(_placed(finding, read, done) for finding in report.findings),
        not_checked=(*report.not_checked, *unknown),
        documents=shown,
        beside=report.beside + (read.document.file not in report.documents),
        patch=tuple(_answer(read, each) for each in done),
    )


def _require_read(problems: tuple[Problem, ...]) -> None:
    """Refuse to go on where a configuration cannot be read.

    Raises:
        InputError: one cannot.
    """
    if problems:
        raise InputError(problems)


def _patched(patch: PatchFile, share: PatchShare) -> _Patched:
    """Return a configuration after its operations.

    Raises:
        InputError: one of them does not apply.
    """
    from lossless.formats.inputs.patches import patched
    from lossless.formats.sonic.capabilities.updater import in_database, release_of
    from lossless.formats.sonic.capabilities.updater_rules import UpdaterDevice
    from lossless.formats.sonic.capabilities.updater_verdict import patch_verdict
    from lossless.formats.sonic.changes.json_patch import PatchDoesNotApply, applied

    running = in_database(share.document.data)
    operations = [each.operation for each in share.operations]
    try:
        target = applied(running, operations)
    except PatchDoesNotApply as error:
        index = share.operations[error.index].number
        message = f"does not apply to {share.document.shown}: {error.op} {error.path}: {error}"
        raise InputError([patch.problem(index, message)]) from error
    release = release_of(running)
    device = None if release is None else UpdaterDevice(_hwsku(running), release)
    verdict = patch_verdict(running, operations, device)
    return _Patched(share, patched(share.document, target), release, verdict)


def _hwsku(running: Mapping[str, Any]) -> str:
    row = running.get("DEVICE_METADATA", {}).get("localhost", {})
    return str(row.get("hwsku", "")) if isinstance(row, dict) else ""


def _answer(patch: PatchFile, done: _Patched) -> PatchedDevice:
    from lossless.formats.sonic.capabilities.updater import in_database, kept_by_orchagent
    from lossless.formats.sonic.capabilities.updater_moves import move_phases
    from lossless.formats.sonic.changes.patch import operations
    from lossless.formats.sonic.changes.traffic import harms

    running, verdict = in_database(done.share.document.data), done.verdict
    target = verdict.target or {}
    return PatchedDevice(
        _device(done.share.document),
        len(done.share.operations),
        done.release,
        verdict.stage,
        tuple(_refused(patch, done.share, refusal) for refusal in verdict.refusals),
        move_phases(running, target) if verdict.accepted else (),
        verdict.ports_down,
        verdict.emptied,
        tuple(_refused(patch, done.share, each) for each in kept_by_orchagent(operations(running, target))),
        harms(running, target),
    )


def _device(document: Document) -> str:
    """Return the name of a device or ASIC."""
    row = document.data.get("DEVICE_METADATA", {}).get("localhost", {})
    named = str(row.get("hostname", "")) if isinstance(row, dict) else ""
    return (document.part.device if document.part else None) or named or document.shown


def _refused(patch: PatchFile, share: PatchShare, refusal: UpdateRefusal) -> PatchRefusal:
    """Return a refusal with the operation that it is about, as far as one is."""
    index = next(_touching(share, refusal.path), None)
    line = None if index is None else patch.document.locate((index,)).line
    return PatchRefusal(refusal.op, refusal.path, refusal.why, patch.document.file, line)


def _touching(share: PatchShare, path: Sequence[object]) -> Iterator[int]:
    """Yield the operations that change something at a path of tables, those that name most of it first."""
    names = tuple(map(str, path))
    near = [
        (len(own), each.number)
        for each in share.operations
        if (own := each.path) == names[: len(own)] or (len(names) > 1 and names == own[: len(names)])
    ]
    yield from (index for _, index in sorted(near, key=lambda pair: (-pair[0], pair[1])))


def _placed(finding: Finding, patch: PatchFile, done: Sequence[_Patched]) -> Finding:
    """Return a finding with the operation of the patch that its object comes from, where it comes from one."""
    for each in done:
        whole, of = each.share.document.whole, each.share.document.part
        root = of.layout.root if of is not None else ()
        path = finding.origin.path
        if finding.origin.file != whole.file or path[: len(root)] != root:
            continue
        index = next(_touching(each.share, path[len(root) :]), None)
        if index is not None:
            origin = Origin(patch.document.file, (index,))
            place = RelatedPlace(origin, "this operation of the patch changes it")
            return finding._replace(related=(*finding.related, place))
    return finding
