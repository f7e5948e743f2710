"""NSCC, the sender's congestion control of Ultra Ethernet: a window that adapts to queueing delay and to marks.

The specification itself was not read. The quantities are those that secondary copies of UEC 1.0.3, section 3.6.13 and
table 3-82, give, as uet-htsim @40ccb05 has them; where the specification leaves something open, the reading of that
simulator is taken: the average of the delay is weighted by 0.0125 an ACK, and an unmarked sample above the target
enters it as a quarter of the base round trip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World

SCALED_BYTES, SCALED_PS = 150_000.0, 12_000_000.0
"""The bandwidth-delay product and the target delay at which the scale factor of NSCC's gains is 1."""
PROPORTIONAL, FAIR, ETA, FAST = 4.0, 5.0, 0.15, 0.25
GAMMA, LEAST_FACTOR = 0.8, 0.5
"""How much of the delay above the target a cut takes, and the least part of the window that it leaves."""
WEIGHT, UNMARKED = 0.0125, 0.25
NO_DELAY_PS = 1_000_000
"""Below this there is no queue."""
QUICK_PART = 8
"""Quick adaptation comes where less than this part of the largest window has arrived."""
QUICK_DELAYS = 4
ADJUSTED_FRAMES = 8
"""The window is adjusted once so many frames have arrived, or a base round trip has passed."""
NSCC = 1
"""Value of ``WINDOW.control``; 0: the window stays as it is."""


@kernel
def largest(sender: Any, window: Any) -> float:
    """Return the largest window of a sender: so many round trips at line rate."""
    return float(window.bdps * window.line_bytes_per_ps * sender.base_rtt_ps)


@kernel
def most_credit_bytes(window: Any) -> float:
    """Return the most credit that a sender requests at once: a window of the longest path, not of measured delays."""
    return float(window.bdps * window.line_bytes_per_ps * window.base_rtt_ps)


@kernel
def target_ps(window: Any) -> float:
    """Return the target queueing delay of a sender: a part of the longest path's round trip, not of measured ones."""
    return float(window.target * window.base_rtt_ps)


@kernel
def scale_of(window: Any) -> float:
    """Return the scale factor of increases: the longest path's bandwidth-delay product over that of scale 1."""
    return float(window.line_bytes_per_ps * window.base_rtt_ps / SCALED_BYTES)


@kernel
def acknowledge(w: World, flow: Any, sender: Any, news: Any) -> None:
    """A sender gets an ACK."""
    window = w.windows[np.uint64(sender.window)]
    sender.in_flight -= news.bytes
    delay_ps = queueing_delay(sender, news)
    if window.control != NSCC:
        return
    sender.achieved += news.bytes
    sender.ignored += news.bytes
    sender.counted += news.bytes
    _average(sender, window, news.marked, delay_ps)
    late = delay_ps > QUICK_DELAYS * target_ps(window)
    if adapts_or_ignores(w, flow, sender, window, news.marked, late):
        return
    _by_quadrant(w, flow, sender, window, news, delay_ps)
    _bound(flow, sender, window)
    _adjust(w, flow, sender, window)
    _bound(flow, sender, window)


@kernel
def queueing_delay(sender: Any, news: Any) -> int:
    """Return how long a packet and its answer took beyond the shortest round trip that was seen."""
    if news.sent_at < 0:
        return int(sender.average_ps)
    rtt_ps = news.at - news.sent_at
    sender.base_rtt_ps = min(sender.base_rtt_ps, rtt_ps)
    return int(rtt_ps - sender.base_rtt_ps)


@kernel
def _average(sender: Any, window: Any, marked: int, delay_ps: int) -> None:
    sample = float(delay_ps)
    if not marked and delay_ps > target_ps(window):
        sample = UNMARKED * sender.base_rtt_ps
    sender.average_ps = WEIGHT * sample + (1 - WEIGHT) * sender.average_ps


@kernel
def _by_quadrant(w: World, flow: Any, sender: Any, window: Any, news: Any, delay_ps: int) -> None:
    """Raise, hold or cut the window: by whether the packet was marked, and whether its delay is above the target."""
    target = target_ps(window)
    scale = scale_of(window)
    if not news.marked and delay_ps >= target:
        sender.owed += FAIR * flow.mtu_bytes * scale * news.bytes
    elif not news.marked:
        _raise(flow, sender, news.bytes, delay_ps, target, scale)
    elif delay_ps >= target:
        _cut(w, sender, target)


