"""ECN curves that say one thing and do another: steps, zeros, unlike speeds, deaf senders, queues too short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.checks.rules.linted import corpus, device, drawn, intent, only, unchecked

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.api import Report

CODES = ("ECN002", "ECN007", "ECN009", "ECN011", "ECN012", "ECN014")
PROFILE = ("WRED_PROFILE", "AZURE_LOSSLESS")
PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")
OFF_BYTES = "266338050"
"""Min and max of the profiles that mean "off" in two shipped HWSKUs: more than any buffer."""
EGRESS_POOL_BYTES = 158229504
"""The egress pool of the base."""


def curve(low: object, high: object, percent: object = None, **more: str | None) -> dict[str, Any]:
    given = {"green_min_threshold": low, "green_max_threshold": high, "green_drop_probability": percent}
    fields = {field: str(value) for field, value in given.items() if value is not None}
    return {"WRED_PROFILE": {"AZURE_LOSSLESS": {**fields, **more}}}


def ecn(policy: object, **more: object) -> dict[str, Any]:
    return {"classes": {"rdma": {"ecn": policy}}, **more}


def egress(**fields: str | None) -> dict[str, Any]:
    return {"BUFFER_PROFILE": {"egress_lossless_profile": fields}}


def none_of(report: Report, *codes: str) -> None:
    for code in codes or CODES:
        assert drawn(report, code) == []


def test_a_profile_that_is_on_and_marks_nothing_lacks_what_marks() -> None:
    """It drops nothing either: its curve begins beyond the buffer."""
    found = only(device(curve(OFF_BYTES, OFF_BYTES, ecn="ecn_none")), "ECN001")
    assert (found.severity, found.origin.path) == ("warning", (*PROFILE, "ecn"))
    assert [(edit.origin.path[-1], edit.value) for edit in found.fix] == [("ecn", "ecn_all")]


class TestSteps:
    """ECN002."""

    def test_a_step_that_promises_a_slope(self) -> None:
        found = only(device(curve(900000, 900000, 5)), "ECN002")
        assert found.data == {"bytes": 900000, "probability_percent": 5}
        assert (found.severity, found.origin.path) == ("info", (*PROFILE, "green_min_threshold"))
        assert found.places == 3

    def test_a_step_that_says_so(self) -> None:
        none_of(device(curve(300000, 300000, 100)))
        none_of(device(curve(300000, 300000, green_drop_probability=None)))

    def test_one_byte_is_a_slope(self) -> None:
        none_of(device(curve(899999, 900000, 5)))

    def test_off_is_no_step(self) -> None:
        none_of(device(curve(OFF_BYTES, OFF_BYTES, 0)), "ECN002")

    def test_a_profile_that_does_not_mark(self) -> None:
        none_of(device(curve(900000, 900000, 5, ecn="ecn_none")))
        none_of(device(curve(900000, 900000, 5, wred_green_enable="false")))

    def test_an_intent(self) -> None:
        found = only(intent(ecn({"min": "2 MB", "max": "2 MB", "probability": "20%"})), "ECN002")
        assert found.origin.path == ("classes", "rdma", "ecn", "min")
        none_of(intent(ecn({"min": "2 MB", "max": "2 MB", "probability": "100%"})))


class TestOnePacket:
    """ECN007."""

    def test_kilobytes_for_bytes(self) -> None:
        found = only(device(curve(800, 3200)), "ECN007")
        assert found.data == {"min_bytes": 800, "max_bytes": 3200}
        assert (found.severity, found.origin.path) == ("warning", (*PROFILE, "green_max_threshold"))

    @pytest.mark.parametrize(("kmax", "hits"), [(4096, 1), (4097, 0)])
    def test_the_largest_packet(self, kmax: int, hits: int) -> None:
        assert len(drawn(device(curve(1000, kmax)), "ECN007")) == hits

    @pytest.mark.parametrize("percent", [0, 5, 100])
    def test_zero_marks_everything_or_nothing(self, percent: int) -> None:
        zero = ecn({"min": "0 B", "max": "0 B", "probability": f"{percent}%"})
        found = only(intent(zero), "ECN007")
        assert found.data == {"min_bytes": 0, "max_bytes": 0}
        assert (found.severity, found.origin.path) == ("error", ("classes", "rdma", "ecn", "max"))
        none_of(intent(zero), "ECN002", "ECN003")

    def test_a_curve_without_thresholds_has_the_default_of_zero(self) -> None:
        unset = {"green_min_threshold": None, "green_max_threshold": None}
        found = only(device({"WRED_PROFILE": {"AZURE_LOSSLESS": unset}}), "ECN007")
        assert (found.severity, found.data["max_bytes"]) == ("error", 0)

    def test_a_curve_that_does_not_mark_needs_no_thresholds(self) -> None:
        unset = {"green_min_threshold": None, "green_max_threshold": None, "ecn": "ecn_none"}
        none_of(device({"WRED_PROFILE": {"AZURE_LOSSLESS": unset}}), "ECN007")

    def test_a_threshold_that_cannot_be_read_is_of_another_rule(self) -> None:
        report = device({"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_max_threshold": "many"}}})
        none_of(report, "ECN007")
        assert only(report, "SWS003").severity == "error"

    def test_a_curve_without_a_minimum_begins_at_zero(self) -> None:
        report = device({"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_min_threshold": None}}})
        assert only(report, "ECN007").severity == "info"

    def test_a_curve_from_zero(self) -> None:
        found = only(device(curve(0, 900000)), "ECN007")
        assert (found.severity, found.origin.path) == ("info", (*PROFILE, "green_min_threshold"))

    @pytest.mark.parametrize(("low", "high"), [(5000, 200000), (131072, 262144), (150000, 1500000)])
    def test_published_curves_are_not_too_low(self, low: int, high: int) -> None:
        none_of(device(curve(low, high)))

    def test_a_lossy_queue_may_mark_early(self) -> None:
        early = {
            "WRED_PROFILE": {
                "EARLY": {
                    "ecn": "ecn_all",
                    "wred_green_enable": "true",
                    "green_min_threshold": "0",
                    "green_max_threshold": "1000",
                }
            },
            "QUEUE": {f"{port}|0": {"wred_profile": "EARLY"} for port in PORTS},
        }
        none_of(device(early))


class TestUnlikeSpeeds:
    """ECN009."""

    def test_says_what_the_bytes_are_in_time(self) -> None:
        found = only(device({"PORT": {"Ethernet0": {"speed": "100000"}}}), "ECN009")
        assert found.data == {"min_bytes": 819200, "speeds_bps": [100000000000, 400000000000, 800000000000]}
        assert (found.severity, found.origin.path) == ("info", PROFILE)

    def test_twice_the_speed_is_identical(self) -> None:
        none_of(device({}))
        none_of(intent({}))

    def test_a_port_that_is_down_does_not_count(self) -> None:
        none_of(device({"PORT": {"Ethernet0": {"speed": "100000", "admin_status": "down"}}}), "ECN009")

    def test_a_port_of_unknown_speed(self) -> None:
        report = device({"PORT": {"Ethernet0": {"speed": None}}})
        none_of(report, "ECN009")
        assert unchecked(report, "ECN009") == {"the port's speed is not known": 1}

    def test_a_curve_for_each_speed(self) -> None:
        links = {"topology": {"leaf_spine": {"host_links": "2 x 200G"}}}
        own = {"by_speed": {"200G": {"min": "200 KiB", "max": "800 KiB", "probability": "20%"}}}
        assert only(intent(links), "ECN009").origin.path == ("classes", "rdma", "ecn")
        none_of(intent(links | ecn(own)), "ECN009")


class TestDeafSenders:
    """ECN011."""

    def test_pfc_only_with_a_curve(self) -> None:
        found = only(intent({"congestion_control": "pfc-only"}), "ECN011")
        assert found.data == {"min_bytes": 819200, "max_bytes": 3276800}
        assert (found.severity, found.confidence) == ("warning", "medium")
        assert found.origin.path == ("classes", "rdma", "ecn")
        assert found.places == 32

    def test_the_preset_has_none(self) -> None:
        none_of(intent({"preset": "pfc-only", "classes": None, "congestion_control": None}))

    def test_curves_of_lossy_classes_are_theirs(self) -> None:
        lossy = {
            "rdma": {"ecn": "off"},
            "default": {"ecn": {"min": "1 MB", "max": "2 MB", "probability": "5%"}},
        }
        none_of(intent({"classes": lossy, "congestion_control": "pfc-only"}), "ECN011")

    def test_curves_that_nobody_listens_to_are_not_checked_further(self) -> None:
        zero = {"min": "0 B", "max": "0 B", "probability": "20%"}
        none_of(intent(ecn(zero, congestion_control="pfc-only")), "ECN002", "ECN007", "ECN009", "ECN012")


class TestQueueLimit:
    """ECN012."""

    def test_full_marking_beyond_what_the_queue_holds(self) -> None:
        # alpha = 1/64 of the egress pool: B / 65.
        found = only(device(egress(dynamic_th="-6")), "ECN012")
        assert found.data["limit_bytes"] == EGRESS_POOL_BYTES // 65
        assert found.data == {"limit_bytes": 2434300, "min_bytes": 819200, "max_bytes": 3276800}
        assert (found.severity, found.origin.path) == ("warning", (*PROFILE, "green_max_threshold"))

    @pytest.mark.parametrize(("reserved", "hits"), [("842499", 1), ("842500", 0)])
    def test_what_is_reserved_counts(self, reserved: str, hits: int) -> None:
        assert len(drawn(device(egress(dynamic_th="-6", size=reserved)), "ECN012")) == hits

    def test_no_marking_at_all(self) -> None:
        low = egress(dynamic_th="-7") | curve(1300000, 3276800)
        found = only(device(low), "ECN012")
        assert found.data == {"limit_bytes": 1226585, "min_bytes": 1300000, "max_bytes": 3276800}
        assert (found.severity, found.origin.path) == ("warning", (*PROFILE, "green_min_threshold"))

    def test_it_says_more_than_that_pfc_comes_first(self) -> None:
        pool = {"BUFFER_POOL": {"ingress_lossless_pool": {"size": "6000000"}}}
        none_of(device(egress(dynamic_th="-6")), "ECN005")
        assert only(device(pool), "ECN005")
        report = device(pool | egress(dynamic_th="-6"))
        assert only(report, "ECN012")
        none_of(report, "ECN005")

    def test_a_static_limit(self) -> None:
        static = {"BUFFER_POOL": {"egress_lossless_pool": {"mode": "static"}}}
        limit = egress(dynamic_th=None, static_th="3276799")
        assert only(device(static | limit), "ECN012").data["limit_bytes"] == 3276799
        none_of(device(static | egress(dynamic_th=None, static_th="3276800")), "ECN012")

    def test_a_profile_with_two_thresholds_is_refused_and_limits_nothing(self) -> None:
        none_of(device(egress(dynamic_th="-6", static_th="1300000")), "ECN012")

    def test_a_queue_that_holds_just_kmin_never_marks(self) -> None:
        static = {"BUFFER_POOL": {"egress_lossless_pool": {"mode": "static"}}} | curve(1300000, 3276800)
        full = only(device(static | egress(dynamic_th=None, static_th="1300000")), "ECN012")
        assert full.data["limit_bytes"] == full.data["min_bytes"] == 1_300_000
        more = only(device(static | egress(dynamic_th=None, static_th="1300001")), "ECN012")
        assert more.data["limit_bytes"] == 1_300_001

    def test_a_threshold_that_the_pool_contradicts_limits_nothing(self) -> None:
        none_of(device(egress(dynamic_th=None, static_th="1000")), "ECN012")

    def test_profiles_of_unused_ports(self) -> None:
        none_of(device(egress(dynamic_th="-8")), "ECN012")
        none_of(device(egress(dynamic_th=None, static_th="0")), "ECN012")

    def test_a_pool_of_unknown_size(self) -> None:
        report = device({"BUFFER_POOL": {"egress_lossless_pool": {"size": None}}})
        none_of(report, "ECN012")
        assert unchecked(report, "ECN012") == {"the size of the pool of the lossless queue is unknown": 3}

    def test_a_queue_without_a_buffer_row(self) -> None:
        report = device({"BUFFER_QUEUE": {f"{port}|3": None for port in PORTS}})
        none_of(report, "ECN012")
        assert unchecked(report, "ECN012") == {}


class TestNames:
    """ECN014."""

    @staticmethod
    def bound(*names: str) -> dict[str, Any]:
        fields = {
            "ecn": "ecn_all",
            "wred_green_enable": "true",
            "green_min_threshold": "819200",
            "green_max_threshold": "3276800",
            "green_drop_probability": "20",
        }
        return {
            "WRED_PROFILE": dict.fromkeys(names, fields),
            "QUEUE": {
                f"{p}|3": {"wred_profile": n} for p, n in zip(PORTS, (*names, *names * 2), strict=False)
            },
        }

    def test_the_only_profile_has_another_name(self) -> None:
        found = only(device(self.bound("ROCE")), "ECN014")
        assert found.data == {"profile": "ROCE", "queues": [3]}
        assert (found.severity, found.origin.path) == ("info", ("QUEUE", "Ethernet0|3", "wred_profile"))

    def test_several_profiles_cannot_all_have_it(self) -> None:
        none_of(device(self.bound("ROCE_400", "ROCE_800")))

    def test_a_profile_that_does_not_mark_is_off(self) -> None:
        off = self.bound("ROCE")
        off["WRED_PROFILE"]["ROCE"] = off["WRED_PROFILE"]["ROCE"] | {"wred_green_enable": "false"}
        none_of(device(off), "ECN014")


@pytest.mark.parametrize(
    "refused",
    [curve(4000000, 3276800), curve(900000, 5000000000), curve(0, 0, yellow_min_threshold="9999999")],
)
def test_profiles_that_the_switch_refuses_are_not_checked(refused: dict[str, Any]) -> None:
    none_of(device(refused))


PROBES = {"wred_min_eq_max": ("ECN002", "info", (*PROFILE, "green_min_threshold"))}


def test_one_change_variants_draw_their_rule(reference: Path) -> None:
    for name, report in corpus(reference, "probes").items():
        found = [(f.code, f.severity, f.origin.path) for f in report.findings if f.code in CODES]
        probe = name.removeprefix("probes/").removesuffix(".json")
        assert found == ([PROBES[probe]] if probe in PROBES else []), name


def test_deployed_files_draw_nothing(reference: Path) -> None:
    for name, report in corpus(reference, "full", "partial").items():
        assert [f for f in report.findings if f.code in CODES] == [], name
