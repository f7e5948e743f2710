"""A sender with a congestion window: the choice of its next packet, and its reaction to news."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.credit import CREDIT_UNIT_BYTES
from lossless.analysis.simulation.engine.kernel.news import ACK, AGAIN, ASKS, CREDIT, ring_place, size_of
from lossless.analysis.simulation.engine.kernel.nscc import (
    NSCC,
    acknowledge,
    lose,
    most_credit_bytes,
    time_out,
)
from lossless.analysis.simulation.engine.kernel.random import below
from lossless.analysis.simulation.engine.kernel.timers import (
    ACKED,
    LOST,
    RESENT,
    start_timer,
    stop_timer,
)
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World


@outlined
def window_opens(w: World, number: int) -> bool:
    """Let a sender take its news; return whether it may send now, else set when it is to be looked at again."""
    flow = w.flows[np.uint64(number)]
    sender = w.senders[np.uint64(flow.sender)]
    _take_news(w, flow, sender)
    _time_out(w, flow, sender)
    if flow.sent_bytes < flow.size_bytes and _may_send(w, flow, sender):
        return True
    flow.next_at = w.news[np.uint64(ring_place(sender, 0))].at if sender.waiting > 0 else NEVER
    flow.next_at = min(flow.next_at, _timer(w, sender))
    sender.rests = 1
    return False


@kernel
def _timer(w: World, sender: Any) -> int:
    """Return when the timer of a sender runs out: of the packet that waits longest for an answer."""
    timeout_ps = w.windows[np.uint64(sender.window)].timeout_ps
    if timeout_ps == 0 or sender.first_sent < 0:
        return NEVER
    return int(w.sent[np.uint64(sender.first_sent)].at + timeout_ps)


@kernel
def _time_out(w: World, flow: Any, sender: Any) -> None:
    """Resend packets whose timers ran out: they are lost, wait in a queue, or were received without an ACK."""
    while _timer(w, sender) <= w.clock.now:
        packet = sender.first_sent - flow.first_packet
        time_out(w, flow, sender, size_of(flow, packet * flow.mtu_bytes))
        _send_again(w, flow, sender, packet)
        w.clock.timeouts += 1


@kernel
def _may_send(w: World, flow: Any, sender: Any) -> bool:
    if not _set_next(w, flow, sender):
        return False
    wanted = size_of(flow, flow.sent_bytes)
    if sender.in_flight + wanted > sender.cwnd and sender.in_flight > 0:
        return False
    return sender.puller < 0 or sender.credit > 0


@kernel
def _set_next(w: World, flow: Any, sender: Any) -> bool:
    """Set the offset of the packet that is sent next, a lost one before new ones; return whether there is one."""
    while sender.to_resend > 0:
        bits = w.packets[np.uint64(flow.first_packet + sender.resend_from)]
        if bits & LOST and not bits & ACKED:
            flow.sent_bytes = sender.resend_from * flow.mtu_bytes
            return True
        if bits & LOST:
            _forget_loss(w, flow, sender, sender.resend_from)
            # It left what is in flight when its timer ran out, and once more with the ACK.
            sender.in_flight += size_of(flow, sender.resend_from * flow.mtu_bytes)
        sender.resend_from += 1
    flow.sent_bytes = min(sender.new_psn, flow.size_bytes - 1)
    return bool(sender.new_psn < flow.size_bytes)


@kernel
def _forget_loss(w: World, flow: Any, sender: Any, packet: int) -> None:
    """Take a packet off those that are to be sent again."""
    w.packets[np.uint64(flow.first_packet + packet)] &= ~LOST & 255
    sender.to_resend -= 1
    sender.resend_bytes -= size_of(flow, packet * flow.mtu_bytes)


@kernel
def _take_news(w: World, flow: Any, sender: Any) -> None:
    """Take all news that have arrived, the oldest first."""
    while sender.waiting > 0:
        news = w.news[np.uint64(ring_place(sender, 0))]
        if news.at > w.clock.now:
            return
        sender.head = (sender.head + 1) % sender.depth
        sender.waiting -= 1
        if sender.speculates:
            sender.speculates = 0
            sender.credit = min(0, sender.credit)
        if news.kind == CREDIT:
            most = most_credit_bytes(w.windows[np.uint64(sender.window)])
            sender.credit = min(sender.credit + news.bytes, int(most))
            sender.pulled += news.bytes
        elif news.kind == ACK:
            if sender.recycles and not news.marked:
                keep(sender, news.entropy)
            acknowledge(w, flow, sender, news)
        else:
            lose(w, flow, sender, news)
            _send_again(w, flow, sender, news.psn // flow.mtu_bytes)


@kernel
def _send_again(w: World, flow: Any, sender: Any, packet: int) -> None:
    """Add a packet to those to be sent again, unless it is one of them already or an ACK covers it."""
    place = np.uint64(flow.first_packet + packet)
    stop_timer(w, sender, flow.first_packet + packet)
    if not w.packets[place] & (LOST | ACKED):
        w.packets[place] |= LOST
        sender.to_resend += 1
        lost_bytes = size_of(flow, packet * flow.mtu_bytes)
        sender.in_flight -= lost_bytes
        sender.resend_bytes += lost_bytes
        sender.resend_from = packet if sender.to_resend == 1 else min(sender.resend_from, packet)


@outlined
def stamp(w: World, number: int, new: int, at_ps: int) -> None:
    """Give a frame that has begun to be sent its entropy value, and count it in its sender's window."""
    flow = w.flows[np.uint64(number)]
    if flow.spread:
        w.frames[np.uint64(new)].hop = next_entropy(w, number)
    if flow.sender >= 0:
        count_sent(w, number, new, at_ps)


