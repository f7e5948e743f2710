"""Upstream's configurations, imported and rendered back: never a traceback, and every difference has its reason."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lossless.api import render
from lossless.checks.drift.drift import drift_of
from lossless.formats.importing.differences import KINDS
from lossless.formats.inputs.collect import collect
from lossless.formats.inputs.intents import intent_fabric
from lossless.formats.sonic.from_model import OWNED
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from lossless.interfaces.api.import_ import import_documents
from tests.conftest import REFERENCE
from tools import corpus_import

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document
    from lossless.interfaces.api.import_ import ImportResult

pytestmark = [pytest.mark.xdist_group("importing corpus"), pytest.mark.tools("records")]
CORPUS = REFERENCE / "corpus"
FILES = [p for folder in ("full", "partial", "probes") for p in sorted((CORPUS / folder).glob("*.json"))]

FULL = [p for p in FILES if p.parent.name == "full"]


def tried(documents: list[Document]) -> set[str] | None:
    """Return the kinds of differences of an import, None where it is refused."""
    try:
        found = import_documents(documents)
    except InputError as error:
        return None if all(problem.message for problem in error.problems) else {"refused without a word"}
    return kinds(found)


def kinds(found: ImportResult) -> set[str]:
    """Return the kinds of differences of an import, whose intent can be read."""
    assert load_text(found.text, "fabric.yaml").problems == ()
    return {difference.kind for difference in found.differences}


@cache
def tried_file(path: Path) -> set[str] | None:
    """Return the kinds of differences of the import of a file; see :func:`tried`."""
    if path in FULL:
        found = imported(path)
        return None if found is None else kinds(found)
    return tried(collect([path])[0])


@cache
def imported(path: Path) -> ImportResult | None:
    """Return what a file is imported as, None where it is refused in words."""
    try:
        return import_documents(collect([path])[0])
    except InputError as error:
        if not all(problem.message for problem in error.problems):
            raise
        return None


@pytest.mark.usefixtures("reference")
@pytest.mark.parametrize(
    "path", FILES or [None], ids=lambda p: f"{p.parent.name}/{p.name}" if p else "absent"
)
def test_every_file_is_imported_or_refused_in_words(path: Path) -> None:
    assert (tried_file(path) or set()) <= KINDS.keys()


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
            assert tried_file(path) is not None, path.name


def watched(document: Document) -> Document:
    """Return a file whose ports that carry classes have a watchdog: upstream's have none."""
    row = {"action": "drop", "detection_time": "400", "restoration_time": "400"}
    ports = [key for key in document.data.get("PORT_QOS_MAP", {}) if key != "global"]
    tables = document.data | {"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}} | dict.fromkeys(ports, row)}
    return load_text(json.dumps(tables), document.file)


def is_rendered(intent: str, folder: Path) -> bool:
    file = folder / "fabric.yaml"
    file.write_text(intent)
    return render(file, folder / "out", check=True).changed != ()


@pytest.mark.usefixtures("reference")
@pytest.mark.parametrize("path", FULL or [None], ids=lambda p: p.name if p else "absent")
def test_what_is_imported_without_a_word_is_rendered(path: Path, tmp_path: Path) -> None:
    results = [imported(path)]
    with suppress(InputError):
        results.append(import_documents([watched(document) for document in collect([path])[0]]))
    for found in results:
        if found is not None:
            assert is_rendered(found.text, tmp_path) == (not found.refused)


@pytest.mark.usefixtures("reference")
@pytest.mark.parametrize("path", FULL or [None], ids=lambda p: p.name if p else "absent")
def test_what_an_import_calls_the_same_is_no_drift(path: Path) -> None:
    found = imported(path)
    if found is None:
        return
    (document,) = collect([path])[0]
    fabric = intent_fabric(load_text(found.text, "fabric.yaml"), (), [])
    assert fabric is not None
    (name,) = found.cells
    switch = next(switch for switch in fabric.switches if switch.name == name)
    rows = drift_of(switch, document).rows
    same = {(cell.table, cell.key, cell.field) for cell in found.cells[name] if cell.state == "same"}
    listed = {(row.table, row.key, field.field) for row in rows for field in row.fields}
    assert same.isdisjoint(listed)
    # Of tables that rendering owns alone, diff lists as many fields as import says differ.
    assert sum(len(row.fields) for row in rows if row.table in OWNED) == len(found.differences)
