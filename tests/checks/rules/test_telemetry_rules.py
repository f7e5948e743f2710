"""Whether pauses are seen: counters of a switch, and what an intent says of watching."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.rules.checking import Patch, corpus_findings, drawn, only, patched

PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")


def counters(**groups: Patch | None) -> Patch:
    return {"FLEX_COUNTER_TABLE": groups}


@pytest.mark.parametrize(
    ("group", "code"), [("PORT", "TEL001"), ("QUEUE", "TEL001"), ("PG_WATERMARK", "TEL002")]
)
def test_a_group_that_is_off_is_a_blind_spot(group: str, code: str) -> None:
    found = only(code, patched("leaf.json", counters(**{group: {"FLEX_COUNTER_STATUS": "disable"}})))
    assert found.severity == "warning"
    assert found.origin.path == ("FLEX_COUNTER_TABLE", group, "FLEX_COUNTER_STATUS")


@pytest.mark.parametrize("group", ["PORT", "QUEUE", "PG_WATERMARK"])
def test_a_group_without_a_row_is_switched_on_by_the_device(group: str) -> None:
    document = patched("leaf.json", counters(**{group: None}))
    assert drawn("TEL001", document) + drawn("TEL002", document) == []


@pytest.mark.parametrize("group", ["PFCWD", "RIF", "ACL", "BUFFER_POOL_WATERMARK"])
def test_other_groups_are_left_to_others(group: str) -> None:
    document = patched("leaf.json", counters(**{group: {"FLEX_COUNTER_STATUS": "disable"}}))
    assert drawn("TEL001", document) + drawn("TEL002", document) == []


@pytest.mark.parametrize(("interval_ms", "places"), [("10000", 0), ("10001", 1), ("", 0), ("soon", 0)])
def test_the_slowest_poll_is_sonics_own(interval_ms: str, places: int) -> None:
    document = patched("leaf.json", counters(PORT={"POLL_INTERVAL": interval_ms}))
    assert len(drawn("TEL001", document)) == places


def test_a_group_that_is_off_has_no_interval() -> None:
    off = {"FLEX_COUNTER_STATUS": "disable", "POLL_INTERVAL": "60000"}
    found = only("TEL001", patched("leaf.json", counters(QUEUE=off)))
    assert found.origin.path == ("FLEX_COUNTER_TABLE", "QUEUE", "FLEX_COUNTER_STATUS")


def test_a_switch_without_pfc_has_no_pauses_to_see() -> None:
    no_pfc = {"PORT_QOS_MAP": {port: {"pfc_enable": None, "pfcwd_sw_enable": None} for port in PORTS}}
    off = counters(PORT={"FLEX_COUNTER_STATUS": "disable"}, PG_WATERMARK={"FLEX_COUNTER_STATUS": "disable"})
    document = patched("leaf.json", {**no_pfc, **off})
    assert drawn("TEL001", document) + drawn("TEL002", document) == []


@pytest.mark.parametrize(
    ("telemetry", "codes"),
    [
        (None, []),
        ({}, []),
        ({"interval": "10s"}, []),
        ({"interval": "10001ms"}, ["TEL001"]),
        ("off", ["TEL001"]),
        ({"alerts": ["pauses", "watchdog"]}, []),
        ({"alerts": ["watchdog"]}, ["TEL003"]),
        ({"alerts": []}, ["TEL003"]),
        ({"interval": "30s", "alerts": []}, ["TEL001", "TEL003"]),
    ],
)
def test_what_an_intent_says_of_watching(telemetry: object, codes: list[str]) -> None:
    document = patched("leaf-spine.yaml", {"telemetry": telemetry})
    assert [code for code in ("TEL001", "TEL002", "TEL003") if drawn(code, document)] == codes


def test_a_lossy_fabric_has_no_pauses_to_watch() -> None:
    lossy: Patch = {"pfc": "off", "classes": {"rdma": {"lossless": False}}, "telemetry": "off"}
    assert drawn("TEL001", patched("leaf-spine.yaml", lossy)) == []


def test_missing_alerts_are_named() -> None:
    found = only("TEL003", patched("leaf-spine.yaml", {"telemetry": {"alerts": []}}))
    assert found.data == {"missing": ["watchdog", "pauses"]}
    assert found.origin.path == ("telemetry", "alerts")


def test_upstreams_own_configurations_are_clean(reference: Path) -> None:
    assert corpus_findings(reference, ("TEL001", "TEL002", "TEL003"), (3, 4)) == []
