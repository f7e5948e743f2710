"""DCQCN (Zhu et al., SIGCOMM 2015) as ConnectX has it: notification point and reaction point of one flow.

The reaction point's timers cost no events: their effects are applied later, in order, when the flow next starts a
frame. A CNP takes effect when it arrives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World


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
            _cut(point, params)
        else:
            point.next_increase_at += params.increase_ps
            increase(point, params)
            point.time_stage += 1


@kernel
def _take_cnp(point: Any, params: Any, at: int) -> None:
    """A CNP arrives: the next update of alpha and the next check for a cut find it."""
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
    """Return how long the periods take that begin from a time on, up to another."""
    return ((last_at - first_at) // period_ps + 1) * period_ps


@kernel
def _first(point: Any, params: Any, at: int) -> None:
    """Apply the first CNP of a flow: it sets alpha and starts the timers, without a cut."""
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
def _cut(point: Any, params: Any) -> None:
    """Cut the rate, as a CNP has come since the last check; the cut restarts recovery."""
    checked_at = point.next_decrease_at
    point.next_decrease_at += params.decrease_ps
    if params.clamp or (params.clamp_after_increase and (point.time_stage or point.byte_stage)):
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
    """Return whether a flow without pacing lock must wait on although its time had come, and set until when."""
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
