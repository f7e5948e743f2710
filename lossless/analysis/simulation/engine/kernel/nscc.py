"""Congestion control of senders: DCQCN of ConnectX, and NSCC of Ultra Ethernet.

DCQCN (Zhu et al., SIGCOMM 2015) is the notification point and reaction point of one flow. The reaction point's timers
cost no events: their effects are applied later, in order, when the flow next starts a frame. A CNP takes effect when
it arrives.

NSCC is a window that adapts to queueing delay and to marks. The specification itself was not read. The quantities are
those that secondary copies of UEC 1.0.3, section 3.6.13 and table 3-82, give, as uet-htsim @40ccb05 has them; where
the specification leaves something open, the reading of that simulator is taken: the average of the delay is weighted
by 0.0125 an ACK, and an unmarked sample above the target enters it as a quarter of the base round trip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.memory import World


@kernel
def notify(w: World, number: int, arrived_at: int) -> None:
    """Notification point: a marked frame of a flow has arrived; send a CNP unless one was sent a moment ago."""
    flow, point = w.flows[np.uint64(number)], w.points[np.uint64(number)]
    params = w.params[np.uint64(flow.dcqcn)]
    if arrived_at < point.cnp_allowed_at:
        return
    point.cnp_allowed_at = arrived_at + params.cnp_gate_ps
    depth = w.cnps.shape[1]
    if point.cnps == depth:
        # Frames that the NIC has sent since, and that are not looked at yet, went at the rate of their time.
        react(min(w.clock.now, w.links[np.uint64(flow.first_link)].sends_at), point, params, w.cnps, number)
    if point.cnps < depth:
        w.cnps[number, (point.first_cnp + point.cnps) % depth] = arrived_at + flow.feedback_ps
        point.cnps += 1
    w.clock.cnps += 1


@outlined
def react(now: int, point: Any, params: Any, cnps: Any, number: int) -> None:
    """Reaction point: let every CNP and timer up to ``now`` take effect, the earliest first.

    At one instant alpha is updated before the rate is cut, and both before it is raised.
    """
    depth = cnps.shape[1]
    while True:
        cnp_at = cnps[number, point.first_cnp] if point.cnps else NEVER
        check_at = point.next_decrease_at if point.decrease_cnp else NEVER
        at = min(cnp_at, min(check_at, point.next_increase_at))
        if point.active:
            _update_alpha(point, params, min(now, at - 1 if at == cnp_at else at))
        if at > now:
            _skip_checks(point, params, now)
            return
        if at == cnp_at:
            _take_cnp(point, params, at)
            point.first_cnp = point.first_cnp + 1 if point.first_cnp + 1 < depth else 0
            point.cnps -= 1
        elif at == check_at:
            _cut_rate(point, params)
        else:
            point.next_increase_at += params.increase_ps
            increase(point, params)
            point.time_stage += 1


@kernel
def _take_cnp(point: Any, params: Any, at: int) -> None:
    """Apply a CNP: the first of a flow starts its timers, a later one counts when alpha or a cut is next due."""
    if not point.active:
        _first(point, params, at)
        return
    _skip_checks(point, params, at - 1)
    point.alpha_cnp = point.decrease_cnp = 1


@kernel
def _skip_checks(point: Any, params: Any, last_at: int) -> None:
    """Skip the checks for a cut up to a time that find no CNP."""
    if point.active and not point.decrease_cnp and point.next_decrease_at <= last_at:
        point.next_decrease_at += periods_until(point.next_decrease_at, last_at, params.decrease_ps)


@kernel
def periods_until(first_at: int, last_at: int, period_ps: int) -> int:
    """Return the total time of the periods that begin from ``first_at`` up to ``last_at``."""
    return ((last_at - first_at) // period_ps + 1) * period_ps


@kernel
def _first(point: Any, params: Any, at: int) -> None:
    """Apply the first CNP of a flow: it sets alpha, and a rate if one is set for it, and starts all timers but one.

    The cut comes with the next check, and starts the timer of increases.
    """
    point.active = 1
    point.alpha = params.initial_alpha
    point.alpha_cnp = 0
    point.decrease_cnp = 1
    point.next_alpha_at = at + params.alpha_ps
    point.next_decrease_at = at + params.decrease_ps
    if params.first_rate_bps > 0:
        point.rate_bps = min(point.rate_bps, params.first_rate_bps)
    point.target_bps = point.rate_bps


@kernel
def _update_alpha(point: Any, params: Any, last_at: int) -> None:
    """Update alpha once each period up to a time: the first time with the CNP that came, if one did."""
    if point.next_alpha_at > last_at:
        return
    kept, alpha, at = 1 - params.g, point.alpha, point.next_alpha_at
    alpha *= kept
    if point.alpha_cnp:
        alpha += params.g
        point.alpha_cnp = 0
    at += params.alpha_ps
    for _ in range(7):
        if at > last_at:
            break
        alpha *= kept
        at += params.alpha_ps
    if at <= last_at:
        took_ps = periods_until(at, last_at, params.alpha_ps)
        alpha *= kept ** (took_ps // params.alpha_ps)
        at += took_ps
    point.alpha, point.next_alpha_at = alpha, at


@kernel
def _cut_rate(point: Any, params: Any) -> None:
    """Cut the rate, as a CNP has come since the last check; the cut restarts recovery."""
    checked_at = point.next_decrease_at
    point.next_decrease_at += params.decrease_ps
    if params.clamp or point.byte_stage or (params.clamp_after_increase and point.time_stage):
        point.target_bps = point.rate_bps
    kept = max(1 - point.alpha * params.alpha_to_rate, params.min_decrease)
    point.rate_bps = max(params.min_rate_bps, point.rate_bps * kept)
    point.time_stage = point.byte_stage = 0
    point.decrease_cnp = 0
    point.byte_left = params.byte_reset
    point.next_increase_at = checked_at + params.increase_ps


@kernel
def next_start(w: World, number: int, wire_bytes: int, now: int) -> int:
    """Return when a flow's next frame may start, after one that starts ``now``.

    With the pacing lock that is one frame later at the current rate, whether or not the rate changes meanwhile. Without
    the lock the wait is computed again whenever the rate rises.
    """
    point, params = w.points[np.uint64(number)], w.params[np.uint64(w.flows[number].dcqcn)]
    react(now, point, params, w.cnps, number)
    at = now + int(wire_bytes * 8e12 / point.rate_bps)
    count_bytes(point, params, wire_bytes)
    if params.pacing_lock:
        return at
    point.owed_bits = wire_bytes * 8.0
    point.paid_at = now
    return min(at, _may_rise_at(point))


@kernel
def _may_rise_at(point: Any) -> int:
    """Return until when the rate cannot rise: before the first cut no timer runs that could raise it."""
    if point.active and point.next_increase_at >= NEVER:
        return point.next_decrease_at
    return point.next_increase_at


@kernel
def still_waits(w: World, number: int) -> bool:
    """Return whether a flow without pacing lock must wait longer at its current rate; if so, set until when."""
    flow, point, now = w.flows[np.uint64(number)], w.points[np.uint64(number)], w.clock.now
    params = w.params[np.uint64(flow.dcqcn)]
    if params.pacing_lock or point.owed_bits <= 0:
        return False
    point.owed_bits -= point.rate_bps * (now - point.paid_at) / 1e12
    point.paid_at = now
    react(now, point, params, w.cnps, number)
    if point.owed_bits < 1:
        return False
    flow.next_at = min(now + 1 + int(point.owed_bits * 1e12 / point.rate_bps), _may_rise_at(point))
    return True


@kernel
def increase(point: Any, params: Any) -> None:
    """Raise the rate: fast recovery toward the target, then the target by steps, then by larger steps."""
    least = min(point.time_stage, point.byte_stage) if params.byte_reset else point.time_stage
    if max(point.time_stage, point.byte_stage) >= params.threshold:
        step = params.hai_bps if least > params.threshold else params.ai_bps
        point.target_bps = min(point.line_bps, point.target_bps + step)
    point.rate_bps = min(point.line_bps, (point.rate_bps + point.target_bps) / 2)
    if params.release_bps > 0 and point.rate_bps >= params.release_bps:
        point.rate_bps = point.target_bps = point.line_bps


@kernel
def count_bytes(point: Any, params: Any, wire_bytes: int) -> None:
    """Byte counter: after so many bytes without a cut the rate is raised."""
    if params.byte_reset == 0 or not point.active or point.next_increase_at >= NEVER:
        return
    point.byte_left -= wire_bytes
    while point.byte_left <= 0:
        point.byte_left += params.byte_reset
        increase(point, params)
        point.byte_stage += 1


SCALED_BYTES, SCALED_PS = 150_000.0, 12_000_000.0
"""The bandwidth-delay product and the target delay at which the scale factor of NSCC's gains is 1."""
PROPORTIONAL, FAIR, ETA, FAST = 4.0, 5.0, 0.15, 0.25
GAMMA, LEAST_FACTOR = 0.8, 0.5
"""How much of the delay above the target a cut takes, and the least part of the window that it leaves."""
WEIGHT, UNMARKED = 0.0125, 0.25
NO_DELAY_PS = 1_000_000
"""A queueing delay below this, in ps, counts as no delay."""
QUICK_PART = 8
"""Quick adaptation is possible where less than one part in so many of the largest window was acknowledged."""
QUICK_DELAYS = 4
ADJUSTED_FRAMES = 8
"""The window is adjusted once more than so many frames are acknowledged, or a base round trip has passed."""
NSCC = 1
"""Value of ``WINDOW.control``; 0: the window stays as it is."""


