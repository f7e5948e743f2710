"""The entry point for rare events, apart so that a run without them need not wait for its compilation.

Rare events are: receive buffers that have drained, NICs that begin or end to pause their switch, watchdogs, the
recorder.
"""

from __future__ import annotations

from typing import Any

from lossless.analysis.simulation.engine.compiled import entry, kernel
from lossless.analysis.simulation.engine.kernel.agenda import plan, plan_turn
from lossless.analysis.simulation.engine.kernel.nic import recover
from lossless.analysis.simulation.engine.kernel.pfc import account
from lossless.analysis.simulation.engine.kernel.recorder import sample
from lossless.analysis.simulation.engine.kernel.watchdog import poll
from lossless.analysis.simulation.engine.kernel.world import World
from lossless.analysis.simulation.engine.records import NEVER


@entry
def attend(
    clock: Any, agenda: Any, frames: Any, links: Any, queues: Any, groups: Any, units: Any, flows: Any, points: Any,
    params: Any, cnps: Any, paths: Any, receivers: Any, holds: Any, probes: Any, samples: Any, routes: Any,
    fans: Any, flowlets: Any, packets: Any, sent: Any, asked: Any, senders: Any, news: Any, windows: Any,
    pullers: Any, classes: int, bits: int,
) -> None:  # fmt: skip
    """Run the next event, which is a rare one."""
    w = World(
        clock[0], agenda, frames, links, queues, groups, units, flows, points, params, cnps, paths, receivers, holds,
        probes, samples, routes, fans, flowlets, packets, sent, asked, senders, news, windows, pullers,
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
