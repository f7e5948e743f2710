"""The NIC: which queue pair sends next, at which rate, and a receiver that may be slow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import plan, plan_arrival, plan_turn
from lossless.analysis.simulation.engine.kernel.dcqcn import next_start, still_waits
from lossless.analysis.simulation.engine.kernel.lists import take
from lossless.analysis.simulation.engine.kernel.pfc import blocked, pause, resume
from lossless.analysis.simulation.engine.kernel.window import stamp, window_opens
from lossless.analysis.simulation.engine.kernel.wire import put_on_wire, sending_ps
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World


@kernel
def take_turn(w: World, at: int) -> None:
    """Run the transmitter of a NIC: send its next frame, or plan it."""
    if w.links[np.uint64(at)].foreseen:
        look_again(w, at)
    else:
        send_next(w, at)


@kernel
def send_next(w: World, at: int) -> None:
    """Let the next queue pair of a NIC send one frame, and set when the NIC looks again."""
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
    """Return whether a flow of Ultra Ethernet came to an idle NIC: it is ready again before others come.

    Its senders wait in line for the NIC (``UecNIC``, ``htsim/sim/uec.cpp``, ultraethernet/uet-htsim @40ccb05); queue
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
    """Return to the first byte that the receiver lacks."""
    by_itself = flow.rewind_at == flow.timer_at
    flow.rewind_at = NEVER
    if flow.done_at < 0:
        w.clock.timeouts += by_itself
        w.clock.resent += (flow.sent_bytes - flow.expected_psn + flow.mtu_bytes - 1) // flow.mtu_bytes
        flow.sent_bytes = flow.expected_psn


@kernel
def next_bytes(flow: Any) -> int:
    """Return the size of the next frame of a flow."""
    return min(flow.mtu_bytes, flow.size_bytes - flow.sent_bytes) + flow.overhead_bytes


@kernel
def emit(w: World, at: int, number: int, wire_bytes: int, at_ps: int, until_ps: int) -> int:
    """Send one frame of a flow from a time to another, and set when its next may start; return it, on no wire yet."""
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
    """Something has happened to a NIC whose next frame is known: foresee it again."""
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
    """Set the next frame that a NIC sends from a given time on, and its time: only PFC or a NACK can change it."""
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
    """Take a frame into a receive buffer that may drain slower than the link fills it; above XOFF, pause the switch."""
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
    """A receive buffer has drained to XON: let the switch go on."""
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
