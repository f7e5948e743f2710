"""The NIC: which queue pair sends next, at which rate, and a receiver that may be slow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import plan, plan_turn
from lossless.analysis.simulation.engine.kernel.dcqcn import next_start, still_waits
from lossless.analysis.simulation.engine.kernel.lists import take
from lossless.analysis.simulation.engine.kernel.pfc import blocked, pause, resume
from lossless.analysis.simulation.engine.kernel.wire import put_on_wire, start_sending
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World


@kernel
def send_next(w: World, at: int) -> None:
    """Let the next queue pair of a NIC send one frame, and set when the NIC looks again."""
    link = w.links[at]
    wake_at = max(link.busy_until, link.pfc_free_at)
    if w.clock.now >= wake_at:
        number, wake_at = pick(w, at)
        if number >= 0:
            emit(w, at, number)
            wake_at = link.busy_until
            if link.flows == 1:
                flow = w.flows[number]
                wake_at = max(wake_at, flow.next_at) if flow.sent_bytes < flow.size_bytes else flow.rewind_at
    plan_turn(w, at, wake_at)


@kernel
def pick(w: World, at: int) -> Any:
    """Return the flow that may send now, -1 where none may, and when to look again.

    ACKs that travel apart go first, the others alternate.
    """
    link, now, wake_at = w.links[at], w.clock.now, NEVER
    closed = blocked(link)
    for number in range(link.first_flow, link.first_flow + link.ack_flows):
        if w.flows[number].sent_bytes < w.flows[number].size_bytes and w.flows[number].next_at <= now:
            return number, now
    turn = link.turn
    for _ in range(link.flows):
        number = link.first_flow + turn
        turn = turn + 1 if turn + 1 < link.flows else 0
        flow = w.flows[number]
        if flow.rewind_at <= now:
            go_back(flow)
        if flow.sent_bytes >= flow.size_bytes:
            wake_at = min(wake_at, flow.rewind_at)
        elif not closed >> flow.priority & 1:
            if flow.next_at <= now and (flow.dcqcn < 0 or not still_waits(w, number)):
                link.turn = turn
                return number, now
            wake_at = min(wake_at, flow.next_at)
    return -1, wake_at


@kernel
def go_back(flow: Any) -> None:
    """Return to the first byte that the receiver lacks."""
    flow.rewind_at = NEVER
    if flow.done_at < 0:
        flow.sent_bytes = flow.expected_psn


@kernel
def emit(w: World, at: int, number: int) -> None:
    """Send one frame of a flow, and set when its next may start."""
    flow = w.flows[number]
    new = take(w)
    frame = w.frames[new]
    payload = min(flow.mtu_bytes, flow.size_bytes - flow.sent_bytes)
    frame.flow = number
    frame.psn = flow.sent_bytes
    frame.wire_bytes = payload + flow.overhead_bytes
    frame.hop = 1
    frame.priority = flow.priority
    frame.marked = 0
    flow.sent_bytes += payload
    w.clock.in_network += 1
    if flow.dcqcn >= 0:
        flow.next_at = next_start(w, number, frame.wire_bytes)
    put_on_wire(w, new, at, start_sending(w, w.links[at], frame.wire_bytes))


@outlined
def receive(w: World, at: int, number: int) -> None:
    """Take a frame into a receive buffer that may drain slower than the link fills it; above XOFF, pause the switch."""
    frame, which = w.frames[number], w.links[at].receiver
    receiver = w.receivers[which]
    drain(receiver, w.clock.now)
    receiver.level_bytes += frame.wire_bytes
    receiver.max_bytes = max(receiver.max_bytes, receiver.level_bytes)
    if receiver.level_bytes > receiver.xoff_bytes and not receiver.paused >> frame.priority & 1:
        receiver.paused |= 1 << frame.priority
        pause(w, at, frame.priority)
    if receiver.paused:
        # One ps later than computed: int() rounds down, and at XON it must have drained.
        over = max(0.0, receiver.level_bytes - receiver.xon_bytes)
        plan(w, 3 * len(w.links) + which, w.clock.now + int(over * receiver.drain_ps_per_byte) + 1)


@kernel
def recover(w: World, which: int) -> None:
    """A receive buffer has drained to XON: let the switch go on."""
    receiver = w.receivers[which]
    drain(receiver, w.clock.now)
    for priority in range(w.classes):
        if receiver.paused >> priority & 1:
            resume(w, receiver.link, priority)
    receiver.paused = 0
    plan(w, 3 * len(w.links) + which, NEVER)


@kernel
def drain(receiver: Any, now: int) -> None:
    """Bring the level of a receive buffer up to date."""
    gone = (now - receiver.level_at) / receiver.drain_ps_per_byte
    receiver.level_bytes = max(0.0, receiver.level_bytes - gone)
    receiver.level_at = now
