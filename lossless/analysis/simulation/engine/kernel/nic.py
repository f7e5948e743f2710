"""The NIC: which queue pair sends next, at which rate, and a receiver that may be slow; senders with a window.

A sender with a congestion window chooses its next packet, and reacts to news of its receiver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import (
    ACK,
    ACKED,
    AGAIN,
    ASKS,
    CREDIT,
    LOST,
    RESENT,
    plan,
    plan_arrival,
    plan_turn,
    ring_place,
    size_of,
    start_timer,
    stop_timer,
)
from lossless.analysis.simulation.engine.kernel.deliver import CREDIT_UNIT_BYTES
from lossless.analysis.simulation.engine.kernel.memory import below, take
from lossless.analysis.simulation.engine.kernel.nscc import (
    NSCC,
    acknowledge,
    lose,
    most_credit_bytes,
    next_start,
    still_waits,
    time_out,
)
from lossless.analysis.simulation.engine.kernel.pfc import blocked, pause, put_on_wire, resume, sending_ps
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.memory import World


@kernel
def take_turn(w: World, at: int) -> None:
    """Run the transmitter of a NIC: send its next frame, or plan it."""
    if w.links[np.uint64(at)].foreseen:
        look_again(w, at)
    else:
        send_next(w, at)


@kernel
def send_next(w: World, at: int) -> None:
    """Send a frame of a NIC's next queue pair that may send, if there is one, and set when the NIC looks again."""
    link = w.links[np.uint64(at)]
    wake_at = max(link.busy_until, link.pfc_free_at)
    if w.clock.now >= wake_at:
        number, wake_at = pick(w, at)
        if number >= 0:
            wire_bytes = next_bytes(w.flows[np.uint64(number)])
            new = emit(w, at, number, wire_bytes, w.clock.now, w.clock.now + sending_ps(link, wire_bytes))
            put_on_wire(w, new, at, w.frames[np.uint64(new)].arrives_at)
            wake_at = link.busy_until
            if link.flows == 1:
                flow = w.flows[np.uint64(number)]
                wake_at = max(wake_at, flow.next_at) if flow.sent_bytes < flow.size_bytes else flow.rewind_at
    plan_turn(w, at, wake_at)


@kernel
def pick(w: World, at: int) -> Any:
    """Return the flow that may send now, -1 where none may, and when to look again.

    ACKs that travel apart go first, the others alternate.
    """
    link, now = w.links[np.uint64(at)], w.clock.now
    wake_at = rewound(w, link)
    closed = blocked(link)
    for number in range(link.first_flow, link.first_flow + link.ack_flows):
        if (
            w.flows[np.uint64(number)].sent_bytes < w.flows[np.uint64(number)].size_bytes
            and w.flows[np.uint64(number)].next_at <= now
        ):
            return number, now
    turn = link.turn
    for _ in range(link.flows):
        number = link.first_flow + turn
        turn = turn + 1 if turn + 1 < link.flows else 0
        flow = w.flows[np.uint64(number)]
        if flow.sent_bytes < flow.size_bytes and not closed >> flow.priority & 1:
            if flow.next_at <= now and not (flow.dcqcn >= 0 and still_waits(w, number)):
                if flow.sender < 0:
                    link.turn = turn
                    return number, now
                if window_opens(w, number):
                    link.turn = number - link.first_flow if _found_none_waiting(w, link, number) else turn
                    return number, now
            wake_at = min(wake_at, flow.next_at)
    return -1, wake_at


@outlined
def _found_none_waiting(w: World, link: Any, number: int) -> bool:
    """Return whether a flow of Ultra Ethernet came to an idle NIC, with no other flow of the NIC waiting.

    Such flows wait in line for the NIC (``UecNIC``, ``htsim/sim/uec.cpp``, ultraethernet/uet-htsim @40ccb05); queue
    pairs of RoCE have fixed turns.
    """
    flow = w.flows[np.uint64(number)]
    if w.windows[np.uint64(w.senders[np.uint64(flow.sender)].window)].nacks:
        return False
    if 0 < link.busy_until == w.clock.now:  # it has just sent; at 0 it has never sent
        return False
    for other in range(link.first_flow + link.ack_flows, link.first_flow + link.flows):
        waiting = w.flows[np.uint64(other)]
        if other != number and waiting.sent_bytes < waiting.size_bytes and waiting.next_at < w.clock.now:
            return False
    return True


