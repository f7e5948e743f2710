"""A configuration after a patch for SONiC's updater, the updater's answer, and which findings are of its operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.checks.lint.report import PatchedDevice, PatchRefusal
from lossless.formats.inputs.patches import patched
from lossless.formats.sonic.capabilities.updater import in_database, kept_by_orchagent, release_of
from lossless.formats.sonic.capabilities.updater_moves import move_phases
from lossless.formats.sonic.capabilities.updater_rules import UpdaterDevice
from lossless.formats.sonic.capabilities.updater_verdict import patch_verdict
from lossless.formats.sonic.changes.json_patch import PatchDoesNotApply, applied
from lossless.formats.sonic.changes.patch import operations
from lossless.formats.sonic.changes.traffic import harms
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import Origin, RelatedPlace
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.inputs.patches import PatchFile, PatchShare
    from lossless.formats.sonic.capabilities.updater_verdict import PatchVerdict, UpdateRefusal
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.document import Document


class PatchedConfiguration(NamedTuple):
    """A configuration before and after a patch, and the updater's verdict."""

    share: PatchShare
    after: Document
    release: str | None
    verdict: PatchVerdict


def patched_configuration(patch: PatchFile, share: PatchShare) -> PatchedConfiguration:
    """Return a configuration after its operations.

    Raises:
        InputError: one of them does not apply.
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


def placed(finding: Finding, patch: PatchFile, done: Sequence[PatchedConfiguration]) -> Finding:
    """Return a finding with the operation of the patch that set its object, if there is one."""
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
