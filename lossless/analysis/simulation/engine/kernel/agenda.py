"""The agenda: the next time of every event, and the earliest of them; news and timers of senders with a window.

Every event has a slot: first the arrivals over each link, then the PFC frames that take effect at each link's
transmitter, then each transmitter's turn to send, then each giver of credit, then rare events. A tree over the slots
keeps in each node the earliest of its four children, so that the root is the next event, and setting a slot costs one
walk toward the root. A time and its slot are one number, so that at the same instant the lower slot goes
first and runs repeat exactly.

News of a sender with a window are ACKs, losses and credit, which its receiver sends in short frames, ahead of data.
If the path back carries data, each of them is a frame of its own (ACK flows); otherwise they take the path's delay
without queues. One ring per flow holds the news that have arrived and those under way without a frame, by their times;
the sender takes them when it next looks for something to send. Packets that such a sender waits for, in the order in
which it sent them, have a timer each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.memory import World


@kernel
def plan(w: World, slot: int, at_ps: int) -> None:
    """Set the time of the next event of a slot."""
    node = (1 << w.bits) + slot
    value = NEVER if at_ps >= NEVER >> w.bits else (at_ps << w.bits) | slot
    w.agenda[np.uint64(node)] = value
    while node > 1:
        value = min(value, least_beside(w, node))
        node >>= 2
        w.agenda[np.uint64(node)] = value


@kernel
def plan_also(w: World, slot: int, at_ps: int) -> None:
    """Set the next time of a slot other than the current one; few nodes above it change."""
    node = (1 << w.bits) + slot
    value = NEVER if at_ps >= NEVER >> w.bits else (at_ps << w.bits) | slot
    w.agenda[np.uint64(node)] = value
    while node > 1:
        value = min(value, least_beside(w, node))
        node >>= 2
        if w.agenda[np.uint64(node)] == value:
            return
        w.agenda[np.uint64(node)] = value


@kernel
def least_beside(w: World, node: int) -> int:
    """Return the least event key at the three other nodes of the tree that have the same parent."""
    first, second, third = (
        w.agenda[np.uint64(node ^ 1)],
        w.agenda[np.uint64(node ^ 2)],
        w.agenda[np.uint64(node ^ 3)],
    )
    return min(min(first, second), third)


@kernel
def planned(w: World, slot: int) -> int:
    """Return the time of the next event of a slot."""
    value = w.agenda[np.uint64((1 << w.bits) + slot)]
    return NEVER if value == NEVER else value >> w.bits


@kernel
def plan_arrival(w: World, link: int, at_ps: int) -> None:
    """Set when the next frame on a link is received whole."""
    plan(w, link, at_ps)


@kernel
def plan_obedience(w: World, link: int, at_ps: int) -> None:
    """Set when a link's transmitter next obeys a PFC frame."""
    plan(w, len(w.links) + link, at_ps)


@kernel
def plan_turn(w: World, link: int, at_ps: int) -> None:
    """Set when a link's transmitter next looks for something to send."""
    plan(w, 2 * len(w.links) + link, at_ps)


@kernel
def turn_by(w: World, link: int, at_ps: int) -> None:
    """Plan the turn of a link's transmitter for a time, unless it is planned by then already."""
    if at_ps < planned(w, 2 * len(w.links) + link):
        plan_turn(w, link, at_ps)


@kernel
def rewind_by(w: World, flow: Any, at_ps: int) -> None:
    """Plan the rewind of a flow to the first packet that its receiver misses, at a time."""
    link = w.links[np.uint64(flow.first_link)]
    flow.rewind_at = at_ps
    link.rewind_at = min(link.rewind_at, at_ps)
    turn_by(w, flow.first_link, at_ps)


@kernel
def miss(w: World, flow: Any, at_ps: int) -> None:
    """Record the loss of a frame: a sender without a window, but with a timeout, rewinds after it if no NACK comes."""
    if flow.sender < 0 and flow.timeout_ps and at_ps + flow.timeout_ps < flow.rewind_at:
        flow.timer_at = at_ps + flow.timeout_ps
        rewind_by(w, flow, flow.timer_at)


