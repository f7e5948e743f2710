"""The clock of the simulation: take the next event from the agenda, run it; rare events, among them the PFC watchdog.

Rare events have an entry point of their own, so that a run without them need not wait for its compilation: receive
buffers that have drained, NICs that begin or end to pause their switch, watchdogs, the recorder.

The PFC watchdog triggers on a queue that a peer keeps paused for whole poll windows, and restores it later. Each vendor
goes by the counters it has. Mellanox: the queue holds frames, has sent none in the window, and was paused for nearly
all of it (orchagent/pfc_detect_mellanox.lua as in yuazhe/sonic-swss @f62eed2). Broadcom: it was paused at both polls,
PFC came in the window, and no pause ended in it; one window never makes a storm, however short the detection time
(sonic-swss orchagent/pfc_detect_broadcom.lua @0cb8610). Windows in which that is so are charged against the detection
time; any other starts it again. Restoration: sonic-swss orchagent/pfc_restore.lua @6f1cfd0; a fixed one is that of EOS
with ``forced`` (pyavd 6.4.0, ``qos_profiles``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import entry, kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import plan, plan_also, plan_turn
from lossless.analysis.simulation.engine.kernel.deliver import deliver, pull
from lossless.analysis.simulation.engine.kernel.egress import forward
from lossless.analysis.simulation.engine.kernel.ingress import arrive, flush
from lossless.analysis.simulation.engine.kernel.memory import World, give_back, wants_resume, xoff
from lossless.analysis.simulation.engine.kernel.nic import (
    catch_up,
    foresee,
    receive,
    recover,
    send_foreseen,
    take_turn,
)
from lossless.analysis.simulation.engine.kernel.pfc import account, obey, paused_ps, resume, take_off_wire
from lossless.analysis.simulation.engine.records import NEVER


@entry
def attend(
    clock: Any, agenda: Any, frames: Any, links: Any, queues: Any, groups: Any, units: Any, flows: Any, points: Any,
    params: Any, cnps: Any, paths: Any, receivers: Any, holds: Any, delays: Any, probes: Any, samples: Any,
    routes: Any, fans: Any, flowlets: Any, packets: Any, sent: Any, asked: Any, senders: Any, news: Any, windows: Any,
    pullers: Any, classes: int, bits: int,
) -> None:  # fmt: skip
    """Run the next event, which is a rare one."""
    w = World(
        clock[0], agenda, frames, links, queues, groups, units, flows, points, params, cnps, paths, receivers, holds,
        delays, probes, samples, routes, fans, flowlets, packets, sent, asked, senders, news, windows, pullers,
        classes, bits,
    )  # fmt: skip
    w.clock.now = agenda[1] >> bits
    w.clock.events += 1
    seldom(w, agenda[1] & ((1 << bits) - 1))


@kernel
def seldom(w: World, slot: int) -> None:
    """Run the event of a slot after those of the links: a receiver, a hold, a watchdog or the recorder."""
    which = slot - 3 * len(w.links) - len(w.pullers)
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
    """Begin or end a pause by a NIC (a hold); return when the hold is next due."""
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


DONE, HORIZON, PAUSED, GROW, RARE = 0, 1, 2, 3, 4
"""Reasons for which a run returns: all is delivered or no event is left, the horizon, its share of events, it needs
more frames, or the next event is rare (:mod:`lossless.analysis.simulation.engine.kernel.run`)."""
SPARE_FRAMES = 64
"""A step takes fewer frames than this, and one more for each queue: a watchdog that lets all peers go."""


@entry
def run(
    clock: Any, agenda: Any, frames: Any, links: Any, queues: Any, groups: Any, units: Any, flows: Any, points: Any,
    params: Any, cnps: Any, paths: Any, receivers: Any, holds: Any, delays: Any, probes: Any, samples: Any,
    routes: Any, fans: Any, flowlets: Any, packets: Any, sent: Any, asked: Any, senders: Any, news: Any, windows: Any,
    pullers: Any, classes: int, bits: int, until: int, events: int,
) -> int:  # fmt: skip
    """Run up to ``events`` events, none after ``until`` (ps); return why the run stopped."""
    # An entry takes the arrays one by one: a named tuple from Python costs numba a third more a call (1.2 us, as was
    # measured), and a run with rare events makes two calls for each of them. All functions below take the one World.
    w = World(
        clock[0], agenda, frames, links, queues, groups, units, flows, points, params, cnps, paths, receivers, holds,
        delays, probes, samples, routes, fans, flowlets, packets, sent, asked, senders, news, windows, pullers,
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
    """Run the event of a common slot: an arrival, a PFC frame that takes effect, or a transmitter's turn."""
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
    """Receive the frame at the end of link ``at``; return a link that may now send at once, else -1."""
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
    """Return whether an idle transmitter may send at once; else plan its turn for when it is free."""
    link = w.links[np.uint64(at)]
    free_at = max(link.busy_until, link.pfc_free_at)
    if w.clock.now > free_at or (w.clock.now == free_at and w.agenda[1] >> w.bits > free_at):
        return True
    link.idle = 0
    plan_also(w, 2 * len(w.links) + at, free_at)
    return False


@outlined
def reach_host(w: World, at: int, number: int) -> int:
    """Deliver a frame to a host whose arrivals are events; return its NIC's link if it may send at once, else -1."""
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


MELLANOX, BROADCOM = 0, 1
DROP, FORWARD, ALERT = 0, 1, 2
"""Values of ``UNIT.predicate`` and ``LINK.action``: vendors and actions of watchdogs, as the state numbers them."""
NEARLY_ALL = 0.99
"""The part of a poll window from which it counts as paused throughout, on Mellanox chips."""