@kernel
def rewound(w: World, link: Any) -> int:
    """Rewind the flows of a NIC that are due by now; return the time of the next rewind."""
    if link.rewind_at > w.clock.now:
        return int(link.rewind_at)
    link.rewind_at = NEVER
    for number in range(link.first_flow + link.ack_flows, link.first_flow + link.flows):
        flow = w.flows[np.uint64(number)]
        if flow.rewind_at <= w.clock.now:
            go_back(w, flow)
        link.rewind_at = min(link.rewind_at, flow.rewind_at)
    return int(link.rewind_at)


@kernel
def go_back(w: World, flow: Any) -> None:
    """Let a flow go on from the first byte that its receiver lacks, unless it has received all."""
    by_itself = flow.rewind_at == flow.timer_at
    flow.rewind_at = NEVER
    if flow.done_at < 0:
        w.clock.timeouts += by_itself
        w.clock.resent += (flow.sent_bytes - flow.expected_psn + flow.mtu_bytes - 1) // flow.mtu_bytes
        flow.sent_bytes = flow.expected_psn


@kernel
def next_bytes(flow: Any) -> int:
    """Return the size of the next frame of a flow in bytes on the wire."""
    return min(flow.mtu_bytes, flow.size_bytes - flow.sent_bytes) + flow.overhead_bytes


@kernel
def emit(w: World, at: int, number: int, wire_bytes: int, at_ps: int, until_ps: int) -> int:
    """Send a frame of a flow between two times, and return it, not yet on a wire.

    With DCQCN the time is set from which the next frame may start.
    """
    flow, link = w.flows[np.uint64(number)], w.links[np.uint64(at)]
    new = take(w)
    frame = w.frames[np.uint64(new)]
    frame.flow = number
    frame.psn = flow.sent_bytes
    frame.wire_bytes = wire_bytes
    frame.hop = 1
    frame.priority = flow.priority
    frame.marked = 0
    flow.sent_bytes += wire_bytes - flow.overhead_bytes
    w.clock.in_network += 1
    if flow.dcqcn >= 0:
        flow.next_at = next_start(w, number, wire_bytes, at_ps)
    frame.via = at
    link.busy_until = until_ps
    frame.arrives_at = until_ps + link.propagation_ps
    if flow.stamped:
        stamp(w, number, new, at_ps)
    return new


@outlined
def look_again(w: World, at: int) -> None:
    """Foresee the next frame of a NIC again, after an event there."""
    if catch_up(w, at):
        return
    link = w.links[np.uint64(at)]
    rewind_at = rewound(w, link) if link.busy_until <= w.clock.now else link.rewind_at
    foresee(w, at, max(w.clock.now, link.busy_until))
    plan_turn(w, at, max(rewind_at, link.busy_until))


@outlined
def catch_up(w: World, at: int) -> bool:
    """Put the frames that a NIC has sent before now on its wire; return whether some are left, for want of memory."""
    link = w.links[np.uint64(at)]
    while link.sends_at < w.clock.now:
        if w.clock.free_frames < 2:
            return True
        number = send_foreseen(w, at)
        put_on_wire(w, number, at, w.frames[np.uint64(number)].arrives_at)
        foresee(w, at, link.busy_until)
    return False


@kernel
def send_foreseen(w: World, at: int) -> int:
    """Send the frame that was foreseen, at its time; return it."""
    link = w.links[np.uint64(at)]
    turn = link.next_flow + 1 - link.first_flow
    if turn > link.ack_flows:
        link.turn = turn if turn < link.flows else 0
    until_ps = link.next_arrives_at - link.propagation_ps
    return emit(w, at, link.next_flow, link.next_bytes, link.sends_at, until_ps)


@kernel
def foresee(w: World, at: int, from_ps: int) -> None:
    """Set the next frame that a NIC sends from a given time on, and its time, if no event changes it before."""
    link = w.links[np.uint64(at)]
    link.sends_at = link.next_arrives_at = NEVER
    number, sends_at = next_flow(w, link, from_ps)
    if number >= 0:
        wire_bytes = next_bytes(w.flows[np.uint64(number)])
        link.next_flow, link.next_bytes = number, wire_bytes
        link.sends_at = sends_at
        link.next_arrives_at = sends_at + sending_ps(link, wire_bytes) + link.propagation_ps
    if link.wire_head < 0:
        plan_arrival(w, at, link.next_arrives_at)


