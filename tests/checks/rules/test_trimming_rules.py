"""Packet trimming: what rules say of its row, its queues and the packets it sends, and what they leave alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import Options, lint, lint_documents
from lossless.checks.rules.registry import RULES
from lossless.ground.documents import load_text
from tests.checks.rules.linted import device, drawn, only, unchecked
from tests.checks.rules.snippets import BASES, merge

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.api import Report

CODES = tuple(code for code in RULES if code.startswith("TRM"))
PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")
# The sample of the design, 2.6.4: other DSCPs towards hosts than towards spines.
BY_CLASS = {
    "SWITCH_TRIMMING": {"GLOBAL": {"dscp_value": "from-tc", "tc_value": "5"}},
    "TC_TO_DSCP_MAP": {"host_trim_map": {"5": "3"}, "spine_trim_map": {"5": "7"}},
    "PORT_QOS_MAP": {
        "Ethernet0": {"tc_to_dscp_map": "host_trim_map"},
        "Ethernet4": {"tc_to_dscp_map": "host_trim_map"},
        "Ethernet8": {"tc_to_dscp_map": "spine_trim_map"},
    },
}
WIRED = {
    "DEVICE_NEIGHBOR": {
        "Ethernet0": {"name": "gpu1", "port": "eth0"},
        "Ethernet4": {"name": "gpu2", "port": "eth0"},
        "Ethernet8": {"name": "spine1", "port": "Ethernet0"},
    },
    "DEVICE_NEIGHBOR_METADATA": {
        "gpu1": {"type": "Server"},
        "gpu2": {"type": "Server"},
        "spine1": {"type": "LeafRouter"},
    },
}
AZURE = {"DSCP_TO_TC_MAP": {"AZURE": {"3": "3"}}}


def trimming(patch: dict[str, Any], *more: dict[str, Any]) -> Report:
    for other in more:
        patch = merge(patch, other)
    return device(patch, "trimming-leaf")


def settings(**fields: str | None) -> dict[str, Any]:
    return {"SWITCH_TRIMMING": {"GLOBAL": fields}}


def none_of(report: Report) -> None:
    assert [finding for finding in report.findings if finding.code in CODES] == []


def test_no_configuration_of_upstream_trims(reference: Path) -> None:
    files = [p for d in ("full", "partial") for p in sorted((reference / "corpus" / d).glob("*.json"))]
    assert len(files) > 60
    for path in files:
        none_of(lint([path], Options(select=CODES)))


class TestWhatTheSwitchIsTold:
    """TRM001 and TRM002."""

    @pytest.mark.parametrize(
        ("fields", "missing", "severity"),
        [
            ({"dscp_value": None}, ["dscp_value"], "warning"),
            ({"dscp_value": ""}, ["dscp_value"], "warning"),
            ({"dscp_value": None, "queue_index": None}, ["dscp_value", "queue_index"], "warning"),
            ({"queue_index": None}, ["queue_index"], "info"),
            ({"dscp_value": "FROM-TC"}, ["tc_value"], "warning"),
        ],
    )
    def test_what_is_missing(self, fields: dict[str, Any], missing: list[str], severity: str) -> None:
        found = only(trimming(settings(**fields)), "TRM001")
        assert (found.data["missing"], found.severity) == (missing, severity)
        assert found.origin.path == ("SWITCH_TRIMMING", "GLOBAL")

    @pytest.mark.parametrize(
        "fields", [{"size": None}, {"queue_index": "dynamic"}, {"dscp_value": "0"}, {"tc_value": "5"}]
    )
    def test_what_has_a_default_or_a_meaning_is_well(self, fields: dict[str, Any]) -> None:
        none_of(trimming(settings(**fields)))

    def test_a_part_of_a_configuration_says_nothing_of_the_row(self) -> None:
        data = json.loads((BASES / "trimming-leaf.json").read_text())
        for table in ("PORT", "SWITCH_TRIMMING", "DEVICE_METADATA", "CABLE_LENGTH"):
            del data[table]
        report = lint_documents([load_text(json.dumps(data), "qos.json")])
        none_of(report)
        assert "SWITCH_TRIMMING may stand elsewhere" in next(iter(unchecked(report, "TRM001")))

    def test_a_profile_that_no_queue_has_trims_nothing(self) -> None:
        queues = {f"{port}|0": {"profile": "egress_lossy_profile"} for port in PORTS}
        found = only(trimming({"BUFFER_QUEUE": queues}), "TRM002")
        assert (found.severity, found.data["profiles"]) == ("info", ["q_lossy_trim_profile"])

    def test_one_queue_that_trims_is_enough(self) -> None:
        queues = {f"{port}|0": {"profile": "egress_lossy_profile"} for port in PORTS[1:]}
        none_of(trimming({"BUFFER_QUEUE": queues}))


class TestByClass:
    """TRM003."""

    def test_the_sample_of_the_design_is_well(self) -> None:
        none_of(trimming(BY_CLASS))
        none_of(trimming(BY_CLASS, WIRED))

    def test_ports_without_a_map_are_one_finding(self) -> None:
        bound = {port: {"tc_to_dscp_map": None} for port in ("Ethernet0", "Ethernet8")}
        found = only(trimming(BY_CLASS, {"PORT_QOS_MAP": bound}), "TRM003")
        assert found.elements == ("leaf1:Ethernet0", "leaf1:Ethernet8")
        assert found.origin.path == ("PORT_QOS_MAP", "Ethernet0")

    def test_a_port_whose_queues_do_not_trim_needs_none(self) -> None:
        drops = {"Ethernet8|0": {"profile": "egress_lossy_profile"}}
        bound = {"Ethernet8": {"tc_to_dscp_map": None}}
        none_of(trimming(BY_CLASS, {"PORT_QOS_MAP": bound, "BUFFER_QUEUE": drops}))

    @pytest.mark.parametrize(("traffic_class", "hits"), [("5", 0), ("14", 2)])
    def test_a_class_may_be_beyond_those_of_pfc(self, traffic_class: str, hits: int) -> None:
        report = trimming(BY_CLASS, settings(tc_value=traffic_class))
        assert len(drawn(report, "TRM003")) == hits
        maps = {name: {"14": "7"} for name in ("host_trim_map", "spine_trim_map")}
        assert drawn(trimming(BY_CLASS, settings(tc_value="14"), {"TC_TO_DSCP_MAP": maps}), "TRM003") == []

    def test_a_map_that_is_not_there_is_another_rules(self) -> None:
        report = trimming(BY_CLASS, {"TC_TO_DSCP_MAP": {"spine_trim_map": None}})
        assert drawn(report, "TRM003") == []


class TestLosslessQueues:
    """TRM004."""

    def test_all_ports_of_one_queue_are_one_finding(self) -> None:
        profile = {"lossless_trim": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7",
                                     "packet_discard_action": "trim"}}  # fmt: skip
        queues = {f"{port}|3": {"profile": "lossless_trim"} for port in PORTS}
        found = only(trimming({"BUFFER_PROFILE": profile, "BUFFER_QUEUE": queues}), "TRM004")
        assert (found.places, found.data["queue"], found.severity) == (3, 3, "warning")

    def test_a_queue_without_pfc_may_trim(self) -> None:
        queues = {f"{port}|{n}": {"profile": "q_lossy_trim_profile"} for port in PORTS for n in (0, 1, 2, 4)}
        none_of(trimming({"BUFFER_QUEUE": queues}))

    def test_dropping_is_not_trimming(self) -> None:
        drops = {"egress_lossless_profile": {"packet_discard_action": "drop"}}
        none_of(trimming({"BUFFER_PROFILE": drops}))


class TestLosslessClass:
    """TRM005."""

    def test_the_dscp_counts_before_the_queue(self) -> None:
        found = only(trimming(settings(dscp_value="26", queue_index="3")), "TRM005")
        assert (found.data, found.severity) == ({"dscp": 26, "traffic_class": 3}, "warning")

    def test_the_queue_alone_is_information(self) -> None:
        found = only(trimming(settings(queue_index="3")), "TRM005")
        assert (found.severity, found.origin.path[-1]) == ("info", "queue_index")

    def test_where_all_ports_lead_to_hosts_no_switch_takes_the_packets_in(self) -> None:
        hosts = {"DEVICE_NEIGHBOR_METADATA": {"spine1": {"type": "Server"}}}
        none_of(trimming(settings(dscp_value="26"), WIRED, hosts))
        assert len(drawn(trimming(settings(dscp_value="26"), WIRED), "TRM005")) == 1

    @pytest.mark.parametrize(("towards", "hits"), [("host_trim_map", 0), ("spine_trim_map", 1)])
    def test_what_hosts_are_sent_may_be_any_dscp(self, towards: str, hits: int) -> None:
        """The design's own sample marks them with DSCP 3, which stock maps make lossless."""
        other = {"host_trim_map": "spine_trim_map", "spine_trim_map": "host_trim_map"}[towards]
        maps = {"TC_TO_DSCP_MAP": {towards: {"5": "3"}, other: {"5": "7"}}}
        report = trimming(BY_CLASS, WIRED, AZURE, maps)
        assert len(drawn(report, "TRM005")) == hits

    def test_what_no_queue_trims_has_no_dscp(self) -> None:
        drops = {"q_lossy_trim_profile": {"packet_discard_action": "drop"}}
        assert drawn(trimming(settings(dscp_value="26"), {"BUFFER_PROFILE": drops}), "TRM005") == []

    @pytest.mark.parametrize(("there", "here", "elements"), [("3", "0", 1), ("0", "0", 0), ("3", "3", 3)])
    def test_a_neighbor_that_takes_them_in_as_lossless(self, there: str, here: str, elements: int) -> None:
        """Where the switch itself says so too, its own maps are named, once."""
        trims = json.loads((BASES / "trimming-leaf.json").read_text())
        own = {t: trims[t] for t in ("SWITCH_TRIMMING", "BUFFER_PROFILE", "BUFFER_QUEUE")}
        own["SWITCH_TRIMMING"]["GLOBAL"]["dscp_value"] = "27"
        leaf = merge(json.loads((BASES / "wired-leaf.json").read_text()), own)
        spine = json.loads((BASES / "wired-spine.json").read_text())
        maps = ((leaf, here), (spine, there))
        for data, traffic_class in maps:
            data["DSCP_TO_TC_MAP"]["AZURE"]["27"] = traffic_class
        report = lint_documents(
            [load_text(json.dumps(data), name) for name, data in (("leaf.json", leaf), ("spine.json", spine))]
        )
        found = drawn(report, "TRM005")
        assert [f.places for f in found] == [elements][: bool(elements)]
        assert {f.origin.path[-1] for f in found} <= {"dscp_value"}


