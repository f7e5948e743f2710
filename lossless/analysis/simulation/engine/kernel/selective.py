"""A receiver that takes packets in any order, and what it tells a sender with a window.

A sender learns of a packet by news that take the path's time without queues: they go before data. One ring per flow
holds them in the order of their times, and the sender takes them when it next looks for something to send.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import plan, planned, turn_by
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World

RECEIVED, LOST = 1, 2
"""Bits of a packet: its receiver has it; its sender is to send it again."""
ACK, TRIM, TIMEOUT, CREDIT = 0, 1, 2, 3
"""Kinds of news."""
CONGESTED, TRIMMED, ASKS = 1, 2, 4
"""Bits of ``FRAME.marked``."""


@outlined
def receive_any(w: World, number: int, arrives_at: int) -> bool:
    """Take a packet whatever its place; return whether it is too far ahead of the one that is due."""
    frame = w.frames[np.uint64(number)]
    flow = w.flows[np.uint64(frame.flow)]
    if flow.sender >= 0 and w.senders[np.uint64(flow.sender)].puller >= 0:
        ask_for_credit(w, flow, frame, arrives_at)
    if frame.marked & TRIMMED:
        tell(w, frame.flow, TRIM, frame, arrives_at)
        return False
    if flow.window_frames and frame.psn >= flow.expected_psn + flow.window_frames * flow.mtu_bytes:
        return True
    place = np.uint64(flow.first_packet + frame.psn // flow.mtu_bytes)
    is_new = not w.packets[place] & RECEIVED
    w.packets[place] |= RECEIVED
    while flow.expected_psn < flow.size_bytes and _is_there(w, flow):
        flow.expected_psn += min(flow.mtu_bytes, flow.size_bytes - flow.expected_psn)
    if flow.sender >= 0:
        _answer(w, frame, flow, arrives_at, is_new)
    return False


@kernel
def _is_there(w: World, flow: Any) -> bool:
    place = flow.first_packet + flow.expected_psn // flow.mtu_bytes
    return bool(w.packets[np.uint64(place)] & RECEIVED)


@kernel
def _answer(w: World, frame: Any, flow: Any, arrives_at: int, is_new: bool) -> None:
    """Send an ACK where enough has come, or the packet was marked, asks for one, is the first or a repetition."""
    sender = w.senders[np.uint64(flow.sender)]
    if is_new:
        sender.unacked += frame.wire_bytes
    due = frame.marked or not sender.heard or not is_new
    sender.heard = 1
    window = w.windows[np.uint64(sender.window)]
    if due or sender.unacked >= window.ack_bytes:
        tell(w, frame.flow, ACK, frame, arrives_at)
    elif window.timeout_ps and flow.next_at == NEVER:
        wake(w, flow, max(arrives_at, sender.last_sent_at + window.timeout_ps))


@outlined
def tell(w: World, number: int, kind: int, frame: Any, arrives_at: int) -> None:
    """Let a sender learn of a packet: acknowledged with all that came since, or lost."""
    flow = w.flows[np.uint64(number)]
    sender = w.senders[np.uint64(flow.sender)]
    at = arrives_at + flow.feedback_ps
    place = _room(w, sender, at)
    news = w.news[np.uint64(place)]
    news.at, news.kind, news.psn, news.entropy = at, kind, frame.psn, frame.hop
    news.sent_at = w.sent_at[np.uint64(flow.first_packet + frame.psn // flow.mtu_bytes)]
    news.marked = frame.marked & CONGESTED
    news.bytes = size_of(flow, frame.psn)
    if kind == ACK:
        news.bytes = sender.unacked
        sender.unacked = 0
    wake(w, flow, at)


@kernel
def size_of(flow: Any, psn: int) -> int:
    """Return the bytes on the wire of the packet at an offset of a flow."""
    return int(min(flow.mtu_bytes, flow.size_bytes - psn) + flow.overhead_bytes)


@kernel
def wake(w: World, flow: Any, at: int) -> None:
    """See to it that a flow is looked at by its NIC at a time."""
    if flow.next_at > at:
        flow.next_at = at
    turn_by(w, flow.first_link, at)


@kernel
def ask_for_credit(w: World, flow: Any, frame: Any, arrives_at: int) -> None:
    """Let a receiver know how much credit a sender asked for when it sent a packet."""
    sender = w.senders[np.uint64(flow.sender)]
    sender.asked = max(sender.asked, w.asked[np.uint64(flow.first_packet + frame.psn // flow.mtu_bytes)])
    sender.heard = 1
    slot = 3 * len(w.links) + sender.puller
    if planned(w, slot) == NEVER:
        plan(w, slot, max(arrives_at, w.pullers[np.uint64(sender.puller)].next_at))


@outlined
def pull(w: World, which: int) -> None:
    """Give credit to the next sender that asks for it, else to one that may need more, for what was trimmed."""
    puller = w.pullers[np.uint64(which)]
    if not give_next(w, puller, False) and not give_next(w, puller, True):
        plan(w, 3 * len(w.links) + which, NEVER)
        return
    plan(w, 3 * len(w.links) + which, puller.next_at)


@kernel
def give_next(w: World, puller: Any, unasked: bool) -> bool:
    """Give credit to the next sender in turn that may have it; return whether there was one."""
    turn = puller.unasked_turn if unasked else puller.turn
    for _ in range(puller.flows):
        number = w.paths[np.uint64(puller.first + turn)]
        turn = turn + 1 if turn + 1 < puller.flows else 0
        allowed = allowance(w, number, puller, unasked)
        if allowed > 0:
            give_credit(w, number, w.senders[np.uint64(w.flows[np.uint64(number)].sender)], allowed)
            puller.next_at = w.clock.now + int(allowed * puller.ps_per_byte)
            if unasked:
                puller.unasked_turn = turn
            else:
                puller.turn = turn
            return True
    return False


@kernel
def allowance(w: World, number: int, puller: Any, unasked: bool) -> int:
    """Return the credit that a sender may have now: what it asks for, or unasked up to a largest window more."""
    flow = w.flows[np.uint64(number)]
    sender = w.senders[np.uint64(flow.sender)]
    if not sender.heard or flow.done_at >= 0:
        return 0
    if not unasked:
        return int(max(0, min(puller.credit_bytes, sender.asked - sender.granted)))
    window = w.windows[np.uint64(sender.window)]
    most = sender.asked + window.bdps * window.line_bytes_per_ps * window.base_rtt_ps
    return int(puller.credit_bytes) if sender.granted < most else 0


@kernel
def give_credit(w: World, number: int, sender: Any, credit_bytes: int) -> None:
    """Send credit to a sender."""
    flow = w.flows[np.uint64(number)]
    sender.granted += credit_bytes
    at = w.clock.now + flow.feedback_ps
    news = w.news[np.uint64(_room(w, sender, at))]
    news.at, news.kind, news.bytes = at, CREDIT, credit_bytes
    wake(w, flow, at)


@kernel
def _room(w: World, sender: Any, at: int) -> int:
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
    """Return where the n-th entry of a ring stands."""
    return int(sender.first_news + (sender.head + entry) % sender.depth)


@kernel
def _copy(source: Any, target: Any) -> None:
    target.at, target.sent_at, target.psn = source.at, source.sent_at, source.psn
    target.bytes, target.kind, target.marked, target.entropy = (
        source.bytes, source.kind, source.marked, source.entropy,
    )  # fmt: skip


@outlined
def time_out(w: World, number: int) -> None:
    """A packet of a sender with a window is dropped: nobody says so, until its timer runs out."""
    frame = w.frames[np.uint64(number)]
    flow = w.flows[np.uint64(frame.flow)]
    window = w.windows[np.uint64(w.senders[np.uint64(flow.sender)].window)]
    sent_at = w.sent_at[np.uint64(flow.first_packet + frame.psn // flow.mtu_bytes)]
    at = max(w.clock.now, sent_at + window.timeout_ps) if window.timeout_ps else NEVER
    if at < NEVER:
        tell(w, frame.flow, TIMEOUT, frame, at - flow.feedback_ps)
