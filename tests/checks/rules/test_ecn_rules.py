"""ECN on lossless queues: whether they mark at all, and what the shipped thresholds mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.checks.rules.linted import corpus, device, drawn, intent, only, unchecked

if TYPE_CHECKING:
    from pathlib import Path

CODES = ("ECN001", "ECN003", "ECN010")
STOCK = {"min": "1 MiB", "max": "2 MiB", "probability": "5%"}
PROFILE = ("WRED_PROFILE", "AZURE_LOSSLESS")
OFF_BYTES = "266338050"
"""Min and max of the profiles that mean "off" in two shipped HWSKUs: more than any buffer."""


def profile(**fields: str | None) -> dict[str, Any]:
    return {"WRED_PROFILE": {"AZURE_LOSSLESS": fields}}


def ecn(policy: object, **more: object) -> dict[str, Any]:
    return {"classes": {"rdma": {"ecn": policy}}, **more}


class TestMarking:
    """ECN001."""

    @pytest.mark.parametrize("flag", ["false", None])
    def test_flag_that_is_not_true(self, flag: str | None) -> None:
        report = device(profile(wred_green_enable=flag))
        found = only(report, "ECN001")
        assert found.severity == "warning"
        assert found.origin.path == (*PROFILE, "wred_green_enable")
        assert found.places == 3

    def test_other_colours_do_not_matter(self) -> None:
        patch = profile(wred_yellow_enable="false", wred_red_enable=None, ecn="ecn_green")
        assert drawn(device(patch), "ECN001") == []

    @pytest.mark.parametrize("mode", ["ecn_none", "ecn_red", None])
    def test_enabled_without_marking_drops(self, mode: str | None) -> None:
        found = only(device(profile(ecn=mode)), "ECN001")
        assert (found.severity, found.origin.path) == ("error", (*PROFILE, "ecn"))
        assert found.data == {"min_bytes": 819200, "max_bytes": 3276800, "queues": [3]}

    def test_curve_beyond_any_buffer_drops_nothing_and_marks_nothing(self) -> None:
        patch = profile(ecn=None, green_min_threshold=OFF_BYTES, green_max_threshold=OFF_BYTES)
        assert only(device(patch), "ECN001").severity == "warning"

    def test_queues_without_a_profile_are_one_finding(self) -> None:
        rows = {"Ethernet0|3": {"wred_profile": None}, "Ethernet8|3": {"wred_profile": None}}
        found = only(device({"QUEUE": rows}), "ECN001")
        assert found.data == {"queues": [3]}
        assert found.severity == "warning"
        assert found.origin.path == ("QUEUE", "Ethernet0|3")
        assert found.elements == ("leaf1:Ethernet0", "leaf1:Ethernet8")

    def test_device_without_queue_rows(self) -> None:
        found = only(device({"QUEUE": None}), "ECN001")
        assert found.origin.path == ("PORT_QOS_MAP", "Ethernet0", "pfc_enable")
        assert found.places == 3

    def test_fragment_without_port_rows_is_not_checked(self) -> None:
        report = device({"QUEUE": None, "PORT": None})
        assert drawn(report, "ECN001") == []
        reason = "a fragment without PORT rows: its WRED profiles may be elsewhere"
        assert unchecked(report, "ECN001") == {reason: 3}

    def test_the_queue_is_the_one_the_map_leads_to(self) -> None:
        moved = {"TC_TO_QUEUE_MAP": {"AZURE": {"3": "4"}}, "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {"3": "4"}}}
        assert only(device(moved), "ECN001").data == {"queues": [4]}
        bound = {f"Ethernet{n}|4": {"wred_profile": "AZURE_LOSSLESS"} for n in (0, 4, 8)}
        assert drawn(device(moved | {"QUEUE": bound}), "ECN001") == []

    def test_map_that_cannot_be_read_is_not_checked(self) -> None:
        report = device({"TC_TO_QUEUE_MAP": {"AZURE": {"3": "x"}}})
        assert drawn(report, "ECN001") == []
        assert unchecked(report, "ECN001") == {"the queue of a lossless priority cannot be read": 3}

    def test_chassis_names_its_queues_by_host_and_asic(self) -> None:
        meta = {"DEVICE_METADATA": {"localhost": {"switch_type": "voq"}}}
        rows = {
            **{f"leaf1|asic0|Ethernet{n}|3": {"wred_profile": "AZURE_LOSSLESS"} for n in (0, 4, 8)},
            **{f"Ethernet{n}|3": None for n in (0, 4, 8)},
        }
        assert drawn(device(meta | {"QUEUE": rows}), "ECN001") == []

    def test_priority_without_headroom_is_a_matter_of_pfc(self) -> None:
        more = {"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": "3,5"}}}
        assert drawn(device(more), "ECN001") == []

    def test_intent_without_ecn(self) -> None:
        found = only(intent(ecn("off")), "ECN001")
        assert (found.severity, found.origin.path) == ("error", ("classes", "rdma", "ecn"))
        assert found.places == 32
        assert found.data == {"speeds": ["400G", "800G"]}

    def test_speed_without_a_curve(self) -> None:
        found = only(
            intent(ecn({"min": None, "max": None, "probability": None, "by_speed": {"400G": STOCK}})),
            "ECN001",
        )
        assert found.data == {"speeds": ["800G"]}
        assert found.places == 16

    @pytest.mark.parametrize(
        ("exceptions", "path", "speeds", "places"),
        [
            ({"by_tier": {"spine": "off"}}, "by_tier spine", ["800G"], 8),
            ({"by_tier": {"leaf": False}}, "by_tier leaf", ["400G", "800G"], 24),
            ({"by_speed": {"400G": "off"}}, "by_speed 400G", ["400G"], 16),
            ({"by_tier": {"leaf": {"by_speed": {"800G": "off"}}}}, "by_tier leaf by_speed 800G", ["800G"], 8),
            ({"by_device": {"leaf2": "off"}}, "by_device leaf2", ["400G", "800G"], 12),
            (
                {"by_device": {"leaf2": {"by_speed": {"400G": "off"}}}},
                "by_device leaf2 by_speed 400G",
                ["400G"],
                8,
            ),
        ],
    )
    def test_off_at_some_place_is_reported_there(
        self, exceptions: dict[str, Any], path: str, speeds: list[str], places: int
    ) -> None:
        """The fabric has 400G links to hosts and 800G links between leaves and spines."""
        found = only(intent(ecn({**STOCK, **exceptions})), "ECN001")
        assert found.data == {"speeds": speeds}
        assert found.origin.path == ("classes", "rdma", "ecn", *path.split())
        assert (found.severity, found.places) == ("error", places)
        only_pauses = ecn({**STOCK, **exceptions}, congestion_control="pfc-only")
        assert drawn(intent(only_pauses), "ECN001") == []

    def test_places_without_ecn_are_reported_each_where_it_is_off(self) -> None:
        stated = ecn({**STOCK, "by_tier": {"spine": "off"}, "by_device": {"leaf2": "off"}})
        found = drawn(intent(stated), "ECN001")
        assert [one.origin.path[-1] for one in found] == ["leaf2", "spine"]

    def test_a_tier_that_no_rank_gives_a_curve(self) -> None:
        bare = {"min": None, "max": None, "probability": None}
        found = only(intent(ecn({**bare, "by_tier": {"leaf": STOCK}})), "ECN001")
        assert found.data == {"speeds": ["800G"]}
        assert found.origin.path == ("classes", "rdma", "ecn")

    def test_pfc_only_is_a_stated_policy(self) -> None:
        assert drawn(intent(ecn("off", congestion_control="pfc-only")), "ECN001") == []

    def test_lossy_classes_need_no_ecn(self) -> None:
        assert drawn(intent({}), "ECN001") == []


class TestProbability:
    """ECN003."""

    def test_zero_with_a_slope(self) -> None:
        found = only(device(profile(green_drop_probability="0")), "ECN003")
        assert (found.severity, found.origin.path) == ("error", (*PROFILE, "green_drop_probability"))
        assert found.data == {"min_bytes": 819200, "max_bytes": 3276800, "probability_percent": 0}

    def test_zero_of_one_speed_points_there(self) -> None:
        slow = {"min": "100 kB", "max": "200 kB", "probability": "0%"}
        found = only(intent(ecn({"by_speed": {"400G": slow}})), "ECN003")
        assert found.origin.path == ("classes", "rdma", "ecn", "by_speed", "400G", "probability")
        assert found.places == 16

    @pytest.mark.parametrize("percent", ["1", "20", "100", None])
    def test_anything_else_is_silent(self, percent: str | None) -> None:
        assert drawn(device(profile(green_drop_probability=percent)), "ECN003") == []

    def test_profiles_that_mean_off_are_silent(self) -> None:
        off = profile(
            green_min_threshold=OFF_BYTES, green_max_threshold=OFF_BYTES, green_drop_probability="0"
        )
        assert [f for f in device(off).findings if f.code in CODES] == []

    def test_other_colours_do_not_matter(self) -> None:
        assert drawn(device(profile(red_drop_probability="0")), "ECN003") == []

    def test_profile_that_does_not_mark_is_of_another_rule(self) -> None:
        report = device(profile(green_drop_probability="0", wred_green_enable="false"))
        assert [f.code for f in report.findings if f.code in CODES] == ["ECN001"]

    def test_profile_of_no_lossless_queue_is_silent(self) -> None:
        other = {"WRED_PROFILE": {"OTHER": {"green_drop_probability": "0", "wred_green_enable": "true"}}}
        assert drawn(device(other), "ECN003") == []


class TestStockThresholds:
    """ECN010."""

    def test_it_says_what_they_mean_at_each_speed(self) -> None:
        found = only(intent(ecn(STOCK)), "ECN010")
        assert found.data == {
            "min_bytes": 1048576,
            "max_bytes": 2097152,
            "probability_percent": 5,
            "min_us": {"400G": 21.0, "800G": 10.5},
            "max_us": {"400G": 41.9, "800G": 21.0},
        }
        assert (found.severity, found.origin.path) == ("warning", ("classes", "rdma", "ecn"))
        assert found.places == 32
        assert found.data["min_us"] == {"400G": 21.0, "800G": 10.5}

    @pytest.mark.parametrize(("speed", "count"), [("100000", 0), ("200000", 1), ("400000", 1)])
    def test_from_200g_on(self, speed: str, count: int) -> None:
        stock = profile(
            green_min_threshold="1048576", green_max_threshold="2097152", green_drop_probability="5"
        )
        ports = {"PORT": {f"Ethernet{n}": {"speed": speed} for n in (0, 4, 8)}}
        assert len(drawn(device(stock | ports), "ECN010")) == count

    def test_port_of_unknown_speed_is_not_checked(self) -> None:
        stock = profile(
            green_min_threshold="1048576", green_max_threshold="2097152", green_drop_probability="5"
        )
        report = device(stock | {"PORT": {"Ethernet4": {"speed": None}}})
        assert only(report, "ECN010").places == 2
        assert unchecked(report, "ECN010") == {"the port's speed is not known": 1}

    def test_values_of_a_preset_are_blamed_on_it(self) -> None:
        found = only(intent({"preset": "azure", "classes": None}), "ECN010")
        assert found.origin.path == ("preset",)

    def test_one_value_apart_is_silent(self) -> None:
        assert drawn(intent(ecn(STOCK | {"probability": "6%"})), "ECN010") == []

    def test_pfc_only_listens_to_no_marks(self) -> None:
        assert drawn(intent(ecn(STOCK, congestion_control="pfc-only")), "ECN010") == []


PROBES = {
    "wred_flags_false": ("ECN001", "warning", (*PROFILE, "wred_green_enable")),
    "wred_flags_absent": ("ECN001", "warning", (*PROFILE, "wred_green_enable")),
    "ecn_absent": ("ECN001", "error", (*PROFILE, "ecn")),
    "ecn_none": ("ECN001", "error", (*PROFILE, "ecn")),
}


def test_one_change_variants_draw_their_rule(reference: Path) -> None:
    for name, report in corpus(reference, "probes").items():
        found = [
            (f.code, f.severity, f.origin.path) for f in report.findings if f.code in ("ECN001", "ECN003")
        ]
        probe = name.removeprefix("probes/").removesuffix(".json")
        assert found == ([PROBES[probe]] if probe in PROBES else []), name


def test_deployed_files_draw_only_what_is_true(reference: Path) -> None:
    found = {
        (name, f.code, f.severity, f.places)
        for name, report in corpus(reference, "full", "partial").items()
        for f in report.findings
        if f.code in CODES
    }
    # Stock thresholds on 400G and 800G links, and cards of a chassis whose queues have the keys of other switches.
    assert found == {
        ("full/mgmt-vlab-t2-01_qos_new_dbfmt_config_db.json", "ECN001", "warning", 3),
        ("full/mgmt-vlab-t2-02_config_db.json", "ECN001", "warning", 3),
        ("full/rend-Arista-7060X6-64PE-B-P32O64-lt2-p32o64.json", "ECN010", "warning", 88),
        ("full/rend-Arista-7060X6-64PE-P64-ft2-p64.json", "ECN010", "warning", 63),
        ("full/rend-DellEMC-Z9332f-O32-dell-9332-t1.json", "ECN010", "warning", 32),
    }
