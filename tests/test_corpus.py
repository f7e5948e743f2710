"""Real configurations, and one-change variants of a valid one: judged without a traceback, and without crying wolf."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from lossless.api import Options, lint, lint_documents
from lossless.source import load_text
from tests.conftest import REFERENCE

CORPUS = REFERENCE / "corpus"
FILES = [
    path for folder in ("full", "partial", "probes") for path in sorted((CORPUS / folder).glob("*.json"))
]


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@pytest.mark.usefixtures("reference")
@pytest.mark.parametrize("path", FILES or [None], ids=lambda path: name(path) if path else "absent")
@pytest.mark.parametrize("rdma_dscps", [(), (26,), (3, 4)], ids=str)
def test_every_file_is_linted(path: Path, rdma_dscps: tuple[int, ...]) -> None:
    report = lint([path], Options(rdma_dscps=rdma_dscps))
    assert report.files + len(report.errors) >= 1


def test_the_valid_base_of_the_probes_draws_no_error(reference: Path) -> None:
    for options in (Options(), Options(rdma_dscps=(26,))):
        report = lint([reference / "corpus" / "probes" / "base.json"], options)
        assert [finding.code for finding in report.findings if finding.severity == "error"] == []
        assert report.errors == ()


TRUE_ERRORS = {
    # Four ports are up, wired to a T1, have PFC on and a cable of 0m: the switch makes no lossless group.
    "rend-Arista-7050-QX-32S-arista-7050-t0.json": ["BUF004"],
}


def test_accepted_configurations_draw_no_false_error(reference: Path) -> None:
    """Every file that upstream's YANG accepts; what it draws is listed above, with why it is true."""
    index = json.loads((reference / "corpus" / "index.json").read_text())
    for entry in index:
        if entry["yang_accepts"]:
            path = reference / "corpus" / entry["file"]
            errors = sorted({f.code for f in lint([path]).findings if f.severity == "error"})
            assert errors == TRUE_ERRORS.get(path.name, []), entry["file"]


def shuffled(value: Any, source: random.Random) -> Any:
    if not isinstance(value, dict):
        return value
    keys = list(value)
    source.shuffle(keys)
    return {key: shuffled(value[key], source) for key in keys}


@pytest.mark.usefixtures("reference")
def test_no_order_of_keys_or_files_changes_a_finding() -> None:
    """The order of keys, ports and files in a repository is nobody's intention."""
    paths = [path for path in FILES if path.parent.name == "full"][::4]
    texts = {path.name: json.loads(path.read_text()) for path in paths}

    def drawn(order: list[str], data: dict[str, Any]) -> Any:
        documents = [load_text(json.dumps(data[file]), file) for file in order]
        findings = lint_documents(documents, Options(rdma_dscps=(26,))).findings
        return sorted(
            (f.code, f.origin, f.message, f.note, f.elements, f.places, f.severity) for f in findings
        )

    source = random.Random(7)
    order = list(texts)
    expected = drawn(order, texts)
    assert expected
    for _ in range(3):
        source.shuffle(order)
        assert drawn(order, {file: shuffled(data, source) for file, data in texts.items()}) == expected


@pytest.mark.parametrize(
    ("probe", "code"),
    [("pg_reverse", "SWS006"), ("queue_garbage_index", "SWS006"), ("map_empty_value", "SWS001")],
)
def test_what_cannot_be_read_is_a_finding_and_not_noted_a_second_time(
    reference: Path, probe: str, code: str
) -> None:
    report = lint([reference / "corpus" / "probes" / f"{probe}.json"])
    assert code in {finding.code for finding in report.findings}
    assert [gap.reason for gap in report.not_judged if gap.code == ""] == []
