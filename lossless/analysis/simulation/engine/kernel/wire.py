"""The wire: a frame is received whole when its last bit has traveled the cable (store and forward)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel
from lossless.analysis.simulation.engine.kernel.agenda import plan_also, plan_arrival

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World


@kernel
def start_sending(link: Any, wire_bytes: int, at_ps: int) -> int:
    """Occupy a link with a frame, preamble and inter-frame gap included; return when its last bit is received."""
    link.busy_until = at_ps + sending_ps(link, wire_bytes)
    return link.busy_until + link.propagation_ps


@kernel
def sending_ps(link: Any, wire_bytes: int) -> int:
    """Return how long a frame occupies a link."""
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
