"""What daemons make of a row, by records of them, and what rules say of it: false errors and missed ones."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lossless.api import Options, Report, lint_documents
from lossless.ground.basics.findings import Severity
from lossless.ground.documents import load_text
from tests.checks.rules.checking import patched


@cache
def records(reference: Path) -> dict[str, dict[str, Any]]:
    """Return the designed changes by name, each with the file that was given to the daemons."""
    return {
        record["name"]: record["input"]
        for record in json.loads((reference / "reference" / "orchagent" / "by-hand.json").read_text())
    }


def said(reference: Path, name: str) -> set[tuple[str, Severity]]:
    """Return the rules that report more than information of a record, and how grave."""
    document = load_text(json.dumps(records(reference)[f"mut-{name}"]), "config_db.json")
    report = lint_documents([document], Options(rdma_dscps=(26,)))
    return {(finding.code, finding.severity) for finding in report.findings if finding.severity != "info"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("queue-key-comma", {("SWS006", "warning")}, id="3,4 is queue 3"),
        pytest.param("queue-key-trail", {("SWS006", "warning")}, id="3a is queue 3"),
        pytest.param("pg-key-trail", {("SWS006", "warning")}, id="3a is group 3"),
        pytest.param("queue-020-alone", {("SWS006", "warning")}, id="0-20 is queues 0 to 15"),
        pytest.param("queue-lossless-only-sched-diff-range", set(), id="rows of a queue are merged"),
        pytest.param("pg-lossy-on-3", {("BUF024", "warning")}, id="a lossy group is written again"),
        pytest.param("pg3-profile-missing", {("CFG002", "warning")}, id="a dangling group is written again"),
        pytest.param("pg3-profile-empty", {("CFG002", "warning")}, id="an empty name is written again"),
        pytest.param("pg3-profile-NULL", {("CFG007", "warning")}, id="NULL is written again"),
        pytest.param("list-trailing-comma", set(), id="a comma ends a list"),
        pytest.param("wred-max-neg", {("SWS003", "warning")}, id="-1 is the largest threshold"),
        pytest.param("wred-max-neg-yellow", {("SWS003", "warning")}, id="-1 for yellow"),
        pytest.param("pfc-wrap", {("SWS009", "warning")}, id="259 is 3"),
        # A list is stored as text with commas, and the mark of its field is taken off where daemons read it.
        pytest.param("list-json", set(), id="profiles as a JSON list"),
        pytest.param("pfc-list-json", {("PFC001", "warning")}, id="priorities as a JSON list"),
        pytest.param("pfc-plus-firstboot", {("SCM002", "warning")}, id="+3 is 3 for both daemons"),
        pytest.param(
            "qosmap-ref-missing-unused-port", {("CFG008", "warning"), ("SCM003", "warning")}, id="no port"
        ),
        pytest.param("global-map-missing", {("CFG002", "warning")}, id="no port needs the switch's map"),
        pytest.param("base", set(), id="healthy"),
    ],
)
def test_a_switch_that_is_lossless_has_no_error(
    reference: Path, name: str, expected: set[tuple[str, Severity]]
) -> None:
    assert said(reference, name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param(
            "sched-unknown", ("SWS004", "error"), id="priority of a scheduler is refused since 202305"
        ),
        pytest.param("list-empty", ("CFG002", "error"), id="an empty list crashes orchagent"),
        pytest.param("pg2-missing", ("CFG002", "error"), id="a group that nobody writes again waits"),
        pytest.param("pg2-NULL", ("CFG007", "error"), id="NULL that nobody writes again waits"),
        pytest.param("pg-overlap-after", ("PFC005", "error"), id="a later row stays lossy"),
        pytest.param("pfc-dash-firstboot", ("SWS009", "error"), id="3-4 has no group of its own"),
        pytest.param("queue-key-eq", ("SWS006", "error"), id="3-3 is dropped"),
        pytest.param("wd-hist-bad", ("SWS005", "error"), id="a history that is neither enable nor disable"),
        pytest.param("wd-det-ms", ("SWS005", "error"), id="a timer with a unit"),
    ],
)
def test_a_switch_that_loses_something_has_an_error(
    reference: Path, name: str, expected: tuple[str, Severity]
) -> None:
    assert expected in said(reference, name)


@pytest.mark.parametrize(
    ("name", "detection_ms"), [("wd-det-hex", 512), ("wd-det-plus", 200), ("wd-det-zero-lead", 128)]
)
def test_timers_are_read_as_orchagent_reads_them(reference: Path, name: str, detection_ms: int) -> None:
    document = load_text(json.dumps(records(reference)[f"mut-{name}"]), "config_db.json")
    found = {finding.code: finding for finding in lint_documents([document]).findings}
    assert found["WD004"].data["detection_ms"] == detection_ms
    assert "WD003" not in found


@pytest.mark.parametrize("mask", ["0x3", "257", "8", "none"])
def test_a_mask_that_is_not_read_as_it_is_meant_is_one_cause(mask: str) -> None:
    report = device_named({"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": mask}}})
    grave = [finding for finding in report.findings if finding.severity != "info"]
    assert [(finding.code, finding.severity) for finding in grave] == [("SWS009", "error")]


def test_null_is_stored_as_the_word_none() -> None:
    """ConfigDBConnector writes every value but a list as Python shows it."""
    report = device_named({"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": ["null"]}}})
    assert "SWS009" in {finding.code for finding in report.findings}


def device_named(patch: dict[str, Any]) -> Report:
    """Return what is said of a deployed device where DSCP 26 is named."""
    return lint_documents([patched("leaf.json", patch)], Options(rdma_dscps=(26,)))


@pytest.mark.parametrize(("status", "errors"), [("UP", {"SWS018"}), ("Up", {"SWS018"}), ("down", set())])
def test_a_port_of_another_word_than_up_is_never_made(status: str, errors: set[str]) -> None:
    """The record of UP says so: the port is missing, and the switch has nothing on it."""
    report = device_named({"PORT": {"Ethernet0": {"admin_status": status}}})
    assert {finding.code for finding in report.findings if finding.severity == "error"} == errors


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("speed", "400000 "),
        ("speed", None),
        ("lanes", "a,b"),
        ("lanes", None),
        ("lanes", "0,1,2,08"),
        ("fec", "foo"),
        ("mtu", "abc"),
        ("mtu", "09100"),
        ("index", "x"),
    ],
)
def test_a_port_whose_row_cannot_be_read_is_never_made(field: str, text: str | None) -> None:
    report = device_named({"PORT": {"Ethernet0": {field: text}}})
    errors = [finding for finding in report.findings if finding.severity == "error"]
    assert [(finding.code, finding.elements) for finding in errors] == [("SWS018", ("leaf1:Ethernet0",))]


@pytest.mark.parametrize(("field", "text", "number"), [("speed", "0400000", 131072), ("mtu", "010000", 4096)])
def test_a_leading_zero_makes_a_speed_or_an_mtu_octal(field: str, text: str, number: int) -> None:
    report = device_named({"PORT": {"Ethernet0": {field: text}}})
    (found,) = (finding for finding in report.findings if finding.code == "CFG001")
    assert (found.severity, found.data["number"], found.fix) == ("warning", number, ())


@pytest.mark.parametrize(
    ("hwsku", "codes"),
    [
        ("Arista-7060X6-64PE-P64", {"BUF003"}),
        ("Arista-7060X6-64PE-B-P64", {"BUF003"}),
        ("Arista-7060X6-64PE-P32O64", set()),
    ],
)
def test_rows_of_every_hwsku_of_a_product_are_known(hwsku: str, codes: set[str]) -> None:
    report = device_named(
        {
            "DEVICE_METADATA": {"localhost": {"hwsku": hwsku, "platform": "x86_64-arista_7060x6_64pe_b"}},
            "BUFFER_PG": {f"Ethernet{n}|3": None for n in (0, 4, 8)},
            "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": None, "pg_lossless_800000_40m_profile": None},
        }
    )
    assert {finding.code for finding in report.findings if finding.severity == "error"} == codes
    assert "BUF003" not in {rule.code for rule in report.not_checked}
