"""Which DSCP rides with RDMA, what a ToS byte means, and where CNPs end up."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from lossless.checks.rules.classification.host_markings import is_unit_slip
from lossless.ground.basics.units import number_ranges
from tests.checks.rules.checking import Patch, corpus_findings, drawn, only, patched

INTENT = "leaf-spine.yaml"
LEAF = "leaf.json"
AZURE = "azure.json"


def dscp_map(**entries: str | None) -> Patch:
    return {"DSCP_TO_TC_MAP": {"AZURE": {key.removeprefix("dscp"): value for key, value in entries.items()}}}


class TestOtherDscpLossless:
    def test_a_whole_block_is_one_finding_at_its_first_entry(self) -> None:
        block = patched(LEAF, {"DSCP_TO_TC_MAP": {"AZURE": {str(d): "3" for d in range(24, 32)}}})
        finding = only("CLS002", block, rdma_dscps=(26,))
        assert finding.data == {
            "dscps": [24, 25, 27, 28, 29, 30, 31],
            "traffic_classes": [3],
            "rdma_dscps": [26],
        }
        assert finding.origin.path == ("DSCP_TO_TC_MAP", "AZURE", "24")
        assert finding.severity == "warning"
        assert finding.places == 3
        assert finding.data["dscps"] == [24, 25, 27, 28, 29, 30, 31]

    def test_what_is_inferred_cannot_contradict_itself(self) -> None:
        assert drawn("CLS002", patched(LEAF, dscp_map(dscp24="3"))) == []

    def test_an_rdma_dscp_on_a_lossy_class_is_left_to_cls001(self) -> None:
        astray = patched(LEAF, dscp_map(dscp26="0"))
        assert drawn("CLS002", astray, rdma_dscps=(26,)) == []
        assert only("CLS001", astray, rdma_dscps=(26,)).origin.path[-1] == "26"

    def test_every_named_class_is_at_home_in_any_lossless_class(self) -> None:
        crossed = patched(AZURE, dscp_map(dscp3="4", dscp4="3"))
        assert drawn("CLS002", crossed, rdma_dscps=(3, 4)) == []
        assert only("CLS002", patched(AZURE, dscp_map(dscp5="4")), rdma_dscps=(3, 4)).data["dscps"] == [5]

    def test_a_priority_that_no_rdma_uses_is_left_to_pfc001(self) -> None:
        stock = patched(AZURE, {})
        assert drawn("CLS002", stock, rdma_dscps=(3,)) == []
        assert only("PFC001", stock, rdma_dscps=(3,)).data["extra"] == [4]

    def test_cnp_beside_rdma_is_left_to_cls007(self) -> None:
        both = patched(LEAF, dscp_map(dscp48="3"))
        assert drawn("CLS002", both, rdma_dscps=(26,)) == []
        assert only("CLS007", both, rdma_dscps=(26,)).origin.path == ("DSCP_TO_TC_MAP", "AZURE", "48")

    def test_an_unmapped_dscp_shares_tc_0_when_rdma_is_there(self) -> None:
        lossless_zero: Patch = {
            "DSCP_TO_TC_MAP": {"AZURE": {"26": "0", "0": None}},
            "PORT_QOS_MAP": {p: {"pfc_enable": "0"} for p in ("Ethernet0", "Ethernet4", "Ethernet8")},
        }
        finding = only("CLS002", patched(LEAF, lossless_zero), rdma_dscps=(26,))
        assert finding.origin.path == ("DSCP_TO_TC_MAP", "AZURE")

    def test_a_lossless_rest_takes_every_dscp_but_cnp(self) -> None:
        rest = patched(INTENT, {"classes": {"rdma": {"dscp": "rest"}, "default": {"dscp": 10}}})
        finding = only("CLS002", rest)
        assert finding.origin.path == ("classes", "rdma", "dscp")
        assert finding.data["dscps"] == [dscp for dscp in range(64) if dscp not in (10, 48)]


@given(st.sets(st.integers(0, 63)))
def test_spelled_dscps_read_back(dscps: set[int]) -> None:
    read: set[int] = set()
    for run in filter(None, number_ranges(dscps).split(", ")):
        low, _, high = run.partition("-")
        read |= set(range(int(low), int(high or low) + 1))
    assert read == dscps


class TestTosDscpUnitSlip:
    @pytest.mark.parametrize("tos", [104, 106, 0, 40, "derived", "unset"])
    def test_only_a_dscp_in_place_of_a_tos_byte_is_a_slip(self, tos: int | str) -> None:
        assert drawn("CLS006", patched(INTENT, {"hosts": {"traffic_class": tos}})) == []

    def test_26_means_dscp_6(self) -> None:
        finding = only("CLS006", patched(INTENT, {"hosts": {"traffic_class": 26}}))
        assert finding.severity == "error"
        assert finding.places == 8
        assert finding.data == {"tos": 26, "dscp": 6, "meant_dscp": 26, "meant_tos": 104}

    def test_a_slip_beside_a_right_source_is_a_warning(self) -> None:
        finding = only("CLS006", patched(INTENT, {"hosts": {"nccl": {"ib_tc": 26}}}))
        assert finding.origin.path == ("hosts", "nccl", "ib_tc")
        assert finding.severity == "warning"

    @given(st.integers(0, 255))
    def test_a_byte_that_carries_a_lossless_dscp_is_never_a_slip(self, tos: int) -> None:
        assert not is_unit_slip(tos, (tos >> 2, tos))


class TestCnpClassUnsafe:
    def test_where_every_class_is_paused_there_is_none_to_map_cnps_to(self) -> None:
        masks: Patch = {
            "PORT_QOS_MAP": {p: {"pfc_enable": "0,1,2,3,4,5,6,7"} for p in ("Ethernet0", "Ethernet4")}
        }
        for finding in drawn("CLS007", patched(LEAF, masks)):
            assert finding.fix == ()

    def test_without_a_class_cnps_fall_into_the_rest(self) -> None:
        finding = only("CLS007", patched(INTENT, {"classes": {"cnp": None}}))
        assert finding.data == {"dscp": 48, "class": "default"}
        assert (finding.origin.path, finding.origin.mark) == (("classes",), "key")
        assert finding.severity == "error"

    def test_a_lossless_class_of_the_rest_is_named_as_such(self) -> None:
        classes = {"cnp": None, "rdma": {"dscp": "rest"}, "default": {"dscp": 10}}
        finding = only("CLS007", patched(INTENT, {"classes": classes}))
        assert finding.data == {"dscp": 48, "class": "rdma"}

    def test_cnp_in_a_lossless_class(self) -> None:
        own = only("CLS007", patched(INTENT, {"classes": {"cnp": {"lossless": True}}}))
        assert own.data == {"dscp": 48, "class": "cnp"}
        assert own.origin.path == ("classes", "cnp")

    def test_where_the_intent_puts_cnps_on_rdmas_dscp_that_is_the_value_to_change(self) -> None:
        stated: Patch = {"classes": {"cnp": None}, "congestion_control": {"dcqcn": {"cnp_dscp": 26}}}
        finding = only("CLS007", patched(INTENT, stated))
        assert finding.origin.path == ("congestion_control", "dcqcn", "cnp_dscp")

    def test_a_class_by_another_name_carries_cnps_as_well(self) -> None:
        control = {"cnp": None, "control": {"dscp": [46, 48], "priority": 6, "scheduling": "strict"}}
        assert drawn("CLS007", patched(INTENT, {"classes": control})) == []

    def test_dwrr_is_worth_knowing_in_an_intent_and_normal_on_a_device(self) -> None:
        finding = only("CLS007", patched(INTENT, {"classes": {"cnp": {"scheduling": None}}}))
        assert (finding.severity, finding.data) == ("info", {"dscp": 48, "class": "cnp"})
        assert drawn("CLS007", patched(AZURE, {})) == []

    def test_there_are_no_cnps_without_dcqcn(self) -> None:
        without: Patch = {"congestion_control": "pfc-only", "classes": {"cnp": None}}
        assert drawn("CLS007", patched(INTENT, without)) == []

    def test_on_a_device_dscp_48_is_only_likely_to_be_cnp(self) -> None:
        finding = only("CLS007", patched(LEAF, dscp_map(dscp48="3")))
        assert finding.data == {"dscp": 48, "traffic_class": 3}
        assert (finding.severity, finding.confidence, finding.places) == ("warning", "medium", 3)

    def test_a_user_who_names_dscp_48_means_rdma(self) -> None:
        assert drawn("CLS007", patched(LEAF, dscp_map(dscp48="3")), rdma_dscps=(26, 48)) == []


class TestCnpMarkingMismatch:
    @pytest.mark.parametrize(("dscp", "name"), [(46, "default"), (26, "rdma")])
    def test_a_dscp_that_class_cnp_does_not_name(self, dscp: int, name: str) -> None:
        stated = patched(INTENT, {"congestion_control": {"dcqcn": {"cnp_dscp": dscp}}})
        finding = only("CLS008", stated)
        assert finding.data == {"nic_dscp": dscp, "class_dscps": [48], "class": name}
        assert finding.origin.path == ("congestion_control", "dcqcn", "cnp_dscp")
        assert (finding.severity, finding.places) == ("error", 8)
        assert drawn("CLS007", stated) == []

    @pytest.mark.parametrize(("priority", "severity"), [(7, "warning"), (3, "error")])
    def test_a_priority_with_pfc_is_worse_than_another_one(self, priority: int, severity: str) -> None:
        finding = only(
            "CLS008", patched(INTENT, {"congestion_control": {"dcqcn": {"cnp_priority": priority}}})
        )
        assert finding.origin.path == ("congestion_control", "dcqcn", "cnp_priority")
        assert (finding.severity, finding.data["class_priority"]) == (severity, 6)

    def test_a_second_dscp_of_class_cnp_agrees(self) -> None:
        two: Patch = {
            "classes": {"cnp": {"dscp": [46, 48]}},
            "congestion_control": {"dcqcn": {"cnp_dscp": 48}},
        }
        assert drawn("CLS008", patched(INTENT, two)) == []

    def test_without_a_class_for_cnps_cls007_speaks_alone(self) -> None:
        stray: Patch = {"classes": {"cnp": None}, "congestion_control": {"dcqcn": {"cnp_dscp": 46}}}
        assert drawn("CLS008", patched(INTENT, stray)) == []
        assert only("CLS007", patched(INTENT, stray)).data["dscp"] == 46

    def test_a_nic_whose_default_differs_follows_the_class(self) -> None:
        thor: Patch = {"hardware": {"nic": "broadcom-thor-2"}, "congestion_control": "dcqcn"}
        assert drawn("CLS008", patched(INTENT, thor)) == []


@pytest.mark.parametrize("dscps", [(), (3, 4)])
def test_upstream_configurations_are_healthy(reference: Path, dscps: tuple[int, ...]) -> None:
    findings = corpus_findings(reference, ("CLS002", "CLS006", "CLS007", "CLS008"), dscps)
    assert findings == []


class TestLosslessClassWithoutDscp:
    def test_it_is_an_error_where_no_lossless_class_has_one(self) -> None:
        finding = only("CLS001", patched(INTENT, {"classes": {"rdma": {"dscp": "off"}}}))
        assert (finding.severity, finding.origin.path) == ("error", ("classes", "rdma", "dscp"))

    def test_a_second_one_beside_that_of_rdma_is_a_warning(self) -> None:
        spare = {"dscp": "off", "priority": 4, "lossless": True, "ecn": "off"}
        assert only("CLS001", patched(INTENT, {"classes": {"spare": spare}})).severity == "warning"

    def test_a_lossy_class_without_a_dscp_is_silent(self) -> None:
        own = {"dscp": "off", "priority": 4, "scheduling": "strict"}
        assert drawn("CLS001", patched(INTENT, {"classes": {"own": own}})) == []
