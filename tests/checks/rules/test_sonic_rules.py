"""What the device drops, waits for or throws on: the cases that the documentation has no room for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import lint
from lossless.checks.rules.registry import RULES
from lossless.checks.rules.sonic.fields import is_canonical, read_timer
from lossless.formats.sonic.read.tables import INT_MAX, UINT64_MAX, read_number
from lossless.ground.basics.units import listed
from tests.checks.rules.linted import device, drawn, only, unchecked

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.basics.findings import Finding

MINE = tuple(
    code for code in RULES if code.startswith("SWS") or code in {"CFG001", "CFG002", "CFG007", "CFG008"}
)
TRUE = {
    # A test configuration of upstream: PORT_QOS_MAP|Ethernet0 names the scheduler port_scheduler, which SCHEDULER
    # lacks; QUEUE has references in brackets; and there are pools without a size and groups with profile NULL.
    "utils-mock_tables_config_db.json": {"CFG002", "CFG007"},
}


def grave(path: Path) -> list[Finding]:
    return [f for f in lint([path]).findings if f.code in MINE and f.severity != "info"]


def test_no_configuration_of_upstream_draws_a_false_alarm(reference: Path) -> None:
    files = [p for d in ("full", "partial") for p in sorted((reference / "corpus" / d).glob("*.json"))]
    assert len(files) > 60
    for path in files:
        assert {f.code for f in grave(path)} == TRUE.get(path.name, set()), path.name


PROBES = {
    "dscp_leading_zero": "CFG001",
    "tc_8_in_dscp_map": "SWS002",
    "tc_to_queue_9": "SWS018",
    "map_empty_value": "SWS001",
    "pfc_enable_range": "SWS009",
    "pfcwd_action_caps": "SWS005",
    "wred_min_gt_max": "SWS003",
    "wred_min_without_max": "SWS003",
    "wred_threshold_5G": "SWS003",
    "wred_prob_101": "SWS003",
    "scheduler_type_lower": "SWS004",
    "scheduler_weight_0": "SWS004",
    "queue_overlap": "SWS007",
    "queue_same_range": "SWS006",
    "queue_garbage_index": "SWS006",
    "queue_port_list_key": "SWS008",
    "portqos_port_list_key": "SWS007",
    "bracket_ref": "CFG002",
    "bracket_ref_map": "CFG002",
    "pg_overlap": "SWS007",
    "pg_reverse": "SWS006",
    "pg_null": "CFG007",
    "queue_ingress_profile": "SWS014",
    "profile_wrong_threshold_kind": "SWS013",
    "profile_both_thresholds": "SWS018",
    "profile_no_threshold": "SWS018",
    "profile_dynamic_th_8": "SWS013",
    "profile_xoff_on_egress": "SWS014",
    "pool_no_size_traditional": "CFG007",
    "pool_percentage_traditional": "CFG007",
    "pool_renamed": "SWS012",
    "cable_float": "SWS015",
    "cable_none": "SWS015",
    "buffer_model_dynamic_no_params": "CFG007",
    "pfcwd_on_global_fields": "SWS010",
}


def test_each_probe_draws_its_rule_alone_at_the_row_that_changed(reference: Path) -> None:
    probes = reference / "corpus" / "probes"
    changed = {entry["probe"]: entry["changed"] for entry in json.loads((probes / "index.json").read_text())}
    for probe, code in PROBES.items():
        found = grave(probes / f"{probe}.json")
        assert [f.code for f in found] == [code], probe
        assert found[0].origin.path[:2] in {tuple(path[:2]) for path in changed[probe]}, probe


@pytest.mark.parametrize("probe", ["wred_flag_True", "ecn_on"])
def test_a_profile_that_is_refused_is_not_said_to_mark_or_drop(reference: Path, probe: str) -> None:
    found = lint([reference / "corpus" / "probes" / f"{probe}.json"]).findings
    about = [f.code for f in found if f.severity != "info" and f.origin.path[0] == "WRED_PROFILE"]
    assert about == ["SWS003", *(code for code in about if code == "ECN010")]


@pytest.mark.parametrize(("probe", "owner"), [("pg_egress_profile", "BUF024")])
def test_what_another_rule_says_is_not_said_twice(reference: Path, probe: str, owner: str) -> None:
    path = reference / "corpus" / "probes" / f"{probe}.json"
    assert grave(path) == []
    assert owner in {f.code for f in lint([path]).findings if f.severity != "info"}


def test_probes_that_change_nothing_draw_nothing(reference: Path) -> None:
    probes = reference / "corpus" / "probes"
    for entry in json.loads((probes / "index.json").read_text()):
        if not entry["changes_device"]:
            assert grave(probes / f"{entry['probe']}.json") == [], entry["probe"]


class TestReading:
    @pytest.mark.parametrize(
        ("text", "number"),
        [
            ("5", 5),
            (" 5", 5),
            ("+5", 5),
            ("-5", -5),
            ("05", 5),
            ("5abc", 5),
            ("5.9", 5),
            ("0x10", 0),
            ("0" * 5000 + "7", 7),
            (str(INT_MAX), INT_MAX),
            (str(INT_MAX + 1), None),
            ("9" * 5000, None),
            ("", None),
            ("abc", None),
            ("- 5", None),
            ("٥", None),
        ],
    )
    def test_numbers_are_read_as_stoi_does(self, text: str, number: int | None) -> None:
        assert read_number(text) == number

    def test_stoul_reads_up_to_64_bits(self) -> None:
        assert read_number(str(UINT64_MAX), UINT64_MAX) == UINT64_MAX
        assert read_number(str(UINT64_MAX + 1), UINT64_MAX) is None

    @pytest.mark.parametrize("text", ["0", "7", "-8", "100"])
    def test_plain_digits_are_canonical(self, text: str) -> None:
        assert is_canonical(text)

    @pytest.mark.parametrize("text", ["", " 7", "7 ", "+7", "07", "-08", "7.0", "0x7", "--7", "٧"])
    def test_anything_else_is_not(self, text: str) -> None:
        assert not is_canonical(text)

    @pytest.mark.parametrize(
        ("text", "ms"),
        [("400", 400), ("0400", 256), ("0x190", 400), (" 400", 400), ("0", 0), ("08", None), ("400ms", None),
         ("4_00", None), ("", None)],
    )  # fmt: skip
    def test_timers_take_their_base_from_the_text(self, text: str, ms: int | None) -> None:
        assert read_timer(text) == ms

    def test_four_names_are_shown(self) -> None:
        assert listed("abcd") == "a, b, c, d"
        assert listed("abcdef") == "a, b, c, d and 2 more"


class TestMaps:
    def test_entries_of_one_text_are_one_finding(self) -> None:
        report = device({"DSCP_TO_TC_MAP": {"AZURE": {"1": "", "2": "", "5": "x"}}})
        assert [(f.data["entries"], f.places) for f in drawn(report, "SWS001")] == [
            (["1", "2"], 2),
            (["5"], 1),
        ]

    def test_the_mark_of_an_empty_row_is_no_entry(self) -> None:
        assert drawn(device({"DOT1P_TO_TC_MAP": {"AZURE": {"NULL": "NULL"}}}), "SWS001") == []

    @pytest.mark.parametrize("rows", [{}, {"NULL": "NULL"}])
    @pytest.mark.parametrize(
        ("table", "severity"),
        [
            ("DSCP_TO_TC_MAP", "error"),
            ("MAP_PFC_PRIORITY_TO_QUEUE", "error"),
            ("TC_TO_DOT1P_MAP", "error"),
            ("MPLS_TC_TO_TC_MAP", "error"),
            ("TC_TO_DSCP_MAP", "warning"),
        ],
    )
    def test_a_map_without_entries_throws_wherever_it_is_bound(
        self, table: str, severity: str, rows: dict[str, str]
    ) -> None:
        """``ZZZ`` stands behind all others, so that no row waits; up to 202511 orchagent ends all the same."""
        for name in ("AAA", "ZZZ"):
            (found,) = drawn(device({table: {name: rows}}), "SWS001")
            assert (found.severity, found.data["map"]) == (severity, name)

    def test_an_empty_map_of_802_1p_is_empty(self) -> None:
        assert drawn(device({"DOT1P_TO_TC_MAP": {"AZURE": {}}}), "SWS001") == []

    @pytest.mark.parametrize("table", ["TC_TO_DOT1P_MAP", "MPLS_TC_TO_TC_MAP"])
    def test_maps_that_carry_no_rdma_throw_too(self, table: str) -> None:
        assert drawn(device({table: {"AZURE": {"1": "1"}}}), "SWS001") == []
        assert drawn(device({table: {"AZURE": {"1": "one"}}}), "SWS001")[0].severity == "error"

    @pytest.mark.parametrize(("dscp", "drawn_"), [("63", 0), ("64", 1), ("-1", 1)])
    def test_dscps_end_at_63(self, dscp: str, drawn_: int) -> None:
        assert len(drawn(device({"DSCP_TO_TC_MAP": {"AZURE": {dscp: "0"}}}), "SWS002")) == drawn_

    def test_a_dscp_above_63_refuses_the_whole_map_that_writes_dscps(self) -> None:
        found = only(device({"TC_TO_DSCP_MAP": {"AZURE": {"3": "64"}}}), "SWS002")
        assert (found.severity, found.origin.path) == ("error", ("TC_TO_DSCP_MAP", "AZURE", "3"))

    def test_entries_are_named_in_the_order_of_their_numbers_whatever_that_of_the_file(self) -> None:
        found = only(device({"TC_TO_DSCP_MAP": {"AZURE": {"10": "64", "6": "64", "5": "64"}}}), "SWS002")
        assert found.data["entries"] == ["5", "6", "10"]
        assert found.origin.path == ("TC_TO_DSCP_MAP", "AZURE", "5")

    def test_dscps_of_a_tc_without_a_queue_are_named_in_their_order(self) -> None:
        patch = {"DSCP_TO_TC_MAP": {"OTHER": {"12": "9", "11": "9"}}}
        assert only(device(patch), "SWS002").data["dscps"] == ["11", "12"]

    def test_a_queue_of_8_is_a_guess(self) -> None:
        found = only(device({"TC_TO_QUEUE_MAP": {"AZURE": {"7": "8"}}}), "SWS002")
        assert (found.severity, found.confidence) == ("warning", "medium")

    def test_tc_8_is_legal_where_a_map_takes_it_on_and_is_not_checked(self) -> None:
        patch = {"DSCP_TO_TC_MAP": {"AZURE": {"33": "8"}}, "TC_TO_QUEUE_MAP": {"AZURE": {"8": "1"}}}
        report = device(patch)
        assert drawn(report, "SWS002") == []
        assert unchecked(report, "SWS002") == {
            "DSCP_TO_TC_MAP AZURE uses TC 8, beyond the priorities of PFC": 1
        }

    def test_tc_16_does_not_exist(self) -> None:
        assert only(device({"DSCP_TO_TC_MAP": {"AZURE": {"33": "16"}}}), "SWS002").data["maximum"] == 15


def wred(**fields: str | None) -> dict[str, Any]:
    return {"WRED_PROFILE": {"AZURE_LOSSLESS": fields}}


class TestWred:
    def test_2_to_the_31_less_one_is_the_most(self) -> None:
        assert drawn(device(wred(red_max_threshold=str(INT_MAX))), "SWS003") == []
        assert only(device(wred(red_max_threshold=str(INT_MAX + 1))), "SWS003").severity == "error"

    def test_equal_thresholds_are_a_step_and_taken(self) -> None:
        assert drawn(device(wred(red_min_threshold="3276800")), "SWS003") == []

    def test_a_maximum_alone_is_taken(self) -> None:
        assert drawn(device(wred(red_min_threshold=None)), "SWS003") == []

    @pytest.mark.parametrize("mode", ["ecn_none", "ecn_green", "ecn_yellow_red", "ecn_all"])
    def test_modes_that_orchagent_knows(self, mode: str) -> None:
        assert drawn(device(wred(ecn=mode)), "SWS003") == []

    @pytest.mark.parametrize("mode", ["", "all", "ecn_ALL"])
    def test_a_lossless_queue_without_marks_is_said_once(self, mode: str) -> None:
        report = device(wred(ecn=mode))
        assert [f.code for f in report.findings if f.severity != "info"] == ["SWS003"]

    def test_a_profile_off_the_lossless_queues_has_no_other_rule(self) -> None:
        patch = {"WRED_PROFILE": {"BULK": {"ecn": "on", "wred_green_enable": "True"}}}
        assert len(drawn(device(patch), "SWS003")) == 2

    def test_a_flag_of_another_colour_refuses_the_profile_too(self) -> None:
        report = device(wred(wred_red_enable="True"))
        assert [f.code for f in report.findings if f.severity != "info"] == ["SWS003"]

    def test_a_field_of_a_newer_release_refuses_the_profile(self) -> None:
        found = only(device(wred(ecn_green_min_threshold="1")), "SWS003")
        assert found.origin.path == ("WRED_PROFILE", "AZURE_LOSSLESS", "ecn_green_min_threshold")


class TestSchedulers:
    @pytest.mark.parametrize(("weight", "drawn_"), [("1", 0), ("100", 0), ("0", 1), ("101", 1)])
    def test_weights_are_1_to_100(self, weight: str, drawn_: int) -> None:
        assert len(drawn(device({"SCHEDULER": {"scheduler.1": {"weight": weight}}}), "SWS004")) == drawn_

    @pytest.mark.parametrize(
        ("field", "value", "severity"),
        [
            ("meter_type", "bits", "error"),
            ("cir", "1G", None),
            ("cir", "fast", "error"),
            ("pir", "5000000000", None),
            ("priority", "3", "error"),
            ("colour", "red", "error"),
        ],
    )
    def test_fields(self, field: str, value: str, severity: str | None) -> None:
        found = drawn(device({"SCHEDULER": {"scheduler.1": {field: value}}}), "SWS004")
        assert [f.severity for f in found] == ([severity] if severity else [])

    @pytest.mark.parametrize(
        ("version", "severity"), [("version_4_0_1", "warning"), ("version_202305_01", "error")]
    )
    def test_old_releases_ignore_a_priority(self, version: str, severity: str) -> None:
        rows = {
            "SCHEDULER": {"scheduler.1": {"priority": "3"}},
            "VERSIONS": {"DATABASE": {"VERSION": version}},
        }
        assert only(device(rows), "SWS004").severity == severity


class TestWatchdogRows:
    def test_ports_identical_are_one_finding(self) -> None:
        rows = {port: {"action": "Drop"} for port in ("Ethernet0", "Ethernet4", "Ethernet8")}
        found = only(device({"PFC_WD": rows}), "SWS005")
        assert (found.places, found.elements[0]) == (3, "leaf1:Ethernet0")

    def test_a_timer_that_cannot_be_read_is_said_once(self) -> None:
        report = device({"PFC_WD": {"Ethernet4": {"detection_time": "soon"}}})
        assert {f.code for f in report.findings if f.severity == "error"} == {"SWS005"}

    def test_a_timer_out_of_range_is_the_timer_rules_to_say(self) -> None:
        report = device({"PFC_WD": {"Ethernet4": {"restoration_time": "90000"}}})
        assert drawn(report, "SWS005") == []
        assert drawn(report, "WD003") != []

    def test_a_cisco_8000_has_no_forward(self) -> None:
        patch = {
            "DEVICE_METADATA": {"localhost": {"hwsku": "Cisco-8102-C64"}},
            "PFC_WD": {"Ethernet4": {"action": "forward"}},
        }
        assert only(device(patch), "SWS005").severity == "warning"
        assert drawn(device({"PFC_WD": {"Ethernet4": {"action": "forward"}}}), "SWS005") == []

    @pytest.mark.parametrize("action", ["drop", "alert", "forward"])
    def test_actions_that_orchagent_knows(self, action: str) -> None:
        assert drawn(device({"PFC_WD": {"Ethernet4": {"action": action}}}), "SWS005") == []


LOSSY = {"profile": "ingress_lossy_profile"}


class TestKeys:
    @pytest.mark.parametrize("index", ["5-5", "6-5", "5-", "5-6-7"])
    def test_ranges_that_orchagent_refuses(self, index: str) -> None:
        found = only(device({"QUEUE": {f"Ethernet0|{index}": {}}}), "SWS006")
        assert found.severity == "warning"

    def test_a_refused_range_of_a_lossless_queue_is_an_error(self) -> None:
        row = {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}
        alone = device({"QUEUE": {"Ethernet0|3": None, "Ethernet0|3-3": row}})
        assert only(alone, "SWS006").severity == "error"
        assert only(device({"QUEUE": {"Ethernet0|3-3": row}}), "SWS006").severity == "warning"

    @pytest.mark.parametrize("index", ["3,4", "3a"])
    def test_an_index_that_is_read_in_part_is_a_warning(self, index: str) -> None:
        found = only(device({"QUEUE": {f"Ethernet0|{index}": {"scheduler": "scheduler.1"}}}), "SWS006")
        assert found.severity == "warning"

    def test_a_word_for_an_index_is_an_error_on_any_port(self) -> None:
        for index in ("x", "-5"):
            assert only(device({"QUEUE": {f"Ethernet0|{index}": {}}}), "SWS006").severity == "error"

    def test_a_key_without_an_index_keeps_no_port_waiting(self) -> None:
        found = only(device({"BUFFER_PG": {"Ethernet0": LOSSY}}), "SWS006")
        assert found.severity == "warning"

    @pytest.mark.parametrize("key", ["Ethernet0", "|5", "a|b|5"])
    def test_keys_that_name_no_port(self, key: str) -> None:
        assert only(device({"QUEUE": {key: {}}}), "SWS006").data["key"] == key

    def test_groups_end_at_7(self) -> None:
        assert drawn(device({"BUFFER_PG": {"Ethernet0|6-7": LOSSY}}), "SWS006") == []
        assert only(device({"BUFFER_PG": {"Ethernet0|7-8": LOSSY}}), "SWS006").severity == "error"

    def test_how_many_queues_there_are_is_a_guess(self) -> None:
        assert drawn(device({"QUEUE": {"Ethernet0|15": {}}}), "SWS006") == []
        found = only(device({"QUEUE": {"Ethernet0|16": {}}}), "SWS006")
        assert (found.severity, found.confidence) == ("warning", "medium")

    def test_the_cpu_has_more_queues(self) -> None:
        assert drawn(device({"QUEUE": {"CPU|0-47": {"scheduler": "scheduler.0"}}}), "SWS006") == []

    def test_ports_with_the_same_odd_range_are_one_finding(self) -> None:
        rows: dict[str, Any] = {f"{port}|5-5": {} for port in ("Ethernet0", "Ethernet4")}
        assert only(device({"QUEUE": rows}), "SWS006").places == 2


class TestOverlaps:
    def test_a_wide_row_over_several_is_one_finding(self) -> None:
        found = only(device({"QUEUE": {"Ethernet0|4-6": {"scheduler": "scheduler.1"}}}), "SWS007")
        assert found.data["numbers"] == [4, 5, 6]
        assert found.origin.path == ("QUEUE", "Ethernet0|4-6")

    def test_queue_rows_that_agree_or_set_other_fields_are_left_alone(self) -> None:
        same = {"QUEUE": {"Ethernet0|4-5": {"scheduler": "scheduler.0"}}}
        other = {"QUEUE": {"Ethernet0|4-5": {"wred_profile": "AZURE_LOSSLESS"}}}
        assert drawn(device(same), "SWS007") == []
        assert drawn(device(other), "SWS007") == []

    def test_groups_in_two_rows_are_reported_even_where_they_agree(self) -> None:
        rows = {"Ethernet0|3-4": {"profile": "pg_lossless_400000_5m_profile"}}
        found = only(device({"BUFFER_PG": rows}), "SWS007")
        assert (found.severity, found.data["rows"]) == ("warning", ["3-4", "3"])

    def test_all_ports_are_one_finding(self) -> None:
        rows = {
            f"{port}|1-2": {"scheduler": "scheduler.1"} for port in ("Ethernet0", "Ethernet4", "Ethernet8")
        }
        assert only(device({"QUEUE": rows}), "SWS007").places == 3

    def test_a_joined_key_beside_a_row_of_its_own(self) -> None:
        report = device({"QUEUE": {"Ethernet0,Ethernet4|3": {"scheduler": "scheduler.0"}}})
        assert only(report, "SWS007").elements == ("leaf1:Ethernet0", "leaf1:Ethernet4")
        assert drawn(report, "SWS008") == []


class TestJoinedKeys:
    def test_a_table_is_one_finding(self) -> None:
        rows = {f"Ethernet0,Ethernet4|{n}": {"scheduler": "scheduler.0"} for n in (7, 8, 9)}
        found = only(device({"QUEUE": rows}), "SWS008")
        assert (found.places, found.data["rows"], found.severity) == (2, 3, "warning")

    def test_pfc_by_a_joined_key_without_groups_of_its_own_is_an_error(self) -> None:
        row = {"pfc_enable": "3", "pfcwd_sw_enable": "3", "dscp_to_tc_map": "AZURE"}
        patch: dict[str, Any] = {
            "PORT_QOS_MAP": {"Ethernet0": None, "Ethernet4": None, "Ethernet0,Ethernet4": row},
            "BUFFER_PG": {"Ethernet0|3": None},
        }
        found = only(device(patch), "SWS008")
        assert found.severity == "error"
        assert found.elements == ("leaf1:Ethernet0", "leaf1:Ethernet4")


class TestMasks:
    @pytest.mark.parametrize("mask", ["3", "3,3", "3,", "", " 3"])
    def test_lists_that_all_read_in_the_same_way(self, mask: str) -> None:
        assert drawn(device({"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": mask}}}), "SWS009") == []

    def test_ports_identical_are_one_finding(self) -> None:
        rows = {port: {"pfc_enable": "3-4"} for port in ("Ethernet0", "Ethernet4", "Ethernet8")}
        assert only(device({"PORT_QOS_MAP": rows}), "SWS009").places == 3


class TestGlobalRows:
    def test_pfc_for_the_whole_switch_is_an_error_where_no_port_has_any(self) -> None:
        without = {port: {"pfc_enable": None} for port in ("Ethernet0", "Ethernet4", "Ethernet8")}
        rows: dict[str, Any] = {"global": {"pfc_enable": "3"}, **without}
        assert only(device({"PORT_QOS_MAP": rows}), "SWS010").severity == "error"
        assert only(device({"PORT_QOS_MAP": {"global": {"pfc_enable": "3"}}}), "SWS010").severity == "warning"

    @pytest.mark.parametrize(("table", "key"), [("PORT_QOS_MAP", "GLOBAL"), ("PFC_WD", "global")])
    def test_the_wrong_case_is_said_once(self, table: str, key: str) -> None:
        report = device({table: {key: {"NULL": "NULL"}}})
        assert [f.code for f in report.findings if f.severity != "info"] == ["SWS010"]

    def test_the_big_red_switch_counts(self) -> None:
        assert drawn(device({"PFC_WD": {"GLOBAL": {"BIG_RED_SWITCH": "disable"}}}), "SWS010") == []

    @pytest.mark.parametrize(("text", "severity"), [("often", "error"), ("", "error"), ("600ms", "warning")])
    def test_a_poll_interval_without_a_number(self, text: str, severity: str) -> None:
        """std::stoi reads 600ms as 600, and throws on the others."""
        assert only(device({"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": text}}}), "SWS010").severity == severity


class TestBuffers:
    def test_a_negative_exponent_is_an_exponent(self) -> None:
        assert (
            drawn(device({"BUFFER_PROFILE": {"egress_lossy_profile": {"dynamic_th": "-8"}}}), "SWS011") == []
        )

    @pytest.mark.parametrize(("field", "text"), [("size", ""), ("size", "much"), ("dynamic_th", "x")])
    def test_text_throws(self, field: str, text: str) -> None:
        found = only(device({"BUFFER_PROFILE": {"egress_lossy_profile": {field: text}}}), "SWS011")
        assert found.data == {"field": field, "value": text}

    def test_without_the_pool_buffermgrd_makes_no_group(self) -> None:
        pool = {"type": "ingress", "mode": "dynamic", "size": "78000000"}
        profiles = {
            name: {"pool": "rdma_pool"}
            for name in ("ingress_lossless_profile", "pg_lossless_800000_40m_profile")
        }
        patch: dict[str, Any] = {
            "BUFFER_POOL": {"ingress_lossless_pool": None, "rdma_pool": pool},
            "BUFFER_PROFILE": {**profiles, "pg_lossless_400000_5m_profile": None},
            "BUFFER_PG": {"Ethernet0|3": None, "Ethernet4|3": None},
        }
        found = only(device(patch), "SWS012")
        assert found.severity == "error"
        assert set(found.elements) == {"leaf1:Ethernet0", "leaf1:Ethernet4"}

    def test_groups_by_hand_need_no_name(self) -> None:
        pool = {"type": "ingress", "mode": "dynamic", "size": "78000000"}
        names = (
            "ingress_lossless_profile",
            "pg_lossless_800000_40m_profile",
            "pg_lossless_400000_5m_profile",
        )
        patch: dict[str, Any] = {
            "BUFFER_POOL": {"ingress_lossless_pool": None, "rdma_pool": pool},
            "BUFFER_PROFILE": {name: {"pool": "rdma_pool"} for name in names},
        }
        assert drawn(device(patch), "SWS012") == []

    def test_zero_pools_are_left_alone(self) -> None:
        pool = {"type": "ingress", "mode": "static", "size": "0"}
        assert drawn(device({"BUFFER_POOL": {"ingress_zero_pool": pool}}), "SWS012") == []


def threshold(metadata: dict[str, str] | None = None, **fields: str | None) -> list[Finding]:
    patch: dict[str, Any] = {"BUFFER_PROFILE": {"egress_lossy_profile": fields}}
    if metadata:
        patch["DEVICE_METADATA"] = {"localhost": metadata}
    return drawn(device(patch), "SWS013")


class TestThresholds:
    @pytest.mark.parametrize(("exponent", "count"), [("-8", 0), ("7", 0), ("-9", 1), ("8", 1)])
    def test_exponents_are_minus_8_to_7(self, exponent: str, count: int) -> None:
        assert len(threshold(dynamic_th=exponent)) == count

    def test_broadcom_templates_mix_the_kinds_and_nvidia_ones_do_not(self) -> None:
        other = {"hwsku": "Arista-7060CX-32S-D48C8", "platform": "x86_64-arista_7060_cx32s"}
        assert threshold(other, dynamic_th=None, static_th="1000000") == []
        assert [f.severity for f in threshold(dynamic_th=None, static_th="1000000")] == ["warning"]

    def test_the_dynamic_model_drops_the_wrong_kind(self) -> None:
        found = threshold({"buffer_model": "dynamic"}, dynamic_th=None, static_th="1000000")
        assert [f.severity for f in found] == ["error"]

    def test_computed_headroom_needs_no_threshold(self) -> None:
        assert threshold(dynamic_th=None, headroom_type="dynamic") == []


class TestSides:
    def test_ports_identical_are_one_finding(self) -> None:
        rows = {f"{port}|1": LOSSY for port in ("Ethernet0", "Ethernet4", "Ethernet8")}
        assert only(device({"BUFFER_QUEUE": rows}), "SWS014").places == 3

    def test_a_paused_group_without_headroom_is_another_rules_to_say(self) -> None:
        report = device({"BUFFER_PG": {"Ethernet0|3": {"profile": "egress_lossless_profile"}}})
        assert drawn(report, "SWS014") == []
        assert drawn(report, "BUF024") != []

    def test_a_lossy_group_on_the_wrong_side_has_no_other_rule(self) -> None:
        report = device({"BUFFER_PG": {"Ethernet0|0": {"profile": "egress_lossy_profile"}}})
        assert only(report, "SWS014").severity == "warning"

    def test_a_paused_group_with_headroom_at_egress_has_no_other_rule(self) -> None:
        patch = {
            "BUFFER_PROFILE": {"egress_lossless_profile": {"xoff": "231424"}},
            "BUFFER_PG": {"Ethernet0|3": {"profile": "egress_lossless_profile"}},
        }
        found = drawn(device(patch), "SWS014")
        assert {f.origin.path[0] for f in found} == {"BUFFER_PG", "BUFFER_PROFILE"}

    def test_a_pool_for_both_sides_serves_either(self) -> None:
        patch = {
            "BUFFER_POOL": {"ingress_lossy_pool": {"type": "both"}},
            "BUFFER_QUEUE": {"Ethernet0|1": LOSSY},
        }
        assert drawn(device(patch), "SWS014") == []

    def test_profile_lists_have_a_side_too(self) -> None:
        names = "ingress_lossless_profile,egress_lossy_profile"
        found = only(
            device({"BUFFER_PORT_INGRESS_PROFILE_LIST": {"Ethernet0": {"profile_list": names}}}), "SWS014"
        )
        assert found.data["profile"] == "egress_lossy_profile"

    def test_trimming_is_for_queues(self) -> None:
        profile = {"ingress_lossy_profile": {"packet_discard_action": "trim"}}
        found = drawn(device({"BUFFER_PROFILE": profile}), "SWS014")
        assert {f.origin.path[0] for f in found} == {"BUFFER_PG", "BUFFER_PORT_INGRESS_PROFILE_LIST"}
        egress = {"egress_lossy_profile": {"packet_discard_action": "trim"}}
        found = drawn(device({"BUFFER_PROFILE": egress}), "SWS014")
        assert {f.origin.path[0] for f in found} == {"BUFFER_PORT_EGRESS_PROFILE_LIST"}

    def test_headroom_of_no_bytes_at_egress_is_left_alone(self) -> None:
        assert drawn(device({"BUFFER_PROFILE": {"egress_lossless_profile": {"xoff": "0"}}}), "SWS014") == []


class TestCables:
    @pytest.mark.parametrize("text", ["5", "5 m", "5M", "4.5m", "None", ""])
    def test_only_whole_metres_are_looked_up(self, text: str) -> None:
        found = only(device({"CABLE_LENGTH": {"AZURE": {"Ethernet4": text}}}), "SWS015")
        assert found.severity == "warning"
        assert found.elements == ("leaf1:Ethernet4",)

    @pytest.mark.parametrize(("absent", "unread"), [(0, 4), (4, 0)])
    def test_a_port_without_a_length_changes_nothing_for_the_next(self, absent: int, unread: int) -> None:
        patch = {"CABLE_LENGTH": {"AZURE": {f"Ethernet{absent}": None, f"Ethernet{unread}": "5"}}}
        assert only(device(patch), "SWS015").elements == (f"leaf1:Ethernet{unread}",)

    def test_where_the_group_is_missing_the_other_rule_speaks(self) -> None:
        patch = {"CABLE_LENGTH": {"AZURE": {"Ethernet4": "4.5m"}}, "BUFFER_PG": {"Ethernet4|3": None}}
        report = device(patch)
        assert drawn(report, "SWS015") == []
        assert drawn(report, "BUF004") != []

    def test_ports_that_are_down_are_left_alone(self) -> None:
        patch = {
            "CABLE_LENGTH": {"AZURE": {"Ethernet4": "None"}},
            "PORT": {"Ethernet4": {"admin_status": "down"}},
        }
        assert drawn(device(patch), "SWS015") == []

    @pytest.mark.parametrize(("text", "severity"), [("4.5m", None), ("None", "error")])
    def test_the_dynamic_model_needs_the_number(self, text: str, severity: str | None) -> None:
        patch = {
            "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}},
            "CABLE_LENGTH": {"AZURE": {"Ethernet4": text}},
        }
        found = drawn(device(patch), "SWS015")
        assert [f.severity for f in found] == ([severity] if severity else [])
