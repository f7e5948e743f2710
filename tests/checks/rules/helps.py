"""Helps as edits: what is left of a finding, and what comes instead, where its help is followed to the letter."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from lossless.api import Options, lint_documents
from lossless.checks.lint.cache import edited_documents
from tests.checks.rules.recorded import bad_examples, scenarios

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.text import Document
    from tests.checks.rules.snippets import Snippet

_PAIR = re.compile(r'"([\w-]+)": "([^"]*)"')
"""A field and its value as config_db.json has them."""
_CHOICE = re.compile(r'^if |" or "')
"""A condition that only the reader knows, or several values."""


class Wrong(NamedTuple):
    """What is wrong with a help: the words, and the rule whose error comes where it is followed."""

    words: str
    code: str = ""


def networks() -> Iterator[tuple[str, list[Document], Options]]:
    """Yield a name, the files and the options of every network of the rules that consists of files with edits."""
    for name, _, snippet in bad_examples():
        if _has_edits(snippet):
            yield name, [snippet.document(), *snippet.companions()], _options(snippet)
    for scenario in scenarios():
        if all(map(_has_edits, scenario.network)):
            documents = [snippet.document() for snippet in scenario.network]
            documents += scenario.network[0].companions()
            yield f"{scenario.code}: {scenario.fact}", documents, _options(scenario.network[0])


def _has_edits(snippet: Snippet) -> bool:
    cables = any(name.endswith(".csv") for name in snippet.beside)
    return not (snippet.is_facts or snippet.is_cabling or cables or snippet.kind == "json baseline")


def _options(snippet: Snippet) -> Options:
    return Options(rdma_dscps=snippet.rdma_dscps, today=snippet.today)


def followed(documents: Sequence[Document], options: Options) -> Iterator[tuple[Finding, list[Wrong]]]:
    """Yield each finding, and what is wrong with its edits: it stays, an error comes, or they cannot be made."""
    before = lint_documents(documents, options).findings
    for finding in before:
        yield finding, [*_wrong(documents, options, finding, before)] if finding.fix else []


def _wrong(
    documents: Sequence[Document], options: Options, finding: Finding, before: Sequence[Finding]
) -> Iterator[Wrong]:
    edited, made = edited_documents({document.file: document for document in documents}, [finding])
    if not made:
        yield Wrong("cannot be applied")
        return
    after = lint_documents([*edited.values()], options)
    yield from (Wrong(f"refused: {problem.message}") for problem in after.errors)
    if _at_its_place(finding, after.findings) >= _at_its_place(finding, before):
        yield Wrong("stays")
    known = {(f.code, said) for f in before for said in (f.message, f.origin.place) if f.severity == "error"}
    for other in after.findings:
        said = {(other.code, other.message), (other.code, other.origin.place)}
        if other.severity == "error" and not said & known:
            yield Wrong(f"{'|'.join(map(str, other.origin.path))}: {other.message}", other.code)


def _at_its_place(finding: Finding, findings: Sequence[Finding]) -> int:
    return sum((f.code, f.origin.place) == (finding.code, finding.origin.place) for f in findings)


def unlike_its_words(finding: Finding) -> list[str]:
    """Return the fields and values that a help names and its edits do not set."""
    edits = [(str(edit.origin.path[-1]), edit.value) for edit in finding.fix]
    return (
        [] if not edits else [json.dumps(pair) for pair in _PAIR.findall(finding.help) if pair not in edits]
    )


def states_an_edit(finding: Finding) -> bool:
    """Return whether a help names a field and its value, and nothing to choose from."""
    return bool(_PAIR.search(finding.help)) and not _CHOICE.search(finding.help)