@kernel
def count_sent(w: World, number: int, new: int, at_ps: int) -> None:
    """Count a packet that a sender with a window has begun to send."""
    flow, frame = w.flows[np.uint64(number)], w.frames[np.uint64(new)]
    sender = w.senders[np.uint64(flow.sender)]
    place = np.uint64(flow.first_packet + frame.psn // flow.mtu_bytes)
    again = bool(w.packets[place] & LOST)
    if again:
        _forget_loss(w, flow, sender, frame.psn // flow.mtu_bytes)
        w.clock.resent += 1
        w.packets[place] |= RESENT
        frame.marked |= AGAIN
    else:
        sender.new_psn = frame.psn + frame.wire_bytes - flow.overhead_bytes
    start_timer(w, sender, flow.first_packet + frame.psn // flow.mtu_bytes, at_ps)
    sender.in_flight += frame.wire_bytes
    if sender.puller >= 0:
        sender.credit -= frame.wire_bytes
        w.asked[place].bytes = _asks(w, flow, sender)
    if again or not _may_go_on(flow, sender):
        frame.marked |= ASKS
    flow.sent_bytes = min(sender.new_psn, flow.size_bytes - 1)
    sender.rests = 0
    if flow.dcqcn < 0:
        flow.next_at = at_ps


@kernel
def _may_go_on(flow: Any, sender: Any) -> bool:
    """Return whether another packet could follow: there is one, and the window has room for it."""
    more = sender.to_resend > 0 or sender.new_psn < flow.size_bytes
    spent = sender.puller >= 0 and sender.credit <= 0
    return bool(more and not spent and sender.in_flight + flow.mtu_bytes + flow.overhead_bytes < sender.cwnd)


@kernel
def _asks(w: World, flow: Any, sender: Any) -> int:
    """Return the total credit that a sender requests: for its remaining bytes, a window at most.

    Credit is requested and given in units of 256 bytes.
    """
    window = w.windows[np.uint64(sender.window)]
    left = flow.size_bytes - sender.new_psn
    frames = (left + flow.mtu_bytes - 1) // flow.mtu_bytes
    wants = left + frames * flow.overhead_bytes + sender.resend_bytes
    if window.control == NSCC:
        wants = min(wants, int(sender.cwnd) + flow.mtu_bytes)
    wants = min(wants, int(most_credit_bytes(window))) - sender.credit
    if sender.speculates and left > 0:
        wants = max(wants, flow.mtu_bytes)
    sharing = _sharing(w, w.links[np.uint64(flow.first_link)])
    return int(-(-(max(0, wants) // sharing + sender.pulled) // CREDIT_UNIT_BYTES) * CREDIT_UNIT_BYTES)


@kernel
def _sharing(w: World, link: Any) -> int:
    """Return how many senders of a NIC wait for a turn now, whether they will have credit by then or not; at least one.

    Source: ``UecSrc::computePullTarget``, ``htsim/sim/uec.cpp``, ultraethernet/uet-htsim @40ccb05.
    """
    sharing = 0
    for number in range(link.first_flow + link.ack_flows, link.first_flow + link.flows):
        flow = w.flows[np.uint64(number)]
        if flow.sender >= 0 and flow.sent_bytes < flow.size_bytes and flow.next_at <= w.clock.now:
            sharing += 1
    return max(1, sharing)


@outlined
def next_entropy(w: World, number: int) -> int:
    """Return the entropy value of the next packet: each once a round, in an order of the round."""
    flow = w.flows[np.uint64(number)]
    if flow.entropies <= 1:
        return 0
    if flow.sender >= 0:
        sender = w.senders[np.uint64(flow.sender)]
        if sender.recycles and sender.kept > 0:
            sender.kept -= 1
            value = sender.good[sender.taken]
            sender.taken = (sender.taken + 1) % len(sender.good)
            return int(value)
    if flow.walk == 0:
        flow.mask = below(w.clock, flow.entropies)
    value = flow.walk ^ flow.mask
    flow.walk = flow.walk + 1 if flow.walk + 1 < flow.entropies else 0
    return int(value)


@kernel
def keep(sender: Any, entropy: int) -> None:
    """Keep the entropy value of an unmarked ACK for use again (REPS); the oldest goes where there is no room."""
    many = len(sender.good)
    sender.good[(sender.taken + sender.kept) % many] = entropy
    if sender.kept < many:
        sender.kept += 1
    else:
        sender.taken = (sender.taken + 1) % many
