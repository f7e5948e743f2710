"""Mends findings by editing the files they stand in, and judges again until nothing is left to mend.

An edit leaves every other byte alone (``documents.edits``). One finding's edits are made together or not at
all; where two findings want to change the same place, the first one does, and the other is looked at again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.inputs.subnet_manager import edited_document, is_managers
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents import load_text
from lossless.ground.documents.changes import Change
from lossless.ground.documents.edits import edited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.document import Document

    Judge = Callable[[Sequence[Document]], Sequence[Finding]]

MOST_ROUNDS = 10
"""A fix may uncover what could not be seen before; none of ours needs more than two rounds."""


class Mended(NamedTuple):
    """The documents as they are afterwards, and the findings that were mended, in the order of their rounds.

    ``refused`` are findings whose fix would draw another finding, with the first one's code: those are left alone.
    """

    documents: tuple[Document, ...]
    findings: tuple[Finding, ...]
    refused: tuple[tuple[Finding, str], ...] = ()


def mended(documents: Sequence[Document], judge: Judge, *, unsafe: bool) -> Mended:
    """Return documents with what can be mended in them; ``unsafe`` also what changes what a device does."""
    by_file = {document.file: document for document in documents}
    done: list[Finding] = []
    refused: list[tuple[Finding, str]] = []
    tried: set[tuple[object, ...]] = set()
    said = judge(documents)
    for _ in range(MOST_ROUNDS):
        wanted = [one for one in said if _may(one, unsafe) and _key(one) not in tried]
        if not wanted:
            break
        tried.update(map(_key, wanted))
        by_file, made, lost, said = _round(by_file, wanted, said, judge)
        done += made
        refused += lost
    return Mended(tuple(by_file.values()), tuple(done), tuple(refused))


def _round(
    by_file: dict[str, Document], wanted: list[Finding], said: Sequence[Finding], judge: Judge
) -> tuple[dict[str, Document], list[Finding], list[tuple[Finding, str]], Sequence[Finding]]:
    """Mend some findings together; where that draws another finding, one by one, without those that do."""
    after, made = _edited(by_file, wanted)
    then = judge(tuple(after.values())) if made else said
    if not _drawn(said, then):
        return after, made, [], then
    made, lost = [], []
    for finding in wanted:
        after, one = _edited(by_file, [finding])
        then = judge(tuple(after.values())) if one else said
        new = _drawn(said, then)
        if new:
            lost.append((finding, new[0]))
        else:
            by_file, said = after, then
            made += one
    return by_file, made, lost, said


def _drawn(before: Sequence[Finding], after: Sequence[Finding]) -> list[str]:
    """Return the codes of what is found now and was not before, infos left out."""
    known = {(finding.code, finding.origin) for finding in before}
    return [f.code for f in after if f.severity != "info" and (f.code, f.origin) not in known]


def _may(finding: Finding, unsafe: bool) -> bool:
    return finding.fixable == "safe" or (unsafe and finding.fixable == "unsafe")


def _key(finding: Finding) -> tuple[object, ...]:
    """Return what makes a finding the same after a fix: one that comes back was not mended by it."""
    return finding.code, finding.origin, finding.message


def _edited(
    by_file: dict[str, Document], findings: Iterable[Finding]
) -> tuple[dict[str, Document], list[Finding]]:
    """Return the documents with the edits of findings that do not get in each other's way, and these findings."""
    found = dict(by_file)
    touched: dict[str, list[Change]] = {}
    made = []
    for finding in findings:
        own = _changes(finding)
        if not own.keys() <= found.keys() or _in_the_way(own, touched):
            continue
        texts = {file: _after(found[file], mine) for file, mine in own.items()}
        whole = {file: text for file, text in texts.items() if text is not None}
        if len(whole) == len(own):
            made.append(finding)
            for file, document in whole.items():
                found[file] = document
                touched.setdefault(file, []).extend(own[file])
    return found, made


def _after(document: Document, changes: Sequence[Change]) -> Document | None:
    """Return a document with some changes, None where it cannot say just that."""
    if is_managers(document.file):
        return edited_document(document, changes)
    text = edited(document, changes)
    return None if text is None else load_text(text, document.file)


def _in_the_way(own: dict[str, list[Change]], touched: dict[str, list[Change]]) -> bool:
    """Return whether a change is at, above or below a place that another one has changed, and is not the same."""
    return any(
        _meets(one, other) for file, mine in own.items() for one in mine for other in touched.get(file, ())
    )


def _changes(finding: Finding) -> dict[str, list[Change]]:
    found: dict[str, list[Change]] = {}
    for edit in finding.fix:
        found.setdefault(edit.origin.file, []).append(Change(edit.origin.path, edit.action, edit.value))
    return found


def _meets(one: Change, other: Change) -> bool:
    """Return whether two changes have to do with each other: one is at, or below, the place of the other."""
    short, long = sorted((one.path, other.path), key=len)
    return one != other and long[: len(short)] == short
