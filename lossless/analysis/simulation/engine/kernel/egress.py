"""The egress of a switch port: queue, schedule, mark, send."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import plan_turn, planned_turn
from lossless.analysis.simulation.engine.kernel.deliver import deliver
from lossless.analysis.simulation.engine.kernel.memory import (
    dequeue,
    enqueue,
    give_back,
    random,
    release,
    wants_resume,
)
from lossless.analysis.simulation.engine.kernel.pfc import blocked, put_on_wire, resume, start_sending
from lossless.analysis.simulation.engine.records import DELAY_STEP_PS, DELAY_STEPS, NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.memory import World

_MARKS, _MARKS_GONE = 1, 3
"""Values of ``QUEUE.wred``: frames are marked as they begin to leave, or once they have gone."""


@kernel
def congested(w: World, queue: Any) -> bool:
    """Return whether WRED picks a frame: never up to Kmin, then with a probability up to Pmax, always above Kmax."""
    if queue.bytes > queue.kmax:
        return True
    if queue.bytes <= queue.kmin:
        return False
    return random(w.clock) < queue.pmax * (queue.bytes - queue.kmin) / (queue.kmax - queue.kmin)


@kernel
def join(w: World, at: int, number: int) -> None:
    """Put a frame last in its queue on link ``at``."""
    frame = w.frames[np.uint64(number)]
    queue = w.queues[np.uint64(at * w.classes + frame.priority)]
    enqueue(w, queue, number)
    queue.bytes += frame.held_bytes
    w.links[np.uint64(at)].backlog |= 1 << frame.priority
    grows, now = queue.bytes > queue.max_bytes, w.clock.now
    queue.max_at = now if grows else queue.max_at
    w.clock.grew_at = now if grows else w.clock.grew_at
    queue.max_bytes = max(queue.max_bytes, queue.bytes)


@kernel
def choose(w: World, at: int) -> int:
    """Return the class that sends next on link ``at``, -1 where none may.

    Strict classes go first, the highest before the others; the rest share by deficit (DWRR).
    """
    link = w.links[np.uint64(at)]
    ready = link.backlog & ~blocked(link)
    if ready == 0:
        return -1
    if w.classes == 1:
        return 0
    first = ready & link.strict
    if first:
        return _highest(first, w.classes)
    others = (1 << w.classes) - 1 & ~link.strict
    if others & (others - 1) == 0:  # there is one, which shares with none
        return _highest(ready, w.classes)
    # DWRR: a class sends while its deficit lasts; the turn then goes on, and whoever gets it is given a quantum.
    priority = link.turn
    while True:
        if ready >> priority & 1:
            queue = w.queues[np.uint64(at * w.classes + priority)]
            size = w.frames[np.uint64(queue.head)].wire_bytes
            if queue.deficit >= size:
                queue.deficit -= size
                link.turn = priority
                return priority
        priority = priority + 1 if priority + 1 < w.classes else 0
        if ready >> priority & 1:
            w.queues[np.uint64(at * w.classes + priority)].deficit += w.queues[
                np.uint64(at * w.classes + priority)
            ].quantum


@kernel
def _highest(ready: int, classes: int) -> int:
    for priority in range(classes - 1, 0, -1):
        if ready >> priority & 1:
            return priority
    return 0


@kernel
def leave(w: World, at: int, priority: int) -> int:
    """Take the first frame of a queue out of the switch's memory; its group may resume its peer."""
    link, queue = w.links[np.uint64(at)], w.queues[np.uint64(at * w.classes + priority)]
    number = dequeue(w, queue)
    frame = w.frames[np.uint64(number)]
    queue.bytes -= frame.held_bytes
    if queue.head < 0:
        link.backlog &= ~(1 << priority)
        queue.deficit = 0
    if frame.held_bytes == 0:  # an ACK that travels apart: no memory was counted for it
        return number
    group = w.groups[np.uint64(frame.via * w.classes + priority)]
    unit = w.units[np.uint64(group.unit)]
    release(unit, group, frame.held_bytes)
    if wants_resume(unit, group):
        group.paused = 0
        resume(w, frame.via, priority)
    return number


@outlined
def hold(w: World, at: int, number: int) -> None:
    """Keep counting a frame in its queue while it is being sent: see :func:`let_go`."""
    link, frame = w.links[np.uint64(at)], w.frames[np.uint64(number)]
    place = at * w.classes + frame.priority
    w.queues[np.uint64(place)].bytes += frame.held_bytes
    link.leaving, link.leaving_queue, link.leaving_bytes = number, place, frame.held_bytes


@outlined
def let_go(w: World, at: int) -> None:
    """Remove a sent frame from a queue that counts it until its last bit has gone, and mark it if WRED picks it.

    If the port becomes idle there is no event at that instant, and no mark: its queue is empty then.
    """
    link = w.links[np.uint64(at)]
    if link.busy_until > w.clock.now:
        return
    queue = w.queues[np.uint64(link.leaving_queue)]
    queue.bytes -= link.leaving_bytes
    if queue.wred == _MARKS_GONE and link.busy_until == w.clock.now:
        mark(w, queue, w.frames[np.uint64(link.leaving)])
    link.leaving = -1


@kernel
def forward(w: World, at: int) -> None:
    """Send the next frame of a switch port, if one may go."""
    link = w.links[np.uint64(at)]
    free_at = max(link.busy_until, link.pfc_free_at)
    if link.leaving >= 0:
        let_go(w, at)
    if w.clock.now < free_at:
        link.idle = 0
        plan_turn(w, at, free_at)
        return
    priority = choose(w, at)
    if priority < 0:
        link.idle = 1
        plan_turn(w, at, NEVER)
        return
    number = leave(w, at, priority)
    frame = w.frames[np.uint64(number)]
    queue = w.queues[np.uint64(at * w.classes + priority)]
    queue.sent_frames += 1
    queue.sent_bytes += frame.wire_bytes
    if priority == 0:
        w.delays[np.uint64(min((w.clock.now - frame.arrives_at) // DELAY_STEP_PS, DELAY_STEPS - 1))] += 1
    if queue.wred == _MARKS:
        mark(w, queue, frame)
    elif queue.until_sent:
        hold(w, at, number)
    arrives_at = start_sending(link, frame.wire_bytes, w.clock.now)
    link.sending_bytes = frame.wire_bytes
    if (
        link.receiver_unit < 0
        and queue.wred != _MARKS_GONE
        and (not link.seen or (link.receiver < 0 and w.flows[np.uint64(frame.flow)].acks < 0))
    ):
        deliver(w, number, arrives_at)
        give_back(w, number)
    else:
        put_on_wire(w, number, at, arrives_at)
    link.idle = link.backlog & ~blocked(link) == 0
    if not link.idle:
        plan_turn(w, at, link.busy_until)
    elif planned_turn(w, at) != NEVER:
        plan_turn(w, at, NEVER)


@kernel
def mark(w: World, queue: Any, frame: Any) -> None:
    """Mark an untrimmed frame that leaves a queue (ECN), if WRED picks it by the bytes that remain in the queue."""
    if frame.marked & 3 or not congested(w, queue):
        return
    frame.marked |= 1
    queue.marks += 1
    w.clock.marks += 1
    if queue.first_mark_at < 0:
        queue.first_mark_at = w.clock.now
        if w.clock.first_mark_at < 0:
            w.clock.first_mark_at = w.clock.now
