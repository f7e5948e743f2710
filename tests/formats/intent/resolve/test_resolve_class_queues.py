"""Limits of queues that an intent states for a class: which counts, what they are rendered to, what is refused."""

from __future__ import annotations

import pytest

from lossless.formats.sonic.from_model import tables
from tests.formats.intent.intent_texts import NAMED, SHAPE, said_of, spoilt
from tests.formats.intent.resolve.test_resolve_class_buffers import ARISTA, RDMA, resolved

DEFAULT = "default: {dscp: rest, priority: 0, "


def stated(queue: str, head: str = RDMA) -> str:
    return spoilt(SHAPE, (head, f"{head}queue: {queue}, "))


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_a_device_counts_before_its_tier_its_tier_before_the_speed_the_speed_before_the_fabric(
    model: str,
) -> None:
    queue = (
        "{dynamic_th: 1, by_speed: {400G: {dynamic_th: 2}}, by_tier: {spine: {dynamic_th: 3}}, "
        "by_device: {spine2: {dynamic_th: 4}}}"
    )
    fabric = resolved(f"{stated(queue)}buffers: {{model: {model}}}\n")
    found = {
        (switch.name, (port.speed_bps or 0) // 10**9): buffer.dynamic_th
        for switch in fabric.switches
        for port in switch.ports
        if port.qos and (own := port.qos.queues[3]) and (buffer := own.buffer)
    }
    leaves = {(leaf, speed): 2 if speed == 400 else 1 for leaf in ("leaf1", "leaf2") for speed in (400, 800)}
    assert found == {**leaves, ("spine1", 800): 3, ("spine2", 800): 4}


def test_it_is_a_profile_of_its_own_beside_those_of_the_hwsku() -> None:
    rows = tables(resolved(stated("{dynamic_th: 1}")).switches[0])
    shipped = rows["BUFFER_PROFILE"]["egress_lossless_profile"]
    assert rows["BUFFER_PROFILE"]["egress_lossless_dynamic_th_1"] == {**shipped, "dynamic_th": "1"}
    profiles = {row["profile"] for key, row in rows["BUFFER_QUEUE"].items() if key.endswith("|3")}
    assert profiles == {"egress_lossless_dynamic_th_1"}


def test_what_is_reserved_has_a_rank_of_its_own_and_leaves_the_threshold() -> None:
    """A device that states a threshold reserves what its tier says, and one that states a size drops where it says."""
    queue = (
        "{size: 4 KiB, by_tier: {spine: {size: 8 KiB, dynamic_th: 3}}, "
        "by_device: {leaf1: {dynamic_th: 1}, spine2: {size: 0 B}}}"
    )
    fabric = resolved(stated(queue))
    shipped = tables(fabric.switches[0])["BUFFER_PROFILE"]["egress_lossless_profile"]["dynamic_th"]
    found = {}
    for switch in fabric.switches:
        rows = tables(switch)
        (name,) = {row["profile"] for key, row in rows["BUFFER_QUEUE"].items() if key.endswith("|3")}
        found[switch.name] = tuple(rows["BUFFER_PROFILE"][name][key] for key in ("size", "dynamic_th"))
    leaf1, leaf2 = ("4096", "1"), ("4096", shipped)
    assert found == {"leaf1": leaf1, "leaf2": leaf2, "spine1": ("8192", "3"), "spine2": ("0", "3")}


def test_a_lossy_class_has_limits_too() -> None:
    rows = tables(resolved(stated("{dynamic_th: -2}", DEFAULT)).switches[0])
    (name,) = {row["profile"] for key, row in rows["BUFFER_QUEUE"].items() if key.endswith("|0")}
    assert rows["BUFFER_PROFILE"][name]["dynamic_th"] == "-2"
    assert rows["BUFFER_PROFILE"][name]["pool"] == "egress_lossy_pool"


def test_a_threshold_of_another_kind_than_the_pool_has_is_refused() -> None:
    (message,) = said_of(stated("{static_th: 1 MiB}"))
    assert message == (
        "5:84: classes.rdma.queue.static_th: does not fit nvidia-sn5600, whose egress_lossless_pool is dynamic; "
        "state dynamic_th"
    )


@pytest.mark.parametrize(
    ("model", "free_bytes", "most_bytes"),
    [("traditional", 150_745_086, 12_562_090), ("dynamic", 150_900_734, 12_575_061)],
)
def test_queues_that_reserve_the_chip_are_refused_and_the_most_that_is_named_is_taken(
    model: str, free_bytes: int, most_bytes: int
) -> None:
    """What is free is what buffer_pool_mellanox.lua @e6b0c5b leaves both ingress pools without it, a byte for each."""
    policy = f"buffers: {{model: {model}}}\n"
    at_leaves = "{{by_tier: {{leaf: {{dynamic_th: 1, size: {}}}}}}}"
    (message,) = said_of(stated(at_leaves.format("20 MB")) + policy)
    assert message == (
        "5:111: classes.rdma.queue.by_tier.leaf.size: 12 queues of role leaf (ACS-SN5600) reserve 240,000,000 B, and "
        f"the chip has {free_bytes:,} B for queues; state at most {most_bytes:,} B"
    )
    assert said_of(stated(at_leaves.format(f"{most_bytes} B")) + policy) == []
    assert len(said_of(stated(at_leaves.format(f"{most_bytes + 1} B")) + policy)) == 1


def test_classes_share_what_there_is_and_the_one_that_reserves_the_most_is_named() -> None:
    sizes = (RDMA, f"{RDMA}queue: {{size: 9 MB}}, "), (DEFAULT, f"{DEFAULT}queue: {{size: 19 MB}}, ")
    (message,) = said_of(spoilt(SHAPE, *sizes))
    assert message == (
        "7:52: classes.default.queue.size: 12 queues of role leaf (ACS-SN5600) reserve 228,000,000 B, others "
        "108,000,000 B, and the chip has 150,745,086 B for queues; state at most 3,562,090 B"
    )
    both = said_of(spoilt(SHAPE, *[(head, text.replace("9 MB", "90 MB")) for head, text in sizes]))
    assert {message.rpartition("; ")[2] for message in both} == {"state less for each class"}


def test_elsewhere_queues_are_refused_that_reserve_their_pool() -> None:
    """A pool shares its size without what is reserved on it (SAI inc/saibuffer.h @91e6b86)."""
    (message,) = said_of(spoilt(ARISTA, (RDMA, f"{RDMA}queue: {{size: 20 MB}}, ")))
    assert message == (
        "5:79: classes.rdma.queue.size: 12 queues of role leaf (Arista-7060X6-64PE-B-O128) reserve 240,000,000 B, and "
        "egress_lossless_pool has 164,505,639 B for queues; state at most 13,708,803 B"
    )
    rows = [
        tables(resolved(text).switches[0])["BUFFER_POOL"]
        for text in (ARISTA, spoilt(ARISTA, (RDMA, f"{RDMA}queue: {{size: 13708803 B}}, ")))
    ]
    assert rows[0] == rows[1]


def test_headroom_that_fills_the_chip_is_no_fault_of_queues() -> None:
    """Rule BUF007 reports it."""
    long = stated("{size: 64 KiB}").replace("uplink: 30m", "uplink: 40km")
    assert said_of(f"{long}buffers: {{model: dynamic}}\n") == []


def test_what_is_taken_of_the_chip_leaves_each_ingress_pool_a_byte() -> None:
    """Half of a single byte were nothing: both pools of leaf1 share what one queue leaves."""
    queue = "{by_device: {leaf1: {by_speed: {800G: {size: SIZE}}}}}"
    one = spoilt(NAMED, (RDMA, f"{RDMA}queue: {queue}, "))
    (message,) = said_of(one.replace("SIZE", "1 GB"))
    assert "size: 1 queue of leaf1 (ACS-SN5600) reserves 1,000,000,000 B, and the chip has " in message
    most_bytes = int(message.rpartition("at most ")[2].removesuffix(" B").replace(",", ""))
    pools = resolved(one.replace("SIZE", f"{most_bytes} B")).switches[0].qos.pools
    sizes = {pool.name: pool.size_bytes for pool in pools}
    assert sizes["ingress_lossless_pool"] == sizes["ingress_lossy_pool"] == 1
    assert len(said_of(one.replace("SIZE", f"{most_bytes + 1} B"))) == 1


def test_links_that_get_no_port_reserve_nothing() -> None:
    """Of 80 links of a leaf 64 have ports, and rule TOP001 reports the others."""
    too_many = spoilt(
        stated("{size: 9 MB}"), ("hosts_per_leaf: 4", "hosts_per_leaf: 38"), ("2 x 400G", "2 x 800G")
    )
    (message, *_) = said_of(too_many)
    assert "size: 64 queues of role leaf (ACS-SN5600) reserve 576,000,000 B, and" in message


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_ports_that_are_down_reserve_nothing(model: str) -> None:
    """12 ports of a leaf have links; with the 52 others 12 MB for each queue were five times the chip."""
    policy = f"buffers: {{model: {model}, unused_ports: reclaim}}\n"
    assert said_of(stated("{by_tier: {leaf: {size: 12 MB}}}") + policy) == []
