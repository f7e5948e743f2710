"""What SONiC's daemons make of rows: as they really programmed it, and laws of how rows take each other along."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from lossless.formats.sonic.effective.chain import applied_tables, break_of, numbers_of
from lossless.formats.sonic.effective.objects import index_range, stoi, stoul, to_uint, tokens
from lossless.formats.sonic.effective.programmed import (
    Platform,
    Programmed,
    has_old_references,
    is_of_old_form,
    priority_mask,
    program,
    programmed,
)
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.model.hardware.load import switch_for_hwsku
from tests.checks.rules.snippets import BASES, merge
from tests.formats.sonic.shapes import bracketed
from tools.check_orchagent import compare

if TYPE_CHECKING:
    from pathlib import Path

LEAF: dict[str, Any] = json.loads((BASES / "leaf.json").read_text())
KNOWN_DIFFERENCES = {
    # The dynamic model without the rows that steer it: which lossless rows buffermgrd keeps back is not modelled
    # (sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b).
    "probe-buffer_model_dynamic_no_params",
    "dyn-no-default-param",
    # A port without admin_status and without any QoS: nobody asks the ASIC for its state.
    "full-utils-config_reload_input_config_db",
}


def state_of(data: dict[str, Any], **patch: Any) -> Programmed:
    """Return what a leaf does, with some rows changed."""
    hardware = switch_for_hwsku("ACS-SN5600")
    assert hardware is not None
    tables = Tables("config_db.json", merge(copy.deepcopy(data), patch))
    return program(tables, Platform("mellanox", lambda: hardware[1].headroom))


def test_records_of_the_daemons_agree(reference: Path) -> None:
    differing = set()
    count = 0
    for file in sorted((reference / "reference" / "orchagent").glob("*.json")):
        if file.name == "versions.json":
            continue
        for record in json.loads(file.read_text()):
            if not record["result"].get("timeout"):
                count += 1
                differing |= {record["name"] for _ in compare(record)[0]}
    assert count > 600
    assert differing == KNOWN_DIFFERENCES


def test_what_is_whole_is_lossless_on_every_port() -> None:
    state = state_of(LEAF)
    assert state.fates == {}
    assert [break_of(state, name, 26) for name in state.ports] == [None, None, None]


@pytest.mark.parametrize(
    ("text", "number"),
    [("819,200", 819), ("0xC8000", 0), (" 7", 7), ("+3", 3), ("-1", -1), ("", None), ("x", None), ("3e9", 3)],
)
def test_numbers_end_at_the_first_character_that_is_none(text: str, number: int | None) -> None:
    assert stoi(text) == number


def test_numbers_wrap_around_or_are_out_of_range_as_in_c() -> None:
    assert stoi("3000000000") is None
    assert stoul("-1") == 2**64 - 1
    assert stoul("99999999999999999999999") is None
    assert to_uint("0400000", 1, 1_600_000) == 131_072
    assert to_uint("200ms", 0, 5000) is None
    assert to_uint("0x200", 0, 5000) == 512


def test_keys_name_ranges_that_rise() -> None:
    assert index_range("3-4") == range(3, 5)
    assert index_range("3") == range(3, 4)
    assert index_range("3a") == range(3, 4)
    assert [index_range(text) for text in ("3-3", "4-3", "3-", "3-4-5")] == [None] * 4
    assert index_range("x") == "throws"


def test_a_mask_keeps_eight_bits_of_each_number() -> None:
    assert priority_mask("3,4") == (3, 4)
    assert priority_mask("259") == (3,)
    assert priority_mask("9") == ()
    assert priority_mask(",3") is None
    assert tokens("3,", ",") == ["3"]


def test_a_row_that_throws_takes_all_behind_it_and_what_refers_to_them() -> None:
    state = state_of(LEAF, DSCP_TO_TC_MAP={"AAA": {"8": ""}})
    assert state.fates["DSCP_TO_TC_MAP", "AAA"].kind == "throws"
    assert state.fates["DSCP_TO_TC_MAP", "AZURE"].kind == "behind"
    assert state.fates["PORT_QOS_MAP", "Ethernet0"].kind == "waits"
    cause = break_of(state, "Ethernet0", 26)
    assert cause is not None
    assert (cause.kind, cause.row) == ("maps", ("DSCP_TO_TC_MAP", "AAA"))
    assert state_of(LEAF, DSCP_TO_TC_MAP={"ZZZ": {"8": ""}}).ports == state_of(LEAF).ports


def test_one_buffer_row_that_is_not_applied_keeps_every_port_from_its_qos() -> None:
    state = state_of(LEAF, BUFFER_PG={"Ethernet4|7": {"profile": "gone"}})
    assert state.unready == {"Ethernet4": ("BUFFER_PG", "Ethernet4|7")}
    assert all(not port.pfc and not port.maps for port in state.ports.values())
    cause = break_of(state, "Ethernet0", 26)
    assert cause is not None
    assert (cause.kind, cause.where) == ("ready", "Ethernet4")


def test_a_queue_counts_as_applied_where_the_group_of_its_number_is() -> None:
    # bufferorch.cpp keeps both under one key (m_ready_list).
    state = state_of(LEAF, BUFFER_QUEUE={"Ethernet0|3": {"profile": "gone"}})
    assert state.fates["BUFFER_QUEUE", "Ethernet0|3"].kind == "waits"
    assert state.unready == {}


def test_groups_are_made_of_cable_and_speed_and_replace_written_ones() -> None:
    written = state_of(LEAF, BUFFER_PG={"Ethernet0|3": {"profile": "ingress_lossy_profile"}})
    made = state_of(LEAF, BUFFER_PG={"Ethernet0|3": None})
    for state in (written, made):
        assert state.ports["Ethernet0"].groups[3] == "pg_lossless_400000_5m_profile"
    longer = state_of(LEAF, BUFFER_PG={"Ethernet0|3": None}, CABLE_LENGTH={"AZURE": {"Ethernet0": "7m"}})
    assert 3 not in longer.ports["Ethernet0"].groups


def test_what_is_applied_as_it_is_written_is_the_same_rows() -> None:
    tables = Tables("config_db.json", LEAF)
    assert applied_tables(tables, state_of(LEAF)) is tables


def test_what_is_not_applied_is_gone_and_what_is_read_otherwise_is_written_so() -> None:
    patch = {
        "DSCP_TO_TC_MAP": {"AZURE": {"282": "0"}},
        "QUEUE": {"Ethernet0|3": {"scheduler": "gone"}},
        "PORT": {"Ethernet4": {"mtu": "1"}},
    }
    data = merge(copy.deepcopy(LEAF), patch)
    tables = Tables("config_db.json", data)
    applied = applied_tables(tables, state_of(data))
    assert applied.table("DSCP_TO_TC_MAP")["AZURE"].fields["26"] == "0"
    assert "Ethernet0|3" in tables.table("QUEUE")
    assert "Ethernet0|3" not in applied.table("QUEUE")
    assert applied.table("PORT")["Ethernet4"].fields["admin_status"] == "down"
    assert applied.table("PORT")["Ethernet0"] is not None


TABLES = sorted(
    table
    for table in LEAF
    if table.startswith(("BUFFER", "PORT_QOS", "QUEUE", "SCHED", "WRED", "DSCP", "TC_", "MAP_", "PFC_P"))
)
ROWS = [(table, key) for table in TABLES for key in LEAF[table]]


@given(st.sampled_from(ROWS))
def test_a_row_that_the_class_needs_is_missed_and_any_other_is_not(row: tuple[str, str]) -> None:
    """Without one row a port is lossless as before, or its break names a row that is not applied, or a missing one."""
    table, key = row
    state = state_of(LEAF, **{table: {key: None}})
    for name in state.ports:
        cause = break_of(state, name, 26)
        if cause is not None:
            assert (
                cause.row == row
                or cause.row in state.fates
                or cause.kind in ("entry", "group", "pause", "unmapped")
            )


@given(st.sampled_from(ROWS), st.sampled_from(["", "x", "NULL", "99999999999", "-1", "3,4", "[X|y]", " 3"]))
def test_rows_that_wait_or_are_dropped_are_said_with_the_row_they_wait_for(
    row: tuple[str, str], text: str
) -> None:
    table, key = row
    fields = dict.fromkeys(LEAF[table][key] or {"profile": ""}, text)
    state = state_of(LEAF, **{table: {key: fields}})
    for fate in state.fates.values():
        if fate.kind == "behind":
            assert fate.on is not None
            assert state.fates[fate.on].kind == "throws"
        if fate.kind == "waits" and fate.on is not None:
            assert fate.on[1] == fate.value or fate.on in state.fates or fate.on[0] == "PORT_QOS_MAP"


def test_a_group_that_is_not_made_is_none_in_what_is_applied() -> None:
    lengths = {
        "CABLE_LENGTH": {"AZURE": {"Ethernet0": "7m"}},
        "BUFFER_PG": {"Ethernet0|3": None, "Ethernet4|3": None},
    }
    tables = Tables("config_db.json", merge(copy.deepcopy(LEAF), lengths))
    switch = read_fabric([tables], switch_for_hwsku).switches[0]
    applied = applied_tables(tables, programmed(tables, switch))
    groups = [
        port.qos.groups[3] for port in read_fabric([applied], switch_for_hwsku).switches[0].ports if port.qos
    ]
    assert [group is not None and group.lossless for group in groups] == [False, True, True]


def test_without_any_map_of_dscps_every_packet_gets_traffic_class_0() -> None:
    unbound = {port: {"dscp_to_tc_map": None} for port in ("Ethernet0", "Ethernet4", "Ethernet8")}
    state = state_of(LEAF, PORT_QOS_MAP={"global": None, **unbound})
    assert numbers_of(state, state.ports["Ethernet0"], 26) == (0, 0, 0)
    cause = break_of(state, "Ethernet0", 26)
    assert cause is not None
    assert cause.kind == "unmapped"


def test_groups_of_a_hwsku_that_nobody_knows_are_undecided_and_break_nothing() -> None:
    data = merge(copy.deepcopy(LEAF), {"BUFFER_PG": {"Ethernet0|3": None}})
    state = program(Tables("config_db.json", data), Platform("mellanox", lambda: None))
    assert state.undecided == {"Ethernet0"}
    assert break_of(state, "Ethernet0", 26) is None
    assert break_of(state, "Ethernet0", 27) is not None


@pytest.mark.parametrize(("mtu", "made"), [("68", True), ("9216", True), ("67", False), ("9217", False)])
def test_a_port_beyond_the_limits_of_orchagent_is_not_made(mtu: str, made: bool) -> None:
    assert ("Ethernet0" in state_of(LEAF, PORT={"Ethernet0": {"mtu": mtu}}).ports) is made


def test_a_row_of_queues_ends_where_the_port_has_no_more() -> None:
    whole = state_of(LEAF, QUEUE={"Ethernet0|0-15": {"scheduler": "scheduler.0"}})
    beyond = state_of(LEAF, QUEUE={"Ethernet0|0-20": {"scheduler": "scheduler.0"}})
    assert ("QUEUE", "Ethernet0|0-15") not in whole.fates
    assert beyond.fates["QUEUE", "Ethernet0|0-20"].kind == "refused"
    assert beyond.ports["Ethernet0"].queues == whole.ports["Ethernet0"].queues


@pytest.mark.parametrize("name", ["x86_64-mlnx_msn2700-r0", "x86_64-nvidia_sn5600-r0"])
def test_groups_of_ports_that_are_down_are_taken_back_on_switches_of_nvidia(name: str) -> None:
    patch = {
        "DEVICE_METADATA": {"localhost": {"hwsku": "unknown", "platform": name}},
        "PORT": {"Ethernet0": {"admin_status": "down"}},
    }
    tables = Tables("config_db.json", merge(copy.deepcopy(LEAF), patch))
    state = programmed(tables, read_fabric([tables], switch_for_hwsku).switches[0])
    assert 3 not in state.ports["Ethernet0"].groups
    assert 3 in state.ports["Ethernet4"].groups


@pytest.mark.parametrize(
    ("version", "old"),
    [
        ("version_3_0_2", True),
        ("version_3_0_3", False),
        ("version_202411_01", False),
        ("version_a_0_1", False),
        (None, False),
    ],
)
def test_databases_before_3_0_3_have_references_in_brackets(version: str | None, old: bool) -> None:
    assert has_old_references(version) is old


def test_a_file_is_of_the_old_form_where_every_reference_is() -> None:
    old = bracketed(LEAF)
    assert is_of_old_form(Tables("config_db.json", old))
    old["QUEUE"]["Ethernet0|3"]["scheduler"] = "scheduler.1"
    assert not is_of_old_form(Tables("config_db.json", old))


LOSSLESS = "pg_lossless_400000_5m_profile"
CAUSES: dict[str, tuple[dict[str, Any], str, tuple[str, str], str]] = {
    "TC to a lossy group": (
        {"TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "0"}}},
        "entry",
        ("TC_TO_PRIORITY_GROUP_MAP", "AZURE"),
        "3",
    ),
    "pause for another group": (
        {"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "4"}}},
        "entry",
        ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE"),
        "3",
    ),
    "TC to a queue that no port has": (
        {"TC_TO_QUEUE_MAP": {"AZURE": {"3": "9"}}},
        "entry",
        ("TC_TO_QUEUE_MAP", "AZURE"),
        "3",
    ),
    "pause of another queue": (
        {"MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {"3": "4"}}},
        "entry",
        ("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE"),
        "3",
    ),
    "DSCP to another class": (
        {"DSCP_TO_TC_MAP": {"AZURE": {"26": "1"}}},
        "entry",
        ("DSCP_TO_TC_MAP", "AZURE"),
        "26",
    ),
    "no PFC": (
        {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": ""}}},
        "pause",
        ("PORT_QOS_MAP", "Ethernet0"),
        "pfc_enable",
    ),
    "no headroom": (
        {"BUFFER_PROFILE": {LOSSLESS: {"xoff": None}}},
        "group",
        ("BUFFER_PROFILE", LOSSLESS),
        "xoff",
    ),
    "profile that is not made": (
        {"BUFFER_PROFILE": {LOSSLESS: {"size": None}}},
        "group",
        ("BUFFER_PROFILE", LOSSLESS),
        "size",
    ),
    "everything that is paused dropped": (
        {"PFC_WD": {"GLOBAL": {"BIG_RED_SWITCH": "enable"}}},
        "pause",
        ("PFC_WD", "GLOBAL"),
        "BIG_RED_SWITCH",
    ),
    "no cable": (
        {"BUFFER_PG": {"Ethernet0|3": None}, "CABLE_LENGTH": {"AZURE": {"Ethernet0": "0m"}}},
        "group",
        ("BUFFER_PG", "Ethernet0|3"),
        "",
    ),
    "PFC in a row of several ports": (
        {
            "BUFFER_PG": {"Ethernet0|3": None, "Ethernet4|3": None},
            "PORT_QOS_MAP": {
                "Ethernet0": None,
                "Ethernet4": None,
                "Ethernet0,Ethernet4": LEAF["PORT_QOS_MAP"]["Ethernet0"],
            },
        },
        "joined",
        ("PORT_QOS_MAP", "Ethernet0,Ethernet4"),
        "",
    ),
    "an empty list of profiles": (
        {"BUFFER_PORT_INGRESS_PROFILE_LIST": {"Ethernet4": {"profile_list": ""}}},
        "ended",
        ("BUFFER_PORT_INGRESS_PROFILE_LIST", "Ethernet4"),
        "profile_list",
    ),
    "a port that is not made": (
        {"PORT": {"Ethernet0": {"fec": "foo"}}},
        "port",
        ("PORT", "Ethernet0"),
        "fec",
    ),
}


@pytest.mark.parametrize("name", CAUSES)
def test_what_makes_a_class_lossy_is_named_where_it_is_written(name: str) -> None:
    patch, kind, row, field = CAUSES[name]
    cause = break_of(state_of(LEAF, **patch), "Ethernet0", 26)
    assert cause is not None
    assert (cause.kind, cause.row, cause.field) == (kind, row, field)


@pytest.mark.parametrize(
    ("fields", "runs"),
    [
        ({"detection_time": "100"}, True),
        ({"detection_time": "5000", "restoration_time": "60000"}, True),
        ({"detection_time": "99"}, False),
        ({"detection_time": "5001"}, False),
        ({"detection_time": "200", "restoration_time": "60001"}, False),
        ({"detection_time": "200", "action": "Drop"}, False),
        ({"detection_time": "200", "pfc_stat_history": "on"}, False),
        ({"restoration_time": "200"}, False),
    ],
)
def test_a_watchdog_within_the_limits_of_orchagent_runs(fields: dict[str, str], runs: bool) -> None:
    empty = {"detection_time": None, "restoration_time": None, "action": None}
    state = state_of(LEAF, PFC_WD={"Ethernet0": {**empty, **fields}})
    assert (state.ports["Ethernet0"].watchdog is not None) is runs


def test_a_map_to_dscps_beyond_63_is_dropped_as_a_whole() -> None:
    assert state_of(LEAF, TC_TO_DSCP_MAP={"A": {"1": "63"}}).maps["TC_TO_DSCP_MAP"] == {"A": {1: 63}}
    assert state_of(LEAF, TC_TO_DSCP_MAP={"A": {"1": "64"}}).fates["TC_TO_DSCP_MAP", "A"].kind == "refused"


COMPUTED: dict[str, Any] = {
    "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}},
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
    "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}},
}
"""What lets buffermgrd of the dynamic model compute headroom."""


@pytest.mark.parametrize(
    ("profile", "field"),
    [
        ("egress_lossless_profile", "size"),
        ("ingress_lossy_profile", "size"),
        ("egress_lossless_profile", "dynamic_th"),
        ("pg_lossless_400000_5m_profile", "xon"),
    ],
)
def test_the_dynamic_model_writes_empty_what_a_profile_lacks_and_orchagent_throws(
    profile: str, field: str
) -> None:
    state = state_of(LEAF, **COMPUTED, BUFFER_PROFILE={profile: {field: None}})
    fate = state.fates["BUFFER_PROFILE", profile]
    assert (fate.kind, fate.field) == ("throws", field)
    cause = break_of(state, "Ethernet0", 26)
    assert cause is not None
    assert cause.row == ("BUFFER_PROFILE", profile)


@pytest.mark.parametrize(
    ("rows", "lossless"),
    [
        ({}, True),
        ({"LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": None}}}, False),
        ({"LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"small_packet_percentage": "many"}}}, False),
        ({"DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "abc"}}}, False),
    ],
)
def test_what_headroom_is_computed_from_must_be_numbers(rows: dict[str, Any], lossless: bool) -> None:
    group = {"Ethernet0|3": {"profile": "NULL"}}
    state = state_of(merge(copy.deepcopy(LEAF), {**COMPUTED, "BUFFER_PG": group}), **rows)
    assert (break_of(state, "Ethernet0", 26) is None) is lossless


@pytest.mark.parametrize(("threshold", "whole"), [("0", True), ("-3", True), (None, False), ("abc", False)])
def test_a_threshold_alone_makes_a_profile_where_it_can_be_read(threshold: str | None, whole: bool) -> None:
    own = {"headroom_type": "dynamic", "dynamic_th": threshold}
    group = {"Ethernet0|3": {"profile": "own"}}
    state = state_of(LEAF, **COMPUTED, BUFFER_PROFILE={"own": own}, BUFFER_PG=group)
    cause = break_of(state, "Ethernet0", 26)
    assert (cause is None) is whole
    if cause is not None:
        assert (cause.row, cause.field) == (("BUFFER_PROFILE", "own"), "dynamic_th")


@pytest.mark.parametrize(
    "row",
    [
        {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "0"},
        {"pool": "ingress_lossless_pool", "headroom_type": "dynamic", "dynamic_th": "0"},
        {"pool": "gone", "dynamic_th": "0"},
        {"pool": "ingress_lossless_pool", "size": "0", "static_th": "1000"},
    ],
    ids=["whole", "threshold alone", "pool that is not there", "threshold of the other kind"],
)
def test_the_dynamic_model_writes_no_other_profile_empty(row: dict[str, str]) -> None:
    state = state_of(LEAF, **COMPUTED, BUFFER_PROFILE={"own": row})
    assert [fate for fate in state.fates.values() if fate.kind == "throws"] == []
    assert state.unready == {}