@kernel
def next_flow(w: World, link: Any, from_ps: int) -> Any:
    """Return the flow of a NIC that sends next from a time on, -1 where none does, and when.

    ACKs that travel apart go first, the others alternate.
    """
    first, first_at = -1, NEVER
    for number in range(link.first_flow, link.first_flow + link.ack_flows):
        flow = w.flows[np.uint64(number)]
        if flow.sent_bytes < flow.size_bytes and flow.next_at < first_at:
            if flow.next_at <= from_ps:
                return number, from_ps
            first, first_at = number, flow.next_at
    closed, turn = blocked(link), link.turn
    for _ in range(link.flows):
        number = link.first_flow + turn
        turn = turn + 1 if turn + 1 < link.flows else 0
        flow = w.flows[np.uint64(number)]
        if flow.sent_bytes < flow.size_bytes and not closed >> flow.priority & 1:
            if flow.next_at <= from_ps:
                return number, from_ps
            if flow.next_at < first_at:
                first, first_at = number, flow.next_at
    return first, first_at


@outlined
def receive(w: World, at: int, number: int) -> None:
    """Take a frame into a receive buffer that may drain slower than the link fills it.

    A frame of a PFC class that leaves it above XOFF pauses the switch.
    """
    frame, which = w.frames[np.uint64(number)], w.links[np.uint64(at)].receiver
    receiver = w.receivers[np.uint64(which)]
    drain(receiver, w.clock.now)
    receiver.level_bytes += frame.wire_bytes
    receiver.max_bytes = max(receiver.max_bytes, receiver.level_bytes)
    apart = w.flows[np.uint64(frame.flow)].apart  # no PFC class: nothing pauses it
    if receiver.level_bytes > receiver.xoff_bytes and not (apart or receiver.paused >> frame.priority & 1):
        receiver.paused |= 1 << frame.priority
        pause(w, at, frame.priority)
    if receiver.paused:
        # One ps later than computed: int() rounds down, and at XON it must have drained.
        over = max(0.0, receiver.level_bytes - receiver.xon_bytes)
        plan(
            w,
            3 * len(w.links) + len(w.pullers) + which,
            w.clock.now + int(over * receiver.drain_ps_per_byte) + 1,
        )


@kernel
def recover(w: World, which: int) -> None:
    """End the pauses of a receiver toward its switch, as the receive buffer has drained to XON."""
    receiver = w.receivers[np.uint64(which)]
    drain(receiver, w.clock.now)
    for priority in range(w.classes):
        if receiver.paused >> priority & 1:
            resume(w, receiver.link, priority)
    receiver.paused = 0
    plan(w, 3 * len(w.links) + len(w.pullers) + which, NEVER)


@kernel
def drain(receiver: Any, now: int) -> None:
    """Bring the level of a receive buffer up to date."""
    gone = (now - receiver.level_at) / receiver.drain_ps_per_byte
    receiver.level_bytes = max(0.0, receiver.level_bytes - gone)
    receiver.level_at = now


@outlined
def window_opens(w: World, number: int) -> bool:
    """Let a sender take its news; return whether it may send now; if not, set when to check it again."""
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
    """Return when the timer of a sender's packet that waits longest for an answer runs out, ``NEVER`` without one."""
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
    """Give a frame that has begun to be sent its entropy value, if it is sprayed, and count it in a sender's window."""
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
    """Return whether another packet could follow: there is one, and window and credit have room for it."""
    more = sender.to_resend > 0 or sender.new_psn < flow.size_bytes
    spent = sender.puller >= 0 and sender.credit <= 0
    return bool(more and not spent and sender.in_flight + flow.mtu_bytes + flow.overhead_bytes < sender.cwnd)


@kernel
def _asks(w: World, flow: Any, sender: Any) -> int:
    """Return the total credit that a sender requests: all that it got, and a share of its window or remaining bytes.

    The total is rounded up to units of 256 bytes.
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
    """Return the entropy value of the next packet: one kept for use again, else each once a round in a new order."""
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
    """Keep the entropy value of an unmarked ACK for use again (REPS); a full store loses the oldest one."""
    many = len(sender.good)
    sender.good[(sender.taken + sender.kept) % many] = entropy
    if sender.kept < many:
        sender.kept += 1
    else:
        sender.taken = (sender.taken + 1) % many
