"""PFC on the right priorities, at both ends, along one path, and not alone on busy uplinks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from lossless.ground.documents import load, load_text
from tests.checks.rules.checking import Patch, corpus_findings, drawn, only, patched, unchecked
from tests.checks.rules.fabrics import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.ground.documents.text import Document

INTENT = "leaf-spine.yaml"
LEAF = "leaf.json"
AZURE = "azure.json"
CODES = ("PFC001", "PFC003", "PFC005", "PFC009")
PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")


def qos(port: str, **fields: str | None) -> Patch:
    return {"PORT_QOS_MAP": {port: fields}}


def zero(pool: str) -> Patch:
    return {"pool": pool, "size": "0", "dynamic_th": "-8"}


class TestPrioritiesMismatch:
    def test_one_port_without_pfc_among_others(self) -> None:
        finding = only("PFC001", patched(LEAF, qos("Ethernet4", pfc_enable="")))
        assert finding.data == {"pfc": [], "missing": [3]}
        assert finding.origin.path == ("PORT_QOS_MAP", "Ethernet4", "pfc_enable")
        assert (finding.severity, finding.elements) == ("warning", ("leaf1:Ethernet4",))

    def test_it_is_an_error_where_the_user_names_the_dscp(self) -> None:
        finding = only("PFC001", patched(LEAF, qos("Ethernet4", pfc_enable="")), rdma_dscps=(26,))
        assert finding.severity == "error"

    def test_ports_of_two_speeds_are_one_finding(self) -> None:
        two = {"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": ""}, "Ethernet8": {"pfc_enable": ""}}}
        finding = only("PFC001", patched(LEAF, two))
        assert (finding.places, finding.elements) == (2, ("leaf1:Ethernet4", "leaf1:Ethernet8"))

    def test_with_buffers_generated_the_queue_still_tells(self) -> None:
        bare: Patch = {"BUFFER_PG": {"Ethernet4|3": None}, **qos("Ethernet4", pfc_enable="")}
        assert only("PFC001", patched(LEAF, bare)).elements == ("leaf1:Ethernet4",)

    @pytest.mark.parametrize("status", ["down", None])
    def test_a_port_out_of_service_needs_no_pfc(self, status: str | None) -> None:
        down: Patch = {"PORT": {"Ethernet4": {"admin_status": status}}, **qos("Ethernet4", pfc_enable="")}
        assert drawn("PFC001", patched(LEAF, down)) == []

    def test_where_neighbors_are_named_a_port_without_one_is_out_of_service(self) -> None:
        wired: Patch = {"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "spine1", "port": "Ethernet0"}}}
        assert drawn("PFC001", patched(LEAF, {**wired, **qos("Ethernet4", pfc_enable="")})) == []

    def test_a_service_port_has_lossless_queues_and_no_pfc_map(self) -> None:
        service: Patch = {
            "BUFFER_PG": {"Ethernet4|3": None},
            **qos("Ethernet4", pfc_enable=None, pfcwd_sw_enable=None, pfc_to_queue_map=None),
        }
        assert drawn("PFC001", patched(LEAF, service)) == []

    def test_a_port_that_is_lossy_throughout_is_meant_so(self) -> None:
        lossy: Patch = {
            "BUFFER_PG": {"Ethernet4|3": {"profile": "ingress_lossy_profile"}},
            "BUFFER_QUEUE": {"Ethernet4|3": {"profile": "egress_lossy_profile"}},
            **qos("Ethernet4", pfc_enable=""),
        }
        assert drawn("PFC001", patched(LEAF, lossy)) == []

    def test_a_priority_too_many_is_one_finding_a_switch(self) -> None:
        finding = only("PFC001", patched(AZURE, {}), rdma_dscps=(3,))
        assert finding.data == {"pfc": [3, 4], "lossless": [3], "extra": [4]}
        assert finding.origin.path == ("PORT_QOS_MAP", "Ethernet0", "pfc_enable")
        assert (finding.severity, finding.places) == ("warning", 3)

    def test_tunnel_remapping_adds_two_priorities(self) -> None:
        remapped = patched(AZURE, qos("Ethernet8", pfc_enable="2,3,4,6"))
        assert drawn("PFC001", remapped, rdma_dscps=(3, 4)) == []
        watched = patched(AZURE, qos("Ethernet8", pfc_enable="2,3,4,6", pfcwd_sw_enable="2,3,4,6"))
        assert only("PFC001", watched, rdma_dscps=(3, 4)).data["extra"] == [2, 6]

    def test_a_dscp_astray_is_left_to_cls001(self) -> None:
        astray = patched(LEAF, {"DSCP_TO_TC_MAP": {"AZURE": {"26": "1"}}})
        assert drawn("PFC001", astray, rdma_dscps=(26,)) == []
        assert drawn("CLS001", astray, rdma_dscps=(26,)) != []

    def test_a_port_short_of_a_named_priority_is_to_blame_not_the_map(self) -> None:
        short = patched(AZURE, qos("Ethernet8", pfc_enable="3"))
        assert drawn("CLS001", short, rdma_dscps=(3, 4)) == []
        finding = only("PFC001", short, rdma_dscps=(3, 4))
        assert (finding.severity, finding.elements) == ("error", ("leaf1:Ethernet8",))
        assert only("PFC001", short).elements == ("leaf1:Ethernet8",)


def device(name: str, port: str, peer: tuple[str, str], **fields: str | None) -> Patch:
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": name}},
        "DEVICE_NEIGHBOR": {port: {"name": peer[0], "port": peer[1]}},
        **qos(port, **fields),
    }


class TestOneSided:
    def test_nics_that_miss_a_priority_of_the_switch(self) -> None:
        finding = only("PFC003", patched(INTENT, {"hosts": {"pfc": []}}))
        assert finding.origin.path == ("hosts", "pfc")
        assert (finding.severity, finding.places) == ("error", 8)
        assert finding.elements[:2] == ("host1", "host2")
        assert finding.data == {"nic": [], "switch": [3]}

    def test_a_priority_only_the_nics_have_is_a_warning(self) -> None:
        finding = only("PFC003", patched(INTENT, {"hosts": {"pfc": [4, 3]}}))
        assert (finding.severity, finding.data["nic"]) == ("warning", [3, 4])

    def test_nics_that_follow_the_classes_agree(self) -> None:
        assert drawn("PFC003", patched(INTENT, {"hosts": {"pfc": [3]}})) == []

    def test_two_switches_that_name_each_other(self) -> None:
        spine = patched(AZURE, device("spine1", "Ethernet0", ("leaf1", "Ethernet8")), "spine1.json")
        lossy: Patch = {"BUFFER_PG": {"Ethernet8|4": {"profile": "ingress_lossy_profile"}}}
        leaf = patched(
            AZURE,
            {**device("leaf1", "Ethernet8", ("spine1", "Ethernet0"), pfc_enable="3"), **lossy},
            "leaf1.json",
        )
        finding = only("PFC003", spine, leaf)
        assert finding.data == {"one_end": [3, 4], "other_end": [3]}
        assert finding.origin == (leaf.file, ("PORT_QOS_MAP", "Ethernet8", "pfc_enable"), "value")
        assert finding.related[0].origin.file == spine.file
        assert finding.severity == "error"
        assert finding.elements == ("leaf1:Ethernet8 - spine1:Ethernet0",)

    def test_what_only_one_end_claims_is_a_warning(self) -> None:
        leaf = patched(LEAF, device("leaf1", "Ethernet8", ("spine1", "Ethernet0")), "leaf1.json")
        silent: Patch = {
            "DEVICE_METADATA": {"localhost": {"hostname": "spine1"}},
            "BUFFER_PG": {"Ethernet0|3": {"profile": "ingress_lossy_profile"}},
            **qos("Ethernet0", pfc_enable=""),
        }
        finding = only("PFC003", leaf, patched(LEAF, silent, "spine1.json"))
        assert (finding.severity, finding.confidence) == ("warning", "medium")

    def test_what_both_ends_show_takes_the_place_of_what_one_end_suspects(self) -> None:
        leaf = patched(
            LEAF, device("leaf1", "Ethernet8", ("spine1", "Ethernet8"), pfc_enable=""), "leaf1.json"
        )
        both = device("spine1", "Ethernet8", ("leaf1", "Ethernet8"))
        spine = patched(LEAF, both, "spine1.json")
        assert [f.severity for f in drawn("PFC001", leaf)] == ["warning"]
        assert drawn("PFC001", leaf, spine) == []
        assert only("PFC003", leaf, spine).severity == "error"

    def test_what_one_file_alone_says_of_a_link_is_left_to_its_own_switch(self) -> None:
        off = device("leaf1", "Ethernet8", ("spine1", "Ethernet8"), pfc_enable="")
        leaf = patched(LEAF, off, "leaf1.json")
        spine = patched(LEAF, {"DEVICE_METADATA": {"localhost": {"hostname": "spine1"}}}, "spine1.json")
        assert drawn("PFC003", leaf, spine) == []
        assert only("PFC001", leaf, spine).severity == "warning"

    def test_tunnel_remapping_at_one_end_is_no_difference(self) -> None:
        leaf = patched(
            AZURE, device("leaf1", "Ethernet8", ("spine1", "Ethernet8"), pfc_enable="2,3,4,6"), "leaf1.json"
        )
        spine = patched(AZURE, device("spine1", "Ethernet8", ("leaf1", "Ethernet8")), "spine1.json")
        assert drawn("PFC003", leaf, spine) == []

    @pytest.mark.parametrize("status", ["down", None])
    def test_a_link_that_is_down_pauses_nothing(self, status: str | None) -> None:
        off = device("leaf1", "Ethernet8", ("spine1", "Ethernet8"), pfc_enable="")
        leaf = patched(LEAF, {**off, "PORT": {"Ethernet8": {"admin_status": status}}}, "leaf1.json")
        spine = patched(LEAF, device("spine1", "Ethernet8", ("leaf1", "Ethernet8")), "spine1.json")
        assert drawn("PFC003", leaf, spine) == []

    def test_a_port_of_the_neighbor_that_its_file_lacks_is_not_checked(self) -> None:
        leaf = patched(LEAF, device("leaf1", "Ethernet8", ("spine1", "etp1")), "leaf1.json")
        spine = patched(LEAF, {"DEVICE_METADATA": {"localhost": {"hostname": "spine1"}}}, "spine1.json")
        assert [rule.reason for rule in unchecked("PFC003", leaf, spine)] == [
            "DEVICE_NEIGHBOR names a port that the neighbor's file does not have"
        ]


class TestLinkWithoutPauses:
    """A link that pauses nothing at either end, beside equal links that do."""

    BARE: ClassVar[dict[str, Iterable[object] | None]] = {
        "PORT_QOS_MAP": None,
        "BUFFER_PG": ("0", "3"),
        "BUFFER_QUEUE": range(8),
        "QUEUE": range(8),
        "PFC_WD": None,
    }

    def switch(self, name: str, kind: str, cables: dict[str, tuple[str, str]], *bare: str) -> Document:
        """Return a switch with cables by port; ports that are bare have no rows of QoS."""
        patch: Patch = {
            "DEVICE_METADATA": {"localhost": {"hostname": name, "type": kind}},
            "DEVICE_NEIGHBOR": {port: {"name": peer, "port": far} for port, (peer, far) in cables.items()},
        }
        for table, keys in self.BARE.items():
            patch[table] = {
                port if keys is None else f"{port}|{key}": None for port in bare for key in keys or ("",)
            }
        return patched(LEAF, patch, f"{name}.json")

    def pair(
        self, *bare: str, kind: str = "LeafRouter", ports: tuple[str, str] = PORTS[:2]
    ) -> list[Document]:
        """Return a leaf and a spine with two links between them."""
        leaf = self.switch("leaf1", "ToRRouter", {port: ("spine1", port) for port in ports}, *bare)
        return [leaf, self.switch("spine1", kind, {port: ("leaf1", port) for port in ports}, *bare)]

    def test_beside_a_parallel_link_it_is_a_warning(self) -> None:
        finding = only("PFC003", *self.pair("Ethernet4"))
        assert (finding.severity, finding.elements) == ("warning", ("leaf1:Ethernet4 - spine1:Ethernet4",))
        assert finding.related[0].origin.path == ("PORT_QOS_MAP", "Ethernet0", "pfc_enable")

    def test_so_it_is_beside_links_to_other_switches_of_that_type(self) -> None:
        def leaf(name: str, port: str, *bare: str) -> Document:
            cables = {"Ethernet0": ("spine1", port), "Ethernet4": ("spine2", port)}
            return self.switch(name, "ToRRouter", cables, *bare)

        def spine(name: str, port: str, *bare: str) -> Document:
            cables = {"Ethernet0": ("leaf1", port), "Ethernet4": ("leaf2", port)}
            return self.switch(name, "LeafRouter", cables, *bare)

        others = (leaf("leaf2", "Ethernet4"), spine("spine2", "Ethernet4"))
        bare = (leaf("leaf1", "Ethernet0", "Ethernet0"), spine("spine1", "Ethernet0", "Ethernet0"))
        assert only("PFC003", *bare, *others).elements == ("leaf1:Ethernet0 - spine1:Ethernet0",)
        assert drawn("PFC003", leaf("leaf1", "Ethernet0"), spine("spine1", "Ethernet0"), *others) == []

    def test_storage_below_the_spines_is_silent(self) -> None:
        assert drawn("PFC003", *self.pair("Ethernet0", "Ethernet4")) == []

    def test_a_link_of_another_speed_or_between_equals_is_silent(self) -> None:
        assert drawn("PFC003", *self.pair("Ethernet8", ports=("Ethernet0", "Ethernet8"))) == []
        assert drawn("PFC003", *self.pair("Ethernet4", kind="ToRRouter")) == []


class TestPathMisaligned:
    @pytest.mark.parametrize(
        ("patch", "path", "places"),
        [
            pytest.param(
                {"TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "0"}}},
                ("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "3"),
                3,
                id="group",
            ),
            pytest.param(
                {"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "4"}}},
                ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE", "3"),
                3,
                id="priority-to-group",
            ),
            pytest.param(
                {"MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {"3": "4"}}},
                ("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE", "3"),
                3,
                id="priority-to-queue",
            ),
            pytest.param(
                {"BUFFER_PG": {"Ethernet0|3": None, "Ethernet0|3-4": {"profile": "egress_lossless_profile"}}},
                ("BUFFER_PG", "Ethernet0|3-4", "profile"),
                1,
                id="group-profile",
            ),
            pytest.param(
                {"BUFFER_QUEUE": {"Ethernet0|3": {"profile": "egress_lossy_profile"}}},
                ("BUFFER_QUEUE", "Ethernet0|3", "profile"),
                1,
                id="queue-profile",
            ),
        ],
    )
    def test_one_thing_out_of_line_is_the_one_to_fix(
        self, patch: Patch, path: tuple[str, ...], places: int
    ) -> None:
        finding = only("PFC005", patched(LEAF, patch))
        assert finding.data == {"priority": 3, "priorities": [3]}
        assert (finding.origin.path, finding.places, finding.severity) == (path, places, "error")

    def test_the_queue_map_is_to_blame_where_the_pause_stops_the_right_number(self) -> None:
        moved: Patch = {"TC_TO_QUEUE_MAP": {"AZURE": {"3": "2"}}, "BUFFER_QUEUE": {}}
        lossless = {f"{port}|2": {"profile": "egress_lossless_profile"} for port in PORTS}
        finding = only("PFC005", patched(LEAF, {**moved, "BUFFER_QUEUE": lossless}))
        assert finding.origin.path == ("TC_TO_QUEUE_MAP", "AZURE", "3")

    def test_rows_of_many_ports_are_one_cause(self) -> None:
        rows: dict[str, Any] = {f"{port}|3-4": {"profile": "ingress_lossy_profile"} for port in PORTS}
        rows.update((f"{port}|3", None) for port in PORTS)
        finding = only("PFC005", patched(LEAF, {"BUFFER_PG": rows}))
        assert (finding.origin.path, finding.places) == (("BUFFER_PG", "Ethernet0|3-4", "profile"), 3)

    def test_a_used_priority_that_nothing_is_set_up_for_is_one_finding_at_the_mask(self) -> None:
        used = {"DSCP_TO_TC_MAP": {"AZURE": {"10": "4"}}, **qos("Ethernet0", pfc_enable="3,4")}
        finding = only("PFC005", patched(LEAF, used))
        assert finding.data == {"priority": 4, "faults": 2}
        assert finding.origin.path == ("PORT_QOS_MAP", "Ethernet0", "pfc_enable")
        assert finding.severity == "error"

    def test_a_priority_that_no_dscp_uses_is_a_warning(self) -> None:
        finding = only("PFC005", patched(LEAF, qos("Ethernet0", pfc_enable="3,4")))
        assert finding.data == {"priority": 4, "faults": 2}
        assert finding.severity == "warning"

    def test_a_priority_that_no_name_asks_for_is_left_to_pfc001(self) -> None:
        extra = patched(LEAF, qos("Ethernet0", pfc_enable="3,4"))
        assert drawn("PFC005", extra, rdma_dscps=(26,)) == []
        assert only("PFC001", extra, rdma_dscps=(26,)).data["extra"] == [4]

    def test_a_priority_without_an_entry_pauses_for_group_0(self) -> None:
        finding = only(
            "SWS018", patched(LEAF, {"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": None, "2": "2"}}})
        )
        assert (finding.data["cause"], finding.data["field"]) == ("entry", "3")
        assert finding.severity == "error"

    def test_rows_that_the_device_generates_are_no_fault(self) -> None:
        rows: dict[str, Any] = {f"{port}|3": None for port in PORTS}
        assert drawn("PFC005", patched(LEAF, {"BUFFER_PG": rows})) == []

    def test_the_dynamic_model_computes_profiles_but_writes_no_rows(self) -> None:
        dynamic: Patch = {"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}}
        computed = {f"{port}|3": {"profile": "NULL"} for port in PORTS}
        document = patched(LEAF, {**dynamic, "BUFFER_PG": computed})
        assert drawn("PFC005", document) == []
        assert unchecked("PFC005", document) == []
        finding = only("PFC005", patched(LEAF, {**dynamic, "BUFFER_PG": {**computed, "Ethernet0|3": None}}))
        assert finding.data == {"priority": 3, "priorities": [3]}
        assert finding.elements == ("leaf1:Ethernet0",)

    def test_a_zero_profile_takes_the_headroom_of_a_port_in_service(self) -> None:
        rows: Patch = {
            "BUFFER_PROFILE": {"ingress_lossless_zero_profile": zero("ingress_lossless_pool")},
            "BUFFER_PG": {"Ethernet0|3": None, "Ethernet0|3-4": {"profile": "ingress_lossless_zero_profile"}},
        }
        finding = only("PFC005", patched(LEAF, rows))
        assert (finding.origin.path[0], finding.elements) == ("BUFFER_PG", ("leaf1:Ethernet0",))
        unused: Patch = {"PORT": {"Ethernet0": {"admin_status": "down"}}}
        assert drawn("PFC005", patched(LEAF, {**rows, **unused})) == []

    def test_a_zero_profile_lets_a_queue_of_a_port_in_service_hold_nothing(self) -> None:
        rows: Patch = {
            "BUFFER_PROFILE": {"egress_lossless_zero_profile": zero("egress_lossless_pool")},
            "BUFFER_QUEUE": {"Ethernet4|3": {"profile": "egress_lossless_zero_profile"}},
        }
        finding = only("PFC005", patched(LEAF, rows))
        assert (finding.severity, finding.elements) == ("error", ("leaf1:Ethernet4",))
        assert finding.origin.path == ("BUFFER_QUEUE", "Ethernet4|3", "profile")
        for status in ("down", None):
            unused: Patch = {"PORT": {"Ethernet4": {"admin_status": status}}}
            assert drawn("PFC005", patched(LEAF, {**rows, **unused})) == []

    @pytest.mark.parametrize(
        ("profile", "pool", "field"),
        [
            ({"size": "0", "dynamic_th": "-8"}, {}, "dynamic_th"),
            ({"size": "0", "dynamic_th": None, "static_th": "0"}, {"size": "0", "mode": "static"}, "pool"),
        ],
    )
    def test_a_profile_that_became_zero_is_one_cause(self, profile: Patch, pool: Patch, field: str) -> None:
        own: Patch = {"egress_lossless_profile": profile}
        document = patched(LEAF, {"BUFFER_PROFILE": own, "BUFFER_POOL": {"egress_lossless_pool": pool}})
        finding = only("PFC005", document)
        assert finding.origin.path == ("BUFFER_PROFILE", "egress_lossless_profile", field)
        assert finding.places == len(PORTS)

    @pytest.mark.parametrize("size", ["0", "9216"])
    def test_a_low_threshold_is_not_a_zero_profile(self, size: str) -> None:
        low: Patch = {"egress_lossless_profile": {"size": size, "dynamic_th": "-7"}}
        assert drawn("PFC005", patched(LEAF, {"BUFFER_PROFILE": low})) == []

    def test_a_profile_that_is_not_in_the_file_is_not_checked(self) -> None:
        dangling = patched(LEAF, {"BUFFER_PG": {"Ethernet0|3": None, "Ethernet0|3-4": {"profile": "gone"}}})
        assert drawn("PFC005", dangling) == []
        assert [(rule.reason, rule.times) for rule in unchecked("PFC005", dangling)] == [
            ("BUFFER_PG names a profile that is not in the file", 1)
        ]

    def test_a_lossy_class_in_a_lossless_group(self) -> None:
        finding = only("PFC005", patched(LEAF, {"TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"6": "3"}}}))
        assert finding.data == {"priority": 3, "group": 3, "lossy_traffic_classes": [6]}
        assert finding.origin.path == ("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "6")
        assert (finding.severity, finding.places) == ("warning", 3)

    def test_in_an_intent_the_group_of_a_class_is_the_value_to_change(self) -> None:
        lossless = only("PFC005", patched(INTENT, {"classes": {"rdma": {"pg": 0}}}))
        assert lossless.origin.path == ("classes", "rdma", "pg")
        assert lossless.data == {"priority": 3, "group": 0, "lossy_traffic_classes": [0, 6]}
        lossy = only("PFC005", patched(INTENT, {"classes": {"cnp": {"pg": 3}}}))
        assert lossy.origin.path == ("classes", "cnp", "pg")
        assert lossy.data == {"priority": 3, "group": 3, "lossy_traffic_classes": [6]}

    def test_a_class_that_is_counted_paused_and_stopped_like_a_priority_is_lossless_by_the_maps(self) -> None:
        # DSCP 26 has TC 5, which PG 3 counts, priority 3 pauses and queue 3 holds; nothing uses TC 3.
        coherent = {**FIVE_FOR_THREE, "TC_TO_QUEUE_MAP": {"AZURE": {"3": "0", "5": "3"}}}
        assert drawn("PFC005", patched(LEAF, coherent)) == []
        finding = only("PFC005", patched(LEAF, FIVE_FOR_THREE))
        assert finding.data == {"priority": 3, "group": 3, "lossy_traffic_classes": [5]}
        assert finding.origin.path == ("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "5")

    @pytest.mark.parametrize(("used", "severity"), [("3", "error"), ("2", "warning")])
    def test_an_802_1p_map_says_which_traffic_classes_are_used(self, used: str, severity: str) -> None:
        trusted: Patch = {
            "DSCP_TO_TC_MAP": {"AZURE": {"26": "0"}},
            "DOT1P_TO_TC_MAP": {"DOT1P": {"1": used}},
            "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": None}},
            "PORT_QOS_MAP": {port: {"dot1p_to_tc_map": "DOT1P"} for port in PORTS},
        }
        finding = only("PFC005", patched(LEAF, trusted))
        assert (finding.severity, finding.data["priority"]) == (severity, 3)
        assert ("faults" in finding.data) is (used != "3")

    def test_an_entry_that_cannot_be_read_leaves_open_what_is_used(self) -> None:
        lossy: Patch = {"TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "0"}}}
        for target, found in (("0", 1), ("x", 0)):
            document = patched(LEAF, {**lossy, "DSCP_TO_TC_MAP": {"AZURE": {"26": target}}})
            assert len(drawn("PFC005", document)) == found

    def test_one_row_for_two_priorities_is_one_finding(self) -> None:
        both: Patch = {
            "Ethernet4|3": None,
            "Ethernet4|4": None,
            "Ethernet4|3-5": {"profile": "ingress_lossy_profile"},
        }
        finding = only("PFC005", patched(AZURE, {"BUFFER_PG": both}))
        assert finding.origin.path == ("BUFFER_PG", "Ethernet4|3-5", "profile")
        assert finding.data["priorities"] == [3, 4]

    def test_a_lossless_class_in_another_group_than_its_own_wastes_headroom(self) -> None:
        finding = only("PFC005", patched(INTENT, {"classes": {"rdma": {"pg": 4}}}))
        assert (finding.severity, finding.origin.path) == ("warning", ("classes", "rdma", "pg"))
        assert finding.data == {"priority": 3, "priorities": [3]}


FIVE_FOR_THREE: Patch = {
    "DSCP_TO_TC_MAP": {"AZURE": {"26": "5"}},
    "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "0", "5": "3"}},
}

NO_ECN: Patch = {"congestion_control": "pfc-only", "classes": {"rdma": {"ecn": "off"}}}


def uplinks(links: str, **more: Any) -> Patch:
    return {"topology": {"leaf_spine": {"uplinks": links, **more}}}


def pods(**more: Any) -> Patch:
    """Return two pods of two leaves and two spines: 1:1 below the spines, 2:1 above them."""
    shape = {
        "pods": 2,
        "leaves_per_pod": 2,
        "spines_per_pod": 2,
        "super_spines": 2,
        "hosts_per_leaf": 2,
        "host_links": "2 x 400G",
        "uplinks": "2 x 400G",
        "spine_uplinks": "1 x 800G",
        "planes": 2,
        "cables": {"host": "3m", "uplink": "30m", "spine_uplink": "40m"},
    }
    hardware = {"super-spine": "nvidia-sn5600"}
    return {"hardware": hardware, "topology": {"leaf_spine": None, "three_tier": {**shape, **more}}}


def marking(speed: str, links: tuple[str, ...], outside: tuple[str, ...]) -> Document:
    """Return an intent of links where ECN marks at one speed alone."""
    curve = {"min": "800 KiB", "max": "3200 KiB", "probability": "20%"}
    ecn = {"by_speed": {speed: curve}}
    intent = listed(
        links,
        outside,
        preset=None,
        congestion_control="dcqcn",
        classes={
            "rdma": {"dscp": 26, "priority": 3, "lossless": True, "bandwidth": "50%", "ecn": ecn},
            "default": {"dscp": "rest", "priority": 0, "bandwidth": "50%"},
        },
    )
    return load_text(json.dumps(intent), "fabric.yaml")


class TestOversubscribedUplinks:
    @pytest.mark.parametrize(
        ("links", "ratio", "severity"),
        [("1 x 800G", 2, "warning"), ("3 x 400G", 1.333, "warning"), ("1 x 400G", 4, "error")],
    )
    def test_without_marking_pauses_are_all_there_is(self, links: str, ratio: float, severity: str) -> None:
        finding = only("PFC009", patched(INTENT, {**NO_ECN, **uplinks(links)}))
        assert finding.origin.path == ("topology", "leaf_spine", "uplinks")
        assert (finding.severity, finding.data["ratio"], finding.elements) == (
            severity,
            ratio,
            ("leaf1", "leaf2"),
        )

    def test_the_message_stands_alone(self) -> None:
        finding = only("PFC009", patched(INTENT, {**NO_ECN, **uplinks("1 x 400G")}))
        assert finding.data == {"ratio": 4.0, "priorities": [3]}

    def test_a_stated_ratio_does_not_say_how_senders_learn_of_it(self) -> None:
        stated = patched(INTENT, {**NO_ECN, **uplinks("1 x 400G", oversubscription=4)})
        assert drawn("TOP001", stated) == []
        assert only("PFC009", stated).severity == "error"

    def test_with_marking_the_ratio_is_top001s_alone(self) -> None:
        marked = patched(INTENT, uplinks("1 x 400G"))
        assert drawn("PFC009", marked) == []
        assert drawn("TOP001", marked) != []

    def test_marking_on_host_links_alone_does_not_help_the_uplinks(self) -> None:
        curve = {"min": "800 KiB", "max": "3200 KiB", "probability": "20%"}
        hosts_only: Patch = {
            "classes": {"rdma": {"ecn": {**dict.fromkeys(curve), "by_speed": {"400G": curve}}}}
        }
        assert only("PFC009", patched(INTENT, {**hosts_only, **uplinks("1 x 800G")})).severity == "warning"

    def test_marking_on_the_uplinks_alone_is_enough_for_them(self) -> None:
        curve = {"min": "800 KiB", "max": "3200 KiB", "probability": "20%"}
        uplinks_only = {"ecn": {**dict.fromkeys(curve), "by_speed": {"800G": curve}}}
        assert (
            drawn("PFC009", patched(INTENT, {"classes": {"rdma": uplinks_only}, **uplinks("1 x 800G")})) == []
        )

    def test_without_oversubscription_or_pfc_there_is_nothing_to_say(self) -> None:
        assert drawn("PFC009", patched(INTENT, NO_ECN)) == []
        lossy: Patch = {
            "congestion_control": "pfc-only",
            "classes": {"rdma": {"ecn": "off", "lossless": False}},
        }
        assert drawn("PFC009", patched(INTENT, {**lossy, **uplinks("1 x 400G")})) == []

    def test_spines_below_super_spines_have_uplinks_too(self) -> None:
        """Leaves are 1:1 here, spines 2:1 and with marks on links to leaves alone."""
        assert drawn("PFC009", patched(INTENT, pods())) == []
        curve = {"min": "800 KiB", "max": "3200 KiB", "probability": "20%"}
        leaf_links = {"classes": {"rdma": {"ecn": {**dict.fromkeys(curve), "by_speed": {"400G": curve}}}}}
        finding = only("PFC009", patched(INTENT, {**leaf_links, **pods()}))
        assert finding.origin.path == ("topology", "three_tier", "spine_uplinks")
        assert (finding.severity, finding.data["ratio"]) == ("warning", 2)
        assert finding.elements == ("spine1", "spine2", "spine3", "spine4")
        every = {"classes": {"rdma": {"ecn": {**dict.fromkeys(curve), "by_speed": {"800G": curve}}}}}
        assert drawn("PFC009", patched(INTENT, {**every, **pods()})) == []

    def test_a_ratio_is_accepted_for_its_tier_alone(self) -> None:
        for stated, found in ((2, []), ({"spine": 2}, []), ({"leaf": 2}, [2]), ({"spine": 1.5}, [2])):
            document = patched(INTENT, pods(oversubscription=stated))
            assert [finding.data["ratio"] for finding in drawn("TOP001", document)] == found
        (finding,) = drawn("TOP001", patched(INTENT, pods(oversubscription={"leaf": 3})))
        assert finding.data["ratio"] == 2.0

    def test_a_link_between_leaves_is_no_uplink(self) -> None:
        links = ("leaf1 gpu1 4 x 400G 3m", "leaf1 spine1 1 x 800G 30m", "leaf1 leaf2 1 x 400G 3m")
        for outside in ((), ("leaf2",)):
            assert drawn("PFC009", marking("800G", links, outside)) == []
            assert only("PFC009", marking("400G", links, outside)).elements == ("leaf1",)

    def test_links_to_leaves_that_are_configured_elsewhere_are_no_uplinks_of_a_spine(self) -> None:
        links = (
            *("leaf1 gpu1 2 x 400G 3m", "leaf1 spine1 4 x 400G 30m", "leaf2 spine1 4 x 400G 30m"),
            "spine1 super1 1 x 800G 40m",
        )
        assert drawn("PFC009", marking("800G", links, ("leaf2",))) == []
        found = only("PFC009", marking("400G", links, ("leaf2",)))
        assert (found.elements, found.data["ratio"]) == (("spine1",), 4)

    def test_a_leaf_between_devices_that_are_configured_elsewhere(self) -> None:
        links = ("leaf1 gpu1 4 x 400G 3m", "leaf1 spine1 1 x 800G 30m")
        assert drawn("PFC009", marking("800G", links, ("gpu1", "spine1"))) == []
        assert only("PFC009", marking("400G", links, ("gpu1", "spine1"))).elements == ("leaf1",)

    def test_eight_to_one_as_published(self) -> None:
        published: Patch = {**NO_ECN, **uplinks("1 x 800G", hosts_per_leaf=16)}
        document = patched(INTENT, published)
        assert only("PFC009", document).data["ratio"] == 8
        assert only("TOP001", document).data["ratio"] == 8


@pytest.mark.parametrize("dscps", [(), (3, 4)])
def test_upstream_configurations_are_healthy(reference: Path, dscps: tuple[int, ...]) -> None:
    findings = corpus_findings(reference, CODES, dscps)
    assert findings == []


@pytest.mark.parametrize(
    ("probe", "code"),
    [
        ("base", None),
        ("pfc_enable_empty", "PFC001"),
        ("pfc_enable_on_lossy_pg", None),
        ("pfc_enable_two_but_one_lossless", "PFC005"),
        ("tc_to_pg_collapsed", "PFC005"),
        ("pg_egress_profile", None),
        ("lossless_queue_lossy_profile", "PFC005"),
        ("pg_null", None),
        ("cable_0m", None),
        ("cable_missing_port", None),
        ("buffer_model_dynamic_no_params", None),
    ],
)
def test_probes_draw_the_rule_that_owns_them(reference: Path, probe: str, code: str | None) -> None:
    document = load(reference / "corpus" / "probes" / f"{probe}.json")
    assert {owner for owner in CODES if drawn(owner, document)} == ({code} if code else set())
