"""Frames in lists: those in no use, those on a wire, those in a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.engine.compiled import kernel

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World


@kernel
def take(w: World) -> int:
    """Return a frame that is in no use; :mod:`run` sees to it that there is one."""
    number = w.clock.free
    w.clock.free = w.frames[number].next
    w.clock.free_frames -= 1
    return number


@kernel
def give_back(w: World, number: int) -> None:
    """Return a frame to those in no use."""
    w.frames[number].next = w.clock.free
    w.clock.free = number
    w.clock.free_frames += 1


@kernel
def enqueue(w: World, queue: Any, number: int) -> None:
    """Put a frame last in a queue."""
    w.frames[number].next = -1
    if queue.head < 0:
        queue.head = number
    else:
        w.frames[queue.tail].next = number
    queue.tail = number


@kernel
def dequeue(w: World, queue: Any) -> int:
    """Take the first frame of a queue."""
    number = queue.head
    queue.head = w.frames[number].next
    return number
