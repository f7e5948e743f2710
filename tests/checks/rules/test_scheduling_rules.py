"""How queues are served: shares, strict queues, limits and the unit they are written in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import Options, lint, lint_documents, load_fabrics
from lossless.formats.device_files.switches import switch_files
from lossless.formats.sonic.from_model import tables
from lossless.ground.basics.errors import RenderError
from lossless.ground.documents import load_text
from tests.checks.rules.linted import corpus, device, drawn, intent, only, unchecked
from tests.checks.rules.snippets import BASES, merge
from tools.damage_systems import INTENT, SYSTEMS

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.api import Report

CODES = ("SCH001", "SCH003", "SCH004", "SCH005", "SCH006")
PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")
FULL_SPEED = str(400 * 10**9 // 8)
"""400G as SONiC counts it."""


def scheduler(name: str, **fields: str | None) -> dict[str, Any]:
    return {"SCHEDULER": {name: fields}}


def queues(number: int, name: str) -> dict[str, Any]:
    return {"QUEUE": {f"{port}|{number}": {"scheduler": name} for port in PORTS}}


def named(patch: dict[str, Any], *dscps: int) -> Report:
    data = merge(json.loads((BASES / "leaf.json").read_text()), patch)
    return lint_documents([load_text(json.dumps(data), "leaf.json")], Options(rdma_dscps=dscps))


def none_of(report: Report, *codes: str) -> None:
    for code in codes or CODES:
        assert drawn(report, code) == []


class TestShare:
    """SCH001."""

    def test_says_the_share_and_what_it_is_of(self) -> None:
        found = only(device(scheduler("scheduler.1", weight="1")), "SCH001")
        assert found.data == {"queues": [3], "weight": 1, "total": 71, "percent": 1.41}
        assert (found.severity, found.origin.path) == ("warning", ("SCHEDULER", "scheduler.1", "weight"))
        assert found.places == 3

    @pytest.mark.parametrize(("weight", "hits"), [("6", 1), ("7", 0)])
    def test_half_of_an_equal_share_is_enough(self, weight: str, hits: int) -> None:
        # Six queues, five of weight 14: below 70/11 = 6.4 is less than half of a sixth.
        assert len(drawn(device(scheduler("scheduler.1", weight=weight)), "SCH001")) == hits

    def test_a_missing_weight_is_one(self) -> None:
        assert only(device(scheduler("scheduler.1", weight=None)), "SCH001").data["weight"] == 1

    def test_two_lossless_queues_of_which_nobody_says_which_is_rdma(self) -> None:
        lone = {
            "SCHEDULER": {"big": {"type": "DWRR", "weight": "100"}, "scheduler.1": {"weight": "1"}},
            "QUEUE": {f"{port}|4": {"scheduler": "big", "wred_profile": "AZURE_LOSSLESS"} for port in PORTS},
            "PORT_QOS_MAP": {port: {"pfc_enable": "3,4"} for port in PORTS},
            "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"4": "4"}},
            "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"AZURE": {"4": "4"}},
            "BUFFER_PG": {f"{port}|4": {"profile": "pg_lossless_400000_5m_profile"} for port in PORTS},
            "DSCP_TO_TC_MAP": {"AZURE": {"4": "4"}},
        }
        assert drawn(device(lone), "SCH001") == []
        assert only(named(lone, 26), "SCH001").data["queues"] == [3]
        assert drawn(named(lone, 4), "SCH001") == []

    def test_a_weight_that_no_switch_holds_is_not_checked(self) -> None:
        none_of(device(scheduler("scheduler.1", weight="0")), "SCH001")
        none_of(device(scheduler("scheduler.0", weight="5000")), "SCH001")

    def test_strict_queues_have_no_share(self) -> None:
        none_of(device(scheduler("scheduler.cnp", weight="100")))

    def test_declared_shares(self) -> None:
        small = {"rdma": {"bandwidth": "24%"}, "default": {"bandwidth": "76%"}}
        found = only(intent({"classes": small}), "SCH001")
        assert found.data == {"queues": [3], "weight": 24, "total": 100, "percent": 24.0}
        assert found.origin.path == ("classes", "rdma", "bandwidth")
        assert found.places == 32
        quarter = {"rdma": {"bandwidth": "25%"}, "default": {"bandwidth": "75%"}}
        none_of(intent({"classes": quarter}))

    def test_the_published_shares_are_enough(self) -> None:
        for preset in ("azure", "nvidia"):
            none_of(intent({"preset": preset, "classes": None}))


class TestLeftOver:
    """SCH003."""

    def test_class_for_which_nothing_is_left(self) -> None:
        found = only(intent({"classes": {"backup": {"dscp": 8, "priority": 1}}}), "SCH003")
        assert found.data == {"class": "backup", "weight": 1, "total": 101}
        assert (found.severity, found.origin.path) == ("info", ("classes", "backup"))

    def test_a_stated_per_cent_is_what_was_wanted(self) -> None:
        classes = {
            "backup": {"dscp": 8, "priority": 1, "bandwidth": "1%"},
            "default": {"bandwidth": "49%"},
        }
        none_of(intent({"classes": classes}), "SCH003")

    def test_a_lossless_class_is_a_matter_of_shares(self) -> None:
        report = intent({"classes": {"rdma": {"bandwidth": None}, "default": {"bandwidth": "100%"}}})
        assert only(report, "SCH001").data["total"] == 101
        none_of(report, "SCH003")

    @pytest.mark.parametrize("name", ["sonic", *SYSTEMS])
    @pytest.mark.parametrize(("own", "rest"), [("storage", 50), ("rdma", 100)])
    def test_it_is_an_error_exactly_where_render_refuses_it(
        self, name: str, own: str, rest: int, tmp_path: Path
    ) -> None:
        text = INTENT.format(hardware=SYSTEMS[name].hardware if name in SYSTEMS else "nvidia-sn5600")
        data = load_text(text, "fabric.yaml").data
        classes: dict[str, Any] = {"storage": {"dscp": 40, "priority": 4}} if own == "storage" else {}
        rdma = {
            key: value
            for key, value in data["classes"]["rdma"].items()
            if own != "rdma" or key != "bandwidth"
        }
        classes |= {
            **data["classes"],
            "rdma": rdma,
            "default": {**data["classes"]["default"], "bandwidth": f"{rest}%"},
        }
        path = tmp_path / "fabric.yaml"
        path.write_text(json.dumps({**data, "classes": classes}))
        errors = [found.code for found in lint([path]).findings if found.severity == "error"]
        switch = load_fabrics([load_text(path.read_text(), "fabric.yaml")]).fabrics[0].switches[0]
        if name in ("sonic", "nvue"):
            assert switch_files(switch, None)
            assert errors == []
        else:
            with pytest.raises(RenderError, match="cannot exceed 100 %"):
                switch_files(switch, None)
            assert errors == ["SCH003"]


class TestStrict:
    """SCH004."""

    def test_a_strict_lossless_class(self) -> None:
        report = intent({"classes": {"rdma": {"scheduling": "strict", "bandwidth": None}}})
        found = only(report, "SCH004")
        assert found.data == {"queues": [3], "scheduler": "scheduler.rdma"}
        assert (found.severity, found.origin.path) == ("warning", ("classes", "rdma", "scheduling"))
        assert found.places == 32

    def test_the_row_that_chose_the_scheduler_is_to_blame_where_others_use_it(self) -> None:
        found = only(device(queues(3, "scheduler.cnp")), "SCH004")
        assert found.origin.path == ("QUEUE", "Ethernet0|3", "scheduler")
        assert found.places == 3

    def test_the_scheduler_is_to_blame_where_it_serves_nothing_else(self) -> None:
        found = only(device(scheduler("scheduler.1", type="STRICT")), "SCH004")
        assert found.origin.path == ("SCHEDULER", "scheduler.1", "type")

    def test_best_effort_before_rdma(self) -> None:
        found = only(device(queues(0, "scheduler.cnp")), "SCH004")
        assert found.data == {"queues": [0], "scheduler": "scheduler.cnp"}
        assert found.origin.path == ("QUEUE", "Ethernet0|0", "scheduler")

    def test_best_effort_behind_strict_rdma_stops_only_what_it_should(self) -> None:
        both = {"QUEUE": {**queues(0, "scheduler.cnp")["QUEUE"], **queues(3, "scheduler.cnp")["QUEUE"]}}
        assert [found.data["queues"] for found in drawn(device(both), "SCH004")] == [[3]]

    def test_other_strict_queues_of_a_switch_are_its_own_business(self) -> None:
        none_of(device(queues(5, "scheduler.cnp")), "SCH004")

    @pytest.mark.parametrize(
        "dscp",
        [40, 46, 48, 56, [46, 48]],
    )
    def test_control_traffic_may_be_strict(self, dscp: object) -> None:
        control = {"dscp": dscp, "priority": 7, "scheduling": "strict"}
        none_of(intent({"classes": {"cnp": None, "control": control}}), "SCH004")

    @pytest.mark.parametrize("dscp", [1, 10, 39, [10, 48]])
    def test_bulk_traffic_may_not(self, dscp: object) -> None:
        bulk = {"dscp": dscp, "priority": 1, "scheduling": "strict"}
        found = only(intent({"classes": {"cnp": None, "bulk": bulk}}), "SCH004")
        assert found.data == {"queues": [1], "scheduler": "scheduler.bulk"}
        assert found.origin.path == ("classes", "bulk", "scheduling")

    def test_the_rest_may_not(self) -> None:
        strict = {"default": {"scheduling": "strict", "bandwidth": None}}
        assert only(intent({"classes": strict}), "SCH004").data["queues"] == [0]

    def test_cnps_of_another_dscp(self) -> None:
        cnp = {"classes": {"cnp": {"dscp": 4}}, "congestion_control": {"dcqcn": {"cnp_dscp": 4}}}
        none_of(intent(cnp), "SCH004")
        renamed = {"classes": {"cnp": None, "notes": {"dscp": 4, "priority": 6, "scheduling": "strict"}}}
        none_of(intent(cnp | renamed), "SCH004")

    def test_cnps_that_are_lossless_too_have_one_fault(self) -> None:
        report = intent({"classes": {"cnp": {"lossless": True, "ecn": "off"}}})
        assert drawn(report, "CLS007")
        none_of(report, "SCH004")

    def test_a_strict_queue_with_a_cap_leaves_the_rest_to_others(self) -> None:
        capped = scheduler("scheduler.cnp", cir="1000", pir=str(int(FULL_SPEED) - 1))
        none_of(device(capped | queues(0, "scheduler.cnp")), "SCH004")
        full = scheduler("scheduler.cnp", cir="1000", pir=str(2 * int(FULL_SPEED)))
        assert only(device(full | queues(0, "scheduler.cnp")), "SCH004").places == 3

    def test_ports_that_trust_802_1p_say_nothing_of_dscp_0(self) -> None:
        trust = {
            "DOT1P_TO_TC_MAP": {"AZURE": {"0": "0", "3": "3"}},
            "PORT_QOS_MAP": {port: {"dscp_to_tc_map": None, "dot1p_to_tc_map": "AZURE"} for port in PORTS},
        }
        none_of(device(trust | queues(0, "scheduler.cnp")), "SCH004")


class TestLimits:
    """SCH005 and SCH006."""

    def test_a_limit_at_the_speed_of_the_port_is_none(self) -> None:
        fast = scheduler("scheduler.1", cir="1000", pir=str(2 * int(FULL_SPEED)))
        none_of(device(fast))

    def test_only_the_faster_ports_are_slowed(self) -> None:
        found = only(device(scheduler("scheduler.1", cir="1000", pir=FULL_SPEED)), "SCH005")
        assert found.data == {"pir": 50000000000, "limit_bps": 400000000000, "speeds_bps": [800000000000]}
        assert (found.severity, found.elements) == ("warning", ("leaf1:Ethernet8",))
        assert found.origin.path == ("SCHEDULER", "scheduler.1", "pir")

    @pytest.mark.parametrize(("pir", "severity"), [("499999999", "error"), ("500000000", "warning")])
    def test_one_per_cent_of_the_slowest_port(self, pir: str, severity: str) -> None:
        found = only(device(scheduler("scheduler.1", cir="1000", pir=pir)), "SCH005")
        assert (found.severity, found.places) == (severity, 3)

    def test_zero_is_no_limit(self) -> None:
        none_of(device(scheduler("scheduler.1", pir="0", cir="0")))

    def test_lossy_queues_may_be_limited(self) -> None:
        none_of(device(scheduler("scheduler.0", cir="1000", pir="1000000000")))

    def test_packets_per_second_are_not_checked(self) -> None:
        report = device(scheduler("scheduler.1", cir="1", pir="1000", meter_type="packets"))
        none_of(report)
        assert unchecked(report, "SCH005") == {
            "a limit in packets per second depends on the size of packets": 3
        }

    def test_a_port_of_unknown_speed_is_not_checked(self) -> None:
        report = device({"PORT": {"Ethernet4": {"speed": None}}, **scheduler("scheduler.1", pir="1000000")})
        assert only(report, "SCH005").places == 2
        assert unchecked(report, "SCH005") == {"the port's speed is not known": 1}
        assert unchecked(report, "SCH006") == {"the port's speed is not known": 3}

    def test_a_port_may_be_limited_as_a_whole(self) -> None:
        bound = {"PORT_QOS_MAP": {"Ethernet0": {"scheduler": "port"}}}
        slow = {"SCHEDULER": {"port": {"cir": "1000", "pir": "25000000000"}}}
        found = only(device(slow | bound), "SCH005")
        assert found.data == {"pir": 25000000000, "limit_bps": 200000000000, "speeds_bps": [400000000000]}
        assert found.elements == ("leaf1:Ethernet0",)
        none_of(device({"SCHEDULER": {"port": {"cir": "1000", "pir": FULL_SPEED}}} | bound))
        none_of(device(bound))

    def test_bits_for_bytes_on_the_queue_that_was_to_be_capped(self) -> None:
        found = only(device(scheduler("scheduler.cnp", cir="1", pir="800000000000")), "SCH006")
        assert found.data == {"pir": 800000000000, "rate_bps": 6400000000000, "speed_bps": 800000000000}
        assert found.severity == "warning"

    def test_bits_for_bytes_on_a_queue_by_weight_change_nothing(self) -> None:
        found = only(device(scheduler("scheduler.1", cir="1", pir="400000000000")), "SCH006")
        assert found.severity == "info"

    def test_a_limit_beyond_all_reason_means_none(self) -> None:
        none_of(device(scheduler("scheduler.cnp", cir="1", pir="800000000001")))

    def test_a_guarantee_above_the_port(self) -> None:
        found = only(device(scheduler("scheduler.0", cir="100000000001")), "SCH006")
        assert (found.severity, found.origin.path) == ("warning", ("SCHEDULER", "scheduler.0", "cir"))
        none_of(device(scheduler("scheduler.0", cir="100000000000")))

    def test_a_scheduler_that_serves_nothing(self) -> None:
        none_of(device({"SCHEDULER": {"spare": {"cir": "800000000000", "pir": "1"}}}))

    def test_a_row_that_the_switch_refuses_limits_nothing(self) -> None:
        none_of(device(scheduler("scheduler.1", type="dwrr", pir="1")))
        none_of(device(scheduler("scheduler.1", meter_type="bits", pir="1")))


def test_limits_survive_reading_and_rendering() -> None:
    limits = {"type": "DWRR", "weight": "15", "cir": "1000", "pir": "2000", "meter_type": "packets"}
    document = load_text(
        json.dumps(merge(json.loads((BASES / "leaf.json").read_text()), scheduler("scheduler.1", **limits))),
        "leaf.json",
    )
    written = tables(load_fabrics([document]).fabrics[0].switches[0])["SCHEDULER"]
    assert written["scheduler.1"] == limits
    assert written["scheduler.0"] == {"type": "DWRR", "weight": "14"}


PROBES = {
    "scheduler_pir_only": ("SCH005", "error", ("SCHEDULER", "scheduler.1", "pir")),
    "scheduler_strict_on_lossless": ("SCH004", "warning", ("QUEUE", "Ethernet0|3", "scheduler")),
}


def test_one_change_variants_draw_their_rule(reference: Path) -> None:
    for name, report in corpus(reference, "probes").items():
        found = [(f.code, f.severity, f.origin.path) for f in report.findings if f.code in CODES]
        probe = name.removeprefix("probes/").removesuffix(".json")
        assert found == ([PROBES[probe]] if probe in PROBES else []), name


def test_deployed_files_draw_nothing(reference: Path) -> None:
    for name, report in corpus(reference, "full", "partial").items():
        assert [f for f in report.findings if f.code in CODES] == [], name


def test_named_classes_on_deployed_files(reference: Path) -> None:
    """A shipped device gives one of its lossless queues 1 of 106: true of whoever sends RDMA there."""
    file = reference / "corpus" / "full" / "rend-DellEMC-Z9332f-O32-dell-9332-t1.json"
    found = [f for f in lint([file], Options(rdma_dscps=(3, 4))).findings if f.code in CODES]
    assert [(f.code, f.severity, f.data["weight"], f.data["total"]) for f in found] == [
        ("SCH001", "warning", 1, 106)
    ]
