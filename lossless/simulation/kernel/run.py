"""The clock of the simulation: take what happens next, let it happen."""

from __future__ import annotations

from typing import Any

from lossless.simulation.compiled import entry, kernel, outlined
from lossless.simulation.kernel.agenda import plan, plan_turn
from lossless.simulation.kernel.deliver import deliver
from lossless.simulation.kernel.egress import forward
from lossless.simulation.kernel.ingress import arrive
from lossless.simulation.kernel.lists import give_back
from lossless.simulation.kernel.nic import receive, recover, send_next
from lossless.simulation.kernel.pfc import account, obey
from lossless.simulation.kernel.recorder import sample
from lossless.simulation.kernel.watchdog import poll
from lossless.simulation.kernel.wire import take_off_wire
from lossless.simulation.kernel.world import World
from lossless.simulation.records import NEVER

DONE, HORIZON, PAUSED, GROW = 0, 1, 2, 3
"""Why a run returned: nothing is left to happen, the horizon, its share of events, it needs more frames."""
SPARE_FRAMES = 64
"""A step takes fewer frames than this, and one more for each queue: a watchdog that lets all peers go."""


@entry
def run(
    clock: Any, agenda: Any, frames: Any, links: Any, queues: Any, groups: Any, units: Any, flows: Any, points: Any,
    params: Any, cnps: Any, paths: Any, receivers: Any, holds: Any, probes: Any, samples: Any,
    classes: int, bits: int, until: int, events: int,
) -> int:  # fmt: skip
    """Let up to ``events`` things happen, none after ``until``; return why it stopped."""
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
        w.clock.now = first >> bits
        w.clock.events += 1
        happen(w, first & ((1 << bits) - 1))
    return PAUSED


@kernel
def happen(w: World, slot: int) -> None:
    """Let the thing of a slot happen."""
    links = len(w.links)
    sender = -1
    if slot < links:
        sender = end_of_wire(w, slot)
    elif slot >= 3 * links:
        seldom(w, slot)
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


@outlined
def seldom(w: World, slot: int) -> None:
    """What has a slot after the links: receivers, holds, watchdogs, the recorder."""
    which = slot - 3 * len(w.links)
    if which < len(w.receivers):
        recover(w, which)
        return
    which -= len(w.receivers)
    if which < len(w.holds):
        plan(w, slot, toggle(w, w.holds[which]))
        plan_turn(w, w.holds[which].link, w.clock.now)
        return
    which -= len(w.holds)
    if which < len(w.units):
        poll(w, which)
        plan(w, slot, w.clock.now + w.units[which].poll_ps)
        return
    sample(w)
    plan(w, slot, w.clock.now + w.clock.sample_ps if w.clock.samples < len(w.samples) else NEVER)


@kernel
def toggle(w: World, hold: Any) -> int:
    """Begin or end a hold; return when it is next due."""
    link = w.links[hold.link]
    was = link.paused | link.held
    hold.on = 0 if hold.on else 1
    link.held = link.held | hold.classes if hold.on else link.held & ~hold.classes
    account(w, hold.link, was)
    if hold.period_ps == 0:
        return hold.ends_at if hold.on else NEVER
    due = w.clock.now + (hold.duty_ps if hold.on else hold.period_ps - hold.duty_ps)
    if hold.on:
        return min(due, hold.ends_at)
    return due if due < hold.ends_at else NEVER
