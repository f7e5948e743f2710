"""Queues that count the frame being sent until it has gone, against a queue of ten lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.network import Physics, SimFlow, SimGroup, SimPort, SimQueue, SimWred
from tests.analysis.simulation.made_networks import queue, run, star

if TYPE_CHECKING:
    from collections.abc import Sequence

BARE = Physics(overhead_bytes=0, gap_bytes=0)
FRAME, FRAME_NS = 1000, 80
"""A frame without header or gap at 100 Gb/s."""


def fifo(arrivals_ns: Sequence[int], limit_frames: int, kmin_frames: int) -> tuple[int, int, int]:
    """Return the most frames of one queue, the one that is sent included, how many it drops, and how many it marks.

    A frame leaves, and is marked by what remains, when it has been sent; one that comes at that instant comes after.
    """
    waiting, most, drops, marks = 0, 0, 0, 0
    ends_ns = 0
    for at_ns in [*sorted(arrivals_ns), 10**9]:
        while waiting and ends_ns <= at_ns:
            waiting -= 1
            marks += waiting > kmin_frames
            ends_ns += FRAME_NS
        if at_ns == 10**9:
            break
        if waiting == limit_frames:
            drops += 1
            continue
        ends_ns = ends_ns if waiting else at_ns + FRAME_NS
        waiting += 1
        most = max(most, waiting)
    return most, drops, marks


@settings(max_examples=100, deadline=None)
@given(
    starts=st.lists(st.integers(0, 60), min_size=1, max_size=30),
    limit_frames=st.integers(1, 12),
    kmin_frames=st.integers(0, 8),
)
def test_what_is_sent_counts_in_its_queue_until_it_has_gone_where_that_is_asked_for(
    starts: list[int], limit_frames: int, kmin_frames: int
) -> None:
    """Frames often come at the very instant at which another goes."""
    wred = SimWred(kmin_frames * FRAME, kmin_frames * FRAME, 1.0)
    queue_ = SimQueue(wred, limit_bytes=limit_frames * FRAME, until_sent=True)
    flows = [
        SimFlow((one, len(starts) + 1, len(starts)), FRAME, 20 * start, mtu_bytes=FRAME)
        for one, start in enumerate(starts)
    ]
    end = SimPort((queue_,), (SimGroup(None, None, static_bytes=1 << 40),))
    simulation = run(star(len(starts), end, flows=flows, physics=BARE), 1e6)
    seen = queue(simulation, len(starts) + 1, len(starts))
    counted = (int(seen["max_bytes"]) // FRAME, int(seen["drops"]), int(seen["marks"]))
    assert counted == fifo([20 * start for start in starts], limit_frames, kmin_frames)
