"""Drift: what runs on a switch against what its intent declares, row by row; and neighbors that nobody named."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import assume, given, settings, strategies as st

from lossless.api import Options, lint, lint_documents, render
from lossless.ground.documents import load_text
from tests.checks.rules.checking import Patch, corpus_findings, drawn, only, patched, unchecked
from tests.checks.rules.snippets import BASES, merge
from tests.output.render.test_render_laws import _other, _values, rendered
from tests.paths import ROOT
from tests.strategies import document_of, fabric_of, intents

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.text import Document

EXAMPLE = ROOT / "examples" / "roce-256"
HOST_PORTS = tuple(f"Ethernet{n}" for n in range(0, 32, 4))
UPLINKS = tuple(f"Ethernet{n}" for n in range(32, 64, 8))


def intent(patch: Patch | None = None) -> Document:
    return patched("leaf-spine.yaml", patch or {})


def leaf(patch: Patch | None = None) -> Document:
    return patched("rendered-leaf.json", patch or {}, "leaf1.json")


def drift(patch: Patch) -> list[Finding]:
    return drawn("CFG004", leaf(patch), intent())


def the_drift(patch: Patch) -> Finding:
    return only("CFG004", leaf(patch), intent())


def every(table: str, ports: tuple[str, ...], number: str, row: Any) -> Patch:
    return {table: {f"{port}{number}": row for port in ports}}


class TestRendered:
    """What was rendered is what was declared."""

    def test_the_tree_of_the_example_draws_none(self, tmp_path: Path) -> None:
        render(EXAMPLE, tmp_path, base_dir=EXAMPLE / "base")
        report = lint([EXAMPLE / "fabric.yaml", tmp_path])
        assert report.files == 5
        assert (report.findings, report.errors) == ((), ())

    def test_a_file_that_does_not_say_whose_it_is_is_of_the_switch_that_its_folder_is_called(
        self, tmp_path: Path
    ) -> None:
        """Without a base ``qos.json`` has no DEVICE_METADATA."""
        render(EXAMPLE, tmp_path)
        report = lint([EXAMPLE / "fabric.yaml", tmp_path])
        assert [it for it in report.findings if it.severity != "info" or it.code == "CFG004"] == []
        assert [note.reason for note in report.not_checked if note.code == "CFG004"] == []
        file = tmp_path / "leaf2" / "qos.json"
        file.write_text(re.sub(r'"26": "3"', '"26": "0"', file.read_text()))
        findings = lint([EXAMPLE / "fabric.yaml", tmp_path]).findings
        assert {
            (it.code, it.severity) for it in findings if Path(it.origin.file) == file and it.code != "SCM003"
        } == {
            ("CLS001", "error"),
            ("CFG004", "info"),
        }

    def test_a_file_in_a_folder_of_another_name_is_counted_as_not_compared(self, tmp_path: Path) -> None:
        render(EXAMPLE, tmp_path)
        (tmp_path / "leaf1").rename(tmp_path / "old")
        report = lint([EXAMPLE / "fabric.yaml", tmp_path])
        (note,) = [note.reason for note in report.not_checked if note.code == "CFG004"]
        assert "its folder no switch, so it is compared with no switch of the intent" in note
        assert [note.code for note in lint([tmp_path]).not_checked if note.code == "CFG004"] == []

    def test_the_bases_it_is_rendered_on_are_no_drift(self) -> None:
        report = lint([EXAMPLE])
        assert report.files == 5
        assert report.findings == ()

    @settings(max_examples=25)
    @given(intents(renderable=True))
    def test_no_rendered_switch_drifts(self, data: Any) -> None:
        fabric = fabric_of(data)
        devices = [
            load_text(json.dumps(rendered(fabric, switch)), f"{switch.name}.json")
            for switch in fabric.switches[:2]
        ]
        report = lint_documents([*devices, document_of(data)], Options(select=("CFG004",)))
        assert (report.errors, report.findings) == ((), ())

    @pytest.mark.tools("laws")
    @settings(max_examples=40)
    @given(intents(renderable=True), st.data())
    def test_no_changed_value_goes_unseen(self, data: Any, choice: st.DataObject) -> None:
        """Whichever rule knows most of it speaks; what none of them knows is drift."""
        fabric = fabric_of(data)
        switch = fabric.switches[0]
        tables = rendered(fabric, switch)
        assume(_values(tables))
        table, key, field = choice.draw(st.sampled_from(_values(tables)))
        changed = deepcopy(tables)
        changed[table][key][field] = _other(tables[table][key][field])
        assert said(changed, data) - said(tables, data), (
            f"{table}|{key}|{field}: {changed[table][key][field]}"
        )


def test_rdma_that_a_switch_sends_to_a_lossy_class_is_an_error_by_what_its_intent_declares() -> None:
    """Nothing on the switch itself says that DSCP 26 is RDMA: without PFC on it, its maps are as good as others."""
    stray = leaf({"DSCP_TO_TC_MAP": {"AZURE": {"26": "1"}}})
    found = {finding.code: finding for finding in lint_documents([stray, intent()]).findings}
    assert {code: finding.severity for code, finding in found.items()} == {
        "CLS001": "error",
        "CFG004": "info",
    }
    assert found["CLS001"].data["dscp"] == 26
    assert all(finding.severity != "error" for finding in lint_documents([stray]).findings)


def said(tables: Any, data: Any) -> set[tuple[str, str]]:
    documents = [document_of(data), load_text(json.dumps(tables), "device.json")]
    return {(found.code, found.message) for found in lint_documents(documents).findings}


class TestOneRow:
    """Each row that differs is one finding, on however many ports it shows."""

    def test_a_shared_row_is_blamed_itself(self) -> None:
        found = the_drift({"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_max_threshold": "4000000"}}})
        assert found.severity == "warning"
        assert found.origin.path == ("WRED_PROFILE", "AZURE_LOSSLESS")
        assert found.places == len(HOST_PORTS) + len(UPLINKS)
        assert found.elements[0] == "leaf1:Ethernet0"
        assert [related.origin.file for related in found.related] == ["fabric.yaml"]

    def test_entries_of_a_map_are_one_finding(self) -> None:
        found = the_drift({"DSCP_TO_TC_MAP": {"AZURE": {"10": "6", "11": "6", "12": "6", "40": "5"}}})
        assert found.origin.path == ("DSCP_TO_TC_MAP", "AZURE")

    def test_an_entry_that_is_missing_and_means_the_same_is_none(self) -> None:
        assert drift({"DSCP_TO_TC_MAP": {"AZURE": {"10": None}}}) == []

    def test_a_row_on_many_ports_is_one_cause(self) -> None:
        found = the_drift(every("PFC_WD", HOST_PORTS, "", {"detection_time": "2400"}))
        assert found.origin.path == ("PFC_WD", "Ethernet0")
        assert found.places == len(HOST_PORTS)

    def test_two_rows_are_two_findings(self) -> None:
        found = drift(
            {
                "SCHEDULER": {"scheduler.rdma": {"weight": "40"}},
                "BUFFER_PROFILE": {"q_lossy_profile": {"dynamic_th": "1"}},
            }
        )
        assert {f.origin.path for f in found} == {
            ("SCHEDULER", "scheduler.rdma"),
            ("BUFFER_PROFILE", "q_lossy_profile"),
        }

    def test_another_row_that_is_bound_is_blamed_where_it_is_bound(self) -> None:
        found = the_drift(
            {
                "SCHEDULER": {"mine": {"type": "DWRR", "weight": "20"}},
                **every("QUEUE", HOST_PORTS, "|0", {"scheduler": "mine"}),
            }
        )
        assert found.origin.path == ("QUEUE", "Ethernet0|0")
        assert found.places == len(HOST_PORTS)

    def test_names_do_not_matter(self) -> None:
        """Whoever calls the scheduler otherwise has the same scheduler."""
        row = {"type": "DWRR", "weight": "50"}
        rebound = every("QUEUE", HOST_PORTS + UPLINKS, "|3", {"scheduler": "mine"})
        assert drift({"SCHEDULER": {"mine": row, "scheduler.rdma": None}, **rebound}) == []

    @pytest.mark.parametrize(
        ("patch", "path"),
        [
            ({"BUFFER_POOL": {"egress_lossless_pool": {"size": "1"}}}, "BUFFER_POOL egress_lossless_pool"),
            ({"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "400"}}}, "PFC_WD GLOBAL"),
            ({"PORT_QOS_MAP": {"Ethernet0": {"tc_to_queue_map": None}}}, None),
            ({"TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"6": "3"}}}, "TC_TO_PRIORITY_GROUP_MAP AZURE 6"),
            ({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}}}, "CABLE_LENGTH AZURE Ethernet0"),
            ({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "3m"}}}, "CABLE_LENGTH AZURE Ethernet0"),
            ({"PORT": {"Ethernet0": {"mtu": "4096"}}}, "PORT Ethernet0 mtu"),
            ({"PORT": {"Ethernet0": {"speed": "200000"}}}, "PORT Ethernet0 speed"),
            ({"PORT": {"Ethernet0": None}}, "PORT"),
            ({"BUFFER_PG": {"Ethernet0|0": None}}, "BUFFER_PG"),
            ({"QUEUE": {"Ethernet0|6": None}, "BUFFER_QUEUE": {"Ethernet0|6": None}}, "QUEUE"),
            ({"QUEUE": {"Ethernet0|0": {"wred_profile": "AZURE_LOSSLESS"}}}, "QUEUE Ethernet0|0"),
            ({"FLEX_COUNTER_TABLE": {"PG_WATERMARK": None}}, "FLEX_COUNTER_TABLE"),
            (
                {"BUFFER_PORT_INGRESS_PROFILE_LIST": {"Ethernet0": None}},
                "BUFFER_PORT_INGRESS_PROFILE_LIST Ethernet0",
            ),
            (
                {"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}},
                "DEVICE_METADATA localhost buffer_model",
            ),
        ],
    )
    def test_whatever_differs_is_seen(self, patch: Patch, path: str | None) -> None:
        assert [" ".join(map(str, found.origin.path)) for found in drift(patch)] == ([path] if path else [])

    def test_a_row_the_intent_has_no_use_for_is_worth_knowing(self) -> None:
        found = the_drift({"QUEUE": {"Ethernet0|5": {"scheduler": "scheduler.default"}}})
        assert (found.severity, found.origin.path) == ("info", ("QUEUE", "Ethernet0|5"))


def test_maps_of_a_tunnel_are_compared_entry_by_entry() -> None:
    data = merge(load_text((BASES / "leaf-spine.yaml").read_text(), "fabric.yaml").data,
                 {"topology": {"leaf_spine": {"dual_tor": True}}})  # fmt: skip
    fabric = fabric_of(data)
    tables = rendered(fabric, fabric.switches[0])
    for table, entry in (
        ("TC_TO_DSCP_MAP", {"3": "0"}),
        ("TC_TO_QUEUE_MAP", {"3": "3"}),
        ("TC_TO_PRIORITY_GROUP_MAP", {"4": "2"}),
    ):
        tables[table]["AZURE_TUNNEL"].update(entry)
    del tables["TUNNEL"]["MuxTunnel0"]["decap_dscp_to_tc_map"]
    device = load_text(json.dumps(tables), "device.json")
    assert {found.origin.path for found in drawn("CFG004", device, document_of(data))} == {
        ("TC_TO_DSCP_MAP", "AZURE_TUNNEL", "3"),
        ("TC_TO_QUEUE_MAP", "AZURE_TUNNEL", "3"),
        ("TC_TO_PRIORITY_GROUP_MAP", "AZURE_TUNNEL", "4"),
        ("TUNNEL",),
    }


class TestNoDrift:
    """What is another matter, or somebody else's to say."""

    def test_a_device_the_intent_does_not_know(self) -> None:
        patch: Patch = {"DEVICE_METADATA": {"localhost": {"hostname": "leaf7"}}}
        assert drift({**patch, "WRED_PROFILE": {"AZURE_LOSSLESS": {"green_drop_probability": "30"}}}) == []

    @pytest.mark.parametrize(("hostname", "times"), [("leaf1.dc.example", 1), ("LEAF1", 1), ("leaf9.dc", 0)])
    def test_a_hostname_with_its_domain_is_that_of_the_intent(self, hostname: str, times: int) -> None:
        patch: Patch = {
            "DEVICE_METADATA": {"localhost": {"hostname": hostname}},
            "SCHEDULER": {"scheduler.rdma": {"weight": "7"}},
        }
        assert len(drift(patch)) == times
        assert len(unchecked("CFG004", leaf(patch), intent())) == 1 - times

    def test_a_device_without_an_intent(self) -> None:
        assert drawn("CFG004", leaf({"DSCP_TO_TC_MAP": {"AZURE": {"10": "6"}}})) == []

    def test_another_hwsku_is_one_finding(self) -> None:
        found = the_drift(
            {"DEVICE_METADATA": {"localhost": {"hwsku": "SN5600-C224O8"}}, "PORT": {"Ethernet0": None}}
        )
        assert found.origin.path == ("DEVICE_METADATA", "localhost", "hwsku")

    def test_a_base_with_cables_and_nothing_else_of_qos(self) -> None:
        data = json.loads((BASES / "rendered-leaf.json").read_text())
        kept = ("DEVICE_METADATA", "PORT", "CABLE_LENGTH", "DEVICE_NEIGHBOR")
        base = load_text(json.dumps({table: data[table] for table in kept}), "leaf1.json")
        assert drawn("CFG004", base, intent()) == []

    def test_a_port_that_is_shut(self) -> None:
        shut = {"PORT": {"Ethernet0": {"admin_status": "down"}}}
        assert drift({**shut, **every("PFC_WD", ("Ethernet0",), "", {"detection_time": "2400"})}) == []

    def test_an_mtu_above_the_declared_one(self) -> None:
        assert drift({"PORT": {"Ethernet0": {"mtu": "9216"}}}) == []

    def test_a_port_beyond_the_intent(self) -> None:
        row = {"lanes": "64,65,66,67,68,69,70,71", "speed": "800000", "mtu": "9100", "admin_status": "up"}
        assert (
            drift(
                {"PORT": {"Ethernet64": row}, "QUEUE": {"Ethernet64|0": {"scheduler": "scheduler.default"}}}
            )
            == []
        )

    @pytest.mark.parametrize(
        ("patch", "code"),
        [
            ({"PFC_WD": dict.fromkeys(("GLOBAL", *HOST_PORTS, *UPLINKS))}, "WD001"),
            ({"PORT_QOS_MAP": {"Ethernet0": {"pfcwd_sw_enable": None}}}, "WD002"),
            ({"QUEUE": {"Ethernet0|3": {"wred_profile": None}}}, "ECN001"),
            (
                {"CABLE_LENGTH": {"AZURE": {"Ethernet32": "5m"}}, "BUFFER_PG": {"Ethernet32|3": None}},
                "BUF005",
            ),
            ({"FLEX_COUNTER_TABLE": {"PFCWD": {"FLEX_COUNTER_STATUS": "disable"}}}, "WD016"),
        ],
    )
    def test_what_another_rule_says_is_left_to_it(self, patch: Patch, code: str) -> None:
        assert drift(patch) == []
        assert drawn(code, leaf(patch), intent())

    def test_two_intents_that_name_one_switch_intend_nothing(self) -> None:
        other = patched("leaf-spine.yaml", {"fabric": "other"}, "other.yaml")
        assert drawn("CFG004", leaf({"DSCP_TO_TC_MAP": {"AZURE": {"10": "6"}}}), intent(), other) == []


