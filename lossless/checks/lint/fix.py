"""Fix findings by editing their files, and check again until nothing is left to fix.

An edit leaves every other byte alone (``documents.edits``). One finding's edits are made together or not at
all; if two findings need to change the same place, the first one does, and the other is checked again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.inputs.subnet_manager import edited_document, is_managers
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents import load_text
from lossless.ground.documents.changes import ValueChange
from lossless.ground.documents.edits import edited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.document import Document

    Check = Callable[[Sequence[Document]], Sequence[Finding]]

MOST_ROUNDS = 10
"""A fix may uncover another finding; none of our fixes needs more than two rounds."""


class FixedDocuments(NamedTuple):
    """The documents as they are afterward, and the findings that were fixed, in the order of their rounds.

    ``refused`` are findings whose fix would cause another finding, with the first one's code: those are left alone.
    """

    documents: tuple[Document, ...]
    findings: tuple[Finding, ...]
    refused: tuple[tuple[Finding, str], ...] = ()


def fixed_documents(documents: Sequence[Document], check: Check, *, unsafe: bool) -> FixedDocuments:
    """Return documents with their findings fixed; ``unsafe`` includes fixes that change device behavior."""
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
    """Fix some findings together; where that causes another finding, one by one, without those that do."""
    edited, fixed = edited_documents(by_file, fixable)
    after = check(tuple(edited.values())) if fixed else before
    if not _caused(before, after):
        return edited, fixed, [], after
    fixed, refused = [], []
    for finding in fixable:
        edited, made = edited_documents(by_file, [finding])
        after = check(tuple(edited.values())) if made else before
        caused = _caused(before, after)
        if caused:
            refused.append((finding, caused[0]))
        else:
            by_file, before = edited, after
            fixed += made
    return by_file, fixed, refused, before


def _caused(before: Sequence[Finding], after: Sequence[Finding]) -> list[str]:
    """Return the codes of findings that are there now and were not before, except those of severity info."""
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
    """Return the documents with the edits of findings that do not get in each other's way, and these findings."""
    documents = dict(by_file)
    touched: dict[str, list[ValueChange]] = {}
    made = []
    for finding in findings:
        own = _changes(finding)
        if not own.keys() <= documents.keys() or _in_the_way(own, touched):
            continue
        texts = {file: _after(documents[file], mine) for file, mine in own.items()}
        whole = {file: text for file, text in texts.items() if text is not None}
        if len(whole) == len(own):
            made.append(finding)
            for file, document in whole.items():
                documents[file] = document
                touched.setdefault(file, []).extend(own[file])
    return documents, made


def _after(document: Document, changes: Sequence[ValueChange]) -> Document | None:
    """Return a document with some changes, None if its format cannot express exactly these."""
    if is_managers(document.file):
        return edited_document(document, changes)
    text = edited(document, changes)
    return None if text is None else load_text(text, document.file)


def _in_the_way(own: dict[str, list[ValueChange]], touched: dict[str, list[ValueChange]]) -> bool:
    """Return whether a change is at, above or below a place that another one has changed, and is not the same."""
    return any(
        _overlap(change, other)
        for file, changes in own.items()
        for change in changes
        for other in touched.get(file, ())
    )


def _changes(finding: Finding) -> dict[str, list[ValueChange]]:
    return grouped(
        (edit.origin.file, ValueChange(edit.origin.path, edit.action, edit.value)) for edit in finding.fix
    )


def _overlap(change: ValueChange, other: ValueChange) -> bool:
    """Return whether two different changes overlap: one is at, or below, the place of the other."""
    short, long = sorted((change.path, other.path), key=len)
    return change != other and long[: len(short)] == short
