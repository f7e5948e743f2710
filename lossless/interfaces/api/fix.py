"""Fix: findings corrected in the files that they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.lint.report import Report
from lossless.ground.basics.findings import Finding
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.lint import accounted, lint_documents, lint_inputs
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from lossless.ground.documents.text import Document


class FixResult(NamedTuple):
    """The text of each changed file before and after a fix, the fixed findings, and the report of remaining findings.

    ``refused`` lists findings that were not fixed because the fix would cause another finding, with the code of that
    finding.
    """

    changed: dict[str, tuple[str, str]]
    findings: tuple[Finding, ...]
    refused: tuple[tuple[Finding, str], ...]
    report: Report

    @property
    def shown(self) -> dict[str, tuple[str, str]]:
        """The texts without the keys that protect an InfiniBand subnet, so that they can be shown to others."""
        from lossless.formats.inputs.subnet_manager import without_secrets

        return {
            file: (without_secrets(file, before), without_secrets(file, after))
            for file, (before, after) in self.changed.items()
        }


def fix(
    paths: Sequence[str | PathLike[str]],
    options: Options = DEFAULT_OPTIONS,
    *,
    unsafe: bool = False,
    write: bool = True,
) -> FixResult:
    """Fix the findings that an edit of files can fix; with ``unsafe`` also those whose fix changes device behavior.

    Only the bytes of the fixed values change. Without ``write`` the changes are returned and no file is written. Files
    in another form than config_db.json (dumps, several devices in one file) are checked and not changed.

    Raises:
        LosslessError: a file has changed meanwhile, or cannot be written.
    """
    from lossless.checks.lint.cache import fixed_documents
    from lossless.formats.inputs.collect import Inputs, merged, read
    from lossless.ground.documents.atomic import rewrite
    from lossless.interfaces.api.discovery import found_at

    found = found_at(paths, options)
    inputs = merged([Inputs(problems=found.problems), *map(read, found.candidates)])
    # A file of several devices, or in another form, is checked with the rest and left as it is.
    documents = [document for document in inputs.documents if document.part is None]
    apart = [document for document in inputs.documents if document.part is not None]

    def findings_of(edited: Sequence[Document]) -> tuple[Finding, ...]:
        return lint_inputs(inputs._replace(documents=(*edited, *apart), problems=()), options).findings

    fixed = fixed_documents(documents, findings_of, unsafe=unsafe)
    before = {document.file: document.text for document in documents}
    changed = {
        document.file: (before[document.file], document.text)
        for document in fixed.documents
        if document.text != before[document.file]
    }
    for file, texts in changed.items() if write else ():
        rewrite(file, *texts)
    report = lint_inputs(inputs._replace(documents=(*fixed.documents, *apart)), options)
    return FixResult(changed, fixed.findings, fixed.refused, accounted(report, found))


def fix_documents(
    documents: Sequence[Document],
    findings: Sequence[Finding],
    options: Options = DEFAULT_OPTIONS,
    *,
    chosen: Callable[[Finding], bool],
    unsafe: bool = False,
) -> tuple[Document, ...]:
    """Return documents with the fixes of those of their findings that are ``chosen``; nothing is written."""
    from lossless.checks.lint.cache import fixed_documents

    def check(edited: Sequence[Document]) -> list[Finding]:
        known = findings if edited is documents else lint_documents(edited, options).findings
        return [finding if chosen(finding) else finding._replace(fixable="no") for finding in known]

    return fixed_documents(documents, check, unsafe=unsafe).documents
