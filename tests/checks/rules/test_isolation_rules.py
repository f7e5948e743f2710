"""Isolation: who may share the lossless class, the classes for bounced packets, and ports inside the switch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.checks.rules.isolation.iso001_management_on_fabric import is_management, is_storage
from tests.checks.rules.checking import Patch, corpus_findings, drawn, only, patched

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.documents.text import Document

INTENT, REMAPPED, LEAF = "leaf-spine.yaml", "azure-remapped.json", "leaf.json"


def networks(**found: Any) -> Document:
    return patched(INTENT, {"networks": {"storage": None, **found}})


class TestManagement:
    """ISO001."""

    def test_a_lossless_class_is_an_error_and_a_lossy_one_is_a_choice(self) -> None:
        lossless = only("ISO001", networks(management={"on": "fabric", "class": "rdma"}))
        assert (lossless.severity, lossless.origin.path) == ("error", ("networks", "management", "class"))
        lossy = only("ISO001", networks(management={"on": "fabric", "class": "default"}))
        assert (lossy.severity, lossy.data) == (
            "info",
            {"network": "management", "class": "default", "lossless": False},
        )

    def test_a_network_of_its_own_is_well(self) -> None:
        assert drawn("ISO001", networks(management={"on": "separate", "class": "rdma"})) == []

    def test_without_a_class_another_rule_speaks(self) -> None:
        document = networks(mgmt={"on": "fabric"})
        assert drawn("ISO001", document) == []
        assert len(drawn("ISO002", document)) == 1

    @pytest.mark.parametrize("name", ["oob", "BMC", "mgmt-net", "rack1_ipmi"])
    def test_words_of_the_name_count(self, name: str) -> None:
        assert is_management(name)
        assert len(drawn("ISO001", networks(**{name: {"on": "fabric", "class": "default"}}))) == 1

    @pytest.mark.parametrize("name", ["compute", "oobleck", "submgmt", "storage"])
    def test_other_names_are_not_checked(self, name: str) -> None:
        assert not is_management(name)
        assert drawn("ISO001", networks(**{name: {"on": "fabric", "class": "rdma"}})) == []

    def test_one_cause_is_one_finding(self) -> None:
        document = networks(management={"on": "fabric", "class": "rdma"})
        assert [code for code in ("ISO001", "ISO002", "CLS011") for _ in drawn(code, document)] == ["ISO001"]


class TestPath:
    """ISO002."""

    @pytest.mark.parametrize(
        ("first", "second", "times"),
        [
            ({"on": "separate"}, {"on": "fabric", "class": "default"}, 1),
            ({"on": "fabric", "class": "cnp"}, {"on": "fabric", "class": "default"}, 1),
            ({"on": "fabric", "class": "default"}, {"on": "fabric", "class": "default"}, 0),
            ({"on": "separate"}, {"on": "separate"}, 0),
        ],
    )
    def test_a_prefix_goes_one_way(self, first: dict[str, str], second: dict[str, str], times: int) -> None:
        prefixes = {"prefixes": ["10.1.0.0/16", "10.20.0.0/16"]}
        document = networks(a={**first, **prefixes}, b={**second, "prefixes": ["10.20.0.0/16"]})
        assert len(drawn("ISO002", document)) == times

    def test_a_longer_prefix_inside_is_clear_and_another_spelling_is_the_same(self) -> None:
        paths = ({"on": "separate"}, {"on": "fabric", "class": "default"})
        nested = networks(
            a={**paths[0], "prefixes": ["10.0.0.0/8"]}, b={**paths[1], "prefixes": ["10.20.0.0/16"]}
        )
        assert drawn("ISO002", nested) == []
        spelt = networks(
            a={**paths[0], "prefixes": ["2001:db8::/48"]}, b={**paths[1], "prefixes": ["2001:0DB8:0:0::/48"]}
        )
        found = only("ISO002", spelt)
        assert found.origin.path == ("networks", "b", "prefixes")
        assert found.related[0].origin.path == ("networks", "a", "prefixes")

    def test_the_one_of_several_is_pointed_at(self) -> None:
        document = networks(
            a={"on": "separate", "prefixes": ["10.1.0.0/16"]},
            b={"on": "fabric", "class": "default", "prefixes": ["10.2.0.0/16", "10.1.0.0/16"]},
        )
        assert only("ISO002", document).origin.path == ("networks", "b", "prefixes", 1)


class TestShadowClass:
    """ISO004."""

    def test_a_server_that_can_mark_for_both_is_one_finding(self) -> None:
        found = only("ISO004", patched(REMAPPED, {"DSCP_TO_TC_MAP": {"AZURE": {"2": "2", "6": "6"}}}))
        assert found.severity == "warning"
        assert found.data == {"dscps": [2, 6], "traffic_classes": [2, 6]}
        assert found.elements == ("leaf1:Ethernet0", "leaf1:Ethernet4")

    def test_any_dscp_counts(self) -> None:
        found = only("ISO004", patched(REMAPPED, {"DSCP_TO_TC_MAP": {"AZURE": {"33": "2"}}}))
        assert found.origin.path == ("DSCP_TO_TC_MAP", "AZURE", "33")

    def test_without_remapping_the_classes_are_like_any_other(self) -> None:
        patch: Patch = {"DSCP_TO_TC_MAP": {"AZURE": {"2": "2"}}}
        plain: Patch = {**patch, "PORT_QOS_MAP": {"Ethernet8": {"pfc_enable": "3,4"}}}
        assert drawn("ISO004", patched(REMAPPED, plain)) == []

    def test_a_server_that_may_pause_for_them(self) -> None:
        masks = {"pfc_enable": "2,3,4,6", "pfcwd_sw_enable": "3,4"}
        found = only("ISO004", patched(REMAPPED, {"PORT_QOS_MAP": {"Ethernet0": masks, "Ethernet4": masks}}))
        assert found.data == {"priorities": [2, 6]}
        assert found.places == 2

    def test_who_is_not_known_is_not_called_a_server(self) -> None:
        masks = {"pfc_enable": "2,3,4,6", "pfcwd_sw_enable": "3,4"}
        patch: Patch = {"PORT_QOS_MAP": {"Ethernet0": masks}, "DEVICE_NEIGHBOR_METADATA": None}
        assert drawn("ISO004", patched(REMAPPED, patch)) == []

    def test_a_port_that_is_down_is_left_out(self) -> None:
        down = {port: {"admin_status": "down"} for port in ("Ethernet0", "Ethernet4")}
        assert (
            drawn("ISO004", patched(REMAPPED, {"PORT": down, "DSCP_TO_TC_MAP": {"AZURE": {"2": "2"}}})) == []
        )


class TestInside:
    """ISO005."""

    @staticmethod
    def internal(name: str, role: str | None, **qos: str) -> Document:
        port = {
            "lanes": "513",
            "alias": name,
            "index": "65",
            "speed": "400000",
            "mtu": "9100",
            "admin_status": "up",
        }
        row = {**port, **({"role": role} if role else {})}
        patch: Patch = {
            "PORT": {name: row},
            "PORT_QOS_MAP": {name: {"dscp_to_tc_map": "AZURE", **qos}},
            "CABLE_LENGTH": {"AZURE": {name: "5m"}},
        }
        return patched(LEAF, patch)

    @pytest.mark.parametrize(
        ("name", "role"),
        [("Ethernet-IB0", None), ("Ethernet-Rec0", None), ("Recirc0", "Rec"), ("Inband0", "Inb")],
    )
    def test_ports_that_no_cable_ends_at(self, name: str, role: str | None) -> None:
        found = only("ISO005", self.internal(name, role, pfc_enable="3"))
        assert found.severity == "error"
        assert found.origin.path == ("PORT_QOS_MAP", name, "pfc_enable")

    @pytest.mark.parametrize("role", ["Ext", "Int", "Dpc", None])
    def test_other_ports_are_lossless_where_the_fabric_is(self, role: str | None) -> None:
        assert drawn("ISO005", self.internal("Ethernet512", role, pfc_enable="3")) == []

    @pytest.mark.parametrize("qos", [{}, {"pfc_enable": ""}])
    def test_maps_alone_pause_nobody(self, qos: dict[str, str]) -> None:
        assert drawn("ISO005", self.internal("Ethernet-IB0", "Inb", **qos)) == []

    def test_the_cpu(self) -> None:
        found = only("ISO005", patched(LEAF, {"PORT_QOS_MAP": {"CPU": {"pfc_enable": "3,4"}}}))
        assert found.data == {"pfc_enable": "3,4"}

    def test_what_it_lacks_besides_is_not_said(self) -> None:
        document = self.internal("Ethernet-IB0", "Inb", pfc_enable="3")
        assert [code for code in ("WD001", "ECN001") for _ in drawn(code, document)] == []


def test_storage_is_known_by_words_too() -> None:
    assert [name for name in ("storage", "fast-nfs", "restorage", "rdma") if is_storage(name)] == [
        "storage",
        "fast-nfs",
    ]


def test_upstream_configurations_draw_none(reference: Path) -> None:
    codes = ("ISO001", "ISO002", "ISO004", "ISO005")
    for rdma_dscps in ((), (3, 4)):
        assert corpus_findings(reference, codes, rdma_dscps) == []


class TestMarking:
    """ISO003."""

    @pytest.mark.parametrize(
        ("keys", "told"),
        [
            ({"marking": "untrusted"}, "marking"),
            ({"purpose": "tenant"}, "purpose"),
            ({"purpose": "tenant", "marking": "untrusted"}, "marking"),
            ({"purpose": "tenant", "marking": "rewritten"}, None),
            ({"purpose": "tenant", "marking": "trusted"}, None),
            ({"purpose": "storage"}, None),
            ({}, None),
        ],
    )
    def test_it_is_told_of_whoever_chooses_dscps_and_may_not_use_the_class(
        self, keys: dict[str, str], told: str | None
    ) -> None:
        found = drawn("ISO003", networks(customers={"on": "fabric", "class": "default", **keys}))
        assert [one.origin.path for one in found] == ([("networks", "customers", told)] if told else [])
        assert [one.data["dscps"] for one in found] == ([[26]] if told else [])

    def test_whoever_has_the_class_may_mark_for_it(self) -> None:
        assert (
            drawn("ISO003", networks(customers={"on": "fabric", "class": "rdma", "purpose": "tenant"})) == []
        )

    def test_switches_of_its_own_are_no_matter_of_the_fabric(self) -> None:
        assert drawn("ISO003", networks(customers={"on": "separate", "purpose": "tenant"})) == []


class TestPurpose:
    def test_a_stated_purpose_counts_and_not_the_name(self) -> None:
        named = {"on": "fabric", "class": "rdma", "purpose": "compute"}
        assert drawn("ISO001", networks(mgmt=named)) == []
        assert drawn("CLS011", networks(storage=named)) == []
        assert only("ISO001", networks(zone=named | {"purpose": "management"})).severity == "error"
        assert only("CLS011", networks(zone=named | {"purpose": "storage"})).origin.path[:2] == (
            "networks",
            "zone",
        )