@outlined
def poll(w: World, which: int) -> None:
    """Check every watched queue of a switch, and let its ports send."""
    unit = w.units[which]
    for at in range(unit.first_link, unit.first_link + unit.links):
        for priority in range(w.classes):
            if w.links[at].watched >> priority & 1:
                look(w, which, at, priority)
        plan_turn(w, at, w.clock.now)


@kernel
def look(w: World, which: int, at: int, priority: int) -> None:
    """Check one queue by the watchdog's poll window that ends now."""
    unit, queue, now = w.units[which], w.queues[at * w.classes + priority], w.clock.now
    link = w.links[at]
    if queue.stormed or link.ignored >> priority & 1:
        _restore(w, unit, queue, at, priority)
    elif not looks_stormed(unit, queue, now):
        queue.watch_left_ps = link.detection_ps
    elif queue.watch_left_ps > charge(unit, link.detection_ps):
        queue.watch_left_ps -= charge(unit, link.detection_ps)
    else:
        _act(w, which, at, priority)
    queue.watch_sent = queue.sent_frames
    queue.watch_paused_ps = paused_ps(queue, now)
    queue.watch_resumes = queue.resumes
    queue.watch_was_paused = queue.paused_since >= 0


@kernel
def charge(unit: Any, detection_ps: int) -> int:
    """Return the time that one polling interval counts against the detection time."""
    return min(unit.poll_ps, detection_ps - 1) if unit.predicate == BROADCOM else unit.poll_ps


@kernel
def looks_stormed(unit: Any, queue: Any, now: int) -> bool:
    """Return whether the window that ends now looks like a storm."""
    in_window = paused_ps(queue, now) - queue.watch_paused_ps
    if unit.predicate == BROADCOM:
        through = queue.watch_was_paused and queue.paused_since >= 0
        return through and queue.resumes == queue.watch_resumes and in_window > 0
    idle = queue.sent_frames == queue.watch_sent and queue.bytes > 0
    return idle and in_window >= NEARLY_ALL * unit.poll_ps


@kernel
def _act(w: World, which: int, at: int, priority: int) -> None:
    """Apply the watchdog's action to a stormed queue: drop or forward its frames, or only count the storm."""
    link, queue = w.links[at], w.queues[at * w.classes + priority]
    queue.storms += 1
    w.clock.storms += 1
    if queue.storm_at < 0:
        queue.storm_at = w.clock.now
    if w.clock.first_storm_at < 0:
        w.clock.first_storm_at = w.clock.now
    queue.watch_left_ps = link.detection_ps if link.action == ALERT else link.restoration_ps
    if link.action == DROP:
        queue.stormed = queue.rare = 1
        flush(w, at, priority)
        _let_go(w, which, priority)
    elif link.action == FORWARD:
        link.ignored |= 1 << priority


@kernel
def _restore(w: World, unit: Any, queue: Any, at: int, priority: int) -> None:
    """Restore a stopped queue once no pause has come for the restoration time; never if that is 0.

    A fixed restoration ends after that time, whether pauses come or not.
    """
    link = w.links[at]
    paused = not link.fixed and paused_ps(queue, w.clock.now) > queue.watch_paused_ps
    if paused or link.restoration_ps == 0:
        queue.watch_left_ps = link.restoration_ps
        return
    queue.watch_left_ps -= unit.poll_ps
    if queue.watch_left_ps <= 0:
        queue.stormed = 0
        link.ignored &= ~(1 << priority)
        queue.watch_left_ps = link.detection_ps


@kernel
def _let_go(w: World, which: int, priority: int) -> None:
    """Resume the paused peers of groups that have room again."""
    unit = w.units[which]
    for onward in range(unit.first_link, unit.first_link + unit.links):
        into = w.links[onward].reverse
        group = w.groups[into * w.classes + priority]
        if wants_resume(w.units[group.unit], group):
            group.paused = 0
            resume(w, into, priority)


QUEUE_BYTES, GROUP_BYTES, GROUP_THRESHOLD, GROUP_HEADROOM, UNIT_BYTES, RATE, PAUSED_PS, DELIVERED_BYTES = (
    range(8)
)
"""Kinds of probes; a probe's index is that of a queue, a group, a unit or a flow."""


@kernel
def sample(w: World) -> None:
    """Record the current value of every probe."""
    for column in range(len(w.probes)):
        w.samples[w.clock.samples, column] = seen(w, w.probes[column].kind, w.probes[column].index)
    w.clock.samples += 1


@kernel
def seen(w: World, kind: int, index: int) -> float:
    """Return the value of a probe: bytes, bits per second, or the total time for which a transmitter has been paused.

    A rate is that of the flow's last frame: DCQCN's timers are applied when the next one starts.
    """
    if kind == QUEUE_BYTES:
        return float(w.queues[index].bytes)
    if kind == GROUP_BYTES:
        return float(w.groups[index].bytes)
    if kind == GROUP_THRESHOLD:
        return xoff(w.units[w.groups[index].unit], w.groups[index])
    if kind == GROUP_HEADROOM:
        return float(w.groups[index].headroom_used)
    if kind == UNIT_BYTES:
        return float(w.units[index].used)
    if kind == RATE:
        return w.points[index].rate_bps
    if kind == DELIVERED_BYTES:
        return float(w.flows[index].expected_psn)
    return float(paused_ps(w.queues[index], w.clock.now))