@kernel
def _raise(flow: Any, sender: Any, acked: int, delay_ps: int, target: float, scale: float) -> None:
    """Raise the window in proportion to how far the delay is below its target; fast after a long time without delay."""
    sender.fast = sender.fast + acked if delay_ps < NO_DELAY_PS else 0
    if sender.fast > sender.cwnd:
        sender.cwnd += FAST * scale * acked
        return
    alpha = PROPORTIONAL * scale * (target / SCALED_PS) * flow.mtu_bytes / target
    sender.owed += alpha * acked * (target - delay_ps)


@kernel
def _cut(w: World, sender: Any, target: float) -> None:
    """Cut the window, at most once in a base round trip."""
    sender.fast = 0
    if w.clock.now - sender.cut_at <= sender.base_rtt_ps or sender.average_ps <= target:
        return
    over = (sender.average_ps - target) / sender.average_ps
    sender.cwnd *= max(1 - GAMMA * over, LEAST_FACTOR)
    sender.cut_at = w.clock.now


@kernel
def _adjust(w: World, flow: Any, sender: Any, window: Any) -> None:
    """Apply the accumulated increases to the window, and a small constant increase once in a base round trip."""
    due = w.clock.now - sender.adjusted_at >= window.base_rtt_ps
    if not due and sender.counted <= ADJUSTED_FRAMES * (flow.mtu_bytes + flow.overhead_bytes):
        return
    sender.cwnd += sender.owed / sender.cwnd
    if due:
        sender.cwnd += ETA * flow.mtu_bytes * scale_of(window)
        sender.adjusted_at = w.clock.now
    sender.owed = 0.0
    sender.counted = 0


@kernel
def _bound(flow: Any, sender: Any, window: Any) -> None:
    least = float(flow.mtu_bytes + flow.overhead_bytes)
    sender.cwnd = max(least, min(sender.cwnd, largest(sender, window)))


@kernel
def adapts_or_ignores(
    w: World, flow: Any, sender: Any, window: Any, congested: bool, triggered: bool
) -> bool:
    """Set the window to the bytes that arrived recently, after a loss or a long delay, if those are few.

    For as many bytes as were then in flight, losses and marks are ignored. Return whether the window was set or the
    signal is ignored.
    """
    done = sender.ignored < sender.ignores and congested
    if not done and w.clock.now > sender.adapts_at:
        little = sender.achieved < largest(sender, window) / QUICK_PART
        if sender.adapts_at and (triggered or sender.to_adapt) and little:
            sender.cwnd = float(max(sender.achieved, flow.mtu_bytes + flow.overhead_bytes))
            sender.ignores, sender.ignored, sender.to_adapt = sender.in_flight, 0, 0
            done = True
        sender.achieved = 0
        sender.adapts_at = w.clock.now + sender.base_rtt_ps + int(target_ps(window))
    if done:
        sender.owed = 0.0
        sender.counted = 0
    return bool(done)


@kernel
def lose(w: World, flow: Any, sender: Any, news: Any) -> None:
    """A sender learns that a packet was trimmed: the window gets smaller."""
    window = w.windows[np.uint64(sender.window)]
    if window.control == NSCC:
        _trimmed(w, flow, sender, window, news)
        _bound(flow, sender, window)


@kernel
def time_out(w: World, flow: Any, sender: Any, lost_bytes: int) -> None:
    """A packet's timer runs out: the window gets smaller by it."""
    window = w.windows[np.uint64(sender.window)]
    if window.control == NSCC:
        sender.cwnd -= lost_bytes
        _bound(flow, sender, window)


@kernel
def _trimmed(w: World, flow: Any, sender: Any, window: Any, news: Any) -> None:
    """A packet was trimmed: a queue was full, and so the delay counts as a round trip."""
    queueing_delay(sender, news)
    sender.ignored += news.bytes
    sender.average_ps = WEIGHT * window.base_rtt_ps + (1 - WEIGHT) * sender.average_ps
    sender.to_adapt = 1
    if not adapts_or_ignores(w, flow, sender, window, True, True):
        sender.cwnd -= news.bytes
