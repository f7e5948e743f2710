"""Thresholds that an intent states for a class: which of several statements counts, and what no switch can hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.units import parse_rate, parse_size
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric
from lossless.model.fabric.qos import BufferProfile
from tests.checks.rules.checking import only
from tests.formats.intent.intent_texts import ECN, PRESET, SHAPE, said_of, spoilt
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


def test_what_is_stated_for_one_switch_leaves_others_identical() -> None:
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


def profile_of(fabric: Fabric, switch: str, speed: str) -> BufferProfile:
    (found,) = (s for s in fabric.switches if s.name == switch)
    groups = (p.qos.groups[3] for p in found.ports if p.qos and p.speed_bps == parse_rate(speed))
    profile = next(group.buffer for group in groups if group)
    assert profile is not None
    return profile


class TestHeadroom:
    def test_where_size_holds_it_size_and_pools_follow(self) -> None:
        """A row of ACS-SN5600 at 400G and 5 m: size 250,880 = xon 19,456 + xoff 231,424."""
        more = resolved(stated("{by_speed: {400G: {xoff: 300 KiB}}}"))
        usual = resolved(SHAPE)
        profile = profile_of(more, "leaf1", "400G")
        assert (profile.headroom_bytes, profile.xon_bytes) == (307_200, 19_456)
        assert profile.reserved_bytes == 307_200 + 19_456
        far = [profile_of(fabric, "leaf1", "800G").reserved_bytes for fabric in (usual, more)]
        assert far[0] == far[1]
        sizes = [fabric.switches[0].qos.pools[0].size_bytes or 0 for fabric in (usual, more)]
        # Two ingress pools share what eight ports with one lossless group each leave.
        assert sizes[0] - sizes[1] == pytest.approx(8 * (307_200 - 231_424) / 2, abs=1)

    def test_where_a_shared_pool_lends_it_that_pool_grows(self) -> None:
        text = SHAPE.replace("nvidia-sn5600", "{profile: nvidia-sn5600, hwsku: Mellanox-SN5600-V256}")
        text = text.replace("2 x 400G", "2 x 200G").replace("800G", "200G")
        usual, more = resolved(text), resolved(stated("{xoff: 400 KiB}", text))
        assert (
            profile_of(more, "leaf1", "200G").reserved_bytes
            == profile_of(usual, "leaf1", "200G").reserved_bytes
        )
        shared = [sum(p.shared_headroom_bytes or 0 for p in f.switches[0].qos.pools) for f in (usual, more)]
        assert shared[1] > shared[0] > 0

    def test_the_dynamic_model_takes_it_whole(self) -> None:
        fabric = resolved(f"{stated('{xoff: 300 KiB, xon: 19 KiB}')}buffers: {{model: dynamic}}\n")
        profile = profile_of(fabric, "leaf1", "400G")
        assert (profile.reserved_bytes, profile.headroom_bytes, profile.dynamic_th) == (326_656, 307_200, 0)

    def test_the_dynamic_model_takes_no_half_of_it(self) -> None:
        (message,) = said_of(f"{stated('{xoff: 300 KiB}')}buffers: {{model: dynamic}}\n")
        assert message == (
            "5:80: classes.rdma.buffer.xoff: xoff 307,200 B does not say all of it: in the dynamic buffer model a "
            "group has a computed headroom or a stated one; state xoff and xon"
        )

    def test_too_little_of_it_is_reported_where_it_is_stated(self) -> None:
        text = stated("{by_tier: {leaf: {by_speed: {400G: {xoff: 200 KiB}}}}}")
        finding = only("BUF002", load_text(text, "fabric.yaml"))
        assert finding.origin.path == (
            *("classes", "rdma", "buffer"),
            *("by_tier", "leaf", "by_speed", "400G", "xoff"),
        )

    def test_single_keys_come_from_the_rank_that_states_them(self) -> None:
        buffer = "{xon: 18 KiB, by_speed: {400G: {xoff: 300 KiB}}, by_tier: {leaf: {dynamic_th: 2}}}"
        profile = profile_of(resolved(stated(buffer)), "leaf1", "400G")
        assert (profile.xon_bytes, profile.headroom_bytes, profile.dynamic_th) == (18_432, 307_200, 2)


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
            "5:100: classes.rdma.buffer.static_th: there is one threshold; leave out dynamic_th or static_th",
        ),
        (
            "{dynamic_th: 8}",
            "5:86: classes.rdma.buffer.dynamic_th: 8 is not a dynamic_th; expected a whole number from -8 to 7",
        ),
        (
            "{by_tier: {leef: {dynamic_th: 1}}}",
            "5:84: 'leef' is no role of a switch; did you mean leaf? (others: spine, super-spine, switch)",
        ),
        (
            "{by_device: {leaf9: {dynamic_th: 1}}}",
            "5:86: classes.rdma.buffer.by_device: no switch is called leaf9; did you mean leaf2? "
            "(others: leaf1, spine1, spine2)",
        ),
        (
            "{by_device: {host1: {dynamic_th: 1}}}",
            "5:86: classes.rdma.buffer.by_device: no switch is called host1; there are spine1, leaf1, leaf2, spine2",
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


CURVES = st.sampled_from([("1 MB", "2 MB"), ("2 MB", "3 MB")]).map(
    lambda ends: {"min": ends[0], "max": ends[1], "probability": "9%"}
)
ENTRY = CURVES | st.just("off")
BY_SPEED = st.fixed_dictionaries(
    {}, optional={"by_speed": st.dictionaries(st.sampled_from(SPEEDS), ENTRY, min_size=1)}
)
SOME = ENTRY | st.tuples(CURVES, BY_SPEED).map(lambda parts: {**parts[0], **parts[1]})
ECN_POLICIES = st.tuples(
    CURVES,
    BY_SPEED,
    st.fixed_dictionaries(
        {},
        optional={
            "by_tier": st.dictionaries(st.sampled_from(["leaf", "spine"]), SOME, min_size=1),
            "by_device": st.dictionaries(st.sampled_from(sorted(SWITCHES)), SOME, min_size=1),
        },
    ),
).map(lambda parts: {**parts[0], **parts[1], **parts[2]})


def marks_from(policy: dict[str, Any], switch: str, speed: str) -> str | None:
    """Return the first threshold that is stated nearest, None where that is off."""
    layers = (
        policy.get("by_device", {}).get(switch),
        policy.get("by_tier", {}).get(SWITCHES[switch]),
        policy,
    )
    layer = next(layer for layer in layers if layer is not None)
    curve = layer if layer == "off" else layer.get("by_speed", {}).get(speed, layer)
    return None if curve == "off" else str(curve["min"])


@given(ECN_POLICIES)
def test_off_counts_at_its_rank_as_a_curve_does(policy: dict[str, Any]) -> None:
    fabric = resolved(spoilt(SHAPE, (ECN, written(policy).replace("\n", ""))))
    for switch in fabric.switches:
        for port in switch.ports:
            queue = port.qos.queues[3] if port.qos else None
            if queue is None or not port.speed_bps:
                continue
            wanted = marks_from(policy, switch.name, f"{port.speed_bps // 10**9}G")
            found = queue.wred.green.min_bytes if queue.wred else None
            assert (queue.wred is None) is (wanted is None)
            assert found == (None if wanted is None else parse_size(wanted))


def test_one_curve_beside_off_keeps_the_name_that_tools_change_in_place() -> None:
    ecn = "{min: 8 KiB, max: 2 MB, probability: 9%, by_speed: {400G: off}}"
    ports = resolved(spoilt(SHAPE, (ECN, ecn))).switches[0].ports
    wreds = {queue.wred for port in ports if port.qos and (queue := port.qos.queues[3])}
    assert {wred.name if wred else None for wred in wreds} == {"AZURE_LOSSLESS", None}


def test_off_at_a_speed_takes_no_name_of_a_profile() -> None:
    """A class of the name that another's profile at 400G would have is refused only where there is such a profile."""
    other = ("  default:", "  rdma_400000: {dscp: 28, priority: 4}\n  default:")
    fast = "by_speed: {400G: {min: 1 MB, max: 2 MB, probability: 9%}}"
    for exceptions, refusals in (("by_speed: {400G: off}", 0), (fast, 1)):
        ecn = f"{{min: 8 KiB, max: 2 MB, probability: 9%, {exceptions}}}"
        assert len(said_of(spoilt(SHAPE, (ECN, ecn), other))) == refusals


