"""The receiving host: order, acknowledgment, congestion notification.

A receiver that keeps up needs no event of its own: its answer is known when the last switch begins to send. Frames out
of order are answered by a NACK, and the sender resends from the missing frame (RoCE's go-back-N).

A receiver that takes packets in any order, and the news that it sends to a sender with a window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import rewind_by, turn_by
from lossless.analysis.simulation.engine.kernel.credit import ask_for_credit
from lossless.analysis.simulation.engine.kernel.news import (
    ACK,
    AGAIN,
    ASKS,
    CONGESTED,
    TRIM,
    TRIMMED,
    ask_again,
    hand_over,
    is_last_copy,
    tell,
)
from lossless.analysis.simulation.engine.kernel.nscc import notify
from lossless.analysis.simulation.engine.kernel.timers import RECEIVED, hold_back
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


@outlined
def receive_any(w: World, number: int, arrives_at: int) -> bool:
    """Receive a packet in any order; return whether the sender must go back, as the packet is too far ahead."""
    frame = w.frames[np.uint64(number)]
    flow = w.flows[np.uint64(frame.flow)]
    if flow.sender >= 0 and w.senders[np.uint64(flow.sender)].puller >= 0:
        ask_for_credit(w, flow, frame, arrives_at)
    if frame.marked & TRIMMED:
        tell(w, frame.flow, TRIM, frame, arrives_at)
        return False
    if flow.window_frames and frame.psn >= flow.expected_psn + flow.window_frames * flow.mtu_bytes:
        return bool(flow.sender < 0)  # a sender with a window is asked again, or its timer runs out
    place = np.uint64(flow.first_packet + frame.psn // flow.mtu_bytes)
    is_new = not w.packets[place] & RECEIVED
    w.packets[place] |= RECEIVED
    while flow.expected_psn < flow.size_bytes and _is_there(w, flow):
        flow.expected_psn += min(flow.mtu_bytes, flow.size_bytes - flow.expected_psn)
    if flow.sender >= 0:
        if w.windows[np.uint64(w.senders[np.uint64(flow.sender)].window)].nacks:
            _ask_for_earlier(w, frame, flow, arrives_at)
        _answer(w, frame, flow, arrives_at, is_new)
    return False


@kernel
def _ask_for_earlier(w: World, frame: Any, flow: Any, arrives_at: int) -> None:
    """Ask for the packets that were sent before one that comes, and that came not: on one path they are lost."""
    own = flow.first_packet + frame.psn // flow.mtu_bytes
    if not w.sent[np.uint64(own)].waits or not is_last_copy(w, frame, own):
        return
    packet = w.senders[np.uint64(flow.sender)].first_sent
    while packet != own and packet >= 0:
        after = w.sent[np.uint64(packet)].after
        if not w.packets[np.uint64(packet)] & RECEIVED:
            ask_again(w, frame.flow, packet, arrives_at)
        packet = after


@kernel
def _is_there(w: World, flow: Any) -> bool:
    place = flow.first_packet + flow.expected_psn // flow.mtu_bytes
    return bool(w.packets[np.uint64(place)] & RECEIVED)


@kernel
def _answer(w: World, frame: Any, flow: Any, arrives_at: int, is_new: bool) -> None:
    """Send an ACK after enough bytes, or for a packet that is marked, requests an ACK, is the first or is a repetition.

    A packet that requests an ACK before its turn gets another one when no earlier packet is missing.
    """
    sender = w.senders[np.uint64(flow.sender)]
    due = frame.marked or not sender.heard or not is_new
    sender.heard = 1
    sender.asks |= frame.marked & (ASKS | AGAIN) > 0
    if is_new:
        sender.unacked += frame.wire_bytes
        sender.arrived += frame.wire_bytes - flow.overhead_bytes
        if sender.asks and sender.arrived == flow.expected_psn:
            due, sender.asks = True, 0
        hold_back(w, sender, flow.first_packet + frame.psn // flow.mtu_bytes)
    if due or sender.unacked >= w.windows[np.uint64(sender.window)].ack_bytes:
        tell(w, frame.flow, ACK, frame, arrives_at)
