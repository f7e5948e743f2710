"""The receiving host: order, acknowledgment, congestion notification, and credit for senders with a window.

A receiver that keeps up, and whose ACKs are no frames, needs no event of its own: its answer is known when the last
switch begins to send. A receiver that takes frames in order answers early ones by a NACK, and the sender resends from
the missing one (RoCE's go-back-N).

A receiver that takes packets in any order sends news to a sender with a window. Receivers that give credit to their
senders, one after another (RCCC), have it from the packets: a packet carries the credit that its sender requests.
Senders with open requests wait in one list, in the order of their requests; senders with all requested credit wait in
another, and receive more once no request is open, to replace trimmed packets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import (
    ACK,
    AGAIN,
    ASKS,
    CONGESTED,
    CREDIT,
    RECEIVED,
    TRIM,
    TRIMMED,
    ask_again,
    hand_over,
    hold_back,
    is_last_copy,
    plan,
    planned,
    rewind_by,
    send_news,
    tell,
    turn_by,
)
from lossless.analysis.simulation.engine.kernel.nscc import most_credit_bytes, notify
from lossless.analysis.simulation.engine.records import ANY_ORDER, IN_ORDER, NEVER, NEWS

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.memory import World


CREDIT_UNIT_BYTES = 256
"""The unit in bytes in which credit is requested (``UEC_PULL_QUANTUM``, ultraethernet/uet-htsim
``htsim/sim/uecpacket.h`` @40ccb05)."""
EMPTY_TURN_BYTES = 1024
"""The bytes of credit whose time a turn without credit takes (``UecPullPacer::doNextEvent``, ``htsim/sim/uec.cpp``)."""
ASKING, SATED = 0, 1
"""The two lists of a puller: senders with open requests for credit, and senders with all the credit they requested."""


@kernel
def ask_for_credit(w: World, flow: Any, frame: Any, arrives_at: int) -> None:
    """Record the credit that a packet's sender had requested when it sent the packet, as the packet arrives."""
    which = w.senders[np.uint64(flow.sender)].puller
    puller = w.pullers[np.uint64(which)]
    _hear(w, puller)
    place = flow.first_packet + frame.psn // flow.mtu_bytes
    ask = w.asked[np.uint64(place)]
    if ask.at > w.clock.now:
        return  # the packet was sent twice, and both are on the link
    ask.at, ask.next, ask.sender = arrives_at, -1, flow.sender
    ask.trimmed = frame.marked & TRIMMED
    if puller.first_ask < 0:
        puller.first_ask = place
    else:
        w.asked[np.uint64(puller.last_ask)].next = place
    puller.last_ask = place
    turn = max(arrives_at, puller.next_at)
    if planned(w, 3 * len(w.links) + which) > turn:
        plan(w, 3 * len(w.links) + which, turn)


@kernel
def _hear(w: World, puller: Any) -> None:
    """Take the requests that have arrived by now, and put their senders into the list of open requests.

    Only senders that request more than before, or of which a packet was trimmed, are put there.
    """
    while puller.first_ask >= 0:
        ask = w.asked[np.uint64(puller.first_ask)]
        if ask.at > w.clock.now:
            return
        sender = w.senders[np.uint64(ask.sender)]
        if ask.bytes > sender.asked or ask.trimmed:
            sender.asked = max(sender.asked, ask.bytes)
            append(w, puller, ask.sender, ASKING)
        puller.first_ask = ask.next


@kernel
def append(w: World, puller: Any, number: int, which: int) -> None:
    """Put a sender at the end of a list of a puller (a receiver that gives credit), unless it is there already."""
    sender = w.senders[np.uint64(number)]
    if sender.waits[which]:
        return
    sender.waits[which], sender.next[which] = 1, -1
    if puller.first[which] < 0:
        puller.first[which] = number
    else:
        w.senders[np.uint64(puller.last[which])].next[which] = number
    puller.last[which] = number


@kernel
def remove_first(w: World, puller: Any, which: int) -> int:
    """Remove the first sender from a list of a puller (a receiver that gives credit), and return its number."""
    number = puller.first[which]
    sender = w.senders[np.uint64(number)]
    puller.first[which] = sender.next[which]
    sender.waits[which] = 0
    return int(number)


@outlined
def pull(w: World, which: int) -> None:
    """Give credit to the next sender with an open request, else to one that may have trimmed packets to resend."""
    puller = w.pullers[np.uint64(which)]
    _hear(w, puller)
    given = -1
    while given < 0 and puller.first[ASKING] >= 0:
        given = _give_asked(w, puller, remove_first(w, puller, ASKING))
    while given < 0 and puller.first[SATED] >= 0:
        given = _give_more(w, puller, remove_first(w, puller, SATED))
    if given >= 0:
        puller.next_at = w.clock.now + int((given or EMPTY_TURN_BYTES) * puller.ps_per_byte)
        plan(w, 3 * len(w.links) + which, puller.next_at)
    else:
        first = puller.first_ask
        plan(w, 3 * len(w.links) + which, w.asked[np.uint64(first)].at if first >= 0 else NEVER)


@kernel
def _give_asked(w: World, puller: Any, number: int) -> int:
    """Give a sender its requested credit, ``credit_bytes`` at most; return the bytes, -1 if its flow is done."""
    sender = w.senders[np.uint64(number)]
    if w.flows[np.uint64(sender.flow)].done_at >= 0:
        return -1
    allowed = max(0, min(puller.credit_bytes, sender.asked - sender.granted))
    _give(w, sender, allowed)
    append(w, puller, number, ASKING if sender.asked > sender.granted else SATED)
    return int(allowed)


@kernel
def _give_more(w: World, puller: Any, number: int) -> int:
    """Give a sender credit beyond its requests; return the bytes, -1 if its flow is done.

    The sender stays in the list until this credit amounts to a window.
    """
    sender = w.senders[np.uint64(number)]
    if w.flows[np.uint64(sender.flow)].done_at >= 0:
        return -1
    _give(w, sender, puller.credit_bytes)
    if sender.granted - sender.asked < most_credit_bytes(w.windows[np.uint64(sender.window)]):
        append(w, puller, number, SATED)
    return int(puller.credit_bytes)


@kernel
def _give(w: World, sender: Any, credit_bytes: int) -> None:
    """Send credit to a sender."""
    if credit_bytes == 0:
        return
    flow = w.flows[np.uint64(sender.flow)]
    sender.granted += credit_bytes
    news = w.news[np.uint64(send_news(w, flow, w.clock.now))]
    news.kind, news.bytes = CREDIT, credit_bytes


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
    """Complete a transfer, and start the flows that wait for no other any more."""
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
    """Count a received frame, and record an ACK for the sender once ``ack_every`` are counted or all have come."""
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
    """Request the packets that were sent before a received one and have not arrived: on one path they are lost."""
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
    """Send an ACK after enough bytes, or for a packet that is marked, requests an ACK, is the first or is sent again.

    A request for an ACK that arrives out of order is answered again once no earlier packet is missing.
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