@kernel
def planned_turn(w: World, link: int) -> int:
    """Return when a link's transmitter next looks for something to send."""
    return planned(w, 2 * len(w.links) + link)


ACK, TRIM, CREDIT = 0, 1, 2
"""Kinds of news to a sender with a window: an ACK, a packet that was trimmed or is missing, and credit."""
CONGESTED, TRIMMED, ASKS, AGAIN = 1, 2, 4, 8
"""Bits of ``FRAME.marked``: ECN congestion experienced, trimmed, asks for an ACK, and sent again."""


@outlined
def tell(w: World, number: int, kind: int, frame: Any, arrives_at: int) -> None:
    """Send news of a packet to its sender: its loss, or an ACK for all received packets that no ACK covers yet."""
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
    """Let the receiver of a flow send news at a time; return the index of the entry for this news."""
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
    """Return the index of the entry for the report of an ACK under way to its sender."""
    return int(sender.first_news + sender.depth + number % sender.depth)


@kernel
def size_of(flow: Any, psn: int) -> int:
    """Return the bytes on the wire of the packet at an offset of a flow."""
    return int(min(flow.mtu_bytes, flow.size_bytes - psn) + flow.overhead_bytes)


@kernel
def wake(w: World, flow: Any, at: int) -> None:
    """Let the NIC of a flow look whether it can send at a time; under DCQCN not before its rate allows."""
    if flow.next_at > at and (flow.dcqcn < 0 or w.senders[np.uint64(flow.sender)].rests):
        flow.next_at = at
    turn_by(w, flow.first_link, at)


@kernel
def room(w: World, sender: Any, at: int) -> int:
    """Make room in a sender's ring for news of a time, behind earlier ones; return the index.

    A full ring loses its last news.
    """
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
    """Return the index of the n-th entry of a sender's ring of news."""
    return int(sender.first_news + (sender.head + entry) % sender.depth)


@kernel
def _copy(source: Any, target: Any) -> None:
    target.at, target.sent_at, target.psn = source.at, source.sent_at, source.psn
    target.bytes, target.kind, target.marked, target.entropy = (
        source.bytes, source.kind, source.marked, source.entropy,
    )  # fmt: skip


RECEIVED, LOST, ACKED, RESENT = 1, 2, 4, 8
"""Bits of a packet: its receiver has it; its sender is to send it again; an ACK covers it; it was sent again."""


@kernel
def start_timer(w: World, sender: Any, place: int, at_ps: int) -> None:
    """Start the timer of a packet that is sent: it becomes the last one that its sender waits for."""
    stop_timer(w, sender, place)
    sent = w.sent[np.uint64(place)]
    sent.at, sent.before, sent.after, sent.waits = at_ps, sender.last_sent, -1, 1
    if sender.last_sent < 0:
        sender.first_sent = place
    else:
        w.sent[np.uint64(sender.last_sent)].after = place
    sender.last_sent = place


@kernel
def stop_timer(w: World, sender: Any, place: int) -> None:
    """Stop the timer of a packet, if its sender waits for it."""
    sent = w.sent[np.uint64(place)]
    if not sent.waits:
        return
    sent.waits = 0
    if sent.before < 0:
        sender.first_sent = sent.after
    else:
        w.sent[np.uint64(sent.before)].after = sent.after
    if sent.after < 0:
        sender.last_sent = sent.before
    else:
        w.sent[np.uint64(sent.after)].before = sent.before


@kernel
def hold_back(w: World, sender: Any, place: int) -> None:
    """Add a received packet to those that no ACK covers yet."""
    w.sent[np.uint64(place)].held_before = sender.last_held
    sender.last_held = place


@kernel
def acknowledge_held(w: World, sender: Any) -> None:
    """Mark the packets that no ACK covers yet as covered by one, and stop their timers."""
    place = sender.last_held
    while place >= 0:
        w.packets[np.uint64(place)] |= ACKED
        stop_timer(w, sender, place)
        place = w.sent[np.uint64(place)].held_before
    sender.last_held = -1
