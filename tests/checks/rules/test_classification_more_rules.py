"""Classification beyond one map entry: holes, trust, rewriting, tunnels, storage, control traffic, flooding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.ground.documents import load
from tests.checks.rules.checking import Patch, corpus_findings, drawn, only, patched, unchecked

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.documents.text import Document

LEAF, WIRED, AZURE, REMAPPED = "leaf.json", "wired-leaf.json", "azure.json", "azure-remapped.json"
PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")


def dscp_map(**entries: str | None) -> Patch:
    return {"DSCP_TO_TC_MAP": {"AZURE": {name.removeprefix("d"): tc for name, tc in entries.items()}}}


def without(*dscps: int) -> Patch:
    return {"DSCP_TO_TC_MAP": {"AZURE": {str(dscp): None for dscp in dscps}}}


def port_qos(*ports: str, **fields: str | None) -> Patch:
    return {"PORT_QOS_MAP": dict.fromkeys(ports or PORTS, fields)}


class TestHoles:
    """CLS003."""

    def test_a_hole_is_one_finding(self) -> None:
        found = only("CLS003", patched(AZURE, without(26, 27)))
        assert (found.severity, found.places) == ("warning", 3)
        assert found.data == {"dscps": [26, 27]}
        assert found.origin.path == ("DSCP_TO_TC_MAP", "AZURE")

    @pytest.mark.parametrize(("named", "times"), [(33, 1), (32, 0)])
    def test_a_map_that_names_half_or_less_names_exceptions(self, named: int, times: int) -> None:
        # DSCPs 0 to 4 stay, 3 and 4 among them, which are lossless.
        assert len(drawn("CLS003", patched(AZURE, without(*range(named, 64))))) == times

    def test_where_class_0_is_lossless_every_hole_counts(self) -> None:
        few: Patch = {**without(*range(10, 64))["DSCP_TO_TC_MAP"]["AZURE"], "0": "1", "4": "3"}
        paused = port_qos(pfc_enable="0,3", pfcwd_sw_enable="0,3")
        found = only("CLS003", patched(LEAF, {"DSCP_TO_TC_MAP": {"AZURE": few}, **paused}))
        assert found.data == {"dscps": [*range(10, 64)]}

    def test_a_hole_where_rdma_should_be_is_reported_once(self) -> None:
        for rdma_dscps in ((), (26,)):
            document = patched(LEAF, without(26))
            assert drawn("CLS003", document, rdma_dscps=rdma_dscps) == []
            assert len(drawn("CLS001", document, rdma_dscps=rdma_dscps)) == 1

    def test_with_named_dscps_other_holes_are_still_holes(self) -> None:
        found = only("CLS003", patched(LEAF, without(26, 30)), rdma_dscps=(26,))
        assert found.data["dscps"] == [30]

    def test_a_dscp_most_other_ports_map_is_reported_once(self) -> None:
        """One port has a map of its own in which the RDMA DSCP is missing."""
        own = {str(dscp): "0" for dscp in range(64) if dscp != 26} | {"25": "3"}
        patch: Patch = {"DSCP_TO_TC_MAP": {"OWN": own}, **port_qos("Ethernet8", dscp_to_tc_map="OWN")}
        document = patched(LEAF, patch)
        assert drawn("CLS003", document) == []
        assert len(drawn("CLS001", document)) == 1

    def test_a_map_that_no_port_with_pfc_uses(self) -> None:
        assert drawn("CLS003", patched(LEAF, {"DSCP_TO_TC_MAP": {"OTHER": {"1": "1", "63": "0"}}})) == []
        off = port_qos(pfc_enable=None, pfcwd_sw_enable=None)
        assert drawn("CLS003", patched(AZURE, {**without(26), **off})) == []

    def test_an_entry_that_cannot_be_read_is_no_hole(self) -> None:
        assert drawn("CLS003", patched(AZURE, dscp_map(d26="x"))) == []

    @pytest.mark.parametrize("probe", ["dscp_missing_26", "dscp26_to_lossy_tc", "dscp_cnp_unmapped"])
    def test_these_rules_report_one_warning_for_a_probe(self, reference: Path, probe: str) -> None:
        document = load(reference / "corpus" / "probes" / f"{probe}.json")
        codes = [code for code in ("CLS001", "CLS003", "CLS007", "CLS012") for _ in drawn(code, document)]
        assert codes == ["CLS007" if probe == "dscp_cnp_unmapped" else "CLS001"]


class TestTrust:
    """CLS004."""

    @staticmethod
    def trusting_tags(**extra: Any) -> Document:
        rows = port_qos(dscp_to_tc_map=None, dot1p_to_tc_map="AZURE")["PORT_QOS_MAP"]
        tags: Patch = {"DOT1P_TO_TC_MAP": {"AZURE": {str(n): str(n) for n in range(8)}}}
        return patched(LEAF, {**tags, "PORT_QOS_MAP": {"global": None, **rows}, **extra})

    def test_no_map_at_all(self) -> None:
        rows = port_qos(dscp_to_tc_map=None)["PORT_QOS_MAP"]
        found = only("CLS004", patched(LEAF, {"PORT_QOS_MAP": {"global": None, **rows}}))
        assert (found.severity, found.places) == ("warning", 3)
        assert found.origin.path == ("PORT_QOS_MAP", "Ethernet0")

    def test_the_global_map_counts(self) -> None:
        assert drawn("CLS004", patched(LEAF, port_qos(dscp_to_tc_map=None))) == []

    def test_a_map_that_is_not_there_is_another_matter(self) -> None:
        dangling = {"PORT_QOS_MAP": {"global": None, "Ethernet0": {"dscp_to_tc_map": "GONE"}}}
        assert drawn("CLS004", patched(LEAF, dangling)) == []
        gone = patched(
            LEAF,
            {"PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "GONE"}, "Ethernet0": {"dscp_to_tc_map": None}}},
        )
        assert drawn("CLS004", gone) == []

    @pytest.mark.parametrize(
        ("extra", "times"),
        [
            ({"INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}}}, 1),
            (
                {
                    "PORTCHANNEL_INTERFACE": {"PortChannel1": {}},
                    "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet4": {}},
                },
                1,
            ),
            ({}, 0),
            ({"VLAN_SUB_INTERFACE": {"Ethernet0.10": {}}, "INTERFACE": {"Ethernet0": {}}}, 0),
            ({"VLAN_MEMBER": {"Vlan10|Ethernet0": {"tagging_mode": "tagged"}}}, 0),
        ],
    )
    def test_tags_end_at_a_router(self, extra: Patch, times: int) -> None:
        found = drawn("CLS004", self.trusting_tags(**extra))
        assert len(found) == times
        assert all(one.data == {"pfc": [3]} for one in found)

    def test_only_the_routed_ports_are_named(self) -> None:
        found = only("CLS004", self.trusting_tags(INTERFACE={"Ethernet8": {}}))
        assert found.elements == ("leaf1:Ethernet8",)
        assert found.origin.path == ("PORT_QOS_MAP", "Ethernet8", "dot1p_to_tc_map")

    @pytest.mark.parametrize("meta", [{"type": "BackEndToRRouter"}, {"storage_device": "true"}])
    def test_storage_backends_trust_tags_by_design(self, meta: dict[str, str]) -> None:
        extra = {"DEVICE_METADATA": {"localhost": meta}, "INTERFACE": {"Ethernet0": {}}}
        assert drawn("CLS004", self.trusting_tags(**extra)) == []

    def test_a_port_without_neighbor_carries_nothing(self) -> None:
        rows: Patch = {"PORT_QOS_MAP": {"global": None, "Ethernet4": {"dscp_to_tc_map": None}}}
        assert len(drawn("CLS004", patched(WIRED, rows))) == 1
        assert drawn("CLS004", patched(WIRED, {**rows, "DEVICE_NEIGHBOR": {"Ethernet4": None}})) == []


class TestRewriting:
    """CLS009."""

    def test_a_class_that_comes_back_as_another(self) -> None:
        found = only("CLS009", self.rewriting({"3": "8", "6": "48"}))
        assert (found.severity, found.places) == ("warning", 3)
        assert found.data == {"traffic_class": 3, "dscp": 8, "taken_in_as": 0}

    @staticmethod
    def rewriting(entries: dict[str, str], base: str = LEAF, **extra: Any) -> Document:
        bound = port_qos(tc_to_dscp_map="REMARK")
        return patched(base, {"TC_TO_DSCP_MAP": {"REMARK": entries}, **bound, **extra})

    @pytest.mark.parametrize(
        "entries",
        [
            {"3": "26"},
            {"0": "8", "6": "10"},  # lossy classes are free
            {"5": "10"},  # the class of trimmed packets alone
            {"3": "64"},  # refused as a whole
            {"3": "8", "4": "x"},
        ],
    )
    def test_what_is_well_or_not_in_force(self, entries: dict[str, str]) -> None:
        assert drawn("CLS009", self.rewriting(entries)) == []

    def test_an_entry_beyond_class_7_does_not_hide_the_others(self) -> None:
        assert len(drawn("CLS009", self.rewriting({"3": "8", "8": "33"}))) == 1

    def test_one_dscp_for_several_is_well(self) -> None:
        document = self.rewriting({"3": "26"}, **dscp_map(d24="3", d25="3", d27="3"))
        assert drawn("CLS009", document) == []

    def test_a_map_nobody_binds_and_ports_without_pfc(self) -> None:
        assert drawn("CLS009", patched(LEAF, {"TC_TO_DSCP_MAP": {"REMARK": {"3": "8"}}})) == []
        lossy = port_qos(tc_to_dscp_map="REMARK", pfc_enable=None, pfcwd_sw_enable=None)
        assert drawn("CLS009", patched(LEAF, {"TC_TO_DSCP_MAP": {"REMARK": {"3": "8"}}, **lossy})) == []

    def test_classes_for_bounced_packets_are_left_out(self) -> None:
        document = self.rewriting({"2": "0", "6": "0", "3": "3", "4": "4"}, REMAPPED)
        assert drawn("CLS009", document) == []


class TestTunnel:
    """CLS010."""

    @staticmethod
    def tunnel(entries: dict[str, str] | None, base: str = REMAPPED, **fields: str | None) -> Document:
        row = {"tunnel_type": "IPINIP", "dst_ip": "10.1.0.32", "src_ip": "10.1.0.33", "dscp_mode": "pipe"}
        bound = {"encap_tc_to_dscp_map": "AZURE_TUNNEL"} if entries is not None else {}
        patch: Patch = {
            "PEER_SWITCH": {"leaf2": {"address_ipv4": "10.1.0.33"}},
            "TUNNEL": {"MuxTunnel0": {**row, **bound, **fields}},
        }
        return patched(base, {**patch, "TC_TO_DSCP_MAP": {"AZURE_TUNNEL": entries}} if entries else patch)

    def test_the_stock_remapping_is_well(self) -> None:
        stock = {"0": "8", "1": "0", "2": "0", "3": "2", "4": "6", "5": "46", "6": "0", "7": "48", "8": "33"}
        assert drawn("CLS010", self.tunnel(stock)) == []

    def test_a_class_that_is_lossy_outside(self) -> None:
        found = only("CLS010", self.tunnel({"3": "2", "4": "10"}))
        assert found.severity == "warning"
        assert found.data == {"outer_dscps": {"4": 10}}
        assert found.origin.path == ("TUNNEL", "MuxTunnel0", "encap_tc_to_dscp_map")

    def test_without_a_map_the_outside_is_dscp_0(self) -> None:
        found = only("CLS010", self.tunnel(None))
        assert found.data == {"outer_dscps": {"3": 0, "4": 0}}
        assert found.origin.path == ("TUNNEL", "MuxTunnel0", "dscp_mode")

    def test_uniform_carries_the_dscp_of_the_packet(self) -> None:
        assert drawn("CLS010", self.tunnel(None, dscp_mode="uniform")) == []

    def test_without_a_peer_nothing_is_sent(self) -> None:
        document = patched(
            REMAPPED, {"TUNNEL": {"MuxTunnel0": {"tunnel_type": "IPINIP", "dscp_mode": "pipe"}}}
        )
        assert drawn("CLS010", document) == []

    def test_a_map_that_is_not_there_is_not_checked(self) -> None:
        document = self.tunnel({})
        assert drawn("CLS010", document) == []
        assert len(unchecked("CLS010", document)) == 1


class TestStorage:
    """CLS011."""

    @staticmethod
    def network(name: str, **found: Any) -> Document:
        return patched("leaf-spine.yaml", {"networks": {"storage": None, name: found}})

    def test_storage_in_the_class_of_the_jobs(self) -> None:
        found = only("CLS011", self.network("nfs", on="fabric", **{"class": "rdma"}))
        assert (found.severity, found.origin.path) == ("warning", ("networks", "nfs", "class"))

    @pytest.mark.parametrize(
        ("name", "found"),
        [
            ("storage", {"on": "separate"}),
            ("storage", {"on": "fabric", "class": "default"}),
            ("compute", {"on": "fabric", "class": "rdma"}),  # the jobs' own network, it may be
        ],
    )
    def test_what_is_well(self, name: str, found: dict[str, str]) -> None:
        assert drawn("CLS011", self.network(name, **found)) == []

    def test_a_fabric_whose_hosts_mark_another_class_is_a_storage_fabric(self) -> None:
        patch: Patch = {
            "hosts": {"traffic_class": 0},
            "networks": {"storage": {"on": "fabric", "class": "rdma"}},
        }
        assert drawn("CLS011", patched("leaf-spine.yaml", patch)) == []


class TestControl:
    """CLS012."""

    def test_unmarked_and_control_traffic_is_one_finding_a_map(self) -> None:
        found = only("CLS012", patched(LEAF, dscp_map(d0="3", d56="3")))
        assert (found.severity, found.data["dscps"], found.places) == ("warning", [0, 56], 3)

    def test_routing_is_left_to_what_says_it_of_cnps(self) -> None:
        document = patched(LEAF, dscp_map(d48="3"))
        assert [code for code in ("CLS007", "CLS012") for _ in drawn(code, document)] == ["CLS007"]

    def test_with_named_dscps_another_rule_speaks(self) -> None:
        document = patched(LEAF, dscp_map(d0="3"))
        assert drawn("CLS012", document, rdma_dscps=(26,)) == []
        assert len(drawn("CLS002", document, rdma_dscps=(26,))) == 1
        assert drawn("CLS012", document, rdma_dscps=(0, 26)) == []

    @pytest.mark.parametrize("dscp", [24, 34, 46])
    def test_a_lossless_class_may_be_any_other_dscp(self, dscp: int) -> None:
        assert drawn("CLS012", patched(LEAF, dscp_map(**{f"d{dscp}": "3", "d26": "0"}))) == []

    @pytest.mark.parametrize(
        ("congestion", "dscps", "expected"),
        [
            ("pfc-only", [26, 48], [48]),
            ("dcqcn", [26, 56], [56]),
            ("dcqcn", [26], None),
            ("pfc-only", [26, 0], None),
        ],
    )
    def test_a_declared_class(self, congestion: str, dscps: list[int], expected: list[int] | None) -> None:
        classes: Any = {"rdma": {"dscp": dscps}}
        if congestion == "pfc-only":
            classes = {"cnp": None, "rdma": {"dscp": dscps, "ecn": False}}
        patch: Patch = {"classes": classes, "congestion_control": congestion}
        found = drawn("CLS012", patched("leaf-spine.yaml", patch))
        assert [one.data["dscps"] for one in found] == ([expected] if expected else [])

    def test_cnps_in_a_lossless_class_are_another_rules(self) -> None:
        patch: Patch = {"classes": {"cnp": None, "rdma": {"dscp": [26, 48]}}}
        document = patched("leaf-spine.yaml", patch)
        assert [code for code in ("CLS007", "CLS012") for _ in drawn(code, document)] == ["CLS007"]


class TestFlooding:
    """CLS013."""

    @staticmethod
    def vlan(*ports: str, kind: str | None = "LeafRouter", **extra: Any) -> Document:
        members = {f"Vlan100|{port}": {"tagging_mode": "tagged"} for port in ports}
        known = {"spine1": {"type": kind}, "server1": {"type": "Server"}} if kind else None
        patch: Patch = {"VLAN": {"Vlan100": {"vlanid": "100"}}, "VLAN_MEMBER": members}
        return patched(WIRED, {**patch, "DEVICE_NEIGHBOR_METADATA": known, **extra})

    def test_a_vlan_from_switch_to_switch(self) -> None:
        found = only("CLS013", self.vlan("Ethernet0", "Ethernet8"))
        assert found.severity == "warning"
        assert found.data == {"vlan": "Vlan100", "to_switches": ["Ethernet8"]}
        assert found.origin.path == ("VLAN_MEMBER", "Vlan100|Ethernet8")

    @pytest.mark.parametrize(
        "document",
        [
            vlan("Ethernet0", "Ethernet4"),
            vlan("Ethernet8"),
            vlan("Ethernet0", "Ethernet8", kind=None),
            vlan("Ethernet0", "Ethernet8", kind="Server"),
            vlan(
                "Ethernet0", "Ethernet8", PORT_STORM_CONTROL={"Ethernet8|unknown-unicast": {"kbps": "1000"}}
            ),
            vlan("Ethernet0", "Ethernet8", PORT_QOS_MAP={"Ethernet8": {"pfc_enable": None}}),
        ],
        ids=["servers", "alone", "unknown", "to-a-server", "limited", "lossy"],
    )
    def test_what_is_well_or_not_known(self, document: Document) -> None:
        assert drawn("CLS013", document) == []

    def test_another_limit_is_none(self) -> None:
        limited = {"Ethernet8|broadcast": {"kbps": "1000"}}
        assert len(drawn("CLS013", self.vlan("Ethernet0", "Ethernet8", PORT_STORM_CONTROL=limited))) == 1

    def test_members_of_a_lag_are_bridged(self) -> None:
        lag: Patch = {"PortChannel1|Ethernet8": {}}
        found = only("CLS013", self.vlan("Ethernet0", "PortChannel1", PORTCHANNEL_MEMBER=lag))
        assert found.origin.path == ("VLAN_MEMBER",)

    def test_an_intent_knows_who_is_at_the_other_end(self) -> None:
        members: Patch = {f"Vlan100|{port}": {} for port in ("Ethernet0", "Ethernet32")}
        device = patched("rendered-leaf.json", {"VLAN_MEMBER": members}, "leaf1.json")
        assert drawn("CLS013", device) == []
        assert len(drawn("CLS013", device, patched("leaf-spine.yaml", {}))) == 1

    def test_of_a_port_that_the_intent_does_not_use_the_type_of_the_neighbor_tells(self) -> None:
        document = self.vlan("Ethernet0", "Ethernet8")
        smaller = {"topology": {"leaf_spine": {"hosts_per_leaf": 1, "host_links": "1 x 400G"}}}
        found = drawn("CLS013", document, patched("leaf-spine.yaml", smaller))
        assert [finding.origin.path for finding in found] == [("VLAN_MEMBER", "Vlan100|Ethernet8")]


TRUE_FINDINGS = {
    # "Ethernet4": {"pfc_enable": "3,4"} in a file without any DSCP or 802.1p map.
    ("utils-mock_tables_config_db.json", "CLS004"),
}


def test_upstream_configurations_draw_nothing_false(reference: Path) -> None:
    codes = ("CLS003", "CLS004", "CLS009", "CLS010", "CLS011", "CLS012", "CLS013")
    for rdma_dscps in ((), (3, 4)):
        found = corpus_findings(reference, codes, rdma_dscps)
        assert {(one.origin.file.rpartition("/")[2], one.code) for one in found} == TRUE_FINDINGS
