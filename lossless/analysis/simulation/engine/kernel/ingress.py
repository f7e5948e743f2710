"""The ingress of a switch: admit a received frame, find its next link, pause the peers that must wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import TRIMMED, miss
from lossless.analysis.simulation.engine.kernel.egress import congested, join, let_go
from lossless.analysis.simulation.engine.kernel.memory import admit, give_back, release, wants_pause
from lossless.analysis.simulation.engine.kernel.paths import onward_link
from lossless.analysis.simulation.engine.kernel.pfc import pause
from lossless.analysis.simulation.engine.records import IN_ORDER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.memory import World


@kernel
def arrive(w: World, at: int, number: int) -> int:
    """Take a frame that came over link ``at`` into memory; return the link it leaves by, -1 where it is dropped."""
    frame = w.frames[np.uint64(number)]
    flow = w.flows[np.uint64(frame.flow)]
    if flow.spread:
        onward = onward_link(w, at, number)
    else:
        onward = w.paths[np.uint64(flow.first_hop + frame.hop)]
        frame.hop += 1
    if flow.apart:  # an ACK, which takes no memory worth counting
        frame.held_bytes = 0
        join(w, onward, number)
        return onward
    group = w.groups[np.uint64(at * w.classes + frame.priority)]
    unit = w.units[np.uint64(group.unit)]
    frame.held_bytes = cells(frame.wire_bytes, unit.cell_bytes)
    if refused(w, onward, unit, w.queues[np.uint64(onward * w.classes + frame.priority)], frame):
        return lose(w, at, onward, number)
    if not admit(w.clock, unit, group, frame.held_bytes):
        _count_drop(w, group)
        return lose(w, at, onward, number)
    if wants_pause(group):
        _count_pause(w, group)
        pause(w, at, frame.priority)
    join(w, onward, number)
    return onward


@outlined
def lose(w: World, at: int, onward: int, number: int) -> int:
    """Trim a frame that has no room if its queue trims, else drop it; return the link it leaves by, else -1."""
    frame = w.frames[np.uint64(number)]
    queue = w.queues[np.uint64(onward * w.classes + frame.priority)]
    if queue.trim_bytes == 0 or queue.stormed or frame.marked & TRIMMED:
        drop(w, number)
        return -1
    queue.trims += 1
    w.clock.trims += 1
    if w.clock.first_trim_at < 0:
        w.clock.first_trim_at = w.clock.now
    frame.wire_bytes = min(frame.wire_bytes, queue.trim_bytes)
    frame.marked = TRIMMED
    frame.priority = queue.trim_class
    flow = w.flows[np.uint64(frame.flow)]
    miss(w, flow, w.clock.now)
    if flow.taken == IN_ORDER:
        frame.psn = -1  # a repetition, of which a NIC of RoCE makes nothing
    return _take_trimmed(w, at, onward, number)


@kernel
def _take_trimmed(w: World, at: int, onward: int, number: int) -> int:
    """Admit a trimmed frame into the queue of its class; return the link it leaves by, -1 where it is dropped."""
    frame = w.frames[np.uint64(number)]
    group = w.groups[np.uint64(at * w.classes + frame.priority)]
    unit = w.units[np.uint64(group.unit)]
    frame.held_bytes = cells(frame.wire_bytes, unit.cell_bytes)
    full = refused(w, onward, unit, w.queues[np.uint64(onward * w.classes + frame.priority)], frame)
    if full or not admit(w.clock, unit, group, frame.held_bytes):
        drop(w, number)
        return -1
    join(w, onward, number)
    return onward


@kernel
def cells(wire_bytes: int, cell_bytes: int) -> int:
    """Return the memory that a frame occupies, in bytes of whole cells."""
    return wire_bytes if cell_bytes == 1 else (wire_bytes + cell_bytes - 1) // cell_bytes * cell_bytes


@kernel
def refused(w: World, onward: int, unit: Any, queue: Any, frame: Any) -> bool:
    """Return whether an egress queue refuses a frame: it is stopped by the watchdog or full, or WRED drops."""
    if queue.rare:
        if w.links[np.uint64(onward)].leaving >= 0:
            let_go(w, onward)
        if queue.stormed:
            queue.stopped += 1
            return True
    over = queue.bytes + frame.held_bytes - queue.limit_bytes
    full = over > 0 and over > queue.alpha * max(0, queue.pool_bytes - unit.used)
    if full or (queue.rare and queue.wred == 2 and congested(w, queue)):
        queue.drops += 1
        return True
    return False


@kernel
def _count_drop(w: World, group: Any) -> None:
    group.drops += 1
    if group.first_drop_at < 0:
        group.first_drop_at = w.clock.now


@kernel
def _count_pause(w: World, group: Any) -> None:
    group.paused = 1
    group.pauses += 1
    w.clock.pauses += 1
    if group.first_pause_at < 0:
        group.first_pause_at = w.clock.now
        if w.clock.first_pause_at < 0:
            w.clock.first_pause_at = w.clock.now


@outlined
def drop(w: World, number: int) -> None:
    """Drop a frame; its sender can learn of the loss by a NACK, or by a timeout."""
    flow = w.flows[np.uint64(w.frames[number].flow)]
    w.clock.drops += 1
    w.clock.in_network -= 1
    if w.clock.first_drop_at < 0:
        w.clock.first_drop_at = w.clock.now
    miss(w, flow, w.clock.now)
    give_back(w, number)


@kernel
def flush(w: World, at: int, priority: int) -> None:
    """Drop everything a queue holds: the action ``drop`` of the watchdog."""
    queue = w.queues[np.uint64(at * w.classes + priority)]
    number = queue.head
    while number >= 0:
        frame = w.frames[np.uint64(number)]
        following = frame.next
        group = w.groups[np.uint64(frame.via * w.classes + priority)]
        release(w.units[np.uint64(group.unit)], group, frame.held_bytes)
        queue.bytes -= frame.held_bytes
        queue.stopped += 1
        drop(w, number)
        number = following
    queue.head = -1
    queue.deficit = 0
    w.links[np.uint64(at)].backlog &= ~(1 << priority)
