"""The memory of a switch: thresholds, reserves, headroom, pools, cells, limits.

Frames are 1000 B without header or gap and take 80 ns at 100 Gb/s; cables are 500 ns long. The n-th frame of a sender
is in the switch 80 n + 500 ns after it began. The switch may not send, so that everything stays where it is counted.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, strategies as st

from lossless.analysis.buffers.ecn_marking import group_threshold_bytes
from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimFlow,
    SimGroup,
    SimPort,
    SimQueue,
    SimSwitch,
)
from lossless.analysis.simulation.engine.run import Simulation
from tests.analysis.simulation.made_networks import AMPLE, group, queue, run, star
from tests.analysis.simulation.watching import steps

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.network import SimNetwork

FRAME, FRAME_NS, PROPAGATION_NS = 1000, 80, 500
FOREVER_NS = 1e9
UNHURRIED_NS = 1e8
"""A peer that takes longer than a run to obey a pause."""
ROOMY = 1 << 30
PLAIN = SimQueue()
BARE = Physics(overhead_bytes=0, gap_bytes=0)


def held(
    senders: int, group_: SimGroup, switch: SimSwitch = AMPLE, queue_: SimQueue = PLAIN, **how: Any
) -> SimNetwork:
    """Return senders to one receiver to which nothing is sent until ``held_ns``."""
    hold = Hold(senders + 1, senders, 0, how.pop("held_ns", FOREVER_NS))
    how = {"mtu_bytes": FRAME, "physics": BARE, "reaction_ns": UNHURRIED_NS} | how
    return star(senders, SimPort((queue_,), (group_,)), switch, holds=(hold,), **how)


def arrived_ns(frames: int) -> int:
    """Return when a switch has received so many frames of a sender that began at time zero."""
    return frames * FRAME_NS + PROPAGATION_NS


def pool_of(pool_bytes: int) -> SimSwitch:
    return AMPLE._replace(pool_bytes=pool_bytes)


# --- thresholds ---


@given(
    senders=st.integers(1, 12),
    dynamic_th=st.integers(-6, 3),
    pool=st.integers(20_000, 1_000_000),
    reserved=st.integers(0, 6_000),
)
def test_equal_groups_first_pause_with_the_frame_that_passes_the_closed_form(
    senders: int, dynamic_th: int, pool: int, reserved: int
) -> None:
    """As long as that is beyond what is reserved; the receiver's port has reserved as much as the senders'."""
    shared, alpha = pool - (senders + 1) * reserved, 2.0**dynamic_th
    expected = group_threshold_bytes(alpha, shared, senders, reserved)
    assume(shared > 0 and expected >= reserved + FRAME)
    network = held(senders, SimGroup(alpha, ROOMY, reserved_bytes=reserved), pool_of(pool))
    first_ns = run(network, arrived_ns(1 + int(expected) // FRAME) + 1).outcome().first_pause_ns
    assert first_ns is not None
    passed_with = (first_ns - PROPAGATION_NS) / FRAME_NS * FRAME
    assert passed_with - FRAME <= expected + 1e-6
    assert passed_with > expected - 1e-6


@pytest.mark.parametrize(("senders", "alpha", "frames"), [(1, 1, 21), (4, 1, 9), (1, 0.125, 5), (2, 8, 19)])
def test_a_dynamic_threshold_is_alpha_times_what_the_pool_has_left(
    senders: int, alpha: float, frames: int
) -> None:
    """Of 40,000 B: 21 held leave 19; 9 and 3 x 8 leave 7; 5 leave 35, an eighth is 4.4; 19 and 18 leave 3, 8 x 3 is 24.

    In the last case the second sender passes: 19 and 19 leave 2, eight times that is 16.
    """
    seen = run(held(senders, SimGroup(alpha, ROOMY), pool_of(40_000)), arrived_ns(frames) + 1)
    first = [group(seen, one, senders + 1)["first_pause_at"] for one in range(senders)]
    assert 1000 * arrived_ns(frames) in first
    assert seen.outcome().first_pause_ns == arrived_ns(frames)


@pytest.mark.parametrize("senders", [1, 5])
@pytest.mark.parametrize("pool", [1 << 16, 1 << 31])
def test_a_static_threshold_moves_with_nothing(senders: int, pool: int) -> None:
    """10,000 B are no more than the threshold, the eleventh frame passes it."""
    network = held(senders, SimGroup(None, ROOMY, static_bytes=10_000), pool_of(pool))
    seen = run(network, arrived_ns(11) + 1)
    assert [group(seen, one, senders + 1)["first_pause_at"] for one in range(senders)] == [
        1000 * arrived_ns(11)
    ] * senders


# --- what groups have reserved ---


@pytest.mark.parametrize(("reserved", "frames"), [(0, 11), (3_000, 9), (9_000, 3)])
def test_what_groups_have_reserved_is_not_shared(reserved: int, frames: int) -> None:
    """Of 20,000 B two ports reserve 6000: 9 frames, 6 of them shared, leave 8 of 14.

    What a group holds of its reserve counts against its threshold: with 9000 each 2000 are shared, and 3 frames
    are more than that.
    """
    seen = run(
        held(1, SimGroup(1.0, ROOMY, reserved_bytes=reserved), pool_of(20_000)), arrived_ns(frames) + 1
    )
    assert seen.outcome().first_pause_ns == arrived_ns(frames)


def test_what_a_group_has_reserved_is_there_even_when_its_headroom_is_full() -> None:
    """Nothing is shared and one frame is headroom, yet five frames fit in what is reserved."""
    nothing_shared = SimGroup(None, 1000, reserved_bytes=5000, static_bytes=0)
    seen = run(held(1, nothing_shared, AMPLE._replace(headroom_pool_bytes=ROOMY)), arrived_ns(9))
    assert group(seen, 0, 2)["bytes"] == 5000
    assert seen.outcome().first_drop_ns == arrived_ns(6)


# --- headroom ---


def test_headroom_is_charged_with_the_frame_that_passes_the_threshold_and_emptied_first() -> None:
    """Threshold 3000 B; eight frames come in, then eight leave."""
    simulation = Simulation(held(1, SimGroup(None, ROOMY, static_bytes=3000), size_bytes=8000, held_ns=5000))
    changes = steps(
        simulation,
        10_000,
        lambda state: (int(state.groups["bytes"].max()), int(state.groups["headroom_used"].max())),
    )
    filling = [(n * FRAME, max(0, n - 3) * FRAME) for n in range(1, 9)]
    assert [value for _, value in changes] == [*filling, *filling[-2::-1], (0, 0)]


def test_a_group_goes_on_charging_headroom_although_its_threshold_has_risen_above_it() -> None:
    """40,000 B among three: hosts 0 to 2 hold 10 each, the eleventh of host 0 finds 9 left and is headroom.

    Then 1 and 2 drain. A frame of host 0 that comes later finds 30,000 B left and 12,000 B held, yet is charged.
    """
    many, one = 12 * FRAME, FRAME
    flows = [
        SimFlow((0, 5, 4), many, mtu_bytes=FRAME),
        *(SimFlow((source, 5, 3), 10 * FRAME, mtu_bytes=FRAME) for source in (1, 2)),
        SimFlow((0, 5, 4), one, start_ns=10_000, mtu_bytes=FRAME),
    ]
    network = held(4, SimGroup(1.0, ROOMY), pool_of(40_000), flows=flows)
    seen = run(network._replace(holds=(*network.holds, Hold(5, 3, 0, 5000))), 20_000)
    assert int(group(seen, 1, 5)["bytes"]) == int(group(seen, 2, 5)["bytes"]) == 0
    assert (int(group(seen, 0, 5)["bytes"]), int(group(seen, 0, 5)["headroom_used"])) == (13_000, 3_000)


def test_what_is_held_in_headroom_takes_nothing_from_what_is_shared() -> None:
    """Of 40,000 B host 0 holds 20 frames and 30 more as headroom; host 1 pauses with frame 11 of the other 20."""
    flows = [
        SimFlow((0, 3, 2), 50 * FRAME, mtu_bytes=FRAME),
        SimFlow((1, 3, 2), 50 * FRAME, start_ns=10_000, mtu_bytes=FRAME),
    ]
    seen = run(held(2, SimGroup(1.0, ROOMY), pool_of(40_000), flows=flows), 20_000)
    assert group(seen, 0, 3)["headroom_used"] == 30_000
    assert group(seen, 1, 3)["first_pause_at"] == 1000 * (10_000 + arrived_ns(11))


def test_a_frame_that_no_longer_fits_the_headroom_is_dropped() -> None:
    """Three frames are shared, three more are headroom, the seventh is lost."""
    seen = run(held(1, SimGroup(None, 3999, static_bytes=3000)), arrived_ns(9) + 1)
    assert group(seen, 0, 2)["bytes"] == 6000
    assert (seen.outcome().first_drop_ns, seen.outcome().drops) == (arrived_ns(7), 3)


# --- XON ---


def lets_go_at(xon_bytes: int, xon_offset_bytes: int) -> int | None:
    """Return what a group with a threshold of 10,000 B still holds when it lets its peer go on."""
    kind = SimGroup(None, ROOMY, xon_bytes, xon_offset_bytes, static_bytes=10_000)
    simulation = Simulation(held(1, kind, size_bytes=20_000, held_ns=5000))
    asked = steps(
        simulation,
        20_000,
        lambda state: (bool(state.groups["paused"].any()), int(state.groups["bytes"].max())),
    )
    paused = [(stands, left) for _, (stands, left) in asked]
    return next(
        (left for (before, _), (now, left) in pairwise(paused) if before and not now),
        None,
    )


@pytest.mark.parametrize(
    ("xon", "xon_offset", "left"),
    [
        (0, 0, 10_000),
        (4000, 10_000, 3000),
        (4001, 10_000, 4000),
        (0, 3000, 7000),
        (0, 3001, 6000),
        (8000, 9000, 7000),
    ],
)
def test_a_group_lets_its_peer_go_on_below_xon_or_the_offset_below_its_threshold(
    xon: int, xon_offset: int, left: int
) -> None:
    assert lets_go_at(xon, xon_offset) == left


@given(xon=st.integers(0, 25_000), xon_offset=st.integers(0, 10_000))
def test_whichever_of_the_two_comes_first_counts_but_never_before_headroom_is_empty(
    xon: int, xon_offset: int
) -> None:
    fit = [left for left in range(0, 11_000, FRAME) if left < xon or left + xon_offset <= 10_000]
    assert lets_go_at(xon, xon_offset) == max(fit)


# --- pools ---


@pytest.mark.parametrize(
    ("pool", "round_"), [(None, 26), (80_000, 26), (30_000, 13), (29_999, 13), (31_999, 13)]
)
def test_a_shared_headroom_pool_drops_while_every_group_has_room_of_its_own(
    pool: int | None, round_: int
) -> None:
    """Four groups share 5 frames each, then are promised 20 of headroom: 30 are full within the eighth round."""
    network = held(4, SimGroup(None, 20_000, static_bytes=5000), AMPLE._replace(headroom_pool_bytes=pool))
    seen = run(network, arrived_ns(round_) + 1)
    assert seen.outcome().first_drop_ns == arrived_ns(round_)
    held_most = int(seen.state.groups["max_headroom"].max())
    assert held_most == (20_000 if round_ == 26 else 8000)


@pytest.mark.parametrize(("pool", "frames"), [(1, 21), (0, 14)])
def test_a_lossy_class_moves_the_threshold_of_a_lossless_one_only_in_its_own_pool(
    pool: int, frames: int
) -> None:
    """Alone in 40,000 B a group pauses with frame 21; beside a lossy one, with 14, as 27 leave 13."""
    end = SimPort((SimQueue(), SimQueue()), (SimGroup(1.0, ROOMY), SimGroup(1.0, None, pool=pool)))
    flows = [SimFlow((host, 3, 2), 1 << 30, traffic_class=host, mtu_bytes=FRAME) for host in (0, 1)]
    hold = Hold(3, 2, 0, FOREVER_NS, classes=(0, 1))
    switch = SimSwitch(ROOMY, 40_000, other_pools=(30_000,))
    seen = run(star(2, end, switch, flows=flows, classes=2, physics=BARE, holds=(hold,)), 5_000)
    assert group(seen, 0, 3)["first_pause_at"] == 1000 * arrived_ns(frames)
    assert (group(seen, 1, 3, 1)["drops"] > 0, group(seen, 1, 3, 1)["pauses"]) == (True, 0)


def test_a_chip_that_is_full_takes_nothing() -> None:
    network = held(3, SimGroup(None, ROOMY, static_bytes=ROOMY), SimSwitch(10_500, 10_500))
    seen = run(network, 5_000)
    assert seen.state.units["used"].tolist() == [10_000]
    assert seen.outcome().first_drop_ns == arrived_ns(4)


# --- cells ---


def test_a_frame_of_65_bytes_takes_two_cells_of_64() -> None:
    network = held(1, SimGroup(None, ROOMY, static_bytes=ROOMY), AMPLE._replace(cell_bytes=64), mtu_bytes=65)
    seen = run(network._replace(flows=(network.flows[0]._replace(size_bytes=65),)), 5_000)
    assert seen.state.units["used"].tolist() == [128]
    assert (queue(seen, 2, 1)["bytes"], group(seen, 0, 2)["bytes"]) == (128, 128)


@given(frame=st.integers(60, 9216), cell=st.integers(1, 400), frames=st.integers(1, 20))
def test_frames_are_held_in_whole_cells_and_leave_none_behind(frame: int, cell: int, frames: int) -> None:
    network = held(
        1,
        SimGroup(None, ROOMY, static_bytes=ROOMY),
        AMPLE._replace(cell_bytes=cell),
        mtu_bytes=frame,
        size_bytes=frame * frames,
        held_ns=1e6,
    )
    seen = run(network, 2e6)
    assert seen.state.units["max_used"].tolist() == [frames * cell * -(-frame // cell)]
    assert seen.state.units["used"].tolist() == [0]


def test_cells_count_against_the_threshold() -> None:
    """Ten frames of two cells are 1280 B; the eleventh passes."""
    network = held(
        1, SimGroup(None, ROOMY, static_bytes=1280), AMPLE._replace(cell_bytes=64), mtu_bytes=65, rate_bps=1e9
    )
    assert run(network, 10_000).outcome().first_pause_ns == 11 * 65 * 8 + PROPAGATION_NS


# --- limits and lossy groups ---


def test_a_queue_that_is_full_drops_and_what_it_drops_is_not_held() -> None:
    seen = run(held(1, SimGroup(1.0, ROOMY), queue_=SimQueue(limit_bytes=5500)), arrived_ns(8) + 1)
    assert (queue(seen, 2, 1)["bytes"], group(seen, 0, 2)["bytes"]) == (5000, 5000)
    assert (queue(seen, 2, 1)["drops"], group(seen, 0, 2)["drops"]) == (3, 0)
    assert seen.outcome().first_drop_ns == arrived_ns(6)


def test_a_lossy_group_drops_at_its_threshold_and_never_pauses() -> None:
    seen = run(held(1, SimGroup(None, None, static_bytes=5500)), arrived_ns(20) + 1)
    assert group(seen, 0, 2)["max_bytes"] == 5000
    assert (seen.outcome().drops, seen.outcome().pauses) == (15, 0)


@given(senders=st.integers(1, 6), dynamic_th=st.integers(-4, 3), pool=st.integers(10_000, 300_000))
def test_a_lossy_group_first_drops_where_a_lossless_one_would_first_pause(
    senders: int, dynamic_th: int, pool: int
) -> None:
    lossy, lossless = (
        run(held(senders, SimGroup(2.0**dynamic_th, headroom), pool_of(pool)), arrived_ns(300))
        for headroom in (None, ROOMY)
    )
    assert lossy.outcome().first_drop_ns == lossless.outcome().first_pause_ns is not None
