"""Laws between commands on deployed files: lint, trace, headroom and simulate read what the daemons of a switch do.

A sound leaf loses one row or one value after the other, and the recorded configurations of SONiC's own daemons are
taken as they are. Each command is asked for DSCP 26.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.buffers.headroom.comparison import ConfiguredHeadroom
from lossless.api import Options, headroom_of_ports, lint, simulate, trace
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import MissingInput
from lossless.ground.documents import load_text
from tests.all_cases import some
from tests.chain import disagreements, is_of_buffers, of_chain, unsafe
from tests.checks.rules.snippets import BASES, merge
from tests.checks.test_programmed_records import UNKNOWN, records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


Data = dict[str, Any]
Lost = tuple[str, ...]
LEAF: Data = load_text((BASES / "leaf.json").read_text(), "leaf.json").data
NAMED = Options(rdma_dscps=(26,))
PORTS = frozenset(LEAF["PORT"])
ENDS = (("Ethernet0", "Ethernet8"), ("Ethernet8", "Ethernet0"))
WHOLE = ("VERSIONS", "DEVICE_METADATA")
"""Tables that say which switch it is, not what it does."""
UNREAD_DSCPS = frozenset(map(str, range(64))) - {"0", "26", "48"}


def rows(data: Data) -> list[tuple[str, str]]:
    """Return the rows of a leaf, those left out that say which switch it is."""
    return [(table, key) for table in data if table not in WHOLE for key in data[table]]


def losses() -> Iterator[tuple[Lost, Data]]:
    """Yield the leaf without a table, a row, or a value: what is lost, and what is left."""
    for table in (table for table in LEAF if table not in WHOLE):
        yield (table,), merge(LEAF, {table: None})
        for key, fields in LEAF[table].items():
            yield (table, key), merge(LEAF, {table: {key: None}})
            for field in fields if table != "DSCP_TO_TC_MAP" else fields.keys() - UNREAD_DSCPS:
                yield (table, key, field), merge(LEAF, {table: {key: {field: None}}})


def written(data: Data, folder: Path) -> Path:
    path = folder / "config_db.json"
    path.write_text(json.dumps(data))
    return path


def faulty_ports(data: Data, folder: Path) -> frozenset[str]:
    """Return the ports that errors of the chain name; one that names none is about all."""
    named: set[str] = set()
    for finding in of_chain(lint([written(data, folder)], NAMED).findings):
        named |= ({element.rpartition(":")[2] for element in finding.elements} & PORTS) or PORTS
    return frozenset(named)


# --- lint and trace ---


def test_a_path_is_broken_exactly_where_lint_reports_an_error_of_the_chain(tmp_path: Path) -> None:
    checked = broken = 0
    for lost, data in some([*losses()], 4, "paths"):
        if lost[0] == "PORT" and len(lost) < 3:
            continue
        path = written(data, tmp_path)
        report = lint([path], NAMED)
        for source, target in ENDS:
            assert disagreements(path, report, source, target, NAMED) == [], lost
            checked += 1
        broken += bool(of_chain(report.findings))
    assert checked > 50
    assert broken > 15


def test_an_uplink_that_lost_its_group_breaks_the_path_from_it_and_not_the_path_to_it(tmp_path: Path) -> None:
    lost = {"BUFFER_PG": {"Ethernet8|3": None}, "CABLE_LENGTH": {"AZURE": {"Ethernet8": None}}}
    path = written(merge(LEAF, lost), tmp_path)
    (error,) = of_chain(lint([path], NAMED).findings)
    assert error.code == "BUF004"
    assert trace(path, "Ethernet8", "Ethernet0", 26, options=NAMED).trace.broken
    assert not trace(path, "Ethernet0", "Ethernet8", 26, options=NAMED).trace.broken


@pytest.mark.tools("records")
def test_two_losses_at_once_make_lint_and_trace_disagree_no_more_than_one(tmp_path: Path) -> None:
    """Half of the pairs of rows that a port loses: what the other would have made good is missing too."""
    lost = [row for row in rows(LEAF) if row[0] not in ("PORT", "FLEX_COUNTER_TABLE")]
    for first, second in some([*itertools.combinations(lost, 2)], 16, "pairs"):
        data = merge(LEAF, {first[0]: {first[1]: None}})
        path = written(merge(data, {second[0]: {second[1]: None}}), tmp_path)
        report = lint([path], NAMED)
        for source, target in ENDS:
            assert disagreements(path, report, source, target, NAMED) == [], (first, second)


# --- lint, headroom and closed forms ---


def test_closed_forms_are_not_unsafe_where_lint_has_nothing_of_the_buffers(tmp_path: Path) -> None:
    unsafe_ones = 0
    for lost, data in some([*losses()], 2, "buffers"):
        path = written(data, tmp_path)
        reasons = unsafe(path, NAMED)
        unsafe_ones += bool(reasons)
        assert not reasons or is_of_buffers(lint([path], NAMED)), (lost, reasons)
    assert unsafe_ones > 5


def test_what_a_throwing_row_keeps_from_being_programmed_is_safe_in_no_command(tmp_path: Path) -> None:
    """orchagent never comes to a row that sorts behind one that throws: no port gets its maps and its PFC."""
    path = written(merge(LEAF, {"DSCP_TO_TC_MAP": {"AAA": {}}}), tmp_path)
    assert of_chain(lint([path], NAMED).findings)
    assert simulate(path, NAMED)[0].closed.overall == "not checked"
    assert trace(path, *ENDS[0], 26, options=NAMED).trace.broken
    assert headroom_of_ports(path, options=NAMED).comparisons == ()


@pytest.mark.parametrize(
    ("patch", "safe", "said"),
    [
        ({}, "safe", ""),
        ({"DSCP_TO_TC_MAP": {"AZURE": {"26": "0"}}}, "not checked", "DSCP 26 is lossy on 3 ports with PFC"),
        ({"MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {"3": "4"}}}, "not checked", "DSCP 26 is lossy on 3 ports"),
        (
            {
                "DSCP_TO_TC_MAP": {"B": {"26": "0"}},
                "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "B"}},
            },
            "safe",
            "DSCP 26 is lossy on 1 port with PFC",
        ),
    ],
    ids=["sound", "to TC 0", "the pause of another queue", "one port of three"],
)
def test_headroom_that_the_named_dscp_does_not_use_makes_nothing_safe(
    patch: Data, safe: str, said: str, tmp_path: Path
) -> None:
    closed = simulate(written(merge(LEAF, patch), tmp_path), NAMED)[0].closed
    assert closed.overall == safe
    assert (said in "; ".join(closed.not_checked)) if said else closed.not_checked == ()


def test_a_stale_group_is_computed_with_the_row_that_buffermgrd_writes(tmp_path: Path) -> None:
    """The file keeps the profile of the old length; buffermgrd replaces it by that of 40 m when the port comes up."""
    path = written(merge(LEAF, {"CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}}}), tmp_path)
    given = {
        kind.configured_cable_m: kind.configured.headroom_bytes
        for kind in headroom_of_ports(path, options=NAMED).comparisons
        if isinstance(kind.configured, ConfiguredHeadroom) and kind.speed_bps == 400_000_000_000
    }
    assert given == {5: 231_424, 40: 283_648}


# --- what a system does not state ---

CHIP = "the switch computes headroom itself, and no file of its system states it"


def of_spines(spine: Data, uplinks: str, folder: Path) -> Path:
    intent = load_text((BASES / "leaf-spine.yaml").read_text(), "leaf-spine.yaml").data
    leaf = {"profile": "nvidia-sn5600", "format": "nvue"} if "format" in spine else "nvidia-sn5600"
    patch = {
        "hardware": {"leaf": leaf, "spine": spine},
        "topology": {"leaf_spine": {"uplinks": uplinks}},
    }
    path = folder / "fabric.yaml"
    path.write_text(json.dumps(merge(intent, patch)))
    return path


@pytest.mark.parametrize(
    ("spine", "uplinks"),
    [
        ({"profile": "arista-7060x6-64pe", "format": "eos"}, "2 x 800G"),
        ({"profile": "arista-7060x6-64pe", "format": "eos"}, "4 x 400G"),
        ({"profile": "nvidia-sn5600", "format": "nvue"}, "2 x 800G"),
    ],
    ids=["EOS at a speed without a row of SONiC", "EOS at a speed with one", "NVUE"],
)
def test_headroom_that_a_chip_computes_is_not_checked_in_any_command(
    spine: Data, uplinks: str, tmp_path: Path
) -> None:
    path = of_spines(spine, uplinks, tmp_path)
    report = lint([path])
    assert [finding for finding in report.findings if finding.severity == "error"] == []
    assert ("BUF001", CHIP) in {(left.code, left.reason) for left in report.not_checked}
    closed = simulate(path)[0].closed
    assert (closed.overall, f"headroom: {CHIP}" in closed.not_checked) == ("not checked", True)
    assert {kind.configured for kind in headroom_of_ports(path).comparisons} == {MissingInput(CHIP)}
    hops = trace(path, "host1", "host5", 26).trace
    assert not hops.broken
    assert {hop.stages.priority_group.headroom_bytes for hop in hops.hops} == {None}


def test_headroom_that_sonic_configures_is_checked_in_all_commands(tmp_path: Path) -> None:
    path = of_spines({"profile": "nvidia-sn5600"}, "2 x 800G", tmp_path)
    assert "BUF001" not in {left.code for left in lint([path]).not_checked}
    assert simulate(path)[0].closed.overall == "safe"
    assert not any(isinstance(kind.configured, MissingInput) for kind in headroom_of_ports(path).comparisons)


# --- rows that go ---

FAULTS: dict[str, tuple[str, str, Data]] = {
    "an empty map": ("DSCP_TO_TC_MAP", "AAA", {}),
    "a group in the wrong order": ("BUFFER_PG", "Ethernet4|7-5", {"profile": "ingress_lossy_profile"}),
    "a group without profile": ("BUFFER_PG", "Ethernet0|7", {}),
    "a queue of a profile that is not there": ("BUFFER_QUEUE", "Ethernet8|7", {"profile": "none"}),
    "a word in a mask": ("PORT_QOS_MAP", "AAA", {"pfc_enable": "x"}),
}
"""Rows that do harm by being there, each beside a sound leaf."""
CHANGED: dict[str, Data] = {
    "a map that is not there": {"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "B"}}},
    "PFC off": {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": ""}}},
    "an entry to TC 0": {"DSCP_TO_TC_MAP": {"AZURE": {"26": "0"}}},
    "a short detection time": {"PFC_WD": {"Ethernet0": {"detection_time": "50"}}},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_row_that_is_the_fault_is_cured_by_removing_it(fault: str, tmp_path: Path) -> None:
    table, key, fields = FAULTS[fault]
    assert faulty_ports(merge(LEAF, {table: {key: fields}}), tmp_path)
    assert faulty_ports(LEAF, tmp_path) == frozenset()


@pytest.mark.parametrize("fault", [*FAULTS, *CHANGED])
def test_removing_another_row_never_takes_an_error_from_a_port(fault: str, tmp_path: Path) -> None:
    if fault in FAULTS:
        *place, fields = FAULTS[fault]
        data = merge(LEAF, {place[0]: {place[1]: fields}})
    else:
        data = merge(LEAF, CHANGED[fault])
        place = next([table, key] for table, keys in CHANGED[fault].items() for key in keys)
    before = faulty_ports(data, tmp_path)
    assert before
    others = [row for row in rows(LEAF) if [*row] != place and row[0] not in ("PORT", "FLEX_COUNTER_TABLE")]
    for table, key in some(others, 4, fault):
        left = {**data, table: {name: row for name, row in data[table].items() if name != key}}
        assert before <= faulty_ports(left, tmp_path), (table, key)


# --- the daemons' own records ---


@pytest.mark.tools("records")
def test_no_record_makes_lint_and_trace_disagree(reference: Path, tmp_path: Path) -> None:
    for record, dscp in some([*records(reference)], 3, "paths"):
        if record["name"] in UNKNOWN:
            continue
        path, options = written(record["input"], tmp_path), Options(rdma_dscps=(dscp,))
        report = lint([path], options)
        for source, target in itertools.permutations([*record["input"].get("PORT", {})][:3], 2):
            try:
                found = disagreements(path, report, source, target, options)
            except LosslessError:
                continue
            assert found == [], record["name"]


@pytest.mark.tools("records")
def test_no_record_is_unsafe_where_lint_has_nothing_of_the_buffers(reference: Path, tmp_path: Path) -> None:
    lossy = 0
    for record, dscp in some([*records(reference)], 2, "buffers"):
        path, options = written(record["input"], tmp_path), Options(rdma_dscps=(dscp,))
        reasons = unsafe(path, options)
        lossy += bool(reasons)
        assert not reasons or is_of_buffers(lint([path], options)), (record["name"], reasons)
    assert lossy > 15
