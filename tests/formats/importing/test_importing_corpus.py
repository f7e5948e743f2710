"""Upstream's configurations, imported and rendered back: never a traceback, and every difference has its reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lossless.formats.importing.differences import KINDS
from lossless.formats.inputs.collect import collect
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from lossless.interfaces.api.import_ import import_documents
from tests.conftest import REFERENCE
from tools import corpus_import

if TYPE_CHECKING:
    from lossless.ground.documents.document import Document

CORPUS = REFERENCE / "corpus"
FILES = [p for folder in ("full", "partial", "probes") for p in sorted((CORPUS / folder).glob("*.json"))]


def tried(documents: list[Document]) -> set[str] | None:
    """Return the kinds of differences of an import, None where it is refused."""
    try:
        found = import_documents(documents)
    except InputError as error:
        return None if all(problem.message for problem in error.problems) else {"refused without a word"}
    assert load_text(found.text, "fabric.yaml").problems == ()
    return {difference.kind for difference in found.differences}


@pytest.mark.usefixtures("reference")
@pytest.mark.parametrize(
    "path", FILES or [None], ids=lambda p: f"{p.parent.name}/{p.name}" if p else "absent"
)
def test_every_file_is_imported_or_refused_in_words(path: Path) -> None:
    documents, _ = collect([path])
    assert (tried(documents) or set()) <= KINDS.keys()


def test_every_case_of_upstreams_own_tests_is_imported_or_refused_in_words(reference: Path) -> None:
    for name in ("cases.json", "accepted_cases.json"):
        for number, case in enumerate(json.loads((reference / "corpus" / "rejected" / name).read_text())):
            document = load_text(json.dumps(case["config_db"]), f"case-{number}.json")
            assert (tried([document]) or set()) <= KINDS.keys()


def test_every_difference_of_the_corpus_has_its_reason(reference: Path) -> None:
    found = corpus_import.outcomes(reference / "corpus")
    assert corpus_import.faults(found) == []
    assert len([one for one in found if one.cells]) >= 16


def test_every_probe_is_imported_as_its_base_is(reference: Path) -> None:
    """One change to a valid file never keeps it from being imported."""
    for path in sorted((reference / "corpus" / "probes").glob("*.json")):
        if path.name != "index.json":
            assert tried(collect([path])[0]) is not None, path.name
