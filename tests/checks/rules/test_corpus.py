"""Real configurations, and one-change variants of a valid one: checked without a traceback, and without crying wolf."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from lossless.api import Options, lint, lint_documents
from lossless.ground.documents import load_text
from tests.conftest import REFERENCE
from tools import corpus
from tools.verdict_record import differences, on_record, recorded

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


def test_the_valid_base_of_the_probes_has_no_error(reference: Path) -> None:
    for options in (Options(), Options(rdma_dscps=(26,))):
        report = lint([reference / "corpus" / "probes" / "base.json"], options)
        assert [finding.code for finding in report.findings if finding.severity == "error"] == []
        assert report.errors == ()


def test_every_error_and_warning_is_on_record_and_checked(reference: Path) -> None:
    """On files that upstream's YANG accepts; a change in what they draw is a change of the record, in review."""
    known = recorded(on_record(corpus.RECORD), corpus.Drawn._fields)
    assert [*differences(corpus.drawn(reference / "corpus"), known, ("true",))] == []
    for key, entry in known.items():
        assert (bool(entry["why"]), bool(entry["row"])) == (True, True), key


MISLABELLED = {"pfc_enable_unsorted_dup"}
"""Said to change nothing; its mask 4,3,3 is that of ``pfc_enable_two_but_one_lossless``, and the base has 3."""


def test_every_probe_that_changes_the_device_is_found_at_its_change(reference: Path) -> None:
    known = on_record(corpus.RECORD)["probes"]
    probes = corpus.probes(reference / "corpus")
    assert {probe.name for probe in probes} == known.keys()
    for probe in probes:
        assert [*probe.at_change] == known[probe.name], probe.name
        assert bool(probe.at_change) is (probe.changes_device or probe.name in MISLABELLED), probe.name
        assert probe.changes_device or probe.name in MISLABELLED or not probe.above_info, probe.name
        assert probe.accepted or probe.schema, probe.name


def test_what_yang_refuses_a_schema_rule_finds_and_nothing_else(reference: Path) -> None:
    refused = list(corpus.cases(reference / "corpus", "cases.json"))
    accepted = list(corpus.cases(reference / "corpus", "accepted_cases.json"))
    assert len(refused) > 90
    assert len(accepted) > 100
    assert [name for name, codes, _ in refused if not codes] == []
    assert [(name, codes) for name, codes, grave in accepted if grave] == []


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
    assert [rule.reason for rule in report.not_checked if rule.code == ""] == []