class TestNeighbors:
    """CFG009."""

    def test_a_port_nobody_named_is_worth_knowing(self) -> None:
        found = only("CFG009", patched("wired-leaf.json", {"DEVICE_NEIGHBOR": {"Ethernet4": None}}))
        assert found.severity == "info"
        assert found.data == {"ports": ["Ethernet4"]}
        assert found.elements == ("leaf1:Ethernet4",)

    @pytest.mark.parametrize("role", ["Int", "Dpc"])
    def test_ports_inside_need_none(self, role: str) -> None:
        patch = {"DEVICE_NEIGHBOR": {"Ethernet4": None}, "PORT": {"Ethernet4": {"role": role}}}
        assert drawn("CFG009", patched("wired-leaf.json", patch)) == []

    def test_a_port_without_pfc_needs_none(self) -> None:
        patch = {"DEVICE_NEIGHBOR": {"Ethernet4": None}, "PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": None}}}
        assert drawn("CFG009", patched("wired-leaf.json", patch)) == []

    def test_without_any_neighbor_nobody_knows(self) -> None:
        assert drawn("CFG009", patched("leaf.json", {})) == []


def test_upstream_configurations_draw_none(reference: Path) -> None:
    assert corpus_findings(reference, ("CFG004", "CFG009"), ()) == []


