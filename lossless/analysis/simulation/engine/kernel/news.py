"""News of a sender with a window: ACKs, losses and credit, which its receiver sends in short frames, ahead of data.

If the path back carries data, each of them is a frame of its own (ACK flows); otherwise they take the path's delay
without queues. One ring per flow holds the news that have arrived and those under way, in the order of their times; the
sender takes them when it next looks for something to send.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import turn_by
from lossless.analysis.simulation.engine.kernel.timers import RESENT, acknowledge_held, stop_timer

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World

ACK, TRIM, CREDIT = 0, 1, 2
"""Kinds of news."""
CONGESTED, TRIMMED, ASKS, AGAIN = 1, 2, 4, 8
"""Bits of ``FRAME.marked``."""


@outlined
def tell(w: World, number: int, kind: int, frame: Any, arrives_at: int) -> None:
    """Send news of a packet to its sender: it is acknowledged with all that arrived since, or lost."""
    flow = w.flows[np.uint64(number)]
    sender = w.senders[np.uint64(flow.sender)]
    news = w.news[np.uint64(send_news(w, flow, arrives_at))]
    news.kind, news.psn, news.entropy = kind, frame.psn, frame.hop
    packet = flow.first_packet + frame.psn // flow.mtu_bytes
    # The answer to a packet that was sent again meanwhile says nothing of a round trip.
    news.sent_at = w.sent[np.uint64(packet)].at if is_last_copy(w, frame, packet) else -1
    news.marked = frame.marked & CONGESTED
    news.bytes = size_of(flow, frame.psn)
    if kind == ACK:
        news.bytes = sender.unacked
        sender.unacked = 0
        acknowledge_held(w, sender)


@kernel
def is_last_copy(w: World, frame: Any, packet: int) -> bool:
    """Return whether a frame may be the last copy of a packet that was sent; copies sent again look identical."""
    return bool(frame.marked & AGAIN) == bool(w.packets[np.uint64(packet)] & RESENT)


@kernel
def ask_again(w: World, number: int, packet: int, arrives_at: int) -> None:
    """Send a NACK for a packet that did not arrive, which makes the packet's timer obsolete."""
    flow = w.flows[np.uint64(number)]
    sender = w.senders[np.uint64(flow.sender)]
    news = w.news[np.uint64(send_news(w, flow, arrives_at))]
    news.kind, news.psn = TRIM, (packet - flow.first_packet) * flow.mtu_bytes
    news.sent_at, news.marked, news.bytes = -1, 0, size_of(flow, news.psn)
    stop_timer(w, sender, packet)


@kernel
def send_news(w: World, flow: Any, at_ps: int) -> int:
    """Let the receiver of a flow send news at a time; return the entry that they are to be written to."""
    sender = w.senders[np.uint64(flow.sender)]
    if flow.acks < 0:
        arrives_at = at_ps + flow.feedback_ps
        place = room(w, sender, arrives_at)
        w.news[np.uint64(place)].at = arrives_at
        wake(w, flow, arrives_at)
        return place
    acks = w.flows[np.uint64(flow.acks)]
    place = travel_place(sender, acks.size_bytes)
    w.clock.lost_news += w.news[np.uint64(place)].travels
    w.news[np.uint64(place)].travels = 1
    acks.size_bytes += 1
    acks.next_at = at_ps
    turn_by(w, acks.first_link, at_ps)
    return place


@outlined
def hand_over(w: World, acks: Any, psn: int, arrives_at: int) -> None:
    """Give a sender the news that have come in a frame of its ACKs."""
    sender = w.senders[np.uint64(acks.told)]
    brought = w.news[np.uint64(travel_place(sender, psn))]
    brought.travels = 0
    brought.at = arrives_at
    _copy(brought, w.news[np.uint64(room(w, sender, arrives_at))])
    wake(w, w.flows[np.uint64(sender.flow)], arrives_at)


@kernel
def travel_place(sender: Any, number: int) -> int:
    """Return the index of the news of an ACK that is under way."""
    return int(sender.first_news + sender.depth + number % sender.depth)


@kernel
def size_of(flow: Any, psn: int) -> int:
    """Return the bytes on the wire of the packet at an offset of a flow."""
    return int(min(flow.mtu_bytes, flow.size_bytes - psn) + flow.overhead_bytes)


@kernel
def wake(w: World, flow: Any, at: int) -> None:
    """See to it that a flow is looked at by its NIC at a time; under DCQCN not before its rate allows."""
    if flow.next_at > at and (flow.dcqcn < 0 or w.senders[np.uint64(flow.sender)].rests):
        flow.next_at = at
    turn_by(w, flow.first_link, at)


@kernel
def room(w: World, sender: Any, at: int) -> int:
    """Return the entry of the ring for news of a time: behind those that come before."""
    if sender.waiting == sender.depth:
        w.clock.lost_news += 1
        return ring_place(sender, sender.waiting - 1)
    entry = sender.waiting
    sender.waiting += 1
    while entry > 0:
        before = w.news[np.uint64(ring_place(sender, entry - 1))]
        if before.at <= at:
            break
        _copy(before, w.news[np.uint64(ring_place(sender, entry))])
        entry -= 1
    return ring_place(sender, entry)


@kernel
def ring_place(sender: Any, entry: int) -> int:
    """Return the index of the n-th entry of a ring."""
    return int(sender.first_news + (sender.head + entry) % sender.depth)


@kernel
def _copy(source: Any, target: Any) -> None:
    target.at, target.sent_at, target.psn = source.at, source.sent_at, source.psn
    target.bytes, target.kind, target.marked, target.entropy = (
        source.bytes, source.kind, source.marked, source.entropy,
    )  # fmt: skip
