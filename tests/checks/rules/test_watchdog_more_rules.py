"""The watchdog as it runs: polls, actions, counters, and who acts first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from lossless.checks.rules.watchdog.watchdog_rows import default_poll_ms
from tests.checks.rules import checking
from tests.checks.rules.checking import patched
from tests.checks.rules.linted import corpus, device, drawn, intent, only, unchecked

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.basics.findings import Finding

PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")
CODES = ("WD010", "WD011", "WD012", "WD013", "WD014", "WD016", "WD018")


def rows(poll: str | None = None, **fields: str | None) -> dict[str, Any]:
    """Patch the watchdog row of every port, and the poll interval."""
    own: dict[str, Any] = {"GLOBAL": {"POLL_INTERVAL": poll}} if poll else {}
    return {"PFC_WD": {**dict.fromkeys(PORTS, fields), **own}}


def timers(poll: int, detection: int) -> dict[str, Any]:
    return rows(str(poll), detection_time=str(detection), restoration_time=str(2 * detection))


def watchdog(**keys: str | None) -> dict[str, Any]:
    return {"pfc": {"watchdog": keys}}


class TestDetectionBetweenPolls:
    """WD010."""

    @pytest.mark.parametrize(
        ("poll", "detection", "seen"),
        [(400, 500, (800, 1200)), (1000, 1200, (2000, 3000)), (200, 399, (400, 600))],
    )
    def test_a_storm_is_seen_at_polls_only(self, poll: int, detection: int, seen: tuple[int, int]) -> None:
        found = only(device(timers(poll, detection)), "WD010")
        assert (found.severity, found.places) == ("info", 3)
        assert (found.data["seen_ms"], found.data["at_latest_ms"]) == seen
        assert found.origin.path == ("PFC_WD", "Ethernet0", "detection_time")

    @pytest.mark.parametrize(("poll", "detection"), [(200, 200), (200, 400), (1000, 1000), (400, 2000)])
    def test_whole_polls_are_as_start_default_writes_them(self, poll: int, detection: int) -> None:
        assert drawn(device(timers(poll, detection)), "WD010") == []

    @pytest.mark.parametrize(("poll", "detection"), [(400, 300), (90, 200), (2000, 2500), (200, 5100)])
    def test_what_is_refused_is_of_another_rule(self, poll: int, detection: int) -> None:
        assert drawn(device(timers(poll, detection)), "WD010") == []

    def test_one_look_is_said_of_an_intent_alone(self) -> None:
        found = only(intent(watchdog(detection="600ms")), "WD010")
        assert found.data == {"detection_ms": 600, "poll_ms": 600}
        assert found.origin.path == ("pfc", "watchdog", "detection")


class TestOnlyAlerts:
    """WD011."""

    def test_identical_ports_are_one_finding(self) -> None:
        found = only(device(rows(action="alert")), "WD011")
        assert (found.severity, found.places) == ("warning", 3)
        assert found.origin.path == ("PFC_WD", "Ethernet0", "action")

    @pytest.mark.parametrize("action", ["drop", "forward", None, "Alert"])
    def test_other_actions_act_or_are_refused(self, action: str | None) -> None:
        assert drawn(device(rows(action=action)), "WD011") == []

    def test_a_row_that_is_dropped_does_not_even_alert(self) -> None:
        assert drawn(device(rows(action="alert", detection_time="50")), "WD011") == []


class TestMixedActions:
    """WD012."""

    @staticmethod
    def mixed(action: str | None = "forward") -> dict[str, Any]:
        return {"PFC_WD": {"Ethernet4": {"action": action}}}

    def test_the_odd_port_is_blamed(self) -> None:
        found = only(device(self.mixed(), "azure"), "WD012")
        assert (found.severity, found.confidence) == ("warning", "medium")
        assert found.data == {"action": "forward", "usual": "drop", "usual_ports": 2}
        assert found.elements == ("leaf1:Ethernet4",)

    def test_nvidia_has_an_action_for_each_port(self) -> None:
        report = device(self.mixed())
        assert drawn(report, "WD012") == []
        assert unchecked(report, "WD012") == {}

    def test_an_unknown_chip_is_not_checked(self) -> None:
        unknown = {"DEVICE_METADATA": {"localhost": {"hwsku": "Nobody-1", "platform": "x86_64-nobody-r0"}}}
        report = device(self.mixed() | unknown, "azure")
        assert drawn(report, "WD012") == []
        assert sum(unchecked(report, "WD012").values()) == 1

    @pytest.mark.parametrize("action", ["drop", None, "Drop"])
    def test_the_default_is_drop_and_what_is_no_action_is_of_another_rule(self, action: str | None) -> None:
        report = device(self.mixed(action), "azure")
        assert drawn(report, "WD012") == []
        assert unchecked(report, "WD012") == {}


class TestPollsTooOften:
    """WD013."""

    @pytest.mark.parametrize(
        ("ports", "poll_ms"),
        [
            (0, 200),
            (1, 200),
            (32, 200),
            (33, 400),
            (64, 400),
            (65, 600),
            (128, 800),
            (160, 1000),
            (161, 1000),
        ],
    )
    def test_the_interval_grows_by_32_ports(self, ports: int, poll_ms: int) -> None:
        assert default_poll_ms(ports) == poll_ms

    @given(st.integers(0, 2000))
    def test_more_ports_are_never_polled_more_often(self, ports: int) -> None:
        assert 200 <= default_poll_ms(ports) <= default_poll_ms(ports + 1) <= 1000

    @pytest.mark.parametrize(("poll", "count"), [("199", 1), ("200", 0), ("400", 0)])
    def test_at_the_limit(self, poll: str, count: int) -> None:
        assert len(drawn(device(rows(poll)), "WD013")) == count

    def test_ports_without_pfc_do_not_count(self) -> None:
        """Older releases count all ports: a switch of a newer one is not to be blamed for that."""
        more = {
            f"Ethernet{n}": {"lanes": str(n), "speed": "400000", "admin_status": "up"} for n in range(64, 128)
        }
        assert drawn(device(rows("200") | {"PORT": more}), "WD013") == []

    def test_without_a_global_row_the_poll_is_100_ms(self) -> None:
        found = only(device({"PFC_WD": {"GLOBAL": None}}), "WD013")
        assert found.data == {"poll_ms": 100, "needed_ms": 200, "ports": 3}
        assert found.origin.path == ("PFC_WD",)

    def test_an_intent_is_checked_by_its_largest_kind_of_switch(self) -> None:
        shape = {
            "topology": {
                "leaf_spine": {"hosts_per_leaf": 32, "host_links": "1 x 400G", "uplinks": "4 x 800G"}
            }
        }
        (found,) = drawn(intent(shape | watchdog(poll="200ms")), "WD013")
        assert found.data == {"poll_ms": 200, "needed_ms": 400, "ports": 40}

    def test_one_interval_of_two_kinds_of_switches_is_one_finding(self) -> None:
        """Leaves of 40 ports and spines of 16 are polled by one key; the most ports say what it must be."""
        shape = {
            "topology": {
                "leaf_spine": {
                    "leaves": 4,
                    "hosts_per_leaf": 32,
                    "host_links": "1 x 400G",
                    "uplinks": "4 x 800G",
                }
            }
        }
        report = intent(shape | watchdog(poll="100ms"))
        found = only(report, "WD013")
        assert (found.data["needed_ms"], found.data["ports"]) == (400, 40)
        spines = {name for name in found.elements if name.startswith("spine")}
        assert spines
        assert found.places > 4 * 36

    def test_an_interval_out_of_range_is_of_another_rule(self) -> None:
        report = device(rows("50"))
        assert drawn(report, "WD013") == []
        assert len(drawn(report, "WD003")) == 1


class TestBigRedSwitch:
    """WD014."""

    def test_all_queues_with_pfc_drop(self) -> None:
        found = only(device({"PFC_WD": {"GLOBAL": {"BIG_RED_SWITCH": "enable"}}}), "WD014")
        assert (found.severity, found.places) == ("error", 3)

    @pytest.mark.parametrize("value", ["disable", "Enable", "", None])
    def test_anything_else_does_nothing(self, value: str | None) -> None:
        assert drawn(device({"PFC_WD": {"GLOBAL": {"BIG_RED_SWITCH": value}}}), "WD014") == []

    def test_it_needs_no_watchdog_but_pfc(self) -> None:
        alone = {"PFC_WD": {**dict.fromkeys(PORTS), "GLOBAL": {"BIG_RED_SWITCH": "enable"}}}
        assert len(drawn(device(alone), "WD014")) == 1
        lossy = {"PORT_QOS_MAP": {port: {"pfc_enable": ""} for port in PORTS}}
        assert drawn(device(alone | lossy), "WD014") == []


class TestCounters:
    """WD016."""

    @staticmethod
    def group(**fields: str | None) -> dict[str, Any]:
        return {"FLEX_COUNTER_TABLE": {"PFCWD": fields}}

    def test_a_watchdog_without_counters_is_blind(self) -> None:
        found = only(device(self.group(FLEX_COUNTER_STATUS="disable")), "WD016")
        assert (found.severity, found.places) == ("error", 3)
        assert found.origin.path == ("FLEX_COUNTER_TABLE", "PFCWD", "FLEX_COUNTER_STATUS")

    def test_delayed_or_absent_the_device_switches_them_on(self) -> None:
        for patch in (
            {"FLEX_COUNTER_TABLE": {"PFCWD": None}},
            self.group(FLEX_COUNTER_STATUS=None),
            self.group(FLEX_COUNTER_DELAY_STATUS="true"),
        ):
            assert drawn(device(patch), "WD016") == []

    def test_without_watchdogs_nothing_is_blind(self) -> None:
        patch = self.group(FLEX_COUNTER_STATUS="disable") | {"PFC_WD": dict.fromkeys(PORTS)}
        assert drawn(device(patch), "WD016") == []


THREE_TIERS: dict[str, Any] = {
    "hardware": {"super-spine": "nvidia-sn5600"},
    "topology": {
        "leaf_spine": None,
        "three_tier": {
            "pods": 2,
            "leaves_per_pod": 2,
            "spines_per_pod": 2,
            "super_spines": 2,
            "hosts_per_leaf": 4,
            "host_links": "1 x 400G",
            "uplinks": "1 x 800G",
            "spine_uplinks": "1 x 800G",
            "cables": {"host": "3m", "uplink": "30m", "spine_uplink": "300m"},
        },
    },
}


class TestTiers:
    """WD018."""

    @staticmethod
    def checked(leaf: str | None = None, spine: str | None = None, **spine_patch: Any) -> list[Finding]:
        def timer(value: str | None) -> dict[str, Any]:
            return {"PFC_WD": {port: {"detection_time": value} for port in PORTS}} if value else {}

        return checking.drawn(
            "WD018",
            patched("wired-leaf.json", timer(leaf), "leaf1.json"),
            patched("wired-spine.json", {**timer(spine), **spine_patch}, "spine1.json"),
        )

    def test_the_spine_must_not_trigger_first(self) -> None:
        (found,) = self.checked(spine="400")
        assert found.severity == "info"
        assert found.data == {"upper_ms": 400, "lower_ms": 800}
        assert (found.origin.file, found.origin.path) == (
            "spine1.json",
            ("PFC_WD", "Ethernet8", "detection_time"),
        )

    @pytest.mark.parametrize(("leaf", "spine"), [(None, None), ("400", None), (None, "1600")])
    def test_equal_or_longer_is_as_it_should_be(self, leaf: str | None, spine: str | None) -> None:
        assert self.checked(leaf, spine) == []

    @pytest.mark.parametrize("role", ["ToRRouter", "NewRouter", None])
    def test_without_tiers_nobody_is_above(self, role: str | None) -> None:
        assert self.checked(spine="400", DEVICE_METADATA={"localhost": {"type": role}}) == []

    @pytest.mark.parametrize("types", [("MiniToR", "MiniLeaf"), ("BackEndToRRouter", "LowerSpineRouter")])
    def test_every_type_that_means_a_tier_counts(self, types: tuple[str, str]) -> None:
        lower, upper = ({"DEVICE_METADATA": {"localhost": {"type": kind}}} for kind in types)
        sooner = {"PFC_WD": {port: {"detection_time": "400"} for port in PORTS}}
        leaf = patched("wired-leaf.json", lower, "leaf1.json")
        spine = patched("wired-spine.json", {**sooner, **upper}, "spine1.json")
        (found,) = checking.drawn("WD018", leaf, spine)
        assert found.data == {"upper_ms": 400, "lower_ms": 800}

    def test_two_leaf_routers_are_leaf_and_spine_where_one_has_servers(self) -> None:
        types = {name: {"type": "Server"} for name in ("server1", "server2")}
        both = {"DEVICE_METADATA": {"localhost": {"type": "LeafRouter"}}}
        sooner = {"PFC_WD": {port: {"detection_time": "400"} for port in PORTS}}
        spine = patched("wired-spine.json", {**sooner, **both}, "spine1.json")
        assert checking.drawn("WD018", patched("wired-leaf.json", both, "leaf1.json"), spine) == []
        with_servers = {**both, "DEVICE_NEIGHBOR_METADATA": types}
        leaf = patched("wired-leaf.json", with_servers, "leaf1.json")
        assert len(checking.drawn("WD018", leaf, spine)) == 1

    def test_a_link_that_is_down_spreads_nothing(self) -> None:
        assert self.checked(spine="400", PORT={"Ethernet8": {"admin_status": "down"}}) == []

    def test_a_spine_without_a_watchdog_is_of_another_rule(self) -> None:
        assert self.checked(PFC_WD={"Ethernet8": None}) == []

    @staticmethod
    def declared(change: dict[str, Any] | None = None, **tiers: str) -> list[tuple[Any, ...]]:
        """Return the times and the upper port of each finding on an intent, with detection times by tier."""
        own = {name.replace("_", "-"): {"detection": time} for name, time in tiers.items()}
        report = intent({"pfc": {"watchdog": {"by_tier": own or None}}, **(change or {})})
        return [(*f.data.values(), f.elements[0], f.places) for f in drawn(report, "WD018")]

    def test_tiers_of_an_intent_are_compared_by_their_own_times(self) -> None:
        assert self.declared() == self.declared(leaf="600ms", spine="1200ms") == []
        assert self.declared(leaf="600ms") == []
        assert self.declared(spine="600ms") == [(600, 1200, "spine1:Ethernet0", 8)]

    def test_a_super_spine_is_compared_with_the_leaves_too(self) -> None:
        assert self.declared(THREE_TIERS, leaf="600ms", spine="600ms", super_spine="600ms") == []
        found = self.declared(THREE_TIERS, super_spine="600ms")
        assert [times[:2] for times in found] == [(600, 1200)]
        assert found[0][2].startswith("superspine1:")

    def test_one_host_port_of_an_intent_that_waits_longer_counts_for_its_leaf_alone(self) -> None:
        slower = {"exceptions": {"leaf1:Ethernet0": {"watchdog": {"detection": "1800ms"}}}}
        assert self.declared(slower) == [(1200, 1800, "spine1:Ethernet0", 4)]


PROBES = {
    "pfcwd_big_red_switch": [("WD014", "error")],
    "pfcwd_flexcounter_off": [("WD016", "error")],
    "pfcwd_no_global_detect100": [("WD013", "warning")],
}


def test_one_change_variants_draw_their_rule_and_no_other(reference: Path) -> None:
    for name, report in corpus(reference, "probes").items():
        probe = name.removeprefix("probes/").removesuffix(".json")
        found = [(f.code, f.severity) for f in report.findings if f.code in CODES]
        assert found == PROBES.get(probe, []), name


def test_deployed_files_are_clean(reference: Path) -> None:
    found = {
        (name, f.code)
        for name, report in corpus(reference, "full", "partial").items()
        for f in report.findings
        if f.code in CODES
    }
    assert found == set()


def test_presets_are_sound() -> None:
    for preset in ("azure", "nvidia", "pfc-only"):
        report = intent({"preset": preset, "classes": None, "pfc": None, "congestion_control": None})
        assert [f.code for f in report.findings if f.code in CODES] == []


class TestWithoutPfc:
    """WD020."""

    @pytest.mark.parametrize("pfc", ["", None])
    def test_ports_that_pause_nothing_are_one_finding(self, pfc: str | None) -> None:
        off = {"PORT_QOS_MAP": {port: {"pfc_enable": pfc} for port in PORTS}}
        assert only(device(off), "WD020").places == 3

    def test_one_port_that_lacks_what_others_pause_is_a_matter_of_pfc(self) -> None:
        assert drawn(device({"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": ""}}}), "WD020") == []

    def test_a_switch_without_any_map_of_ports(self) -> None:
        assert only(device({"PORT_QOS_MAP": None}), "WD020").places == 3

    def test_a_port_that_is_down_or_pauses_is_no_matter(self) -> None:
        down = {"PORT_QOS_MAP": {"Ethernet4": None}, "PORT": {"Ethernet4": {"admin_status": "down"}}}
        assert drawn(device(down), "WD020") == []
        assert drawn(device({}), "WD020") == []
