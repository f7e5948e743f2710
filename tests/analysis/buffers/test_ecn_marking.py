"""Where XOFF sits against the ECN curve of a switch: what pauses a group, who sends into a queue, what is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.ecn_marking import (
    LARGEST_THRESHOLD,
    EcnMarking,
    EcnMarkings,
    Trigger,
    by_switch,
    chip_bytes,
    holds_half_of_its_pool,
    queue_limit_bytes,
    shared_pool_bytes,
    trigger,
)
from lossless.ground.basics.findings import MissingInput
from lossless.model.fabric.qos import UNREADABLE
from lossless.model.fabric.view import View
from tests.analysis.buffers.made import leaf_fabric, leaf_ports, pool, profile, with_group

if TYPE_CHECKING:
    from lossless.model.fabric.qos import BufferProfile, Wred
    from lossless.model.fabric.view import PortSet

LEAF = leaf_ports()
SWITCH = LEAF[0].switch
ENDS: tuple[Literal["host", "switch"] | None, ...] = ("host", "switch", None)


# --- what makes a group pause ---


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (profile(dynamic_th=0), Trigger(1_000_000, 1.0, None)),
        (profile(dynamic_th=-8), Trigger(1_000_000, 1 / 256, None)),
        (profile(dynamic_th=7), Trigger(1_000_000, 128.0, None)),
        (profile(dynamic_th=None, static_th_bytes=5000), Trigger(1_000_000, None, 5000)),
        (profile(dynamic_th=-9), MissingInput("dynamic_th of the lossless profile is not -8 to 7")),
        (profile(dynamic_th=8), MissingInput("dynamic_th of the lossless profile is not -8 to 7")),
        (profile(dynamic_th=None), MissingInput("the lossless profile has no threshold")),
        (profile(pool=None), MissingInput("the pool of the lossless profile is not in the file")),
        (profile(pool=pool(None)), MissingInput("the size of ingress_lossless_pool is unknown")),
    ],
)
def test_a_group_pauses_by_alpha_or_by_a_static_threshold(
    found: BufferProfile, expected: Trigger | MissingInput
) -> None:
    assert trigger(SWITCH, found) == expected


def test_a_static_threshold_is_shared_by_more_groups_than_the_pool_holds() -> None:
    static = Trigger(1_000_000, None, 400_000)
    assert [static.threshold_bytes(groups) for groups in (1, 2, 4)] == [400_000, 400_000, 250_000]
    assert [static.egress_bytes(groups) for groups in (1, 2, 4)] == [400_000, 800_000, 1_000_000]


def test_a_pool_that_fits_the_chip_beside_its_headroom_does_not_count_it_in() -> None:
    chip = chip_bytes(SWITCH)
    assert chip is not None
    assert shared_pool_bytes(SWITCH, pool(chip - 1000, 1000)) == chip - 1000
    assert shared_pool_bytes(SWITCH, pool(chip - 999, 1000)) == chip - 1999
    assert shared_pool_bytes(SWITCH, pool(500, chip)) == 0


def test_a_chip_is_as_large_as_its_profile_says_whatever_pools_are_told() -> None:
    """The lossless egress pool tells where no profile does (sonic-swss cfgmgr/buffer_pool_mellanox.lua @e6b0c5b)."""
    unsized = pool(None, name="egress_lossless_pool")
    sized = unsized._replace(size_bytes=5)
    for egress, unknown in ((unsized, None), (sized, 5)):
        switch = SWITCH._replace(qos=SWITCH.qos._replace(pools=(pool(7), egress)))
        assert switch.profile is not None
        assert chip_bytes(switch) == switch.profile.asic.buffer_bytes
        assert chip_bytes(switch._replace(profile=None)) == unknown


# --- what a queue may hold ---


@pytest.mark.parametrize(
    ("queue", "expected"),
    [
        # T(1) = alpha B / (1 + alpha), and what is reserved beside it
        (profile(reserved_bytes=100, dynamic_th=0), 500_100),
        (profile(reserved_bytes=100, dynamic_th=-7), 100 + 1_000_000 / 129),
        (profile(dynamic_th=7), 1_000_000 * 128 / 129),
        (profile(headroom_bytes=None, dynamic_th=-8), None),
        (profile(dynamic_th=8), None),
        (profile(dynamic_th=None), None),
        (profile(pool=pool(1_000_000, mode="static"), dynamic_th=0), None),
        (profile(reserved_bytes=100, dynamic_th=None, static_th_bytes=5000, pool=None), 5100),
        (profile(dynamic_th=None, static_th_bytes=5000, pool=pool(None, mode="static")), 5000),
        (profile(dynamic_th=None, static_th_bytes=5000), None),
        (profile(dynamic_th=None, static_th_bytes=0, pool=pool(1, mode="static")), None),
        (
            profile(dynamic_th=0, pool=None),
            MissingInput("the size of the pool of the lossless queue is unknown"),
        ),
        (profile(pool=pool(None)), MissingInput("the size of the pool of the lossless queue is unknown")),
    ],
)
def test_what_one_queue_can_hold_alone(queue: BufferProfile, expected: float | MissingInput | None) -> None:
    assert queue_limit_bytes(queue) == (pytest.approx(expected) if isinstance(expected, float) else expected)


@given(st.integers(0, 600_000), st.integers(1, 600_000))
def test_a_queue_holds_half_of_its_pool_from_the_half_on(reserved: int, static: int) -> None:
    queue = profile(reserved_bytes=reserved, dynamic_th=None, static_th_bytes=static)
    assert holds_half_of_its_pool(queue) == (reserved + static >= 500_000)


def test_half_of_a_pool_is_exactly_half() -> None:
    half = profile(reserved_bytes=1, dynamic_th=None, static_th_bytes=499_999)
    assert holds_half_of_its_pool(half)
    assert not holds_half_of_its_pool(half._replace(static_th_bytes=499_998))
    for unknown in (
        half._replace(pool=None),
        half._replace(pool=pool(None)),
        half._replace(pool=pool(0)),
        half._replace(static_th_bytes=None),
        half._replace(static_th_bytes=0, reserved_bytes=900_000),
    ):
        assert not holds_half_of_its_pool(unknown)


# --- who sends into a queue ---


def leading(ports: PortSet, *, hosts: int = 0, switches: int = 0, unknown: int = 0) -> PortSet:
    """Return so many ports that lead to hosts, to switches, and to nobody knows what."""
    first = ports.ports[0]
    to_host, to_switch, to_any = (first._replace(leads_to=end) for end in ENDS)
    return ports._replace(ports=(to_host,) * hosts + (to_switch,) * switches + (to_any,) * unknown)


@given(st.integers(0, 64), st.integers(1, 64))
def test_no_uplink_of_a_leaf_sends_to_another(hosts: int, uplinks: int) -> None:
    down, up = leading(LEAF[0], hosts=hosts), leading(LEAF[1], switches=uplinks)
    assert EcnMarkings([down, up]).worst_fan_in(up) == (hosts or max(1, uplinks - 1))
    if hosts:
        assert EcnMarkings([down, up]).worst_fan_in(down) == max(1, hosts + uplinks - 1)


def test_where_some_ports_of_a_kind_lead_to_hosts_all_others_may_send() -> None:
    mixed, up = leading(LEAF[0], hosts=1, switches=1, unknown=1), leading(LEAF[1], switches=1)
    assert EcnMarkings([mixed, up]).worst_fan_in(mixed) == 3
    assert EcnMarkings([mixed, up]).worst_fan_in(up) == 1


def test_ports_that_the_switch_does_not_have_count_nowhere() -> None:
    first, second = SWITCH.ports[:2]
    switch = SWITCH._replace(ports=(first, second._replace(placed=False), *SWITCH.ports[2:]))
    sets = by_switch(View(leaf_fabric()._replace(switches=(switch,))))
    assert [[port.name for port in ports.ports] for ports in sets[0]] == [["Ethernet0"], ["Ethernet8"]]


# --- the curve of a queue ---


def with_parts(ports: PortSet, wred: Wred | None = None, buffer: BufferProfile | None = None) -> PortSet:
    """Return ports with another curve on the queue, another profile on the group of priority 3."""
    queues = list(ports.qos.queues)
    queue = queues[3]
    assert queue is not None
    queues[3] = queue._replace(wred=wred or queue.wred)
    changed = ports._replace(qos=ports.qos._replace(queues=tuple(queues)))
    return with_group(changed, buffer) if buffer else changed


def curve(**green: int | bool | None) -> Wred:
    queue = LEAF[0].qos.queues[3]
    assert queue is not None
    assert queue.wred is not None
    return queue.wred._replace(green=queue.wred.green._replace(**green))  # type: ignore[arg-type]


def marking(wred: Wred | None = None, *buffers: BufferProfile) -> EcnMarking | MissingInput | None:
    """Return how priority 3 marks at the first ports of the leaf, with another curve and other groups."""
    given = buffers or (None, None)
    sets = [with_parts(ports, wred, buffer) for ports, buffer in zip(LEAF, given, strict=True)]
    return EcnMarkings(sets).of(sets[0], 3)


def test_a_queue_that_marks_is_held_against_the_tightest_group() -> None:
    wide, narrow = profile(dynamic_th=0), profile(dynamic_th=-3)
    wred = curve(min_bytes=1000, max_bytes=2000)
    tightest = Trigger(1_000_000, 1 / 8, None)
    for groups in ((wide, narrow), (narrow, wide)):
        assert marking(wred, *groups) == EcnMarking(wred, 1000, 2000, tightest, fan_in=2, fan_out=2)


@pytest.mark.parametrize(
    ("wred", "buffers", "reason"),
    [
        (curve(min_bytes=None), (), "the WRED profile does not give both thresholds"),
        (curve(max_bytes=None), (), "the WRED profile does not give both thresholds"),
        (curve(max_bytes=LARGEST_THRESHOLD + 1), (), "a WRED threshold is larger than orchagent can read"),
        (curve(min_bytes=LARGEST_THRESHOLD + 1), (), "a WRED threshold is larger than orchagent can read"),
        (curve(), (profile(), profile(pool=pool(0))), "the pool has nothing left to share"),
        (curve(), (profile(), profile(pool=None)), "the pool of the lossless profile is not in the file"),
        (curve(), (profile(pool=None), profile()), "the pool of the lossless profile is not in the file"),
    ],
)
def test_what_is_missing_is_named(wred: Wred, buffers: tuple[BufferProfile, ...], reason: str) -> None:
    assert marking(wred, *buffers) == MissingInput(reason)


def test_the_largest_threshold_that_orchagent_reads_is_one() -> None:
    largest = marking(curve(max_bytes=LARGEST_THRESHOLD))
    assert isinstance(largest, EcnMarking)
    assert largest.kmax_bytes == 2**31 - 1


def test_a_queue_that_cannot_be_read_is_not_checked() -> None:
    first = LEAF[0]
    assert first.qos.tc_to_queue is not None
    nowhere = first.qos.tc_to_queue._replace(targets=(UNREADABLE,) * 8)
    sets = [first._replace(qos=first.qos._replace(tc_to_queue=nowhere)), LEAF[1]]
    assert EcnMarkings(sets).of(sets[0], 3) == MissingInput("the queue of the priority cannot be read")


def test_without_marks_without_lossless_groups_or_alone_there_is_nothing_to_compare() -> None:
    lossy = profile(headroom_bytes=None)
    assert marking(curve(enabled=False)) is None
    assert marking(curve(marks=False)) is None
    assert marking(None, lossy, lossy) is None
    assert isinstance(marking(None, lossy, profile()), EcnMarking)
    alone = LEAF[1]
    assert EcnMarkings([alone]).of(alone, 3) is None
    two = LEAF[0]
    both = EcnMarkings([two]).of(two, 3)
    assert isinstance(both, EcnMarking)
    assert (both.fan_in, both.fan_out) == (1, 1)


def test_only_ports_with_pfc_for_the_priority_feed_its_queue() -> None:
    first, other = (
        with_parts(ports, None, profile(dynamic_th=th)) for ports, th in zip(LEAF, (0, -3), strict=True)
    )
    without = other._replace(qos=other.qos._replace(pfc=other.qos.pfc._replace(priorities=(4,))))
    found = EcnMarkings([first, without]).of(first, 3)
    assert isinstance(found, EcnMarking)
    assert found.trigger.alpha == 1
