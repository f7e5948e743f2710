"""Priority-based flow control (IEEE 802.1Qbb) and the wire: requests to pause, and frames under way.

A group requests a pause, and the transmitter at the other end obeys later. A PFC frame goes before all data, but not
before the end of the frame being sent; then it travels the cable, and the peer reacts. A pause is a state that holds
until it is lifted (a sender that refreshes its quanta).

On the wire a frame is received whole when its last bit has traveled the cable (store and forward).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import (
    plan_also,
    plan_arrival,
    plan_obedience,
    plan_turn,
)
from lossless.analysis.simulation.engine.kernel.memory import give_back, take
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.memory import World


@kernel
def pause(w: World, at: int, priority: int) -> None:
    """Ask the transmitter of link ``at`` to stop sending a priority (XOFF)."""
    _send(w, at, priority, 1)


@kernel
def resume(w: World, at: int, priority: int) -> None:
    """End the pause of a priority at the transmitter of link ``at`` (XON)."""
    _send(w, at, priority, 0)


@outlined
def _send(w: World, at: int, priority: int, pauses: int) -> None:
    link = w.links[np.uint64(at)]
    back = w.links[np.uint64(link.reverse)]
    starts = max(w.clock.now, back.busy_until, back.pfc_free_at)
    back.pfc_free_at = starts + int(link.pfc_wire_bytes * back.ps_per_byte + 0.5)
    number = take(w)
    frame = w.frames[np.uint64(number)]
    frame.arrives_at = back.pfc_free_at + back.propagation_ps + link.reaction_ps
    frame.priority = priority
    frame.marked = pauses
    frame.next = -1
    if link.pfc_head < 0:
        link.pfc_head = number
        plan_obedience(w, at, frame.arrives_at)
    else:
        w.frames[np.uint64(link.pfc_tail)].next = number
    link.pfc_tail = number


@outlined
def obey(w: World, at: int) -> None:
    """Apply the oldest PFC frame under way to the transmitter of link ``at``."""
    link = w.links[np.uint64(at)]
    number = link.pfc_head
    frame = w.frames[np.uint64(number)]
    link.pfc_head = frame.next
    plan_obedience(w, at, NEVER if link.pfc_head < 0 else w.frames[np.uint64(link.pfc_head)].arrives_at)
    bit = 1 << frame.priority
    was = link.paused | link.held
    link.paused = link.paused | bit if frame.marked else link.paused & ~bit
    account(w, at, was)
    give_back(w, number)
    plan_turn(w, at, w.clock.now)


@kernel
def account(w: World, at: int, was: int) -> None:
    """Record for each class of link ``at`` that its pause began or ended; ``was`` has the classes paused before."""
    stands = w.links[np.uint64(at)].paused | w.links[np.uint64(at)].held
    changed = was ^ stands
    if changed == 0:
        return
    for priority in range(w.classes):
        if changed >> priority & 1:
            queue = w.queues[np.uint64(at * w.classes + priority)]
            if stands >> priority & 1:
                _begins(w, queue)
            else:
                _ends(w, queue)


@kernel
def _begins(w: World, queue: Any) -> None:
    queue.paused_since = w.clock.now
    queue.pauses += 1


@kernel
def _ends(w: World, queue: Any) -> None:
    lasted = w.clock.now - queue.paused_since
    queue.paused_ps += lasted
    queue.longest_pause_ps = max(queue.longest_pause_ps, lasted)
    queue.paused_since = -1
    queue.resumes += 1


@kernel
def paused_ps(queue: Any, now: int) -> int:
    """Return how long a queue has been paused in all up to ``now``, in ps."""
    return queue.paused_ps + (now - queue.paused_since if queue.paused_since >= 0 else 0)


@kernel
def blocked(link: Any) -> int:
    """Return the classes, as bits, that a transmitter may not send now."""
    return (link.paused | link.held) & ~link.ignored


@kernel
def start_sending(link: Any, wire_bytes: int, at_ps: int) -> int:
    """Occupy a link with a frame, preamble and inter-frame gap included; return when its last bit is received."""
    link.busy_until = at_ps + sending_ps(link, wire_bytes)
    return link.busy_until + link.propagation_ps


@kernel
def sending_ps(link: Any, wire_bytes: int) -> int:
    """Return how long a frame occupies a link, in ps, preamble and inter-frame gap included."""
    return ((wire_bytes + link.gap_bytes) * link.ps_per_64_kib + (1 << 15)) >> 16


@kernel
def put_on_wire(w: World, number: int, at: int, arrives_at: int) -> None:
    """Let a frame travel along link ``at``."""
    link, frame = w.links[np.uint64(at)], w.frames[np.uint64(number)]
    frame.next = -1
    frame.via = at
    frame.arrives_at = arrives_at
    if link.wire_head < 0:
        link.wire_head = number
        plan_also(w, at, arrives_at)
    else:
        w.frames[np.uint64(link.wire_tail)].next = number
    link.wire_tail = number


@kernel
def take_off_wire(w: World, at: int) -> int:
    """Return the frame that has arrived at the far end of link ``at``."""
    link = w.links[np.uint64(at)]
    number = link.wire_head
    link.wire_head = w.frames[np.uint64(number)].next
    plan_arrival(
        w, at, link.next_arrives_at if link.wire_head < 0 else w.frames[np.uint64(link.wire_head)].arrives_at
    )
    return number