def scheduled(number: int, **fields: str) -> dict[str, Any]:
    rows = {f"{port}|{number}": {"scheduler": "other"} for port in PORTS}
    return {"SCHEDULER": {"other": fields}, "QUEUE": rows}


class TestTrimQueue:
    """TRM006."""

    @pytest.mark.parametrize(("weight", "hits"), [("6", 1), ("7", 0)])
    def test_half_of_an_equal_share_is_enough(self, weight: str, hits: int) -> None:
        # Six queues, four of weight 14 and one of 15: below 71/11 = 6.5 is less than half of a sixth.
        report = trimming(settings(queue_index="5"), scheduled(5, type="DWRR", weight=weight))
        assert len(drawn(report, "TRM006")) == hits

    def test_the_share_is_said_where_the_weight_is_written(self) -> None:
        found = only(trimming(settings(queue_index="5"), scheduled(5, type="DWRR", weight="1")), "TRM006")
        assert found.data == {"queue": 5, "weight": 1, "total": 72}
        assert (found.origin.path, found.places) == (("SCHEDULER", "other", "weight"), 3)

    @pytest.mark.parametrize(
        ("fields", "hits"),
        [
            ({"type": "STRICT"}, 1),
            ({"type": "STRICT", "pir": "1000000000"}, 0),
            ({"type": "DWRR", "weight": "50"}, 0),
        ],
    )
    def test_data_that_is_served_strictly_goes_first(self, fields: dict[str, str], hits: int) -> None:
        report = trimming(settings(queue_index="5"), scheduled(0, **fields))
        assert len(drawn(report, "TRM006")) == hits

    def test_a_strict_queue_of_a_higher_number_does_not_wait(self) -> None:
        none_of(trimming(scheduled(0, type="STRICT")))

    @pytest.mark.parametrize(("dscp", "field", "hits"), [("48", "", 0), ("8", "dscp_value", 1)])
    def test_a_queue_that_follows_from_the_dscp(self, dscp: str, field: str, hits: int) -> None:
        found = drawn(trimming(settings(queue_index="dynamic", dscp_value=dscp)), "TRM006")
        assert [f.origin.path[-1] for f in found] == [field] * hits

    def test_beside_other_queues_that_trim_it_may_trim_itself(self) -> None:
        queues = {
            f"{port}|{n}": {"profile": "q_lossy_trim_profile"} for port in PORTS for n in range(7) if n != 3
        }
        none_of(trimming({"BUFFER_QUEUE": queues}))

    @pytest.mark.parametrize("queue", ["9", "many"])
    def test_queues_beyond_those_that_have_rows_are_not_checked(self, queue: str) -> None:
        """Some Tomahawk 5 send trimmed packets by queue 9 (sonic-mgmt tests/packet_trimming)."""
        assert drawn(trimming(settings(queue_index=queue)), "TRM006") == []

    def test_the_weight_of_a_lossless_queue_is_another_rules(self) -> None:
        report = trimming(settings(queue_index="3"), {"SCHEDULER": {"scheduler.1": {"weight": "1"}}})
        assert (len(drawn(report, "SCH001")), drawn(report, "TRM006")) == (1, [])
