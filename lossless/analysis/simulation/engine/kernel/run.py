"""The clock of the simulation: take what happens next, let it happen."""

from __future__ import annotations

from typing import Any

from lossless.analysis.simulation.engine.compiled import entry, kernel, outlined
from lossless.analysis.simulation.engine.kernel.deliver import deliver
from lossless.analysis.simulation.engine.kernel.egress import forward
from lossless.analysis.simulation.engine.kernel.ingress import arrive
from lossless.analysis.simulation.engine.kernel.lists import give_back
from lossless.analysis.simulation.engine.kernel.nic import receive, send_next
from lossless.analysis.simulation.engine.kernel.pfc import obey
from lossless.analysis.simulation.engine.kernel.wire import take_off_wire
from lossless.analysis.simulation.engine.kernel.world import World
from lossless.analysis.simulation.engine.records import NEVER

DONE, HORIZON, PAUSED, GROW, RARE = 0, 1, 2, 3, 4
"""Why a run returned: nothing is left to happen, the horizon, its share of events, it needs more frames, or what
happens next is rare (:mod:`lossless.analysis.simulation.engine.kernel.rare`)."""
SPARE_FRAMES = 64
"""A step takes fewer frames than this, and one more for each queue: a watchdog that lets all peers go."""


@entry
def run(
    clock: Any, agenda: Any, frames: Any, links: Any, queues: Any, groups: Any, units: Any, flows: Any, points: Any,
    params: Any, cnps: Any, paths: Any, receivers: Any, holds: Any, probes: Any, samples: Any,
    classes: int, bits: int, until: int, events: int,
) -> int:  # fmt: skip
    """Let up to ``events`` things happen, none after ``until`` (ps); return why it stopped."""
    # An entry takes the arrays one by one: a named tuple from Python costs numba a third more a call (1.2 us, as was
    # measured), and a run with rare events makes two calls for each of them. All functions below take the one World.
    w = World(
        clock[0], agenda, frames, links, queues, groups, units, flows, points, params, cnps, paths, receivers, holds,
        probes, samples, classes, bits,
    )  # fmt: skip
    spare = SPARE_FRAMES + len(queues)
    for _ in range(events):
        first = agenda[1]
        if first == NEVER or w.clock.unfinished == 0:
            return DONE
        if first >> bits > until:
            return HORIZON
        if w.clock.free_frames < spare:
            return GROW
        slot = first & ((1 << bits) - 1)
        if slot >= 3 * len(links):
            return RARE
        w.clock.now = first >> bits
        w.clock.events += 1
        happen(w, slot)
    return PAUSED


@kernel
def happen(w: World, slot: int) -> None:
    """Let the thing of a slot happen."""
    links = len(w.links)
    sender = -1
    if slot < links:
        sender = end_of_wire(w, slot)
    elif slot >= 2 * links:
        sender = slot - 2 * links
    else:
        obey(w, slot - links)
    if sender < 0:
        return
    if w.links[sender].sender_unit >= 0:
        forward(w, sender)
    else:
        send_next(w, sender)


@kernel
def end_of_wire(w: World, at: int) -> int:
    """Receive the frame at the end of link ``at``; return a link that stood idle and may send it on, else -1."""
    number = take_off_wire(w, at)
    if w.links[at].receiver_unit >= 0:
        onward = arrive(w, at, number)
        return onward if onward >= 0 and w.links[onward].idle else -1
    reach_host(w, at, number)
    return -1


@outlined
def reach_host(w: World, at: int, number: int) -> None:
    """A frame arrives at a host that is looked at."""
    if w.links[at].receiver >= 0:
        receive(w, at, number)
    deliver(w, number, w.clock.now)
    give_back(w, number)
