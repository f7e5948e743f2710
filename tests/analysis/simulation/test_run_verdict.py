"""Verdicts from runs: unsafe, on the edge and safe, each shown by traffic, and fixed by what is advised."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.simulation.question.request import Limits, SimulationRequest
from lossless.analysis.simulation.study.answer import answer
from lossless.analysis.simulation.study.study import study
from lossless.api import load_fabrics
from lossless.ground.documents import load
from lossless.model.fabric.cluster import PATTERNS
from lossless.model.fabric.view import View
from tests.analysis.simulation.fabrics import (
    DEADLOCKED,
    HOST_PROFILE,
    PFC_ONLY,
    PORTS,
    UPLINK_PROFILE,
    XON,
    Patch,
    advised,
    checked,
    declared,
    deployed,
    example,
    headroom,
    of_every_port,
    put,
    ring_of_leaves,
)
from tests.checks.rules.snippets import merge

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.model.fabric.cluster import Pattern

MIB = 1 << 20
G = 10**9
VENDORS = 231_424
"""Headroom in bytes that NVIDIA ships for 400G over 5 m."""
RAISE_XOFF = rf"^raise xoff of {HOST_PROFILE} from [\d,]+ B to at least ([\d,]+) B"


# --- safe ---


def test_a_sound_switch_is_safe_and_its_figures_are_those_of_an_incast() -> None:
    """Eleven senders of 8 MiB into one port at 400G, until they are paused at line rate."""
    verdict = checked(deployed())
    assert (verdict.verdict, verdict.reasons, verdict.changes) == ("safe", (), ())
    assert (verdict.drops.seeds, verdict.pfc.seeds, verdict.marks.seeds) == (0, 1, 1)
    assert (verdict.marks_before_pfc, verdict.watchdog.seeds, verdict.cut) == (1, 0, False)
    assert verdict.egress_at == "leaf1:Ethernet0"
    assert verdict.drain_us == pytest.approx(verdict.egress_bytes.most * 8 / 400e9 * 1e6)
    assert verdict.ran_us == pytest.approx(11 * 8 * MIB * 4178 / 4096 * 8 / 400e9 * 1e6, rel=0.01)
    assert verdict.of_line_rate == pytest.approx(1, abs=0.01)
    assert verdict.goodput_bps == pytest.approx(400e9 * 4096 / 4178, rel=0.01)
    assert verdict.headroom_bytes is not None
    assert verdict.headroom_margin_bytes == 231_424 - verdict.headroom_bytes.most


def test_pfc_begins_where_the_closed_form_says() -> None:
    """m groups pause at T = B / (1 + m): with 11 of them 6,394,581 B, and with fewer more, up to half the pool."""
    verdict = checked(deployed(), size_bytes=32 * MIB)
    least, most = 76_734_976 / 12, 76_734_976 / 2
    assert least <= verdict.group_bytes.most <= most


@pytest.mark.tools("runs")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_example_is_safe_whatever_the_workload(pattern: Pattern) -> None:
    verdict = checked(example(), seeds=2, pattern=pattern)
    assert (verdict.verdict, verdict.reasons, verdict.drops.seeds) == ("safe", (), 0)


@pytest.mark.tools("records")
def test_no_real_configuration_is_called_unsafe(reference: Path) -> None:
    """Files that upstream's YANG accepts, put the default question: frames are kept, or it is said what is missing."""
    simulated = 0
    # One file has rows that count on a shared headroom pool, and the pools of another HWSKU, which have none (BUF001).
    mixed = "rend-ACS-MSN2700-mellanox-2700-t0.json"
    for path in sorted((reference / "corpus" / "full").glob("*.json")):
        for fabric in load_fabrics([load(path)]).fabrics:
            found = answer(View(fabric), SimulationRequest())
            assert found.runs or found.not_run, path.name
            assert ("unsafe" in {one.verdict for one in found.runs}) == (path.name == mixed), path.name
            simulated += len(found.runs)
    assert simulated >= 4


# --- headroom ---


def test_headroom_too_short_drops_and_what_is_advised_fixes_it() -> None:
    short = checked(deployed(headroom(20_480)))
    assert short.verdict == "unsafe"
    assert re.match(r"lossless frames are dropped at leaf1:Ethernet\d+ in 1 of 1 seeds", short.reasons[0])
    assert short.drops.seeds == 1
    fixed = checked(deployed(headroom(advised(short, RAISE_XOFF))))
    assert (fixed.verdict, fixed.drops.seeds) == ("safe", 0)


