"""The clock of the simulation: take the next event from the agenda, run it."""

from __future__ import annotations

from typing import Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import entry, kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import plan_also
from lossless.analysis.simulation.engine.kernel.credit import pull
from lossless.analysis.simulation.engine.kernel.deliver import deliver
from lossless.analysis.simulation.engine.kernel.egress import forward
from lossless.analysis.simulation.engine.kernel.ingress import arrive
from lossless.analysis.simulation.engine.kernel.lists import give_back
from lossless.analysis.simulation.engine.kernel.nic import (
    catch_up,
    foresee,
    receive,
    send_foreseen,
    take_turn,
)
from lossless.analysis.simulation.engine.kernel.pfc import obey
from lossless.analysis.simulation.engine.kernel.wire import take_off_wire
from lossless.analysis.simulation.engine.kernel.world import World
from lossless.analysis.simulation.engine.records import NEVER

DONE, HORIZON, PAUSED, GROW, RARE = 0, 1, 2, 3, 4
"""Reasons for which a run returns: no event is left, the horizon, its share of events, it needs more frames, or the
next event is rare (:mod:`lossless.analysis.simulation.engine.kernel.rare`)."""
SPARE_FRAMES = 64
"""A step takes fewer frames than this, and one more for each queue: a watchdog that lets all peers go."""


@entry
def run(
    clock: Any, agenda: Any, frames: Any, links: Any, queues: Any, groups: Any, units: Any, flows: Any, points: Any,
    params: Any, cnps: Any, paths: Any, receivers: Any, holds: Any, probes: Any, samples: Any, routes: Any,
    fans: Any, flowlets: Any, packets: Any, sent: Any, asked: Any, senders: Any, news: Any, windows: Any,
    pullers: Any, classes: int, bits: int, until: int, events: int,
) -> int:  # fmt: skip
    """Run up to ``events`` events, none after ``until`` (ps); return why the run stopped."""
    # An entry takes the arrays one by one: a named tuple from Python costs numba a third more a call (1.2 us, as was
    # measured), and a run with rare events makes two calls for each of them. All functions below take the one World.
    w = World(
        clock[0], agenda, frames, links, queues, groups, units, flows, points, params, cnps, paths, receivers, holds,
        probes, samples, routes, fans, flowlets, packets, sent, asked, senders, news, windows, pullers,
        classes, bits,
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
        common = slot < 3 * len(links)
        if not common and slot >= 3 * len(links) + len(pullers):
            return RARE
        w.clock.now = first >> bits
        w.clock.events += 1
        if common:
            happen(w, slot)
        else:
            pull(w, slot - 3 * len(links))
    return PAUSED


@kernel
def happen(w: World, slot: int) -> None:
    """Run the event of a slot."""
    links = len(w.links)
    sender = -1
    if slot < links:
        sender = end_of_wire(w, slot)
    elif slot >= 2 * links:
        sender = slot - 2 * links
    elif w.links[np.uint64(slot - links)].sender_unit >= 0 or not catch_up(w, slot - links):
        obey(w, slot - links)
    if sender < 0:
        return
    if w.links[np.uint64(sender)].sender_unit >= 0:
        forward(w, sender)
    else:
        take_turn(w, sender)


@kernel
def end_of_wire(w: World, at: int) -> int:
    """Receive the frame at the end of link ``at``; return a link that stood idle and may send it on, else -1."""
    number = next_arrival(w, at)
    if w.links[np.uint64(at)].receiver_unit >= 0:
        onward = arrive(w, at, number)
        return onward if onward >= 0 and w.links[np.uint64(onward)].idle and may_send(w, onward) else -1
    return reach_host(w, at, number)


@kernel
def next_arrival(w: World, at: int) -> int:
    """Return the frame that has arrived at the end of link ``at``: the first on the wire, else its NIC's next frame."""
    link = w.links[np.uint64(at)]
    if link.wire_head >= 0:
        return take_off_wire(w, at)
    number = send_foreseen(w, at)
    foresee(w, at, link.busy_until)
    return number


@kernel
def may_send(w: World, at: int) -> bool:
    """Return whether an idle transmitter may send at once; else see to it that it does once it is free."""
    link = w.links[np.uint64(at)]
    free_at = max(link.busy_until, link.pfc_free_at)
    if w.clock.now > free_at or (w.clock.now == free_at and w.agenda[1] >> w.bits > free_at):
        return True
    link.idle = 0
    plan_also(w, 2 * len(w.links) + at, free_at)
    return False


@outlined
def reach_host(w: World, at: int, number: int) -> int:
    """A frame arrives at a host that is looked at; return its NIC's link if that may send an ACK at once."""
    if w.links[np.uint64(at)].receiver >= 0:
        receive(w, at, number)
    answers = w.links[np.uint64(at)].reverse
    nic = w.links[np.uint64(answers)]
    if nic.foreseen and nic.sends_at < w.clock.now:
        catch_up(w, answers)  # else what it has sent since would seem to come after the answer
    deliver(w, number, w.clock.now)
    give_back(w, number)
    turn = w.agenda[np.uint64((1 << w.bits) + 2 * len(w.links) + answers)] >> w.bits
    return answers if turn == w.clock.now and (nic.foreseen or nic.busy_until <= w.clock.now) else -1