@kernel
def largest(sender: Any, window: Any) -> float:
    """Return the largest window of a sender in bytes: ``bdps`` shortest round trips at line rate."""
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
    """Process an ACK at its sender: bytes in flight fall, and NSCC adapts the window."""
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
    """Return how long a packet and its answer took beyond the shortest round trip; if unknown, the average delay."""
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
        _cut_window(w, sender, target)


@kernel
def _raise(flow: Any, sender: Any, acked: int, delay_ps: int, target: float, scale: float) -> None:
    """Add to the pending increase of the window, more the further the delay is below its target.

    After a whole window of ACKs with almost no delay the window is raised at once instead.
    """
    sender.fast = sender.fast + acked if delay_ps < NO_DELAY_PS else 0
    if sender.fast > sender.cwnd:
        sender.cwnd += FAST * scale * acked
        return
    alpha = PROPORTIONAL * scale * (target / SCALED_PS) * flow.mtu_bytes / target
    sender.owed += alpha * acked * (target - delay_ps)


@kernel
def _cut_window(w: World, sender: Any, target: float) -> None:
    """Cut the window if the average delay is above the target, at most once in a base round trip."""
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
    """Process the loss of a trimmed or missing packet at its sender: NSCC cuts the window, unless it ignores losses."""
    window = w.windows[np.uint64(sender.window)]
    if window.control == NSCC:
        _trimmed(w, flow, sender, window, news)
        _bound(flow, sender, window)


@kernel
def time_out(w: World, flow: Any, sender: Any, lost_bytes: int) -> None:
    """Process a packet's timer that ran out: NSCC makes the window smaller by the packet."""
    window = w.windows[np.uint64(sender.window)]
    if window.control == NSCC:
        sender.cwnd -= lost_bytes
        _bound(flow, sender, window)


@kernel
def _trimmed(w: World, flow: Any, sender: Any, window: Any, news: Any) -> None:
    """Process a trimmed or missing packet: a queue was full, and so the delay counts as a round trip."""
    queueing_delay(sender, news)
    sender.ignored += news.bytes
    sender.average_ps = WEIGHT * window.base_rtt_ps + (1 - WEIGHT) * sender.average_ps
    sender.to_adapt = 1
    if not adapts_or_ignores(w, flow, sender, window, True, True):
        sender.cwnd -= news.bytes