def test_less_than_a_frame_left_is_on_the_edge_and_what_is_advised_fixes_it() -> None:
    """The sound switch uses 15 frames of 22 cells, 63,360 B."""
    used = checked(deployed()).headroom_bytes
    assert used is not None
    assert used.most == 15 * 22 * 192
    tight = checked(deployed(headroom(65_000)))
    assert tight.verdict == "on the edge"
    assert tight.reasons == ("1,640 B of headroom were left at leaf1:Ethernet12",)
    need = advised(tight, RAISE_XOFF)
    assert need == VENDORS
    assert checked(deployed(headroom(need))).verdict == "safe"


def test_a_whole_frame_left_is_safe() -> None:
    assert checked(deployed(headroom(63_360 + 4158))).verdict == "safe"
    assert checked(deployed(headroom(63_360 + 4157))).verdict == "on the edge"


def test_advice_is_for_the_group_that_drops() -> None:
    """Uplinks drop; host ports have 2,640 B left, which is less than what one more frame would have needed."""
    uplinks = headroom(20_480, UPLINK_PROFILE)["BUFFER_PROFILE"]
    hosts = headroom(66_000)["BUFFER_PROFILE"]
    verdict = checked(deployed({"BUFFER_PROFILE": {**hosts, **uplinks}}), size_bytes=64 * MIB)
    assert verdict.verdict == "unsafe"
    assert any(UPLINK_PROFILE in change for change in verdict.changes)


def test_what_is_advised_is_what_ports_of_that_kind_used() -> None:
    """Uplinks of 800G over 40 m use 105,600 B where they may, host ports of 400G over 5 m no more than 71,808 B."""
    unknown = {"DEVICE_METADATA": {"localhost": {"hwsku": "Some-SKU"}}}
    short = checked(deployed({**headroom(20_480), **unknown}), size_bytes=64 * MIB)
    assert advised(short, RAISE_XOFF) < 105_600


def test_what_is_advised_is_no_less_than_the_link_needs() -> None:
    """The vendor's row for 400G over 5 m; this traffic would have been content with a third of it."""
    short = checked(deployed(headroom(20_480)), size_bytes=64 * MIB)
    assert advised(short, RAISE_XOFF) == VENDORS


def test_advice_on_nvidia_says_that_size_must_hold_the_headroom() -> None:
    short = checked(deployed(headroom(20_480)))
    followed = {"xoff": str(advised(short, RAISE_XOFF)), "size": str(20_480 + 19_456)}
    fixed = checked(deployed({"BUFFER_PROFILE": {HOST_PROFILE: followed}}))
    assert fixed.verdict == "safe" or any("size" in change for change in short.changes)


@pytest.mark.tools("runs")
@pytest.mark.parametrize(
    "short",
    [
        {"by_speed": {"400G": {"xoff": "20 KiB"}}},
        {"by_tier": {"leaf": {"xoff": "20 KiB"}}},
        {"by_device": {"leaf1": {"xoff": "20 KiB"}, "leaf2": {"xoff": "20 KiB"}}},
    ],
    ids=lambda short: str(*short),
)
def test_the_line_of_the_intent_that_is_advised_raises_the_headroom(short: Patch) -> None:
    """Whatever rank states the headroom that is short, what is advised there makes runs safe."""

    def verdict(buffer: Patch) -> RunVerdict:
        intent = {
            "classes": {"rdma": {"buffer": {"dynamic_th": -4, **buffer}}},
            "topology": {"leaf_spine": {"hosts_per_leaf": 12}},
        }
        return checked(declared(intent), size_bytes=16 * MIB)

    unsafe = verdict(short)
    assert unsafe.verdict == "unsafe"
    # The most pressing comes first, and is written last.
    lines = [
        change.partition("; in the intent: classes.rdma.buffer.")[2] for change in reversed(unsafe.changes)
    ]
    for keys, _, value in (line.partition(": ") for line in lines if "xoff: " in line):
        patch: Any = value
        for key in reversed(keys.split(".")):
            patch = {key: patch}
        short = merge(short, patch)
    assert verdict(short).verdict == "safe"


def test_headroom_that_size_does_not_hold_is_not_the_vendors_own() -> None:
    hollow = {"xoff": "231424", "size": "40960"}
    assert checked(deployed({"BUFFER_PROFILE": {HOST_PROFILE: hollow}})).verdict == "unsafe"


# --- a shared headroom pool ---


def shared(pool_bytes: int) -> View:
    """Return the leaf with headroom that all groups share: ``size`` holds XON alone."""
    profiles = {name: {"size": str(xon)} for name, xon in XON.items()}
    pool = {"ingress_lossless_pool": {"xoff": str(pool_bytes)}}
    return deployed({"BUFFER_POOL": pool, "BUFFER_PROFILE": profiles})


