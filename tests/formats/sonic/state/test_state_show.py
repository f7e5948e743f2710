"""Outputs of show and its scripts are read as what they are of, with since when they count."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.formats.inputs.capture_forms import read_capture
from lossless.ground.basics.records import UNKNOWN
from tests.formats.sonic.state.state_texts import (
    HEADROOM,
    PFC,
    PG,
    SHARED,
    captures,
    dump,
    one,
    readings,
    value,
)

STATS = """\
      QUEUE    STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    RX LAST OK/DROP
-----------  --------  -------------------------  ------------  ------------  -----------------  -----------------
Ethernet0:3       N/A                        1/0       100/300       100/300              0/200              0/200
"""
QUEUES = """\
     Port    TxQ    Counter/pkts    Drop/pkts
---------  -----  --------------  -----------
Ethernet4    UC3            8193       91,786
"""


def test_a_cell_of_not_available_is_unknown() -> None:
    assert value(PFC, "pfc_rx", port="Ethernet0", priority="0") is UNKNOWN
    assert value(PFC, "pfc_rx", port="Ethernet0", priority="3") == 1200
    assert value(PFC, "pfc_tx", port="Ethernet0", priority="0") == 0


def test_the_title_says_which_watermark_the_columns_hold() -> None:
    assert value(SHARED, "shared_watermark_bytes", pg="3") == 103
    assert value(HEADROOM, "xoff_room_watermark_bytes", pg="3") == 103
    assert value(PG, "pg_watermark_bytes", pg="3") == 103


def test_the_command_says_since_when_a_watermark_is() -> None:
    assert one(SHARED, "shared_watermark_bytes", pg="3").since == "unknown"
    for command, since in (
        ("show priority-group watermark shared", "user clear"),
        ("show priority-group persistent-watermark shared", "persistent clear"),
        ("watermarkstat -p -t pg_shared", "persistent clear"),
    ):
        assert one(f"# {command}\n{SHARED}", "shared_watermark_bytes", pg="3").since == since


def test_two_namespaces_in_one_text_are_kept_apart() -> None:
    text = "".join(SHARED.replace("PG:", f"PG: (Namespace asic{n})") for n in (0, 1))
    assert [dict(r.identity)["namespace"] for r in readings(text)] == ["asic0", "asic0", "asic1", "asic1"]


def test_a_transcript_without_blank_lines_has_a_capture_for_each_command() -> None:
    text = f"# show queue counters\n{QUEUES}# show pfc counters\n{PFC}# show priority-group watermark shared\n{SHARED}"
    forms = [capture.form for capture in captures(text)]
    assert forms == ["show queue counters", "show pfc counters", "show priority-group watermark shared"]
    assert value(text, "dropped_packets", port="Ethernet4", queue="3", queue_kind="UC") == 91786


@pytest.mark.parametrize(
    "prompt", ["admin@leaf1:~$ ", "root@leaf1:/home/admin# ", "[root@leaf1 ~]# ", "leaf1# "]
)
def test_a_prompt_names_the_device(prompt: str) -> None:
    (capture,) = captures(f"{prompt}show pfc counters\n{PFC}")
    assert capture.device == "leaf1"


def test_counters_after_a_clear_say_so() -> None:
    text = "Last cached time was 2025-10-02T16:43:57.934081\n" + PFC
    assert one(text, "pfc_tx", priority="3").since == "clear"
    assert one(PFC, "pfc_tx", priority="3").since == "unknown"
    assert any("2025-10-02" in note for capture in captures(text) for note in capture.notes)


def test_a_clear_of_one_port_is_not_one_of_the_next() -> None:
    after = QUEUES.replace("Ethernet4", "Ethernet8")
    text = f"Ethernet4 Last cached time was 2025-10-02 16:43:57\n{QUEUES}\nFor namespace :\n{after}"
    assert one(text, "packets", port="Ethernet4").since == "clear"
    assert one(text, "packets", port="Ethernet8").since == "unknown"


def test_a_queue_that_is_not_watched_has_an_unknown_status_and_its_counters() -> None:
    assert value(STATS, "pfcwd_status", port="Ethernet0", queue="3") is UNKNOWN
    assert value(STATS, "pfcwd_detected", port="Ethernet0", queue="3") == 1
    assert value(STATS, "pfcwd_rx_last_drop", port="Ethernet0", queue="3") == 200


def test_priorities_divided_by_a_comma_are_no_thousands() -> None:
    text = "Interface    Lossless priorities\n-----------  ---------------------\nEthernet0    3,4\n"
    assert value(text, "lossless_priorities", port="Ethernet0") == "3,4"


def test_rates_are_bytes_a_second() -> None:
    text = "IFACE        RX_BPS    RX_UTIL\n-----  ------------  ---------\n Eth0  2000.00 MB/s     64.00%\n"
    assert (one(text, "in_rate").value, one(text, "in_rate").unit) == (2e9, "bytes/s")
    assert one(text, "in_utilization").unit == "%"


def test_headings_that_nobody_knows_are_kept() -> None:
    text = "IFACE    NEW_COUNTER\n-----  -------------\n Eth0              5\n"
    assert value(text, "NEW_COUNTER", port="Eth0") == 5


def test_buffers_are_named_by_pool_and_profile() -> None:
    text = "Profile: p\n----  -----------------\nxoff  32768\npool  [BUFFER_POOL|lossy]\n----  -----------------\n"
    assert (one(text, "xoff", profile="p").value, one(text, "xoff", profile="p").unit) == (32768, "bytes")
    assert value(text, "pool", profile="p") == "lossy"


def test_a_detailed_list_says_whether_its_counters_were_cleared() -> None:
    text = "Unicast Packets Received........ 4\n\nTime Since Counters Last Cleared... {}\n"
    assert one(text.format("None"), "in_unicast_packets").since == "boot"
    assert one(text.format("0:12:07"), "in_unicast_packets").since == "clear"


def test_an_empty_map_and_a_clear_are_notes() -> None:
    (capture,) = captures('Message published to WATERMARK_CLEAR_REQUEST: ["USER","PG_HEADROOM"]\n')
    assert capture.readings == ()
    assert "PG_HEADROOM" in capture.notes[0]


def test_an_output_that_ends_within_a_row_is_a_problem_with_its_place() -> None:
    text = QUEUES + QUEUES.splitlines()[-1].replace("Ethernet4", "Ethernet8")[:30]
    (capture,) = captures(text)
    assert [(p.line, p.message) for p in capture.problems] == [
        (4, "a row is cut off or has other cells than the headings; it is not read")
    ]
    assert {dict(r.identity)["port"] for r in capture.readings} == {"Ethernet4"}


def test_the_json_of_a_script_says_what_its_table_says() -> None:
    text = dump({"Ethernet4": {"UC3": {"totalpacket": "8,193", "droppacket": "N/A"}}})
    assert value(text, "packets", port="Ethernet4", queue="3", queue_kind="UC") == 8193
    assert value(text, "dropped_packets") is UNKNOWN


def test_the_json_of_a_port_with_a_cached_time_counts_since_the_clear() -> None:
    ports = {
        "Ethernet0": {"cached_time": "2025-10-02", "UC0": {"totalpacket": "1"}},
        "Ethernet4": {"UC0": {"totalpacket": "2"}},
    }
    assert one(dump(ports), "packets", port="Ethernet0").since == "clear"
    assert one(dump(ports), "packets", port="Ethernet4").since == "unknown"


def test_documents_of_several_namespaces_follow_each_other() -> None:
    text = dump([{"Port": "Ethernet0", "PG0": "1"}]) + "\n" + dump([{"Port": "Ethernet4", "PG0": "N/A"}])
    assert [r.value for r in readings(text)] == [1, UNKNOWN]


def test_a_queue_over_gnmi_has_the_watermark_of_its_period_beside_its_counters() -> None:
    field = "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES"
    text = dump({"Ethernet68:1": {field: "64"}, "Ethernet68:1:periodic": {field: "192"}, "Ethernet68:2": {}})
    assert {(r.value, r.since) for r in readings(text)} == {(64, "unknown"), (192, "period")}
    assert captures(text)[0].notes == ("1 of 3 objects have no counters in this answer: Ethernet68:2",)


def test_an_object_over_gnmi_without_its_name_is_readable_and_a_note() -> None:
    text = dump({"SAI_QUEUE_STAT_PACKETS": "36"})
    assert one(text, "packets").identity == ()
    assert "no name" in captures(text)[0].notes[0]


@given(st.text('Ethernet04:3 -|\n#$/.PGUCTxQort{}[]",N/A', max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    read_capture(text, "x", ["SONiC"])


@given(st.integers(0, 2000), st.integers(0, 2000), st.text(max_size=3))
def test_a_damaged_capture_is_read_or_refused(start: int, end: int, between: str) -> None:
    whole = f"# show pfc counters\n{PFC}{STATS}{QUEUES}{dump({'PFC_WD|Ethernet0': {'action': 'drop'}})}"
    read_capture(whole[:start] + between + whole[end:], "x", ["SONiC"])


def test_outputs_of_hosts_are_not_ours() -> None:
    assert read_capture("NIC statistics:\n     rx_prio3_pause: 5\n", "x", ["SONiC"]) is None
    assert read_capture("PortXmitWait:....................22730501\n", "x", ["SONiC"]) is None
    assert read_capture("", "x", ["SONiC"]) is None
