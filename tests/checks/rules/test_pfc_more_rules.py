"""PFC beyond one port: how many priorities, which numbers on the wire, LAGs, MACsec, and ports nobody declared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from lossless.ground.documents import load
from tests.checks.rules.checking import Patch, corpus_findings, drawn, only, patched, unchecked

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.text import Document

LEAF, AZURE = "leaf.json", "azure.json"
MEMBERS: Patch = {"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet4": {}}}
CODES = ("PFC002", "PFC007", "PFC011", "PFC014")
PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")


def qos(*ports: str, **fields: str | None) -> Patch:
    return {"PORT_QOS_MAP": dict.fromkeys(ports, fields)}


def third_priority(mask: str = "3,4,5", watched: str = "3,4,5") -> Patch:
    """Make priority 5 of the stock configuration lossless throughout, on all ports."""
    profiles = {port: f"pg_lossless_100000_{300 if port == 'Ethernet8' else 5}m_profile" for port in PORTS}
    return {
        **qos(*PORTS, pfc_enable=mask, pfcwd_sw_enable=watched),
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"5": "5"}},
        "BUFFER_PG": {f"{port}|5": {"profile": name} for port, name in profiles.items()},
        "BUFFER_QUEUE": {f"{port}|5": {"profile": "egress_lossless_profile"} for port in PORTS},
        "QUEUE": {
            f"{port}|5": {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"} for port in PORTS
        },
    }


class TestTooManyPriorities:
    """PFC002."""

    def test_two_are_stock_and_three_are_one_finding(self) -> None:
        assert drawn("PFC002", patched(AZURE, {})) == []
        found = only("PFC002", patched(AZURE, third_priority()))
        assert found.severity == "warning"
        assert found.data == {"priorities": [3, 4, 5], "most": 2, "headroom_bytes": 54080}
        assert found.origin.path == ("PORT_QOS_MAP", "Ethernet0", "pfc_enable")
        assert found.places == 3

    def test_what_tunnel_remapping_adds_does_not_count(self) -> None:
        remapped = qos(*PORTS, pfc_enable="2,3,4,6", pfcwd_sw_enable="3,4")
        assert drawn("PFC002", patched(AZURE, remapped)) == []

    def test_six_are_one_finding_whatever_their_paths(self) -> None:
        mask = "1,2,3,4,5,6"
        found = only("PFC002", patched(AZURE, qos(*PORTS, pfc_enable=mask, pfcwd_sw_enable=mask)))
        assert found.data["priorities"] == [1, 2, 3, 4, 5, 6]

    def test_with_named_dscps_a_priority_nobody_uses_is_pfc001s(self) -> None:
        document = patched(AZURE, third_priority())
        assert drawn("PFC002", document, rdma_dscps=(3, 4)) == []
        assert len(drawn("PFC001", document, rdma_dscps=(3, 4))) == 1
        assert len(drawn("PFC002", document, rdma_dscps=(3, 4, 46))) == 1


class TestPriorityOnTheWire:
    """PFC004."""

    @staticmethod
    def ends(leaf: Patch | None = None, spine: Patch | None = None) -> tuple[Document, Document]:
        return (
            patched("wired-leaf34.json", leaf or {}, "leaf1.json"),
            patched("wired-spine34.json", spine or {}, "spine1.json"),
        )

    @pytest.mark.parametrize("at_leaf", [True, False])
    def test_whichever_end_maps_otherwise_the_pause_stops_the_wrong_queue(self, at_leaf: bool) -> None:
        patch: Patch = {"DSCP_TO_TC_MAP": {"AZURE": {"4": "3"}}}
        found = only("PFC004", *(self.ends(leaf=patch) if at_leaf else self.ends(spine=patch)))
        assert (found.severity, found.confidence, found.places) == ("error", "high", 1)
        here, there = (3, 4) if at_leaf else (4, 3)
        assert (found.data["near"], found.data["far"]) == ([here], [there])
        assert found.origin.path == ("DSCP_TO_TC_MAP", "AZURE", "4")
        assert found.elements == ("leaf1:Ethernet8 - spine1:Ethernet8",)

    def test_two_classes_that_change_places_are_one_finding(self) -> None:
        found = only("PFC004", *self.ends(leaf={"DSCP_TO_TC_MAP": {"AZURE": {"3": "4", "4": "3"}}}))
        assert found.data["dscps"] == [3, 4]
        assert (found.data["near"], found.data["far"]) == ([4, 3], [3, 4])

    def test_other_numbers_inside_are_nothing_where_the_wire_agrees(self) -> None:
        """Queue 5 behind priority 4 is as good, as long as both maps say so."""
        inside: Patch = {
            "DSCP_TO_TC_MAP": {"AZURE": {"4": "5", "46": "1"}},
            "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"5": "4"}},
            "TC_TO_QUEUE_MAP": {"AZURE": {"5": "4", "4": "5"}},
        }
        assert drawn("PFC004", *self.ends(leaf=inside)) == []
        inside["TC_TO_QUEUE_MAP"] = {"AZURE": {"5": "3"}}
        assert only("PFC004", *self.ends(leaf=inside)).data["near"] == [3]

    def test_a_priority_that_both_pause_needs_a_dscp_in_common(self) -> None:
        found = only("PFC004", *self.ends(leaf={"DSCP_TO_TC_MAP": {"AZURE": {"4": "1"}}}))
        assert (found.severity, found.data["dscps"], found.data["far"]) == ("error", [4], [4])
        assert found.origin.file.endswith("leaf1.json")

    def test_a_dscp_beside_one_in_common_is_nobodys_fault(self) -> None:
        assert drawn("PFC004", *self.ends(spine={"DSCP_TO_TC_MAP": {"AZURE": {"5": "4"}}})) == []

    def test_where_the_masks_differ_pfc003_says_so(self) -> None:
        ends = self.ends(leaf=qos(*PORTS, pfc_enable="3", pfcwd_sw_enable="3"))
        assert drawn("PFC004", *ends) == []
        assert len(drawn("PFC003", *ends)) == 1

    def test_a_link_that_one_file_names_is_likely(self) -> None:
        leaf: Patch = {"DSCP_TO_TC_MAP": {"AZURE": {"4": "3"}}}
        found = only("PFC004", *self.ends(leaf=leaf, spine={"DEVICE_NEIGHBOR": {"Ethernet8": None}}))
        assert (found.severity, found.confidence) == ("warning", "medium")

    @pytest.mark.parametrize("status", ["down", None])
    def test_a_link_that_is_down_carries_nothing(self, status: str | None) -> None:
        leaf: Patch = {
            "DSCP_TO_TC_MAP": {"AZURE": {"4": "3"}},
            "PORT": {"Ethernet8": {"admin_status": status}},
        }
        assert drawn("PFC004", *self.ends(leaf=leaf)) == []

    def test_where_ports_do_not_agree_what_leaves_is_not_known(self) -> None:
        other: Patch = {
            "DSCP_TO_TC_MAP": {"UPLINK": {"3": "3", "4": "4"}, "AZURE": {"4": "3"}},
            **qos("Ethernet8", dscp_to_tc_map="UPLINK"),
        }
        assert drawn("PFC004", *self.ends(leaf=other)) == []


class TestADscpThatOneEndKeeps:
    """PFC004, of three leaves and two spines without any option. DSCP 5 shares priority 4 with DSCP 4."""

    SPARE: ClassVar[Patch] = {"DSCP_TO_TC_MAP": {"AZURE": {"5": "4"}}}
    LEAVES: ClassVar[Patch] = dict.fromkeys(("leaf1", "leaf2", "leaf3"), SPARE)
    SPINES: ClassVar[Patch] = dict.fromkeys(("spine1", "spine2"), SPARE)

    @staticmethod
    def fabric(patches: Patch) -> list[Document]:
        """Return the files of a fabric; port 4n of a switch leads to its nth neighbor."""
        documents = []
        for names, neighbors, base in (
            (["leaf1", "leaf2", "leaf3"], ["spine1", "spine2"], "wired-leaf34.json"),
            (["spine1", "spine2"], ["leaf1", "leaf2", "leaf3"], "wired-spine34.json"),
        ):
            for number, name in enumerate(names):
                links = {
                    port: {"name": neighbors[n], "port": PORTS[number]} if n < len(neighbors) else None
                    for n, port in enumerate(PORTS)
                }
                own: Patch = {
                    "DEVICE_METADATA": {"localhost": {"hostname": name}},
                    "DEVICE_NEIGHBOR": links,
                    **patches.get(name, {}),
                }
                documents.append(patched(base, own, f"{name}.json"))
        return documents

    def severities(self, patches: Patch) -> list[tuple[str, str]]:
        found = drawn("PFC004", *self.fabric(patches))
        return sorted((finding.origin.file.rpartition("/")[2], finding.severity) for finding in found)

    def test_one_port_of_a_switch_that_keeps_it_on_the_others_is_an_error(self) -> None:
        odd: Patch = {
            "DSCP_TO_TC_MAP": {"AZURE": {"5": "4"}, "OLD": {"3": "3", "4": "4", "5": "2"}},
            **qos("Ethernet4", dscp_to_tc_map="OLD"),
        }
        fabric = {**self.LEAVES, **self.SPINES, "spine2": odd}
        assert self.severities(fabric) == [("spine2.json", "error")]

    def test_a_switch_between_the_neighbors_of_another_that_keeps_it_is_an_error(self) -> None:
        assert self.severities({**self.LEAVES, "spine1": self.SPARE}) == [("spine2.json", "error")]

    def test_a_dscp_that_the_whole_tier_between_lacks_may_be_a_spare_one(self) -> None:
        expected = [("spine1.json", "warning"), ("spine2.json", "warning")]
        assert self.severities(self.LEAVES) == expected

    def test_a_dscp_that_stays_with_one_leaf_is_nobodys_fault(self) -> None:
        """Storage that stays below the spines."""
        assert self.severities({"leaf1": self.SPARE}) == []

    def test_maps_of_ports_that_pair_up_over_the_link_may_differ_elsewhere(self) -> None:
        apart: Patch = {
            "DSCP_TO_TC_MAP": {"AZURE": {"5": "4"}, "UPLINK": {"3": "3", "4": "4", "5": "2"}},
            **qos("Ethernet4", dscp_to_tc_map="UPLINK"),
        }
        fabric = {**self.LEAVES, **self.SPINES, "spine2": apart, "leaf2": apart}
        assert self.severities(fabric) == []

    def test_all_that_keep_it_are_healthy(self) -> None:
        assert self.severities({**self.LEAVES, **self.SPINES}) == []


class TestBeyondTheIntent:
    """PFC007."""

    INTENT = patched("leaf-spine.yaml", {})

    def test_a_port_the_intent_does_not_use(self) -> None:
        found = only("PFC007", patched("wired-spine.json", {}, "spine1.json"), self.INTENT)
        assert found.severity == "warning"
        assert found.elements == ("spine1:Ethernet4",)
        assert found.data == {"ports": ["Ethernet4"], "intended_ports": 4}

    @pytest.mark.parametrize(
        "patch",
        [
            qos("Ethernet4", pfc_enable="", pfcwd_sw_enable=""),
            {"PORT": {"Ethernet4": {"admin_status": "down"}}},
            {"PORT": {"Ethernet4": {"admin_status": None}}},
            {"DEVICE_NEIGHBOR": {"Ethernet4": None}},
        ],
    )
    def test_without_pfc_or_out_of_service_it_pauses_nothing(self, patch: Patch) -> None:
        assert drawn("PFC007", patched("wired-spine.json", patch, "spine1.json"), self.INTENT) == []

    def test_without_an_intent_of_that_name_nothing_is_known(self) -> None:
        assert drawn("PFC007", patched("wired-spine.json", {})) == []
        renamed = {"DEVICE_METADATA": {"localhost": {"hostname": "spine9"}}}
        assert drawn("PFC007", patched("wired-spine.json", renamed, "spine9.json"), self.INTENT) == []

    def test_ports_of_another_hwsku_have_other_names(self) -> None:
        other = patched(
            "wired-spine.json",
            {"DEVICE_METADATA": {"localhost": {"hwsku": "Mellanox-SN5600-O128"}}},
            "s.json",
        )
        assert drawn("PFC007", other, self.INTENT) == []
        assert len(unchecked("PFC007", other, self.INTENT)) == 1


class TestAsymmetric:
    """PFC011."""

    def test_ports_identical_are_one_finding(self) -> None:
        document = patched(LEAF, {"PORT": {port: {"pfc_asym": "on"} for port in PORTS}})
        found = only("PFC011", document)
        assert (found.severity, found.places) == ("warning", 3)
        assert found.origin.path == ("PORT", "Ethernet0", "pfc_asym")
        assert found.data == {"sends": [3]}

    def test_a_port_without_pfc_obeys_them_too(self) -> None:
        patch: Patch = {"PORT": {"Ethernet4": {"pfc_asym": "on"}}, "PORT_QOS_MAP": {"Ethernet4": None}}
        assert only("PFC011", patched(LEAF, patch)).data == {"sends": []}

    @pytest.mark.parametrize("fields", [{"pfc_asym": "off"}, {"pfc_asym": "on", "admin_status": "down"}])
    def test_off_or_down_is_silent(self, fields: Patch) -> None:
        assert drawn("PFC011", patched(LEAF, {"PORT": {"Ethernet4": fields}})) == []


class TestMacsec:
    """PFC013."""

    @staticmethod
    def end(name: str, mode: str | None, **fields: str | None) -> Document:
        port = {"pfc_encryption_mode": mode, **fields}
        return patched(f"wired-{name}-macsec.json", {"PORT": {"Ethernet8": port}}, f"{name}.json")

    def checked(self, leaf: str | None, spine: str | None, **fields: str | None) -> list[Finding]:
        return drawn("PFC013", self.end("leaf", leaf, **fields), self.end("spine", spine, **fields))

    @pytest.mark.parametrize("clear", ["bypass", None])
    def test_strict_drops_what_comes_in_clear(self, clear: str | None) -> None:
        for leaf, spine, blamed in (
            ("strict_encrypt", clear, "leaf.json"),
            (clear, "strict_encrypt", "spine.json"),
        ):
            (found,) = self.checked(leaf, spine)
            assert found.severity == "error"
            assert (found.origin.file, found.origin.path) == (
                blamed,
                ("PORT", "Ethernet8", "pfc_encryption_mode"),
            )

    @pytest.mark.parametrize(
        ("leaf", "spine"),
        [
            (None, None),
            ("encrypt", "bypass"),
            ("encrypt", "strict_encrypt"),
            ("strict_encrypt", "strict_encrypt"),
        ],
    )
    def test_all_other_modes_take_what_the_other_sends(self, leaf: str | None, spine: str | None) -> None:
        assert self.checked(leaf, spine) == []

    def test_without_macsec_the_mode_means_nothing(self) -> None:
        assert self.checked("strict_encrypt", None, macsec=None) == []

    def test_a_link_that_is_down_is_silent(self) -> None:
        assert self.checked("strict_encrypt", None, admin_status="down") == []

    def test_one_file_alone_does_not_know_its_neighbor(self) -> None:
        mode = {"PORT": {"Ethernet8": {"pfc_encryption_mode": "strict_encrypt"}}}
        assert drawn("PFC013", patched("wired-leaf-macsec.json", mode)) == []


class TestLag:
    """PFC014."""

    def test_a_member_without_pfc_takes_the_place_of_what_pfc001_suspects(self) -> None:
        document = patched(LEAF, {**MEMBERS, **qos("Ethernet4", pfc_enable="")})
        found = only("PFC014", document)
        assert found.severity == "error"
        assert found.data == {"lag": "PortChannel1", "members": ["Ethernet0", "Ethernet4"], "missing": [3]}
        assert found.origin.path == ("PORT_QOS_MAP", "Ethernet4", "pfc_enable")
        assert drawn("PFC001", document) == []

    def test_other_ports_that_lack_pfc_are_still_pfc001s(self) -> None:
        more = qos("Ethernet4", "Ethernet8", pfc_enable="")
        document = patched(LEAF, {**MEMBERS, **more})
        assert len(drawn("PFC014", document)) == 1
        assert len(drawn("PFC001", document)) == 1

    @pytest.mark.parametrize(
        "patch",
        [
            {"PORT": {"Ethernet8": {"admin_status": "down"}}},
            {"BUFFER_PG": {"Ethernet8|0": None, "Ethernet8|3": None}},
        ],
    )
    def test_ports_that_are_down_or_have_no_qos_lack_no_pfc(self, patch: Patch) -> None:
        rows = {"Ethernet4": {"pfc_enable": ""}, "Ethernet8": {"pfc_enable": ""} if "PORT" in patch else None}
        document = patched(LEAF, {**MEMBERS, **patch, "PORT_QOS_MAP": rows})
        assert only("PFC014", document).elements == ("leaf1:Ethernet4",)
        assert drawn("PFC001", document) == []

    def test_a_member_without_qos_rows(self) -> None:
        gone: Patch = {
            "PORT_QOS_MAP": {"Ethernet4": None},
            "BUFFER_PG": {f"Ethernet4|{n}": None for n in (0, 3)},
            "BUFFER_QUEUE": {f"Ethernet4|{n}": None for n in range(7)},
            "QUEUE": {f"Ethernet4|{n}": None for n in range(7)},
        }
        found = only("PFC014", patched(LEAF, {**MEMBERS, **gone}))
        assert found.origin.path == ("PORT", "Ethernet4")

    def test_speeds(self) -> None:
        mixed: Patch = {"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet8": {}}}
        found = only("PFC014", patched(LEAF, mixed))
        assert found.severity == "warning"
        assert found.data == {"lag": "PortChannel1", "speeds_bps": [400000000000, 800000000000]}
        assert found.origin.path == ("PORT", "Ethernet0", "speed")

    @pytest.mark.parametrize(
        "patch",
        [
            {"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}, "PortChannel2|Ethernet4": {}}},
            {**MEMBERS, "PORT": {"Ethernet4": {"admin_status": "down"}}},
            {**MEMBERS, "PORT": {"Ethernet4": {"admin_status": None}}},
            {"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet999": {}}},
            {"PORTCHANNEL_MEMBER": ["PortChannel1"]},
            {"PORTCHANNEL_MEMBER": {"PortChannel1": {}}},
        ],
    )
    def test_other_lags_ports_that_are_down_and_rows_that_are_none(self, patch: Patch) -> None:
        assert drawn("PFC014", patched(LEAF, {**patch, **qos("Ethernet4", pfc_enable="")})) == []

    def test_tunnel_remapping_on_one_member_is_no_difference(self) -> None:
        patch = {**MEMBERS, **qos("Ethernet4", pfc_enable="2,3,4,6", pfcwd_sw_enable="3,4")}
        assert drawn("PFC014", patched(AZURE, patch)) == []


@pytest.mark.parametrize("dscps", [(), (26,), (3, 4)])
def test_upstream_configurations_are_healthy(reference: Path, dscps: tuple[int, ...]) -> None:
    findings = corpus_findings(reference, CODES, dscps)
    assert findings == []


def test_order_and_repetition_in_a_mask_mean_nothing(reference: Path) -> None:
    """``4,3,3`` is ``3,4``, and whatever is wrong with the one is wrong with the other."""
    probes = reference / "corpus" / "probes"
    unsorted, plain = (
        load(probes / f"pfc_enable_{name}.json") for name in ("unsorted_dup", "two_but_one_lossless")
    )
    codes = ("PFC001", "PFC005", "SWS009", *CODES)
    said = [
        [(f.code, f.message) for code in codes for f in drawn(code, document)]
        for document in (unsorted, plain)
    ]
    assert said[0] == said[1] != []


@pytest.mark.parametrize(
    ("probe", "code", "severity"),
    [("pfc_enable_range", "SWS009", "warning"), ("pfc_enable_space", "PFC005", "warning")],
)
def test_masks_that_are_misread_are_spoken_of(reference: Path, probe: str, code: str, severity: str) -> None:
    assert only(code, load(reference / "corpus" / "probes" / f"{probe}.json")).severity == severity


class TestNoPortTakesPart:
    """SWS018."""

    NOTHING: ClassVar[Patch] = {"PORT_QOS_MAP": None, "BUFFER_PG": None, "PFC_WD": None}

    def test_a_named_dscp_is_lossy_on_the_whole_switch(self) -> None:
        (found,) = drawn("SWS018", patched("leaf.json", self.NOTHING, LEAF), rdma_dscps=(26,))
        assert (found.severity, found.origin.path, found.data["dscps"]) == ("error", ("PORT",), [26])
        assert len(found.elements) == 3

    def test_a_switch_that_names_no_class_may_carry_none(self) -> None:
        assert drawn("SWS018", patched("leaf.json", self.NOTHING, LEAF)) == []

    @pytest.mark.parametrize(
        "patch",
        [
            {"DEVICE_METADATA": {"localhost": {"type": "MgmtToRRouter"}}},
            {"PORT": {port: {"admin_status": "down"} for port in PORTS}},
        ],
    )
    def test_management_switches_and_ports_that_are_down_carry_none(self, patch: Patch) -> None:
        document = patched("leaf.json", {**self.NOTHING, **patch}, LEAF)
        assert drawn("SWS018", document, rdma_dscps=(26,)) == []