def test_a_shared_headroom_pool_too_small_drops_and_a_larger_one_fixes_it() -> None:
    """Seven groups use 63,360 B each at once: 443,520 B."""
    verdict = checked(shared(300_000))
    assert verdict.verdict != "safe"
    assert verdict.drops.seeds == 1
    assert verdict.changes == (
        "raise xoff of ingress_lossless_pool: the shared headroom ran short, not the headroom of one group",
    )
    assert checked(shared(600_000)).verdict == "safe"


def test_a_shared_headroom_pool_too_small_is_unsafe() -> None:
    verdict = checked(shared(300_000))
    assert verdict.verdict == "unsafe"
    assert not any("the vendor's own" in reason for reason in verdict.reasons)


# --- the egress ---

LOSSY_QUEUES: Patch = {"BUFFER_QUEUE": {f"{port}|3": {"profile": "q_lossy_profile"} for port in PORTS}}


def test_an_egress_limit_fit_for_lossy_traffic_drops_and_a_higher_one_fixes_it() -> None:
    """Alpha 8 of a pool of 76.7 MB is 68.2 MB, and the queue would hold 71.5 MB when PFC comes."""
    verdict = checked(deployed(LOSSY_QUEUES))
    assert (verdict.verdict, verdict.egress_at) == ("unsafe", "leaf1:Ethernet0")
    assert verdict.egress_bytes.most <= 76_734_976 * 8 // 9
    assert verdict.changes == (
        "raise the threshold of q_lossy_profile: its queue refuses frames that PFC should hold back",
    )
    higher = {"BUFFER_PROFILE": {"q_lossy_profile": {"dynamic_th": "7"}}}
    assert checked(deployed({**LOSSY_QUEUES, **higher})).verdict == "safe"


def test_wred_that_drops_is_unsafe_and_ecn_fixes_it() -> None:
    verdict = checked(deployed({"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_none"}}}))
    assert (verdict.verdict, verdict.marks.seeds) == ("unsafe", 0)
    assert verdict.changes == (
        "turn ECN on in AZURE_LOSSLESS: its WRED drops lossless frames instead of marking them",
    )
    assert checked(deployed({"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_all"}}})).verdict == "safe"


# --- the watchdog ---


def with_watchdog(poll_ms: int, detection_ms: int) -> View:
    """Return a Broadcom fabric without congestion control; its watchdog looks at pauses alone, not at frames sent."""
    times = {"poll": f"{poll_ms}ms", "detection": f"{detection_ms}ms", "restoration": f"{2 * detection_ms}ms"}
    return declared(
        {
            **PFC_ONLY,
            "hardware": {"leaf": "dell-z9664f", "spine": "dell-z9664f"},
            "topology": {"leaf_spine": {"uplinks": "4 x 400G"}},
            "pfc": {"watchdog": times},
        }
    )


def test_a_watchdog_quicker_than_legitimate_pauses_is_unsafe_and_a_slower_one_fixes_it() -> None:
    """A receiver that takes in 1 Gb/s pauses for 2.1 ms at a time: 256 KiB until it lets its switch go on."""
    quick = checked(with_watchdog(1, 1), slow_nic_bps=G)
    assert quick.verdict == "unsafe"
    assert quick.reasons[0] == "the watchdog triggers on congestion in 2 of 2 seeds"
    assert quick.changes[0].startswith("find out why the NIC is slow")
    assert quick.stopped_queues > 0
    assert quick.drops.seeds == 0
    slow = checked(with_watchdog(100, 200), slow_nic_bps=G)
    assert (slow.verdict, slow.watchdog.seeds) == ("safe", 0)


def test_a_pause_of_half_the_detection_time_is_on_the_edge() -> None:
    """The same receiver: the uplinks behind it wait seven times as long as it pauses its own switch."""
    verdict = checked(with_watchdog(20, 30), slow_nic_bps=G)
    assert verdict.verdict == "on the edge"
    assert re.match(r"a pause lasted 15\.\d ms of the watchdog's 30 ms", verdict.reasons[0])
    assert checked(with_watchdog(20, 40), slow_nic_bps=G).verdict == "safe"


def test_only_pauses_of_switch_ports_are_held_against_the_watchdog() -> None:
    """NICs are paused for 2.4 ms, which a watchdog of 2 ms on ports of switches never notices."""
    verdict = checked(with_watchdog(2, 2), size_bytes=64 * MIB)
    assert verdict.longest_pause_at is not None
    assert verdict.longest_pause_at.startswith("host")
    assert verdict.longest_pause_us > 2000
    assert (verdict.verdict, verdict.watchdog.seeds) == ("safe", 0)


