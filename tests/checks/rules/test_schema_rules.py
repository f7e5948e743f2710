"""What the rules of the schema say: one finding a mistake, at its place, and nothing on what SONiC accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossless.api import Options, lint_documents
from lossless.ground.documents import load, load_text
from tests.checks.rules.checking import patched, unchecked

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.text import Document

Config = dict[str, Any]


def schema_findings(*documents: Document) -> list[Finding]:
    """Return what the rules of the schema find in documents that must all be readable."""
    report = lint_documents(documents, Options())
    return [finding for finding in report.findings if finding.code.startswith("SCM")]


def of(config: Config) -> list[Finding]:
    return schema_findings(load_text(json.dumps(config), "config_db.json"))


def on_leaf(patch: Config) -> list[Finding]:
    return schema_findings(patched("leaf.json", patch))


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, [finding.message for finding in findings]
    return findings[0]


class TestOneFindingAMistake:
    def test_rows_with_the_same_mistake_are_counted_at_the_first(self) -> None:
        ports = ("Ethernet0", "Ethernet4", "Ethernet8")
        found = only(on_leaf({"PORT": {port: {"colour": "red"} for port in ports}}))
        assert (found.code, found.severity, found.confidence) == ("SCM001", "warning", "medium")
        assert found.origin.path == ("PORT", "Ethernet0", "colour")
        assert (found.data["table"], found.places) == ("PORT", 3)
        assert found.elements == tuple(f"PORT|{port}" for port in ports)

    def test_other_values_are_other_mistakes(self) -> None:
        found = on_leaf({"PORT": {"Ethernet0": {"mtu": "1"}, "Ethernet4": {"mtu": "2"}}})
        assert [f.data["values"] for f in found] == [["1"], ["2"]]

    def test_cables_of_many_ports_without_a_length_are_one(self) -> None:
        lengths = dict.fromkeys(("Ethernet0", "Ethernet4", "Ethernet8"), "None")
        assert only(on_leaf({"CABLE_LENGTH": {"AZURE": lengths}})).data["values"] == ["None"]

    def test_ports_that_are_gone_are_one_for_each_table(self) -> None:
        found = on_leaf({"PORT": {"Ethernet4": None, "Ethernet8": None}})
        assert {f.code for f in found} == {"SCM003"}
        assert [f.data["values"] for f in found if f.origin.path[0] == "PFC_WD"] == [
            ["Ethernet4", "Ethernet8"]
        ]
        assert len(found) == len({f.origin.path[0] for f in found})

    def test_all_timers_below_the_poll_blame_the_poll(self) -> None:
        found = [f for f in on_leaf({"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "1000"}}}) if f.code == "SCM004"]
        assert only(found).origin.path == ("PFC_WD", "GLOBAL", "POLL_INTERVAL")
        assert only(found).places == 3

    def test_one_timer_below_the_poll_is_to_blame(self) -> None:
        patch = {"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "400"}, "Ethernet4": {"detection_time": "300"}}}
        found = only([f for f in on_leaf(patch) if f.code == "SCM004"])
        assert found.origin.path == ("PFC_WD", "Ethernet4", "detection_time")
        assert [related.origin.path for related in found.related] == [("PFC_WD", "GLOBAL", "POLL_INTERVAL")]

    def test_the_first_of_many_does_not_hide_the_rest(self) -> None:
        patch = {
            "PORT": {"Ethernet0": {"tpid": "0x1", "colour": "red", "macsec": "gone"}},
            "MACSEC_PROFILE": {},
            "FLEX_COUNTER_TABLE": {"NONE": {}},
            "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {}},
        }
        codes = [finding.code for finding in on_leaf(patch)]
        assert codes == ["SCM001", "SCM002", "SCM003", "SCM005", "SCM005", "SCM006"]


class TestTablesWithoutSchema:
    def test_all_of_a_file_are_one_info(self) -> None:
        found = only(on_leaf({"TC_TO_DOT1P_MAP": {"AZURE": {"3": "3"}}, "PORT_QOS_MAPS": {}}))
        assert (found.code, found.severity, found.places) == ("SCM007", "info", 2)
        assert found.data == {"tables": ["PORT_QOS_MAPS", "TC_TO_DOT1P_MAP"]}

    def test_tables_of_other_subjects_are_left_alone(self) -> None:
        assert on_leaf({"VLAN": {"Vlan1": {"colour": "red"}}, "ACL_TABLE": {"x": {}}}) == []


class TestReleases:
    def test_a_field_of_a_later_release_is_a_warning(self) -> None:
        found = only(on_leaf({"PORT": {"Ethernet0": {"speed": "1600000"}}}) or [])
        assert (found.code, found.severity) == ("SCM008", "warning")
        assert found.data == {"table": "PORT", "release": "202411", "values": ["1600000"]}

    def test_where_the_release_is_unknown_only_what_master_refuses_is_an_info(self) -> None:
        port = {"Ethernet0": {"lanes": "1", "speed": "1600000", "fast_linkup": "true"}}
        config: Config = {"PORT": port, "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "2000"}}}
        found = only(of(config))
        assert (found.code, found.severity) == ("SCM008", "info")
        assert found.origin.path == ("PFC_WD", "GLOBAL", "POLL_INTERVAL")


class TestPartOfAConfiguration:
    def test_a_table_that_lies_elsewhere_is_an_info(self) -> None:
        config: Config = {"QUEUE": {"Ethernet0|3": {}, "Ethernet4|3": {}}, "SCHEDULER": {}}
        found = only(of(config))
        assert (found.severity, found.data["values"]) == ("info", ["Ethernet0", "Ethernet4"])

    def test_a_file_of_one_table_is_not_checked(self) -> None:
        config: Config = {"QUEUE": {"Ethernet0|3": {}, "Ethernet4|3": {}}}
        assert of(config) == []
        (rule,) = unchecked("SCM003", load_text(json.dumps(config), "config_db.json"))
        assert rule == ("SCM003", "PORT, which rows name, is not in this part of a configuration", 2)

    def test_rows_of_a_table_that_is_there_are_missed(self) -> None:
        config = {"QUEUE": {"Ethernet0|3": {"scheduler": "x"}}, "SCHEDULER": {"y": {"type": "STRICT"}}}
        assert ["x"] in [f.data["values"] for f in of(config)]

    def test_brackets_are_one_cause_wherever_they_stand(self) -> None:
        config: Config = {
            "QUEUE": {"Ethernet0|3": {"scheduler": "[SCHEDULER|x]", "wred_profile": "[WRED_PROFILE:y]"}},
            "BUFFER_PG": {"Ethernet0|3": {"profile": "[BUFFER_PROFILE|z]"}},
        }
        found = only([f for f in of(config) if f.origin.path[-1] == "profile"])
        assert (found.severity, found.places) == ("info", 2)
        assert found.data["values"] == ["[BUFFER_PROFILE|z]", "[SCHEDULER|x]", "[WRED_PROFILE:y]"]

    def test_a_part_may_say_which_buffer_model_its_rows_are_for(self) -> None:
        """As rendered without a base for switches that compute their buffers."""
        rows: Config = {"QUEUE": {"Ethernet0|3": {}}, "SCHEDULER": {}}
        dynamic: Config = {"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}}
        assert (only(of(rows | dynamic)).code, only(of(rows | dynamic)).severity) == ("SCM003", "info")
        of_a_device: Config = {"DEVICE_METADATA": {"localhost": {"hwsku": "ACS-SN5600"}}}
        assert only(of(rows | of_a_device)).severity == "warning"

    def test_a_part_is_held_to_the_buffer_model_that_it_says(self) -> None:
        pool = {"type": "ingress", "mode": "dynamic", "percentage": "50"}
        part: Config = {"BUFFER_POOL": {"ingress_lossless_pool": pool}}
        metadata: Config = {"DEVICE_METADATA": {"localhost": {"buffer_model": "traditional"}}}
        assert of(part) == []
        assert only(of(part | metadata)).code == "SCM004"

    def test_in_a_whole_configuration_it_is_a_warning(self) -> None:
        config = {
            "QUEUE": {"Ethernet0|3": {"scheduler": "x"}},
            "PORT": {"Ethernet0": {"lanes": "1", "speed": "1"}},
        }
        assert {(f.code, f.severity) for f in of(config)} == {("SCM003", "warning")}


class TestAgainstUpstream:
    """The verdict of SONiC's own validator, through the whole linter."""

    def test_what_it_refuses_is_found_and_what_it_accepts_is_not(self, reference: Path) -> None:
        folder = reference / "corpus" / "rejected"
        for name in ("cases.json", "accepted_cases.json"):
            for case in json.loads((folder / name).read_text()):
                found = of(case["config_db"])
                if case["oracle_rejects"]:
                    assert found, case["test"]
                else:
                    assert [f for f in found if f.severity != "info"] == [], case["test"]

    def test_probes_are_found_at_the_row_that_was_changed(self, reference: Path) -> None:
        folder = reference / "corpus" / "probes"
        for probe in json.loads((folder / "index.json").read_text()):
            found = schema_findings(load(folder / f"{probe['probe']}.json"))
            rows = {tuple(path[:2]) for path in probe["changed"]}
            if probe["yang_accepts"]:
                assert found == [], probe["probe"]
            else:
                assert rows & {f.origin.path[:2] for f in found}, (probe["probe"], found)

    def test_accepted_configurations_have_no_warning(self, reference: Path) -> None:
        for entry in json.loads((reference / "corpus" / "index.json").read_text()):
            found = schema_findings(load(reference / "corpus" / entry["file"]))
            if entry["yang_accepts"] is not False:
                assert [f for f in found if f.severity != "info"] == [], entry["file"]
