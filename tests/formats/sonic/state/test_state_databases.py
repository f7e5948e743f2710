"""Databases of a switch are read in every wrapping, and their objects by name."""

from __future__ import annotations

import pytest

from lossless.formats.inputs.capture_forms import read_capture
from lossless.ground.basics.records import UNKNOWN
from tests.formats.sonic.state.state_texts import COUNTERS, captures, dump, one, readings, value

_ROWS = {key: {"type": "hash", "value": fields, "ttl": -0.001} for key, fields in COUNTERS.items()}
_WRAPPED = {
    "flat": COUNTERS,
    "redis-dump": _ROWS,
    "with its name": {"id": "COUNTERS_DB", "data": COUNTERS},
    "under its name": {"COUNTERS_DB": COUNTERS},
    "under its number": {"2": COUNTERS},
    "in a list": [COUNTERS],
    "in a namespace": {"asic0": {"COUNTERS_DB": COUNTERS}},
}


@pytest.mark.parametrize("data", _WRAPPED.values(), ids=_WRAPPED.keys())
def test_each_wrapping_says_the_same(data: object) -> None:
    assert value(dump(data), "dropped_packets", port="Ethernet4", queue="3", queue_kind="UC") == 9
    assert value(dump(data), "pfc_rx", port="Ethernet4", priority="3") == 203


def test_a_namespace_is_a_part_of_what_a_reading_is_of() -> None:
    text = dump({"asic0": COUNTERS, "asic1": COUNTERS})
    assert value(text, "pfc_rx", namespace="asic1") == 203


def test_the_table_of_a_watermark_says_since_when_it_is() -> None:
    assert one(dump(COUNTERS), "shared_watermark_bytes").since == "user clear"


def test_objects_without_a_name_are_a_note_and_keep_their_counters() -> None:
    data = {**COUNTERS, "COUNTERS_QUEUE_NAME_MAP": {}}
    (capture,) = captures(dump(data))
    assert "COUNTERS_QUEUE_NAME_MAP is empty: what it names is unknown" in capture.notes
    assert any("1 object has counters and no name" in note for note in capture.notes)
    assert value(dump(data), "dropped_packets", key="oid:0x15000000000357") == 9


def test_an_object_that_another_map_does_not_know_is_a_note() -> None:
    data = {**COUNTERS, "COUNTERS_QUEUE_TYPE_MAP": {"oid:0x1": "SAI_QUEUE_TYPE_UNICAST"}}
    assert (
        "1 of 1 objects of COUNTERS_QUEUE_NAME_MAP are not in COUNTERS_QUEUE_TYPE_MAP"
        in captures(dump(data))[0].notes
    )


def test_a_field_that_says_nothing_is_unknown_and_not_zero() -> None:
    data = {**COUNTERS, "COUNTERS:oid:0x1000000000012": {"SAI_PORT_STAT_PFC_3_RX_PKTS": "N/A"}}
    assert value(dump(data), "pfc_rx") is UNKNOWN


def test_times_of_the_watchdog_have_the_unit_of_their_database() -> None:
    stored = dump({**COUNTERS, "COUNTERS:oid:0x15000000000357": {"PFC_WD_DETECTION_TIME": "600000"}})
    configured = dump({"PFC_WD|Ethernet4": {"detection_time": "600"}})
    assert (one(stored, "pfcwd_detection_time").value, one(stored, "pfcwd_detection_time").unit) == (
        600000,
        "us",
    )
    assert one(configured, "pfcwd_detection_time", port="Ethernet4").unit == "ms"


@pytest.mark.parametrize(
    ("data", "form"),
    [
        ({"PORT_QOS_MAP|Ethernet0": {"pfc_enable": "3,4"}}, "CONFIG_DB"),
        ({"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4"}}}, "CONFIG_DB"),
        (
            {"DEVICE_METADATA|localhost": {"hostname": "leaf1"}, "PORT_TABLE|Ethernet0": {"state": "ok"}},
            "STATE_DB",
        ),
        ({"PORT|Ethernet0": {"speed": "100000"}, "MUX_CABLE_INFO|Ethernet0": {"state": "auto"}}, "CONFIG_DB"),
        ({"BUFFER_MAX_PARAM_TABLE|global": {"mmu_size": "1"}}, "STATE_DB"),
        ({"FLEX_COUNTER_TABLE|PORT": {"FLEX_COUNTER_STATUS": "enable"}}, "CONFIG_DB"),
        ({"PORT_TABLE:Ethernet0": {"oper_status": "up"}}, "APPL_DB"),
        ({"ASIC_STATE:SAI_OBJECT_TYPE_PORT:oid:0x1": {"SAI_PORT_ATTR_MTU": "9122"}}, "ASIC_DB"),
        ({"RATES:oid:0x1": {"RX_BPS": "2.e9"}}, "COUNTERS_DB"),
    ],
)
def test_the_keys_say_which_database_it_is(data: object, form: str) -> None:
    assert [capture.form for capture in captures(dump(data))] == [form]


def test_an_object_of_asic_db_has_the_name_that_counters_db_has_for_it() -> None:
    data = {
        **COUNTERS,
        "ASIC_STATE:SAI_OBJECT_TYPE_QUEUE:oid:0x15000000000357": {"SAI_QUEUE_ATTR_INDEX": "3"},
    }
    by_form = {capture.form: capture for capture in captures(dump(data))}
    assert by_form.keys() == {"COUNTERS_DB", "ASIC_DB"}


def test_a_row_without_fields_is_there_and_says_nothing() -> None:
    text = dump({"PORT_QOS_MAP|Ethernet8": {}, "BUFFER_PG|Ethernet0|3-4": {"NULL": "NULL"}})
    assert {dict(r.identity)["key"]: r.value for r in readings(text)} == {
        "Ethernet8": None,
        "Ethernet0|3-4": UNKNOWN,
    }


def test_a_dump_that_is_cut_off_is_read_up_to_there_and_a_problem() -> None:
    text = dump(COUNTERS)
    (capture,) = captures(text[: text.index("USER_WATERMARKS")])
    assert "ends early" in capture.problems[0].message
    assert any(reading.name == "dropped_packets" and reading.value == 9 for reading in capture.readings)


def test_hashes_in_a_transcript_are_rows() -> None:
    text = (
        "admin@leaf1:~$ redis-cli -n 2 hgetall COUNTERS_PORT_NAME_MAP\n"
        '1) "Ethernet0"\n2) "oid:0x1000000000002"\n'
        "admin@leaf1:~$ sonic-db-cli COUNTERS_DB HGETALL 'COUNTERS:oid:0x1000000000002'\n"
        "{'SAI_PORT_STAT_PFC_3_RX_PKTS': '77'}\n"
    )
    assert value(text, "pfc_rx", port="Ethernet0", priority="3") == 77


def test_a_text_that_only_speaks_of_hashes_is_not_ours() -> None:
    assert (
        read_capture("Then call redis-cli -n 2 hgetall COUNTERS_PORT_NAME_MAP.\n", "letter", ["SONiC"])
        is None
    )


def test_other_json_is_not_ours() -> None:
    assert read_capture(dump({"queue_pair": [{"spec": {"id": "1"}}]}), "x", ["SONiC"]) is None
    assert read_capture(dump([1, 2, {"a": {"b": "c"}}]), "x", ["SONiC"]) is None
