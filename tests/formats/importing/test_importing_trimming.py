"""Trimming of deployed switches comes back as an intent's, and what no intent can say of it is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lossless.api import lint_documents
from lossless.formats.device_files.switches import contents
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.interfaces.api.import_ import ImportResult, import_documents
from tests.formats.importing.imports import intent, telling
from tools.example_base import base_of

TEXT = (Path(__file__).parents[3] / "examples/ultra-ethernet-128/fabric.yaml").read_text()
DECLARED = load_text(TEXT, "fabric.yaml")
FABRIC = resolve(load_intent(DECLARED))


def deployed(**row: str | None) -> dict[str, Any]:
    """Return the configuration of the first leaf with fields of SWITCH_TRIMMING|GLOBAL laid over it."""
    switch = FABRIC.switches[0]
    data = contents(switch, load_text(json.dumps(base_of(FABRIC, switch)), "base.json"))[1]
    fields = {**data["SWITCH_TRIMMING"]["GLOBAL"], **row}
    data["SWITCH_TRIMMING"] = {"GLOBAL": {name: value for name, value in fields.items() if value is not None}}
    return data


def imported(data: dict[str, Any]) -> ImportResult:
    return import_documents([load_text(json.dumps(data), "leaf1/config_db.json")])


def test_what_was_rendered_comes_back_as_it_was_declared() -> None:
    found = imported(deployed())
    assert intent(found)["trimming"] == {"of": ["priority-3"], "into": "priority-5", "size": "206 B"}
    assert telling(found) == []
    assert intent(imported(deployed(size="256")))["trimming"]["size"] == "256 B"


@pytest.mark.parametrize(
    ("row", "why", "fields"),
    [
        ({"size": None}, "no device says to what size", {"size", "dscp_value", "queue_index"}),
        ({"dscp_value": "11"}, "the DSCP of trimmed packets is not that of a class", {"dscp_value"}),
        ({"dscp_value": "from-tc", "tc_value": "5"}, "the DSCP of trimmed packets", {"tc_value"}),
        ({"queue_index": "6"}, "class priority-5 has another queue than trimmed packets", {"queue_index"}),
        ({"queue_index": "dynamic"}, "class priority-5 has another queue", {"queue_index"}),
    ],
)
def test_what_no_intent_can_say_is_named(row: dict[str, str | None], why: str, fields: set[str]) -> None:
    found = imported(deployed(**row))
    assert "trimming" not in intent(found)
    assert f"# trimming is not declared: {why}" in found.text
    told = {cell for kind, cell in telling(found) if kind == "trimming"}
    assert {"packet_discard_action"} <= told
    assert {kind for kind, _ in telling(found)} == {"trimming"}
    assert fields - {"size", "dscp_value", "queue_index"} <= told


def test_drift_of_trimming_is_reported_in_its_row() -> None:
    def drift(data: dict[str, Any]) -> list[str]:
        report = lint_documents([DECLARED, load_text(json.dumps(data), "leaf1/config_db.json")])
        return [finding.message for finding in report.findings if finding.code == "CFG004"]

    assert drift(deployed()) == []
    assert drift(deployed(size="256")) == ["SWITCH_TRIMMING|GLOBAL: size is 256, the intent says 206"]
    without = deployed()
    del without["SWITCH_TRIMMING"]
    (message,) = drift(without)
    assert (
        message == "SWITCH_TRIMMING|GLOBAL is missing, the intent says size 206, dscp_value 10, queue_index 5"
    )
    plain = deployed()
    del plain["BUFFER_PROFILE"]["egress_lossy_trim"]["packet_discard_action"]
    (message,) = drift(plain)
    assert message == "egress_lossy_trim: packet_discard_action is not set, the intent says trim"
