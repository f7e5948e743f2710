"""The agenda: the next time of every event, and the earliest of them.

Every kind of event has a slot: first the arrivals over each link, then the PFC frames that take effect at each link's
transmitter, then each transmitter's turn to send, then rare events. A tree over the slots keeps in each node the
earliest of its four children, so that the root is the next event, and setting a slot costs one walk to the root,
without a branch. A time and its slot are one number, so that at the same instant the lower slot goes first and runs
repeat exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World


@kernel
def plan(w: World, slot: int, at_ps: int) -> None:
    """Set the time of the next event of a slot."""
    node = (1 << w.bits) + slot
    value = NEVER if at_ps >= NEVER >> w.bits else (at_ps << w.bits) | slot
    w.agenda[np.uint64(node)] = value
    while node > 1:
        value = min(value, least_beside(w, node))
        node >>= 2
        w.agenda[np.uint64(node)] = value


@kernel
def plan_also(w: World, slot: int, at_ps: int) -> None:
    """Set the next time of a slot other than the current one; few nodes above it change."""
    node = (1 << w.bits) + slot
    value = NEVER if at_ps >= NEVER >> w.bits else (at_ps << w.bits) | slot
    w.agenda[np.uint64(node)] = value
    while node > 1:
        value = min(value, least_beside(w, node))
        node >>= 2
        if w.agenda[np.uint64(node)] == value:
            return
        w.agenda[np.uint64(node)] = value


@kernel
def least_beside(w: World, node: int) -> int:
    """Return the least of the three nodes under the same parent."""
    first, second, third = (
        w.agenda[np.uint64(node ^ 1)],
        w.agenda[np.uint64(node ^ 2)],
        w.agenda[np.uint64(node ^ 3)],
    )
    return min(min(first, second), third)


@kernel
def planned(w: World, slot: int) -> int:
    """Return the time of the next event of a slot."""
    value = w.agenda[np.uint64((1 << w.bits) + slot)]
    return NEVER if value == NEVER else value >> w.bits


@kernel
def plan_arrival(w: World, link: int, at_ps: int) -> None:
    """Set when the next frame on a link is received whole."""
    plan(w, link, at_ps)


@kernel
def plan_obedience(w: World, link: int, at_ps: int) -> None:
    """Set when a link's transmitter next obeys a PFC frame."""
    plan(w, len(w.links) + link, at_ps)


@kernel
def plan_turn(w: World, link: int, at_ps: int) -> None:
    """Set when a link's transmitter next looks for something to send."""
    plan(w, 2 * len(w.links) + link, at_ps)


@kernel
def turn_by(w: World, link: int, at_ps: int) -> None:
    """Plan the turn of a link's transmitter for a time, unless it is planned before that already."""
    if at_ps < planned(w, 2 * len(w.links) + link):
        plan_turn(w, link, at_ps)


@kernel
def rewind_by(w: World, flow: Any, at_ps: int) -> None:
    """Plan the rewind of a flow to the first packet that its receiver misses, at a time."""
    link = w.links[np.uint64(flow.first_link)]
    flow.rewind_at = at_ps
    link.rewind_at = min(link.rewind_at, at_ps)
    turn_by(w, flow.first_link, at_ps)


@kernel
def miss(w: World, flow: Any, at_ps: int) -> None:
    """Record the loss of a frame of a flow without a window; its sender rewinds after a timeout if no NACK comes."""
    if flow.sender < 0 and flow.timeout_ps and at_ps + flow.timeout_ps < flow.rewind_at:
        flow.timer_at = at_ps + flow.timeout_ps
        rewind_by(w, flow, flow.timer_at)


@kernel
def planned_turn(w: World, link: int) -> int:
    """Return when a link's transmitter next looks for something to send."""
    return planned(w, 2 * len(w.links) + link)
