"""Configurations that contradict themselves: numbers, names, models and ports."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lossless.api import lint_documents
from lossless.ground.documents import load_text
from tests.checks.rules.linted import device, drawn, only, unchecked
from tests.checks.rules.snippets import BASES, merge
from tests.formats.sonic.shapes import bracketed


class TestNumbers:
    def test_a_blank_before_a_number_is_worth_knowing(self) -> None:
        found = only(device({"BUFFER_PROFILE": {"egress_lossy_profile": {"size": " 9216"}}}), "CFG001")
        assert (found.severity, found.data["number"]) == ("info", 9216)

    @pytest.mark.parametrize(("text", "number"), [("9216 kB", 9216), ("0x2400", 0), ("92.16", 92)])
    def test_another_number_than_is_written_is_a_warning(self, text: str, number: int) -> None:
        found = only(device({"BUFFER_PROFILE": {"egress_lossy_profile": {"size": text}}}), "CFG001")
        assert (found.severity, found.data["number"]) == ("warning", number)

    def test_a_leading_zero_is_worth_knowing_where_the_number_is_not_there_twice(self) -> None:
        patch = {"DSCP_TO_TC_MAP": {"AZURE": {"8": None, "08": "0"}}}
        assert only(device(patch), "CFG001").severity == "info"

    def test_one_dscp_written_twice(self) -> None:
        found = only(device({"DSCP_TO_TC_MAP": {"AZURE": {"08": "1"}}}), "CFG001")
        assert found.severity == "warning"
        assert found.data == {"text": "08", "number": 8}

    def test_a_watchdog_timer_with_a_leading_zero_is_octal(self) -> None:
        rows = {port: {"restoration_time": "01440"} for port in ("Ethernet0", "Ethernet4")}
        found = only(device({"PFC_WD": rows}), "CFG001")
        assert found.data == {"text": "01440", "number": 800}
        assert (found.severity, found.places) == ("warning", 2)

    @pytest.mark.parametrize("value", [9216, "9216"])
    def test_a_number_may_be_text_or_not(self, value: object) -> None:
        assert drawn(device({"BUFFER_PROFILE": {"egress_lossy_profile": {"size": value}}}), "CFG001") == []

    def test_what_cannot_be_read_at_all_is_said_elsewhere(self) -> None:
        report = device({"BUFFER_PROFILE": {"egress_lossy_profile": {"size": "much"}}})
        assert drawn(report, "CFG001") == []
        assert drawn(report, "SWS011") != []


class TestReferences:
    def test_rows_that_name_the_same_are_one_finding(self) -> None:
        rows = {f"{port}|5": {"scheduler": "gone"} for port in ("Ethernet0", "Ethernet4", "Ethernet8")}
        found = only(device({"QUEUE": rows}), "CFG002")
        assert (found.places, found.origin.path) == (3, ("QUEUE", "Ethernet0|5", "scheduler"))

    def test_a_port_row_waits_with_its_pfc(self) -> None:
        found = only(device({"PORT_QOS_MAP": {"Ethernet4": {"tc_to_queue_map": "NOPE"}}}), "CFG002")
        assert found.severity == "error"

    def test_a_blank_in_a_list_is_part_of_the_name(self) -> None:
        names = "egress_lossless_profile, egress_lossy_profile"
        found = only(
            device({"BUFFER_PORT_EGRESS_PROFILE_LIST": {"Ethernet0": {"profile_list": names}}}), "CFG002"
        )
        assert found.data["name"] == " egress_lossy_profile"

    def test_an_empty_name_names_nothing(self) -> None:
        assert only(device({"BUFFER_PG": {"Ethernet0|0": {"profile": ""}}}), "CFG002").data["name"] == ""

    def test_a_profile_that_buffermgrd_will_make_is_not_missed(self) -> None:
        patch = {"BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": None}}
        assert drawn(device(patch), "CFG002") == []
        other = {"BUFFER_PG": {"Ethernet0|3": {"profile": "pg_lossless_400000_300m_profile"}}}
        assert only(device(other), "CFG002").data["name"] == "pg_lossless_400000_300m_profile"

    def test_the_dynamic_model_makes_its_profiles_elsewhere(self) -> None:
        patch: dict[str, Any] = {
            "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}},
            "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": None},
        }
        assert only(device(patch), "CFG002").places == 2

    def test_the_row_for_the_whole_switch_waits_for_its_dscp_map_alone(self) -> None:
        rows = {"global": {"dscp_to_tc_map": "NOPE", "tc_to_queue_map": "NOPE"}}
        assert only(device({"PORT_QOS_MAP": rows}), "CFG002").data["table"] == "DSCP_TO_TC_MAP"

    @pytest.mark.parametrize(
        ("version", "severity"),
        [
            ("version_3_0_2", "info"),
            ("version_1_0_1", "info"),
            ("version_3_0_3", "error"),
            ("version_202411_01", "error"),
            (None, "error"),
        ],
    )
    def test_brackets_are_as_grave_as_the_release_is_new(self, version: str | None, severity: str) -> None:
        patch: dict[str, Any] = {
            "VERSIONS": {"DATABASE": {"VERSION": version}},
            "QUEUE": {"Ethernet0|3": {"scheduler": "[SCHEDULER|scheduler.0]"}},
            "BUFFER_PG": {"Ethernet0|0": {"profile": "[BUFFER_PROFILE|ingress_lossy_profile]"}},
        }
        found = only(device(patch), "CFG002")
        assert (found.severity, found.places, found.data) == (severity, 1, {"references": 2})

    @pytest.mark.parametrize(
        ("version", "codes"), [("version_3_0_2", {"PFC005"}), ("version_202411_01", {"CFG002"})]
    )
    def test_a_name_in_brackets_that_nothing_is_found_by_is_all_that_is_wrong(
        self, version: str, codes: set[str]
    ) -> None:
        """Where a migration removes the brackets the queue does get the lossy profile."""
        patch = {
            "VERSIONS": {"DATABASE": {"VERSION": version}},
            "BUFFER_QUEUE": {"Ethernet0|3": {"profile": "[BUFFER_PROFILE|ingress_lossy_profile]"}},
        }
        found = device(patch).findings
        assert {
            each.code for each in found if each.code in ("CFG002", "PFC005") and each.severity != "info"
        } == codes

    @pytest.mark.parametrize(
        ("table", "key"),
        [
            ("SCHEDULER", "scheduler.1"),
            ("WRED_PROFILE", "AZURE_LOSSLESS"),
            ("DSCP_TO_TC_MAP", "AZURE"),
            ("BUFFER_PROFILE", "ingress_lossy_profile"),
            ("BUFFER_POOL", "ingress_lossless_pool"),
        ],
    )
    @pytest.mark.parametrize("key_of", ["{} ", " {}", "{}\t"])
    def test_a_blank_in_the_key_of_a_row_is_part_of_its_name(self, table: str, key: str, key_of: str) -> None:
        """SONiC's models strip it, and find nothing wrong."""
        row = json.loads((BASES / "leaf.json").read_text())[table][key]
        found = drawn(device({table: {key: None, key_of.format(key): row}}), "CFG002")
        assert found
        assert {each.data["name"] for each in found} == {key}
        assert drawn(device({table: {key_of.format(key): row}}), "CFG002") == []

    @pytest.mark.parametrize(
        ("rows", "severity"),
        [
            ({"Ethernet0|0-7": {"wred_profile": "gone"}}, "warning"),
            ({"Ethernet0|3-7": {"scheduler": "gone"}}, "warning"),
            ({"Ethernet0|3": {"wred_profile": "gone"}}, "error"),
            (
                {"Ethernet0|3": {"wred_profile": None}, "Ethernet0|3-7": {"wred_profile": "gone"}},
                "error",
            ),
        ],
    )
    def test_a_row_that_waits_beside_one_that_serves_the_queue_harms_nothing(
        self, rows: dict[str, Any], severity: str
    ) -> None:
        assert only(device({"QUEUE": {**LOSSLESS_QUEUE, **rows}}), "CFG002").severity == severity

    def test_a_file_without_a_version_whose_names_are_all_in_brackets_is_of_an_old_release(self) -> None:
        data = merge(json.loads((BASES / "leaf.json").read_text()), {"VERSIONS": None})
        text = json.dumps(bracketed(data))
        found = only(lint_documents([load_text(text, "config_db.json")]), "CFG002")
        assert found.severity == "warning"

    def test_part_of_a_configuration_is_not_checked_without_the_table_that_is_meant(self) -> None:
        part = '{"QUEUE": {"Ethernet0|3": {"scheduler": "scheduler.1"}}}'
        report = lint_documents([load_text(part, "qos.json")])
        assert drawn(report, "CFG002") == []
        assert unchecked(report, "CFG002") == {
            "SCHEDULER, which QUEUE names, is not in this part of a configuration": 1
        }