@pytest.mark.parametrize(
    "ecn",
    [
        "{by_tier: {spine: off}}",
        "{by_tier: {spine: off}, by_device: {leaf1: {by_speed: {400G: off}}}}",
        "{by_speed: {400G: off, 800G: off}}",
    ],
)
def test_off_without_any_curve_is_refused(ecn: str) -> None:
    assert said_of(spoilt(SHAPE, (ECN, ecn))) == [
        "5:70: classes.rdma.ecn: off is an exception from a curve, and none is stated; write ecn: off, or a curve"
    ]


def test_off_is_an_exception_from_the_curve_of_a_preset_too() -> None:
    text = spoilt(PRESET, ("fabric: base", "classes: {rdma: {ecn: {by_tier: {spine: off}}}}\nfabric: base"))
    marked = {
        switch.name: queue.wred is not None
        for switch in resolved(text).switches
        if switch.ports[0].qos and (queue := switch.ports[0].qos.queues[3])
    }
    assert marked == {"leaf1": True, "leaf2": True, "spine1": False, "spine2": False}


def test_colours_have_the_curve_of_the_class_or_one_of_their_own() -> None:
    ecn = "{min: 1 MB, max: 2 MB, probability: 9%, yellow: {min: 8 KiB, max: 1 MB, probability: 100%}}"
    qos = resolved(spoilt(SHAPE, (ECN, ecn))).switches[0].ports[0].qos
    queue = qos.queues[3] if qos else None
    assert queue is not None
    assert queue.wred is not None
    assert queue.wred.yellow.thresholds == (8192, 1_000_000, 100)
    assert queue.wred.green.thresholds == queue.wred.red.thresholds == (1_000_000, 2_000_000, 9)


def test_a_curve_of_a_colour_that_never_starts_is_refused() -> None:
    ecn = "{min: 1 MB, max: 2 MB, probability: 9%, red: {min: 3 MB, max: 1 MB, probability: 100%}}"
    (message,) = said_of(spoilt(SHAPE, (ECN, ecn)))
    assert "classes.rdma.ecn.red.min: min (3,000,000 B) is above max (1,000,000 B)" in message
