"""The receiving host: order, acknowledgment, congestion notification.

A receiver that keeps up needs no event of its own: its answer is known when the last switch begins to send. Frames out
of order are answered by a NACK, and the sender resends from the missing frame (RoCE's go-back-N).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import rewind_by, turn_by
from lossless.analysis.simulation.engine.kernel.dcqcn import notify
from lossless.analysis.simulation.engine.kernel.news import CONGESTED, TRIMMED, hand_over
from lossless.analysis.simulation.engine.kernel.selective import receive_any
from lossless.analysis.simulation.engine.records import ANY_ORDER, IN_ORDER, NEWS

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World


@kernel
def deliver(w: World, number: int, arrives_at: int) -> None:
    """Pass a frame to its flow's receiver, at the time of its last bit."""
    frame = w.frames[np.uint64(number)]
    flow = w.flows[np.uint64(frame.flow)]
    w.clock.in_network -= 1
    if flow.taken == IN_ORDER:
        answered = receive_in_order(w, flow, frame, arrives_at)
        if frame.marked & CONGESTED and flow.dcqcn >= 0 and (answered or not flow.cnp_rides_ack):
            notify(w, frame.flow, arrives_at)
    elif flow.taken == ANY_ORDER:
        take_any(w, number, arrives_at)
    else:
        flow.expected_psn = frame.psn + 1  # the next ACK makes good one that is lost
        if flow.taken == NEWS:
            hand_over(w, flow, frame.psn, arrives_at)


@outlined
def take_any(w: World, number: int, arrives_at: int) -> None:
    """Hand a frame to a receiver that takes it in any order."""
    frame = w.frames[np.uint64(number)]
    flow = w.flows[np.uint64(frame.flow)]
    if frame.marked & TRIMMED and flow.sender < 0:
        return  # a NIC of RoCE makes nothing of it
    marked = bool(frame.marked & CONGESTED)
    if receive_any(w, number, arrives_at):
        _reject(w, flow, arrives_at)
    else:
        if flow.expected_psn >= flow.size_bytes and flow.done_at < 0:
            _finish(w, flow, arrives_at)
        if flow.acks >= 0 and flow.sender < 0:
            _acknowledge(w, flow, arrives_at)
    if marked and flow.dcqcn >= 0:
        notify(w, frame.flow, arrives_at)


@kernel
def receive_in_order(w: World, flow: Any, frame: Any, arrives_at: int) -> bool:
    """Take the frame that is due, refuse one that comes too early, ignore a repetition; return whether to answer."""
    if frame.psn > flow.expected_psn:
        return _reject(w, flow, arrives_at)
    if frame.psn < flow.expected_psn:
        return False
    flow.expected_psn += frame.wire_bytes - flow.overhead_bytes
    if flow.acks >= 0:
        _acknowledge(w, flow, arrives_at)
    if flow.expected_psn >= flow.size_bytes and flow.done_at < 0:
        _finish(w, flow, arrives_at)
    return True


@kernel
def _finish(w: World, flow: Any, at_ps: int) -> None:
    """Complete a transfer, and start those that wait for it."""
    flow.done_at = at_ps
    w.clock.unfinished -= 1
    for place in range(flow.first_follower, flow.first_follower + flow.followers):
        follower = w.flows[np.uint64(w.paths[place])]
        follower.waits_for -= 1
        if follower.waits_for == 0:
            follower.next_at = follower.started_at = at_ps
            turn_by(w, follower.first_link, at_ps)


@kernel
def _reject(w: World, flow: Any, arrives_at: int) -> bool:
    """Send a NACK: once for each missing frame, and again after a while; return whether one was sent now."""
    if flow.nacked_psn == flow.expected_psn and arrives_at < flow.nack_again_at:
        return False
    flow.nacked_psn = flow.expected_psn
    flow.nack_again_at = arrives_at + flow.nack_ps
    rewind_by(w, flow, arrives_at + flow.feedback_ps)
    return True


@kernel
def _acknowledge(w: World, flow: Any, arrives_at: int) -> None:
    """Record an ACK for the sender, which its own flow carries in the class of ACKs."""
    flow.ack_owed += 1
    if flow.ack_owed < flow.ack_every and flow.expected_psn < flow.size_bytes:
        return
    flow.ack_owed = 0
    acks = w.flows[np.uint64(flow.acks)]
    acks.size_bytes += 1
    acks.next_at = max(acks.next_at, arrives_at)
    turn_by(w, acks.first_link, arrives_at)
