"""The PFC watchdog: a queue that a peer keeps paused for whole poll windows is stopped, and later restored.

Each vendor goes by the counters it has. Mellanox: the queue holds frames, has sent none in the window, and was paused
for nearly all of it (orchagent/pfc_detect_mellanox.lua as in yuazhe/sonic-swss @f62eed2). Broadcom: it was paused at
both polls, PFC came in the window, and no pause ended in it; one window never makes a storm, however short the
detection time (sonic-swss orchagent/pfc_detect_broadcom.lua @0cb8610). Windows in which that is so are charged against
the detection time; any other starts it again. Restoration: sonic-swss orchagent/pfc_restore.lua @6f1cfd0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import plan_turn
from lossless.analysis.simulation.engine.kernel.ingress import flush
from lossless.analysis.simulation.engine.kernel.memory import wants_resume
from lossless.analysis.simulation.engine.kernel.pfc import paused_ps, resume

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World

MELLANOX, BROADCOM = 0, 1
DROP, FORWARD, ALERT = 0, 1, 2
"""As ``engine.state`` numbers the vendors and actions of a ``SimWatchdog``."""
NEARLY_ALL = 0.99
"""Part of a window that Mellanox calls paused throughout."""


@outlined
def poll(w: World, which: int) -> None:
    """Check every watched queue of a switch, and let its ports send."""
    unit = w.units[which]
    for at in range(unit.first_link, unit.first_link + unit.links):
        for priority in range(w.classes):
            if unit.watched >> priority & 1:
                look(w, which, at, priority)
        plan_turn(w, at, w.clock.now)


@kernel
def look(w: World, which: int, at: int, priority: int) -> None:
    """Check one queue by the window that ends now."""
    unit, queue, now = w.units[which], w.queues[at * w.classes + priority], w.clock.now
    if queue.stormed or w.links[at].ignored >> priority & 1:
        _restore(w, unit, queue, at, priority)
    elif not looks_stormed(unit, queue, now):
        queue.watch_left_ps = unit.detection_ps
    elif queue.watch_left_ps > charge(unit):
        queue.watch_left_ps -= charge(unit)
    else:
        _act(w, which, at, priority)
    queue.watch_sent = queue.sent_frames
    queue.watch_paused_ps = paused_ps(queue, now)
    queue.watch_resumes = queue.resumes
    queue.watch_was_paused = queue.paused_since >= 0


@kernel
def charge(unit: Any) -> int:
    """Return the time that one polling interval counts against the detection time."""
    return min(unit.poll_ps, unit.detection_ps - 1) if unit.predicate == BROADCOM else unit.poll_ps


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
    """Apply the watchdog's action to a queue: drop its frames, forward them in spite of the pause, or only count it."""
    unit, queue = w.units[which], w.queues[at * w.classes + priority]
    queue.storms += 1
    w.clock.storms += 1
    if queue.storm_at < 0:
        queue.storm_at = w.clock.now
    if w.clock.first_storm_at < 0:
        w.clock.first_storm_at = w.clock.now
    queue.watch_left_ps = unit.detection_ps if unit.action == ALERT else unit.restoration_ps
    if unit.action == DROP:
        queue.stormed = queue.rare = 1
        flush(w, at, priority)
        _let_go(w, which, priority)
    elif unit.action == FORWARD:
        w.links[at].ignored |= 1 << priority


@kernel
def _restore(w: World, unit: Any, queue: Any, at: int, priority: int) -> None:
    """Let a stopped queue work again once no pause has come for the restoration time."""
    if paused_ps(queue, w.clock.now) > queue.watch_paused_ps or unit.restoration_ps == 0:
        queue.watch_left_ps = unit.restoration_ps
        return
    queue.watch_left_ps -= unit.poll_ps
    if queue.watch_left_ps <= 0:
        queue.stormed = 0
        w.links[at].ignored &= ~(1 << priority)
        queue.watch_left_ps = unit.detection_ps


@kernel
def _let_go(w: World, which: int, priority: int) -> None:
    """Resume the peers of groups that have been emptied."""
    unit = w.units[which]
    for onward in range(unit.first_link, unit.first_link + unit.links):
        into = w.links[onward].reverse
        group = w.groups[into * w.classes + priority]
        if wants_resume(w.units[group.unit], group):
            group.paused = 0
            resume(w, into, priority)
