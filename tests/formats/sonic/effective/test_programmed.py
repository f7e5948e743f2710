"""What SONiC's daemons make of rows: as they really programmed it, and laws of how rows take each other along."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from lossless.formats.sonic.effective.applied import applied_tables
from lossless.formats.sonic.effective.chain import break_of
from lossless.formats.sonic.effective.objects import index_range, stoi, stoul, to_uint, tokens
from lossless.formats.sonic.effective.programmed import Platform, Programmed, priority_mask, program
from lossless.formats.sonic.read.tables import Tables
from lossless.model.hardware.load import switch_for_hwsku
from tests.checks.rules.snippets import BASES, merge
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
