"""Whether what is configured runs: profiles of groups, the watchdog, marks of queues; and when that is not known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.checks.verify.running import INTENT, Files, Found, findings, leaf_config, reasons, report_on, storm

if TYPE_CHECKING:
    from pathlib import Path

Rows = dict[str, dict[str, str]]

_UP = {"admin_status": "up", "oper_status": "up"}
_LOSSLESS = {"BUFFER_PROFILE_TABLE:lossless": {"xoff": "231424", "pool": "ingress_lossless_pool"}}
_LOSSY = {"BUFFER_PROFILE_TABLE:lossy": {"pool": "ingress_lossy_pool", "size": "0"}}
_OID = "oid:0x15000000000357"
_CAPABLE = {"QUEUE_COUNTER_CAPABILITIES|WRED_ECN_QUEUE_ECN_MARKED_PKT_COUNTER": {"isSupported": "true"}}
_WATCHED = {"PFC_WD_STATUS": "operational"}


def _files(rows: Rows) -> Files:
    return {"leaf1/dump.json": json.dumps(rows), "leaf1/config_db.json": leaf_config()}


class TestLosslessGroups:
    """Priority group 3 of leaf1's ports, as APPL_DB has it."""

    @pytest.mark.parametrize(
        ("rows", "expected"),
        [
            ({"BUFFER_PG_TABLE:Ethernet4:3-4": {"profile": "lossless"}}, set()),
            ({"BUFFER_PG_TABLE:Ethernet4:3": {"profile": "lossless"}}, set()),
            ({"BUFFER_PG_TABLE:Ethernet4:0": {"profile": "lossy"}}, {("APP002", "leaf1:Ethernet4:PG3")}),
            ({"BUFFER_PG_TABLE:Ethernet4:3": {"profile": "lossy"}}, {("APP002", "leaf1:Ethernet4:PG3")}),
            ({"BUFFER_PG_TABLE:Ethernet0:3-4": {"profile": "lossless"}}, {("APP002", "leaf1:Ethernet4:PG3")}),
            # Neither another row of the port, nor that group of another port: the rows may not be captured.
            ({"BUFFER_PG_TABLE:Ethernet0:0": {"profile": "lossy"}}, set()),
            ({}, set()),
        ],
    )
    def test_a_port_that_is_up_has_a_profile_with_headroom(
        self, tmp_path: Path, rows: Rows, expected: Found
    ) -> None:
        rows = {"PORT_TABLE:Ethernet4": _UP, **_LOSSLESS, **_LOSSY, **rows}
        assert findings(report_on(tmp_path, _files(rows)), "warning") == expected

    def test_a_port_that_is_down_has_none(self, tmp_path: Path) -> None:
        rows = {"PORT_TABLE:Ethernet4": {**_UP, "oper_status": "down"}, **_LOSSY}
        rows["BUFFER_PG_TABLE:Ethernet4:0"] = {"profile": "lossy"}
        assert findings(report_on(tmp_path, _files(rows))) == set()

    def test_a_profile_that_is_not_captured_is_not_checked(self, tmp_path: Path) -> None:
        rows = {"PORT_TABLE:Ethernet4": _UP, "BUFFER_PG_TABLE:Ethernet4:3": {"profile": "elsewhere"}}
        report = report_on(tmp_path, _files(rows))
        assert findings(report) == set()
        assert reasons(report, "APP002") == ["APPL_DB does not have the profile of each priority group"]

    def test_with_an_intent_it_is_an_error(self, tmp_path: Path) -> None:
        rows = {"PORT_TABLE:Ethernet4": _UP, **_LOSSY, "BUFFER_PG_TABLE:Ethernet4:3": {"profile": "lossy"}}
        report = report_on(tmp_path, {**_files(rows), **INTENT})
        assert findings(report, "error") == {("APP002", "leaf1:Ethernet4:PG3")}


