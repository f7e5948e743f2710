"""Thresholds that an intent states for a class: which of several statements counts, and what no switch can hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric
from tests.formats.intent.intent_texts import ECN, SHAPE, said_of, spoilt
from tests.strategies import written

RDMA = "  rdma: {dscp: 26, priority: 3, lossless: true, bandwidth: 50%, "
TWO = spoilt(SHAPE, ("  default:", "  bulk: {dscp: 28, priority: 4, lossless: true}\n  default:"))
ARISTA = SHAPE.replace("nvidia-sn5600", "arista-7060x6-64pe-b").replace("800G", "400G")


def stated(buffer: str, text: str = SHAPE) -> str:
    return spoilt(text, (RDMA, f"{RDMA}buffer: {buffer}, "))


def resolved(text: str) -> Fabric:
    return resolve(load_intent(load_text(text, "fabric.yaml")))


def thresholds(fabric: Fabric, priority: int = 3) -> dict[tuple[str, str], tuple[int | None, int | None]]:
    """Return the threshold of a group by switch and link speed."""
    found = {}
    for switch in fabric.switches:
        for port in switch.ports:
            group = port.qos.groups[priority] if port.qos else None
            if group is not None and group.named is not None and port.speed_bps:
                threshold = group.named.dynamic_th, group.named.static_th_bytes
                found[switch.name, f"{port.speed_bps // 10**9}G"] = threshold
    return found


SWITCHES = {"leaf1": "leaf", "leaf2": "leaf", "spine1": "spine", "spine2": "spine"}
SPEEDS = ("400G", "800G")
LAYER = st.fixed_dictionaries(
    {},
    optional={
        "dynamic_th": st.integers(-8, 7),
        "by_speed": st.dictionaries(
            st.sampled_from(SPEEDS), st.fixed_dictionaries({"dynamic_th": st.integers(-8, 7)}), min_size=1
        ),
    },
)
POLICIES = st.tuples(
    LAYER,
    st.fixed_dictionaries(
        {},
        optional={
            "by_tier": st.dictionaries(st.sampled_from(["leaf", "spine"]), LAYER, min_size=1),
            "by_device": st.dictionaries(st.sampled_from(sorted(SWITCHES)), LAYER, min_size=1),
        },
    ),
).map(lambda parts: {**parts[0], **parts[1]})


def expected(policy: dict[str, Any], switch: str, speed: str) -> int | None:
    """Return what is stated nearest: of the switch, of its tier, of the speed, of all."""
    layers = (
        policy.get("by_device", {}).get(switch, {}),
        policy.get("by_tier", {}).get(SWITCHES[switch], {}),
        policy,
    )
    for layer in layers:
        for values in (layer.get("by_speed", {}).get(speed, {}), layer):
            if "dynamic_th" in values:
                return int(values["dynamic_th"])
    return None


@given(POLICIES, st.sampled_from(["traditional", "dynamic"]))
def test_a_device_counts_before_its_tier_its_tier_before_the_speed_the_speed_before_the_fabric(
    policy: dict[str, Any], model: str
) -> None:
    text = f"{stated(written(policy).replace(chr(10), ''))}buffers: {{model: {model}}}\n"
    left_out = thresholds(resolved(f"{SHAPE}buffers: {{model: {model}}}\n"))
    found = thresholds(resolved(text))
    for switch in SWITCHES:
        for speed in SPEEDS if SWITCHES[switch] == "leaf" else SPEEDS[1:]:
            value = expected(policy, switch, speed)
            wanted = left_out.get((switch, speed)) if value is None else (value, None)
            assert found.get((switch, speed)) == wanted


def test_what_is_stated_for_one_switch_leaves_others_alike() -> None:
    switches = resolved(stated("{by_device: {leaf2: {dynamic_th: 3}}}")).switches
    plain = resolved(SHAPE).switches
    assert [switch.ports == other.ports for switch, other in zip(switches, plain, strict=True)] == [
        True,
        False,
        True,
        True,
    ]
    assert switches[2].ports is switches[3].ports


def test_a_threshold_in_bytes_where_the_product_takes_one() -> None:
    assert set(thresholds(resolved(stated("{static_th: 1 MiB}", ARISTA))).values()) == {(None, 1_048_576)}


def test_a_value_says_where_it_was_stated() -> None:
    fabric = resolved(stated("{by_tier: {spine: {by_speed: {800 Gb/s: {dynamic_th: 1}}}}}"))
    (group,) = {port.qos.groups[3] for port in fabric.switches[2].ports if port.qos}
    assert group is not None
    assert group.buffer is not None
    path = ("classes", "rdma", "buffer", "by_tier", "spine", "by_speed", "800 Gb/s", "dynamic_th")
    assert group.buffer.origin.path == path


class TestTheTraditionalModelHasOneProfile:
    """Its name is made of speed and length alone, so all lossless groups of a port have it."""

    WHY = "the traditional buffer model has one profile for each speed and cable length of a switch"

    def test_classes_that_differ_are_refused(self) -> None:
        text = spoilt(
            stated("{dynamic_th: 1}", TWO),
            ("priority: 4, lossless: true", "priority: 4, lossless: true, buffer: {dynamic_th: 2}"),
        )
        assert said_of(text) == [
            "7:70: classes.bulk.buffer.dynamic_th: dynamic_th 2 for class bulk, and dynamic_th 1 for class rdma, on "
            f"400G ports of role leaf (ACS-SN5600): {self.WHY}; state the same for both"
        ]

    def test_so_is_one_that_differs_from_what_is_left_out(self) -> None:
        (message,) = said_of(stated("{by_device: {leaf2: {dynamic_th: 1}}}", TWO))
        assert message == (
            "5:106: classes.rdma.buffer.by_device.leaf2.dynamic_th: dynamic_th 1 for class rdma, and nothing for class "
            f"bulk, on 400G ports of leaf2 (ACS-SN5600): {self.WHY}; state the same for both"
        )

    def test_classes_that_agree_share_it(self) -> None:
        text = spoilt(
            stated("{by_tier: {leaf: {dynamic_th: 1}}}", TWO),
            (
                "priority: 4, lossless: true",
                "priority: 4, lossless: true, buffer: {by_tier: {leaf: {dynamic_th: 1}}}",
            ),
        )
        fabric = resolved(text)
        assert thresholds(fabric, 3) == thresholds(fabric, 4)
        assert thresholds(fabric)["leaf1", "400G"] == (1, None)

    def test_the_dynamic_model_has_one_for_each(self) -> None:
        fabric = resolved(f"{stated('{dynamic_th: 1}', TWO)}buffers: {{model: dynamic}}\n")
        assert set(thresholds(fabric, 3).values()) == {(1, None)}
        assert thresholds(fabric, 4) == {}

    def test_but_not_for_classes_of_one_group(self) -> None:
        text = spoilt(
            stated("{dynamic_th: 1}", TWO), ("priority: 4, lossless", "priority: 4, pg: 3, lossless")
        )
        (message,) = said_of(f"{text}buffers: {{model: dynamic}}\n")
        assert (
            "for class bulk, on 400G ports of role leaf (ACS-SN5600): both have priority group 3;" in message
        )


@pytest.mark.parametrize(
    ("buffer", "said"),
    [
        (
            "{static_th: 1 MiB}",
            "5:85: classes.rdma.buffer.static_th: static_th 1,048,576 B does not fit nvidia-sn5600, whose "
            "ingress_lossless_pool is dynamic; state dynamic_th",
        ),
        (
            "{dynamic_th: 1, static_th: 1 MiB}",
            "5:100: classes.rdma.buffer.static_th: a group has one threshold; leave out dynamic_th or static_th",
        ),
        (
            "{dynamic_th: 8}",
            "5:86: classes.rdma.buffer.dynamic_th: 8 is not a dynamic_th; expected a whole number from -8 to 7",
        ),
        (
            "{by_tier: {leef: {dynamic_th: 1}}}",
            "5:84: 'leef' is no role of a switch; did you mean leaf?",
        ),
        (
            "{by_device: {leaf9: {dynamic_th: 1}}}",
            "5:86: classes.rdma.buffer.by_device: no switch is called leaf9; did you mean leaf2?",
        ),
        (
            "{by_device: {host1: {dynamic_th: 1}}}",
            "5:86: classes.rdma.buffer.by_device: no switch is called host1",
        ),
        (
            "{by_tier: {leaf: {by_speed: {400G: {dynamic_th: 1}, 400 Gb/s: {dynamic_th: 1}}}}}",
            "5:125: classes.rdma.buffer.by_tier.leaf.by_speed: 400 Gb/s is the same speed as 400G",
        ),
    ],
)
def test_what_has_no_meaning_is_refused(buffer: str, said: str) -> None:
    assert said_of(stated(buffer)) == [said]


def test_a_lossy_class_has_no_groups_of_its_own() -> None:
    text = spoilt(SHAPE, ("priority: 0, bandwidth", "priority: 0, buffer: {dynamic_th: 1}, bandwidth"))
    (message,) = said_of(text)
    assert message.endswith(
        "classes.default.buffer: lossy classes share one profile of a switch; only lossless ones have their own"
    )


def test_curves_differ_by_tier_and_device_too() -> None:
    """Each switch has one curve here, so that it keeps the name that tools change in place."""
    slow, fast = "{min: 1 MB, max: 2 MB, probability: 9%}", "{min: 3 MB, max: 4 MB, probability: 9%}"
    ecn = f"{{min: 8 KiB, max: 2 MB, probability: 9%, by_tier: {{spine: {slow}}}, by_device: {{leaf2: {fast}}}}}"
    fabric = resolved(spoilt(SHAPE, (ECN, ecn)))
    found = {
        switch.name: (queue.wred.name, queue.wred.green.min_bytes)
        for switch in fabric.switches
        if switch.ports[0].qos and (queue := switch.ports[0].qos.queues[3]) and queue.wred
    }
    assert found == {
        "leaf1": ("AZURE_LOSSLESS", 8192),
        "leaf2": ("AZURE_LOSSLESS", 3_000_000),
        "spine1": ("AZURE_LOSSLESS", 1_000_000),
        "spine2": ("AZURE_LOSSLESS", 1_000_000),
    }