LOSSLESS_QUEUE = {"Ethernet0|3": {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}}
PARAMETERS = {
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
    "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}},
}
DYNAMIC = {"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}}
NULL = {"BUFFER_PG": {"Ethernet4|0": {"profile": "NULL"}, "Ethernet0|0": {"profile": "NULL"}}}


class TestBufferModel:
    def test_the_dynamic_model_with_its_tables(self) -> None:
        assert drawn(device({**DYNAMIC, **PARAMETERS, **NULL}), "CFG007") == []

    @pytest.mark.parametrize("missing", sorted(PARAMETERS))
    def test_the_dynamic_model_needs_both_tables(self, missing: str) -> None:
        there = {table: rows for table, rows in PARAMETERS.items() if table != missing}
        found = only(device({**DYNAMIC, **there}), "CFG007")
        assert found.data["missing"] == [missing]
        assert found.origin.path == ("DEVICE_METADATA", "localhost", "buffer_model")

    def test_rows_of_one_kind_are_one_finding_at_the_first(self) -> None:
        found = only(device(NULL), "CFG007")
        assert (found.places, found.origin.path) == (2, ("BUFFER_PG", "Ethernet0|0", "profile"))

    @pytest.mark.parametrize("model", [None, "traditional", "Dynamic"])
    def test_several_signs_blame_the_model(self, model: str | None) -> None:
        metadata = {"DEVICE_METADATA": {"localhost": {"buffer_model": model}}}
        found = only(device({**metadata, **PARAMETERS, **NULL}), "CFG007")
        assert found.origin.path[:2] == ("DEVICE_METADATA", "localhost")

    def test_parameters_alone_do_no_harm(self) -> None:
        assert drawn(device(PARAMETERS), "CFG007") == []

    def test_part_of_a_configuration_does_not_say_its_model(self) -> None:
        part = '{"BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic"}}}'
        assert drawn(lint_documents([load_text(part, "buffers.json")]), "CFG007") == []


class TestPorts:
    def test_strangers_in_the_same_tables_are_one_finding(self) -> None:
        rows = {f"Ethernet{n}|3": {"scheduler": "scheduler.1"} for n in (12, 16, 100)}
        found = only(device({"QUEUE": rows}), "CFG008")
        assert found.places == 3
        assert found.elements == ("leaf1:Ethernet12", "leaf1:Ethernet16", "leaf1:Ethernet100")

    def test_strangers_in_other_tables_are_told_apart(self) -> None:
        patch = {
            "QUEUE": {"Ethernet12|3": {}, "Ethernet16|3": {}},
            "PFC_WD": {"Ethernet12": {"detection_time": "800"}},
        }
        found = drawn(device(patch), "CFG008")
        assert sorted(f.data["tables"] for f in found) == [["QUEUE"], ["QUEUE", "PFC_WD"]]  # type: ignore[type-var]

    def test_a_cable_alone_does_no_harm(self) -> None:
        assert only(device({"CABLE_LENGTH": {"AZURE": {"Ethernet12": "5m"}}}), "CFG008").severity == "info"

    @pytest.mark.parametrize("key", ["CPU|3", "PortChannel1|3"])
    def test_what_is_no_stranger(self, key: str) -> None:
        assert drawn(device({"QUEUE": {key: {}}}), "CFG008") == []

    def test_ports_of_other_cards_are_left_alone(self) -> None:
        patch = {
            "DEVICE_METADATA": {"localhost": {"switch_type": "voq", "asic_name": "Asic0"}},
            "QUEUE": {"leaf2|Asic0|Ethernet200|3": {}, "leaf1|Asic0|Ethernet0|7": {}},
        }
        assert drawn(device(patch), "CFG008") == []

    def test_without_ports_nothing_is_checked(self) -> None:
        assert drawn(device({"PORT": None}), "CFG008") == []
