"""Priority groups that an intent states for a class: which of several statements counts, and the maps of ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from lossless.api import lint_documents
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from tests.checks.rules.checking import drawn, only
from tests.formats.intent.intent_texts import SHAPE, said_of, spoilt
from tests.strategies import written

if TYPE_CHECKING:
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.qos import PortQos

SWITCHES = {"leaf1": "leaf", "leaf2": "leaf", "spine1": "spine", "spine2": "spine"}
SPEEDS = ("400G", "800G")
NUMBERS = st.integers(0, 7)
BY_SPEED = st.dictionaries(st.sampled_from(SPEEDS), NUMBERS, min_size=1)
LAYER = st.fixed_dictionaries({}, optional={"number": NUMBERS, "by_speed": BY_SPEED})
SOME = NUMBERS | LAYER.filter(bool)
POLICIES = NUMBERS | st.tuples(
    LAYER,
    st.fixed_dictionaries(
        {},
        optional={
            "by_tier": st.dictionaries(st.sampled_from(["leaf", "spine"]), SOME, min_size=1),
            "by_device": st.dictionaries(st.sampled_from(sorted(SWITCHES)), SOME, min_size=1),
        },
    ),
).map(lambda parts: {**parts[0], **parts[1]}).filter(bool)


def stated(pg: object, text: str = SHAPE, priority: int = 6) -> str:
    own = written({"pg": pg}).replace("\n", "") if isinstance(pg, dict) else f"pg: {pg}"
    own = own[1:-1] if own.startswith("{") else own
    return spoilt(text, (f"priority: {priority},", f"priority: {priority}, {own},"))


def resolved(text: str) -> Fabric:
    return resolve(load_intent(load_text(text, "fabric.yaml")))


def ports(fabric: Fabric) -> dict[tuple[str, str], PortQos]:
    """Return the QoS of ports by switch and link speed."""
    return {
        (switch.name, f"{port.speed_bps // 10**9}G"): port.qos
        for switch in fabric.switches
        for port in switch.ports
        if port.qos and port.speed_bps
    }


def expected(policy: Any, switch: str, speed: str) -> int:
    """Return the group that is stated nearest: of the switch, of its tier, of the speed, of all; 0 is the usual one."""
    policy = {"number": policy} if isinstance(policy, int) else policy
    layers = (
        policy.get("by_device", {}).get(switch, {}),
        policy.get("by_tier", {}).get(SWITCHES[switch], {}),
        policy,
    )
    for layer in layers:
        values: dict[str, Any] = {"number": layer} if isinstance(layer, int) else layer
        for found in (values.get("by_speed", {}).get(speed), values.get("number")):
            if found is not None:
                return int(found)
    return 0


@given(POLICIES)
def test_a_device_counts_before_its_tier_its_tier_before_the_speed_the_speed_before_the_fabric(
    policy: Any,
) -> None:
    fabric = resolved(stated(policy))
    for (switch, speed), qos in ports(fabric).items():
        number = expected(policy, switch, speed)
        assert qos.group_of(6) == number
        assert qos.groups[number] is not None


@given(POLICIES)
def test_a_name_of_a_map_means_the_same_on_all_switches_of_a_role(policy: Any) -> None:
    meanings: dict[tuple[str, str], set[Any]] = {}
    names: dict[tuple[str, Any], set[str]] = {}
    for (switch, _), qos in ports(resolved(stated(policy))).items():
        for index_map in (qos.tc_to_pg, qos.pfc_to_pg):
            if index_map is not None:
                meanings.setdefault((SWITCHES[switch], index_map.name), set()).add(qos.tc_to_pg)
                names.setdefault((SWITCHES[switch], qos.group_of(6)), set()).add(index_map.name)
    assert all(len({found.targets for found in maps}) == 1 for maps in meanings.values())
    assert all(len(found) == 1 for found in names.values())


def test_what_is_stated_for_all_and_for_tiers_keeps_the_name_that_tools_know() -> None:
    found = ports(resolved(stated({"number": 1, "by_tier": {"spine": 2}})))
    assert {qos.tc_to_pg.name for qos in found.values() if qos.tc_to_pg} == {"AZURE"}


def test_a_map_of_one_speed_is_named_after_its_groups() -> None:
    found = ports(resolved(stated({"number": 1, "by_speed": {"400G": 2}, "by_device": {"leaf2": 1}})))
    names = {place: (qos.tc_to_pg.name, qos.group_of(6)) for place, qos in found.items() if qos.tc_to_pg}
    assert names["leaf1", "400G"] == ("AZURE_00030020", 2)
    assert {names[place] for place in found if place != ("leaf1", "400G")} == {("AZURE", 1)}


def test_the_map_of_pauses_follows_for_a_lossless_class() -> None:
    found = ports(resolved(stated({"by_speed": {"400G": 5}}, priority=3)))
    maps = {place: qos.pfc_to_pg for place, qos in found.items() if qos.pfc_to_pg}
    assert maps.keys() == found.keys()
    assert {place: (index_map.name, index_map.targets[3]) for place, index_map in maps.items()} == {
        ("leaf1", "400G"): ("AZURE_00050000", 5),
        ("leaf2", "400G"): ("AZURE_00050000", 5),
        **{(switch, "800G"): ("AZURE", 3) for switch in SWITCHES},
    }
    lossless = {
        place: [group.number for group in qos.groups if group is not None and group.lossless]
        for place, qos in found.items()
    }
    assert lossless["leaf1", "400G"] == [5]
    assert lossless["leaf1", "800G"] == [3]


def test_what_is_stated_for_one_switch_leaves_others_identical() -> None:
    switches = resolved(stated({"by_device": {"leaf2": 4}})).switches
    plain = resolved(SHAPE).switches
    same = [switch.ports == other.ports for switch, other in zip(switches, plain, strict=True)]
    assert same == [True, False, True, True]
    assert switches[2].ports is switches[3].ports


@pytest.mark.parametrize(
    ("pg", "path"),
    [
        (3, ()),
        ({"number": 3}, ("number",)),
        ({"by_tier": {"spine": 3}}, ("by_tier", "spine")),
        ({"by_tier": {"spine": {"number": 3}}}, ("by_tier", "spine", "number")),
        ({"by_device": {"leaf2": 3}}, ("by_device", "leaf2")),
        ({"by_speed": {"400 Gb/s": 3}}, ("by_speed", "400 Gb/s")),
        ({"by_tier": {"leaf": {"by_speed": {"800G": 3}}}}, ("by_tier", "leaf", "by_speed", "800G")),
    ],
)
def test_a_lossy_class_in_the_group_of_a_lossless_one_is_reported_at_the_place_that_states_it(
    pg: object, path: tuple[str, ...]
) -> None:
    finding = only("PFC005", load_text(stated(pg), "fabric.yaml"))
    assert finding.origin.path == ("classes", "cnp", "pg", *path)


@pytest.mark.parametrize(
    ("pg", "path"),
    [
        ({"by_tier": {"spine": 0}}, ("by_tier", "spine")),
        ({"number": 3, "by_device": {"leaf1": {"number": 0}}}, ("by_device", "leaf1", "number")),
        ({"by_speed": {"400G": 0}}, ("by_speed", "400G")),
    ],
)
def test_a_lossless_class_in_the_group_of_lossy_ones_is_reported_there(
    pg: object, path: tuple[str, ...]
) -> None:
    finding = only("PFC005", load_text(stated(pg, priority=3), "fabric.yaml"))
    assert finding.origin.path == ("classes", "rdma", "pg", *path)


def test_a_group_without_its_priority_leaves_headroom_besides_at_that_place_alone() -> None:
    """Buffermgrd makes groups of the numbers in pfc_enable, so that group 3 has headroom for nothing."""
    finding = only("PFC005", load_text(stated({"by_tier": {"spine": 4}}, priority=3), "fabric.yaml"))
    assert (finding.severity, finding.places) == ("warning", 8)


def test_lossy_classes_may_differ_in_their_groups_anywhere() -> None:
    text = stated({"number": 1, "by_tier": {"spine": {"by_speed": {"800G": 2}}}, "by_device": {"leaf2": 5}})
    plain, found = (lint_documents([load_text(each, "f.yaml")]) for each in (SHAPE, text))
    assert [finding.code for finding in found.findings] == [finding.code for finding in plain.findings]


@pytest.mark.parametrize(
    ("pg", "said"),
    [
        ("{by_tier: {leef: 4}}", "6:47: 'leef' is no role of a switch; did you mean leaf?"),
        (
            "{by_tier: {host: 4}}",
            "6:47: 'host' is no role of a switch; there are switch, leaf, spine, super-spine",
        ),
        (
            "{by_device: {leaf9: 4}}",
            "6:49: classes.cnp.pg.by_device: no switch is called leaf9; did you mean leaf2?",
        ),
        (
            "{by_speed: {400G: 4, 400 Gb/s: 5}}",
            "6:57: classes.cnp.pg.by_speed: 400 Gb/s is the same speed as 400G",
        ),
        (
            "{by_tier: {leaf: {by_speed: {400G: 4, 0.4T: 5}}}}",
            "6:74: classes.cnp.pg.by_tier.leaf.by_speed: 0.4T is the same speed as 400G",
        ),
        (
            "{by_speed: {400: 4}}",
            "6:48: classes.cnp.pg.by_speed.400: '400' has no unit; write it like 400G or 1.6T",
        ),
    ],
)
def test_what_has_no_meaning_is_refused(pg: str, said: str) -> None:
    (message,) = said_of(stated(pg))
    assert message.startswith(said)


TWO = spoilt(SHAPE, ("  default:", "  bulk: {dscp: 28, priority: 4, lossless: true}\n  default:"))


def test_thresholds_that_differ_in_one_group_of_the_dynamic_model_are_refused_at_that_place_alone() -> None:
    text = f"{stated({'by_tier': {'spine': 3}}, TWO, 4)}buffers: {{model: dynamic}}\n"
    text = spoilt(text, ("bandwidth: 50%, ecn", "bandwidth: 50%, buffer: {dynamic_th: 1}, ecn"))
    (message,) = said_of(text)
    assert "for class bulk, on 800G ports of role spine (ACS-SN5600): both have priority group 3;" in message


def test_second_priorities_of_dual_tors_keep_their_groups() -> None:
    text = spoilt(stated({"by_speed": {"800G": 5}}), ("    leaves: 2", "    dual_tor: true\n    leaves: 2"))
    found = ports(resolved(text))
    for speed, qos in ((speed, qos) for (_, speed), qos in found.items()):
        assert qos.group_of(6) == (5 if speed == "800G" else 0)
        assert (qos.group_of(2), qos.group_of(3)) == (2, 3)
    names = {
        place: [index_map.name for index_map in (qos.tc_to_pg, qos.pfc_to_pg) if index_map]
        for place, qos in found.items()
    }
    assert names["leaf1", "400G"] == ["AZURE", "AZURE"]
    own = "00030050"
    assert names["leaf1", "800G"] == names["spine1", "800G"] == [f"AZURE_{own}", f"AZURE_DUALTOR_{own}"]


@pytest.mark.parametrize(("speed", "reported"), [("800G", True), ("400G", False)])
def test_a_class_in_the_group_of_a_second_priority_is_reported_where_tunnels_pass(
    speed: str, reported: bool
) -> None:
    """Between dual ToRs priority 3 has a second one, 2: on the links between leaves and spines alone."""
    text = spoilt(stated({"by_speed": {speed: 2}}), ("    leaves: 2", "    dual_tor: true\n    leaves: 2"))
    found = drawn("PFC005", load_text(text, "fabric.yaml"))
    paths = {finding.origin.path for finding in found}
    assert paths == ({("classes", "cnp", "pg", "by_speed", speed)} if reported else set())