def test_a_receiver_so_slow_that_the_watchdog_must_act_is_not_safe() -> None:
    """At 1 Mb/s it takes 2.1 s to let its switch go on; the watchdog triggers after 1.2 s."""
    assert checked(deployed(), slow_nic_bps=1_000_000).verdict != "safe"


# --- a dead NIC ---


def test_a_dead_nic_under_a_watchdog_is_safe_and_what_it_drops_is_its_task() -> None:
    verdict = checked(deployed(), dead_nic=True)
    assert (verdict.verdict, verdict.drops.seeds, verdict.cut) == ("safe", 0, False)
    assert verdict.watchdog.seeds == 1
    assert verdict.stopped_queues == 1
    assert verdict.stopped_frames > 0
    assert verdict.watchdog.first_us is not None
    assert 1_200_000 <= verdict.watchdog.first_us - 100 <= 1_200_000 + 2 * 600_000


def test_a_dead_nic_without_watchdog_is_unsafe() -> None:
    verdict = checked(deployed({"PFC_WD": None}), dead_nic=True)
    assert (verdict.verdict, verdict.pause_goes_on) == ("unsafe", True)
    assert verdict.reasons == ("nothing ends the pause storm of a dead NIC in 1 of 1 seeds",)


def test_a_dead_nic_under_a_watchdog_that_forwards_is_safe() -> None:
    forwards = checked(deployed({"PFC_WD": of_every_port({"action": "forward"})}), dead_nic=True)
    assert (forwards.verdict, forwards.stopped_frames) == ("safe", 0)


def test_a_watchdog_that_only_alerts_ends_nothing() -> None:
    verdict = checked(deployed({"PFC_WD": of_every_port({"action": "alert"})}), dead_nic=True)
    assert verdict.pause_goes_on
    assert verdict.verdict == "unsafe"


def test_a_dead_nic_that_comes_too_late_to_be_seen_is_no_storm() -> None:
    """15 x 64 KiB are delivered after 20 us; the NIC dies after 100 us."""
    assert checked(declared(), dead_nic=True, size_bytes=64 << 10).verdict != "unsafe"


def test_a_dead_nic_excuses_no_drops_from_before_the_watchdog_triggers() -> None:
    """WRED drops within microseconds, the watchdog triggers after 1.8 s."""
    wred = {"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_none"}}}
    assert checked(deployed(wred), dead_nic=True).verdict == "unsafe"


# --- a cycle ---


def test_a_pfc_deadlock_is_unsafe() -> None:
    verdict = checked(ring_of_leaves(), **DEADLOCKED)
    assert verdict.verdict == "unsafe"
    assert {place.partition(":")[0] for place in verdict.cycle} == {"l1", "l2", "l3", "l4", "l5"}
    assert verdict.reasons[0] == f"PFC deadlock: paused links form a cycle: {', '.join(verdict.cycle)}"
    assert verdict.changes == (
        "change the routing, not thresholds: no buffer size removes a cyclic buffer dependency",
    )


def test_the_links_of_a_cycle_are_named_in_the_order_in_which_they_wait() -> None:
    found = put(ring_of_leaves(), **DEADLOCKED)
    seen = study(found, Limits(1)).seeds[0]
    wires = {
        f"{found.topology.names[node]}:{port.name}": frozenset(
            (found.topology.names[wire.a], found.topology.names[wire.b])
        )
        for wire in found.topology.wires
        for node, port in ((wire.a, wire.a_port), (wire.b, wire.b_port))
        if port is not None
    }
    sides = [wires[place] for place in seen.cycle]
    assert len(set(sides)) == 5
    assert all(one & other for one, other in zip(sides, (*sides[1:], sides[0]), strict=True))


@pytest.mark.parametrize("pattern", ["incast", "permutation"])
def test_a_ring_of_leaves_without_traffic_all_around_it_has_no_cycle(pattern: Pattern) -> None:
    verdict = checked(ring_of_leaves(), pattern=pattern, size_bytes=8 * MIB)
    assert (verdict.verdict, verdict.cycle) == ("safe", ())


@pytest.mark.tools("runs")
def test_following_the_advice_to_route_otherwise_removes_the_cycle() -> None:
    """Without one side of the ring its shortest paths are those of a line."""
    verdict = checked(ring_of_leaves(), failed=("l1:Ethernet8",), **DEADLOCKED)
    assert (verdict.verdict, verdict.cycle) == ("safe", ())