class TestWatchdog:
    """The watchdog of queue 3 of Ethernet8, which leaf1 is configured for."""

    def _dump(self, queue: str, **fields: str) -> Rows:
        counters = {"SAI_QUEUE_STAT_PACKETS": "84", "SAI_QUEUE_STAT_DROPPED_PACKETS": "0", **fields}
        return {"COUNTERS_QUEUE_NAME_MAP": {f"Ethernet8:{queue}": _OID}, f"COUNTERS:{_OID}": counters}

    def test_a_queue_without_its_status_in_a_dump_is_not_watched(self, tmp_path: Path) -> None:
        report = report_on(tmp_path, _files(self._dump("3")))
        assert findings(report, "warning") == {("APP004", "leaf1:Ethernet8:3")}

    def test_other_queues_have_none(self, tmp_path: Path) -> None:
        assert findings(report_on(tmp_path / "a", _files(self._dump("3", **_WATCHED)))) == set()
        assert findings(report_on(tmp_path / "b", _files(self._dump("0")))) == set()

    def test_an_answer_over_gnmi_may_have_been_asked_for_other_fields(self, tmp_path: Path) -> None:
        answer = {"Ethernet8:3": {"SAI_QUEUE_STAT_PACKETS": "84"}}
        files = {"leaf1/answer.json": json.dumps(answer), "leaf1/config_db.json": leaf_config()}
        assert findings(report_on(tmp_path, files)) == set()

    def test_a_table_leaves_out_queues_that_it_watches(self, tmp_path: Path) -> None:
        text = storm("Ethernet0", "operational", 0)
        files = {"leaf1/state.txt": text, "leaf1/config_db.json": leaf_config()}
        assert findings(report_on(tmp_path, files)) == set()


class TestMarks:
    """Queue 3 of Ethernet8, whose Kmax is 3,276,800 bytes."""

    def _rows(self, peak: int, marks: str = "0", dropped: str = "0", table: str = "USER_WATERMARKS") -> Rows:
        counters = {
            **_WATCHED,
            "SAI_QUEUE_STAT_PACKETS": "84",
            "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": marks,
            "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": dropped,
        }
        return {
            "COUNTERS_QUEUE_NAME_MAP": {"Ethernet8:3": _OID},
            f"COUNTERS:{_OID}": counters,
            f"{table}:{_OID}": {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": str(peak)},
        }

    @pytest.mark.parametrize(
        ("peak", "fields", "expected"),
        [
            (3_276_801, {}, {("CTR003", "leaf1:Ethernet8:3")}),
            (3_276_800, {}, set()),
            (9_000_000, {"marks": "7"}, set()),
            # Packets that cannot be marked are dropped instead: another cause.
            (9_000_000, {"dropped": "7"}, {("CTR001", "leaf1:Ethernet8:3")}),
            (9_000_000, {"table": "PERSISTENT_WATERMARKS"}, set()),
        ],
    )
    def test_a_queue_above_kmax_marks(
        self, tmp_path: Path, peak: int, fields: dict[str, str], expected: Found
    ) -> None:
        rows = {**self._rows(peak, **fields), **_CAPABLE}
        assert findings(report_on(tmp_path, _files(rows))) == expected

    @pytest.mark.parametrize(
        ("rows", "reason"),
        [
            ({}, "whether the switch counts ECN marks is not known"),
            ({"marks": "N/A"}, "the captures do not say the value of SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS"),
            ({"dropped": "N/A"}, "the captures do not say the value of SAI_QUEUE_STAT_WRED_DROPPED_PACKETS"),
        ],
    )
    def test_without_the_other_signs_it_is_not_checked(
        self, tmp_path: Path, rows: dict[str, str], reason: str
    ) -> None:
        made = {**self._rows(9_000_000, **rows), **(_CAPABLE if rows else {})}
        report = report_on(tmp_path, _files(made))
        assert (findings(report), reasons(report, "CTR003")) == (set(), [reason])


@pytest.mark.parametrize(
    ("counters", "expected", "unchecked"),
    [
        ({"IF_IN_DISCARDS": "9", "IN_DROPPED_PKTS": "0"}, {("CTR006", "leaf1:Ethernet8")}, []),
        ({"IF_IN_DISCARDS": "9", "IN_DROPPED_PKTS": "9"}, set(), []),
        ({"IF_IN_DISCARDS": "0"}, set(), []),
        ({"IF_IN_DISCARDS": "9"}, set(), ["no capture has SAI_PORT_STAT_IN_DROPPED_PKTS of each port"]),
    ],
)
def test_discards_are_outside_buffers_where_buffers_dropped_none(
    tmp_path: Path, counters: dict[str, str], expected: Found, unchecked: list[str]
) -> None:
    fields = {f"SAI_PORT_STAT_{name}": value for name, value in counters.items()}
    rows = {"COUNTERS_PORT_NAME_MAP": {"Ethernet8": "oid:0x1"}, "COUNTERS:oid:0x1": fields}
    report = report_on(tmp_path, _files(rows))
    assert (findings(report), reasons(report, "CTR006")) == (expected, unchecked)
