"""Frames in lists: those in no use, those on a wire, those in a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World


@kernel
def take(w: World) -> int:
    """Return a frame that is in no use; :mod:`run` sees to it that there is one."""
    w.clock.free_frames -= 1
    number = w.clock.free
    if number < 0:
        number = w.clock.fresh
        w.clock.fresh = number + 1
    else:
        w.clock.free = w.frames[np.uint64(number)].next
    return number


@kernel
def give_back(w: World, number: int) -> None:
    """Return a frame to those in no use."""
    w.frames[np.uint64(number)].next = w.clock.free
    w.clock.free = number
    w.clock.free_frames += 1


@kernel
def enqueue(w: World, queue: Any, number: int) -> None:
    """Put a frame last in a queue."""
    w.frames[np.uint64(number)].next = -1
    if queue.head < 0:
        queue.head = number
    else:
        w.frames[np.uint64(queue.tail)].next = number
    queue.tail = number


@kernel
def dequeue(w: World, queue: Any) -> int:
    """Take the first frame of a queue."""
    number = queue.head
    queue.head = w.frames[np.uint64(number)].next
    return number