class TestTheMapOfTheSwitch:
    """It serves ports that bind no map of their own."""

    @pytest.mark.parametrize("row", [None, {"dscp_to_tc_map": "NOWHERE"}, {"dscp_to_tc_map": "OLD"}])
    def test_where_all_ports_have_their_own_nothing_is_lost(self, row: Patch | None) -> None:
        old = {"OLD": {str(dscp): "0" for dscp in range(64)}}
        found = the_drift({"PORT_QOS_MAP": {"global": row}, "DSCP_TO_TC_MAP": old})
        assert found.severity == "warning"

    def test_a_port_without_its_own_loses_the_class_with_it(self) -> None:
        rows = {"global": None, HOST_PORTS[0]: {"dscp_to_tc_map": None}}
        assert {found.severity for found in drift({"PORT_QOS_MAP": rows})} == {"error"}


class TestOtherNumbersInside:
    """The class of the intent has traffic class, priority, group and queue 3."""

    SWAPPED: ClassVar[Patch] = {str(number): str({3: 4, 4: 3}.get(number, number)) for number in range(8)}

    @staticmethod
    def bound(**names: str) -> Patch:
        return dict.fromkeys((*HOST_PORTS, *UPLINKS), names)

    def severities(self, patch: Patch) -> set[str]:
        return {found.severity for found in drift(patch)}

    def test_a_class_that_another_queue_keeps_lossless_is_a_warning(self) -> None:
        queues: Patch = {
            "TC_TO_QUEUE_MAP": {"SWAP": self.SWAPPED},
            "MAP_PFC_PRIORITY_TO_QUEUE": {"SWAP": self.SWAPPED},
        }
        both = self.bound(tc_to_queue_map="SWAP", pfc_to_queue_map="SWAP")
        assert self.severities({**queues, "PORT_QOS_MAP": both}) == {"warning"}
        one: Patch = {**queues, "PORT_QOS_MAP": self.bound(tc_to_queue_map="SWAP")}
        assert drawn("PFC005", leaf(one), intent())[0].severity == "error"

    @pytest.mark.parametrize(("profile", "severity"), [("3", "warning"), ("0", "error")])
    def test_a_class_that_another_group_keeps_lossless_is_a_warning(
        self, profile: str, severity: str
    ) -> None:
        groups = json.loads((BASES / "rendered-leaf.json").read_text())["BUFFER_PG"]
        patch: Patch = {
            "TC_TO_PRIORITY_GROUP_MAP": {"SWAP": {"3": "4"}},
            "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"SWAP": {"3": "4"}},
            "PORT_QOS_MAP": self.bound(tc_to_pg_map="SWAP", pfc_to_pg_map="SWAP"),
            "BUFFER_PG": {f"{port}|4": groups[f"{port}|{profile}"] for port in (*HOST_PORTS, *UPLINKS)},
        }
        assert severity in self.severities(patch)
        assert ("error" in self.severities(patch)) == (severity == "error")

    def test_a_class_that_another_priority_keeps_lossless_is_lost_on_the_wire(self) -> None:
        four: Patch = {
            "DSCP_TO_TC_MAP": {"AZURE": {"26": "4"}},
            "PORT_QOS_MAP": self.bound(pfc_enable="4", pfcwd_sw_enable="4"),
        }
        assert "error" in self.severities(four)
