"""What all groups of a switch claim at once: headroom against its pool and its chip, and what is reserved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.headroom.sums import HeadroomSum, headroom_sums, reserved_sum
from lossless.ground.basics.findings import MissingInput
from lossless.model.hardware.load import load_switch
from tests.analysis.buffers.made import leaf_ports, pool, profile, with_group

if TYPE_CHECKING:
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import BufferProfile, Pool

LEAF = leaf_ports()
KIB = 1024


def sums(switch: Switch, *buffers: BufferProfile) -> tuple[HeadroomSum, ...] | MissingInput:
    """Return the sums of two ports of 400G and one of 800G, whose groups have these profiles."""
    sets = [
        with_group(ports, buffer)._replace(switch=switch) for ports, buffer in zip(LEAF, buffers, strict=True)
    ]
    return headroom_sums(sets)


def only(switch: Switch, *buffers: BufferProfile) -> HeadroomSum:
    found = sums(switch, *buffers)
    assert not isinstance(found, MissingInput)
    (total,) = found
    return total


NVIDIA = LEAF[0].switch
BROADCOM = NVIDIA._replace(profile=load_switch("arista-7260cx3"))


def test_headroom_adds_up_over_ports_and_a_pool_at_a_time() -> None:
    total = only(BROADCOM, profile(headroom_bytes=10_000), profile(headroom_bytes=30_000))
    assert (total.groups, total.headroom_bytes, total.claimed_bytes) == (3, 50_000, 50_000)
    assert (total.shared_bytes, total.ratio) == (None, None)
    other = profile(headroom_bytes=30_000, pool=pool(1_000_000, name="other"))
    found = sums(BROADCOM, profile(headroom_bytes=10_000), other)
    assert not isinstance(found, MissingInput)
    assert [(of.pool.name, of.groups, of.headroom_bytes) for of in found] == [
        ("ingress_lossless_pool", 2, 20_000),
        ("other", 1, 30_000),
    ]


def test_lossy_groups_claim_nothing_and_an_unknown_pool_leaves_all_unknown() -> None:
    lossy = profile(headroom_bytes=None)
    assert only(BROADCOM, lossy, profile(headroom_bytes=30_000)).groups == 1
    assert sums(BROADCOM, lossy, lossy) == ()
    missing = MissingInput("the pool of the lossless profile is not in the file")
    assert sums(BROADCOM, profile(), profile(pool=None)) == missing


def test_nvidia_groups_claim_what_size_does_not_hold_and_each_port_has_10_kib_of_its_own() -> None:
    lending = pool(1_000_000, 40_000)
    near = profile(reserved_bytes=20_000, xon_bytes=10_000, headroom_bytes=50_000, pool=lending)
    far = profile(reserved_bytes=20_000, xon_bytes=None, headroom_bytes=70_000, pool=lending)
    total = only(NVIDIA, near, far)
    # 2 x (10,000 + 50,000 - 20,000) + (70,000 - 20,000), less 10 KiB for each of three ports
    assert total.claimed_bytes == 130_000 - 30 * KIB
    assert total.headroom_bytes == 170_000
    assert total.ratio == pytest.approx((130_000 - 30 * KIB) / 40_000)
    none_reserved = near._replace(reserved_bytes=0)
    assert only(NVIDIA, none_reserved, none_reserved).claimed_bytes == 150_000 - 30 * KIB
    all_reserved = near._replace(reserved_bytes=60_001)
    assert only(NVIDIA, all_reserved, all_reserved).claimed_bytes == 0


def test_two_lossless_groups_of_a_port_share_its_10_kib() -> None:
    lending = profile(headroom_bytes=50_000, pool=pool(1_000_000, 40_000))
    ports = with_group(with_group(LEAF[1], lending), lending, priority=4)
    both = ports._replace(qos=ports.qos._replace(pfc=ports.qos.pfc._replace(priorities=(3, 4))))
    totals = headroom_sums([both])
    assert not isinstance(totals, MissingInput)
    (total,) = totals
    assert isinstance(total, HeadroomSum)
    assert (total.groups, total.claimed_bytes) == (2, 100_000 - 10 * KIB)


def fits(of: Pool, headroom: int, chip: int | None) -> bool:
    shared = of.shared_headroom_bytes
    return HeadroomSum(
        NVIDIA, ("leaf1",), of, 1, headroom, headroom, shared, chip, None, LEAF[0].cable.origin
    ).fits


def test_headroom_must_leave_the_chip_something_to_share() -> None:
    assert fits(pool(500), 999, 1000)
    assert not fits(pool(500), 1000, 1000)
    assert fits(pool(None), 999, 1000)
    assert not fits(pool(None), 1000, 1000)
    assert fits(pool(500), 1000, None)
    assert not fits(pool(0), 1, None)
    assert fits(pool(1), 1, None)


def test_a_shared_headroom_pool_must_be_smaller_than_what_holds_it() -> None:
    # Size and headroom together are larger than the chip: the size counts the headroom in.
    assert fits(pool(800, 799), 5000, 1000)
    assert not fits(pool(800, 800), 5000, 1000)
    # They lie beside each other: the chip holds both.
    assert fits(pool(200, 800), 5000, 1000)
    assert not fits(pool(None, 1000), 5000, 1000)
    assert fits(pool(None, 999), 5000, 1000)
    assert fits(pool(200, 5000), 5000, None)


# --- what is reserved ---


def reserving(*sizes: int) -> Switch:
    """Return the leaf whose ports have one group each, that reserves so much, and no queue that does."""
    ports = []
    for number, (port, size) in enumerate(zip(NVIDIA.ports, sizes, strict=True)):
        assert port.qos is not None
        group = next(group for group in port.qos.groups if group is not None)
        buffer = profile(name=f"profile{number}", reserved_bytes=size)
        qos = port.qos._replace(groups=(group._replace(buffer=buffer),), queues=(None,))
        ports.append(port._replace(qos=qos))
    return NVIDIA._replace(ports=tuple(ports))


@given(st.lists(st.integers(0, 1000), min_size=3, max_size=3))
def test_what_is_reserved_is_what_all_profiles_take(sizes: list[int]) -> None:
    found = reserved_sum(reserving(*sizes))
    if not any(sizes):
        assert found is None
        return
    assert found is not None
    assert (found.bytes, found.largest_bytes) == (sum(sizes), max(sizes))
    # Of profiles that take as much, the last by name is named.
    last = max(number for number, size in enumerate(sizes) if size == max(sizes))
    assert found.largest.name == f"profile{last}"


def test_what_is_reserved_counts_groups_and_queues_of_every_port_in_service() -> None:
    switch = reserving(100, 100, 300)
    first, second, third = switch.ports
    assert first.qos is not None
    queue = next(queue for queue in LEAF[0].qos.queues if queue is not None)
    group = first.qos.groups[0]
    assert group is not None
    bare = (queue._replace(buffer=None), queue._replace(buffer=group.buffer))
    both = first.qos._replace(queues=bare)
    identical = switch._replace(ports=(first._replace(qos=both), second._replace(qos=both), third))
    found = reserved_sum(identical)
    assert found is not None
    # Two ports with a group and a queue of 100 B, one with a group of 300 B.
    assert (found.bytes, found.largest.name, found.largest_bytes) == (700, "profile0", 400)
    down = third._replace(admin_up=False)
    found = reserved_sum(identical._replace(ports=(first, second, down)))
    assert found is not None
    assert found.bytes == 200
    assert reserved_sum(identical._replace(ports=(first._replace(qos=None), down))) is None
    one = reserved_sum(reserving(0, 0, 1))
    assert one is not None
    assert one.bytes == 1
