"""The choice of one of several links for a packet: by hash, in turn, by load, or by flowlet.

A switch sees its own ports alone, not the queues of the next switch or a slow link behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.egress import let_go
from lossless.analysis.simulation.engine.kernel.memory import below, hashed, random

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.memory import World

HASHED, IN_TURN, ADAPTIVE, FLOWLETS, FLOW_HASHED = 1, 2, 3, 4, 5
"""Values of ``FLOW.spread``, where 0 is a path that is stated, and of ``UNIT.choice``, where 0 leaves it to flows."""


@outlined
def onward_link(w: World, at: int, number: int) -> int:
    """Return the link by which a frame that came over link ``at`` leaves a switch, toward its destination."""
    frame = w.frames[np.uint64(number)]
    flow = w.flows[np.uint64(frame.flow)]
    unit = w.links[np.uint64(at)].receiver_unit
    place = w.routes[unit, flow.edge]
    if place < 0:
        return int(flow.last_link)
    fan = w.fans[np.uint64(place)]
    if fan.links == 1:
        return int(w.paths[fan.first])
    own = w.units[np.uint64(unit)].choice
    choice = own if own and flow.counts else flow.spread
    if choice == IN_TURN:
        return in_turn(w, fan)
    if choice == ADAPTIVE:
        return least_loaded(w, unit, fan)
    if choice == FLOWLETS:
        return of_flowlet(w, unit, fan, frame.flow)
    entropy = 0 if choice == FLOW_HASHED else frame.hop
    return int(w.paths[fan.first + hashed(w.clock.salt, unit, frame.flow, entropy) % fan.links])


@kernel
def in_turn(w: World, fan: Any) -> int:
    """Return the next link of a round; each round has an order of its own, for all destinations of these links."""
    if fan.turn == 0:
        shuffle(w, fan)
    link = w.paths[fan.first + fan.turn]
    fan.turn = fan.turn + 1 if fan.turn + 1 < fan.links else 0
    return int(link)


@kernel
def shuffle(w: World, fan: Any) -> None:
    """Draw a new order of links (Fisher and Yates)."""
    for left in range(fan.links - 1, 0, -1):
        other = fan.first + below(w.clock, left + 1)
        last = fan.first + left
        w.paths[last], w.paths[other] = w.paths[other], w.paths[last]


@outlined
def least_loaded(w: World, unit: int, fan: Any) -> int:
    """Return a link of the lowest level of load, a random one of several."""
    best, many, chosen = 4, 0, -1
    for place in range(fan.first, fan.first + fan.links):
        link = w.paths[place]
        level = load_of(w, w.units[np.uint64(unit)], link)
        if level < best:
            best, many, chosen = level, 1, link
        elif level == best:
            many += 1
            if random(w.clock) * many < 1:
                chosen = link
    return int(chosen)


@kernel
def load_of(w: World, unit: Any, at: int) -> int:
    """Return the level of load of a port as last sampled; a sample older than the interval is taken again."""
    link = w.links[np.uint64(at)]
    if w.clock.now - link.level_at >= unit.level_ps:
        if link.leaving >= 0 and link.busy_until < w.clock.now:
            let_go(w, at)
        # A frame counts until the instant at which it has gone.
        held = link.sending_bytes if link.busy_until >= w.clock.now and link.leaving < 0 else 0
        for priority in range(w.classes):
            held += w.queues[np.uint64(at * w.classes + priority)].bytes
        link.level_at = w.clock.now
        link.level = (held >= unit.levels[0]) + (held >= unit.levels[1]) + (held >= unit.levels[2])
    return int(link.level)


@kernel
def of_flowlet(w: World, unit: int, fan: Any, number: int) -> int:
    """Return the link of a flow; after a gap, in half of the cases, it moves to a less loaded link if there is one."""
    kept = w.flowlets[unit, number]
    after_gap = w.clock.now - kept.last_at > w.units[np.uint64(unit)].flowlet_ps
    kept.last_at = w.clock.now
    if kept.link < 0:
        kept.link = w.paths[fan.first + below(w.clock, fan.links)]
    elif after_gap and random(w.clock) < 0.5:
        other = least_loaded(w, unit, fan)
        own = w.units[np.uint64(unit)]
        if load_of(w, own, other) < load_of(w, own, kept.link):
            kept.link = other
    return int(kept.link)
