"""Fix: findings mended in the files they stand in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Finding
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.lint import lint_documents, lint_inputs
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options
from lossless.interfaces.api.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from lossless.ground.documents.document import Document


class FixResult(NamedTuple):
    """What a fix did: the text of each file it changes, before and after, what it mended, and what is left to say.

    ``refused`` are findings that were not mended, as that would have drawn another one, with its code.
    """

    changed: dict[str, tuple[str, str]]
    findings: tuple[Finding, ...]
    refused: tuple[tuple[Finding, str], ...]
    report: Report

    @property
    def shown(self) -> dict[str, tuple[str, str]]:
        """The texts as others may see them: without the keys that protect an InfiniBand subnet."""
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
    """Mend what can be mended by editing files; ``unsafe`` also what changes what a device does.

    Every byte but those of the mended values stays. Without ``write`` it is only said what would change. Files in other
    forms than that of config_db.json (dumps, several devices in one) are judged, and left as they are.

    Raises:
        LosslessError: a file has changed meanwhile, or cannot be written.
    """
    from lossless.checks.lint.fix import mended
    from lossless.formats.inputs.collect import gather
    from lossless.ground.documents.rewrite import rewrite

    inputs = gather(paths, lenient=options.per_file)
    # A file of several devices, or in another form, is checked with the rest and left as it is.
    documents = [document for document in inputs.documents if document.part is None]
    apart = [document for document in inputs.documents if document.part is not None]

    def findings_of(edited: Sequence[Document]) -> tuple[Finding, ...]:
        return lint_inputs(inputs._replace(documents=(*edited, *apart), problems=()), options).findings

    outcome = mended(documents, findings_of, unsafe=unsafe)
    before = {document.file: document.text for document in documents}
    changed = {
        document.file: (before[document.file], document.text)
        for document in outcome.documents
        if document.text != before[document.file]
    }
    for file, texts in changed.items() if write else ():
        rewrite(file, *texts)
    report = lint_inputs(inputs._replace(documents=(*outcome.documents, *apart)), options)
    return FixResult(changed, outcome.findings, outcome.refused, report)


def fix_documents(
    documents: Sequence[Document],
    findings: Sequence[Finding],
    options: Options = DEFAULT_OPTIONS,
    *,
    chosen: Callable[[Finding], bool],
    unsafe: bool = False,
) -> tuple[Document, ...]:
    """Return documents with the fixes of those of their findings that are ``chosen``; nothing is written."""
    from lossless.checks.lint.fix import mended

    def judge(edited: Sequence[Document]) -> list[Finding]:
        known = findings if edited is documents else lint_documents(edited, options).findings
        return [finding if chosen(finding) else finding._replace(fixable="no") for finding in known]

    return mended(documents, judge, unsafe=unsafe).documents
