"""A receiver that takes packets in any order, and the news that it sends to a sender with a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.credit import ask_for_credit
from lossless.analysis.simulation.engine.kernel.news import (
    ACK,
    AGAIN,
    ASKS,
    TRIM,
    TRIMMED,
    ask_again,
    is_last_copy,
    tell,
)
from lossless.analysis.simulation.engine.kernel.timers import RECEIVED, hold_back

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World


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
