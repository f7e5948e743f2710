"""DCQCN (Zhu et al., SIGCOMM 2015) as ConnectX has it: notification point and reaction point of one flow.

The reaction point's timers cost no events: whatever they would have done is caught up with, in its order, when the
flow next starts a frame. A CNP takes effect when it arrives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World


@kernel
def notify(w: World, number: int, arrived_at: int) -> None:
    """Notification point: a marked frame of a flow has arrived; send a CNP unless one was sent a moment ago."""
    flow, point = w.flows[number], w.points[number]
    params = w.params[flow.dcqcn]
    if arrived_at < point.cnp_allowed_at:
        return
    point.cnp_allowed_at = arrived_at + params.cnp_gate_ps
    depth = w.cnps.shape[1]
    if point.cnps == depth:
        react(w.clock.now, point, params, w.cnps, number)
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
        if not point.active:
            if cnp_at > now:
                return
            _first(point, params, cnp_at)
            point.first_cnp = (point.first_cnp + 1) % depth
            point.cnps -= 1
            continue
        if not point.alpha_cnp and not point.decrease_cnp:
            _skip(point, params, min(min(cnp_at, point.next_increase_at), now + 1))
        at = min(min(cnp_at, point.next_alpha_at), min(point.next_decrease_at, point.next_increase_at))
        if at > now:
            return
        if at == cnp_at:
            point.alpha_cnp = point.decrease_cnp = 1
            point.first_cnp = (point.first_cnp + 1) % depth
            point.cnps -= 1
        elif at == point.next_alpha_at:
            _update_alpha(point, params)
        elif at == point.next_decrease_at:
            _check_decrease(point, params)
        else:
            point.next_increase_at += params.increase_ps
            increase(point, params)
            point.time_stage += 1


@kernel
def _first(point: Any, params: Any, at: int) -> None:
    """The first CNP of a flow sets alpha and starts the timers; it cuts nothing by itself."""
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
def _skip(point: Any, params: Any, until: int) -> None:
    """Skip timers before ``until`` that find no CNP: alpha decays, no cut is due."""
    if point.next_alpha_at < until:
        periods = (until - 1 - point.next_alpha_at) // params.alpha_ps + 1
        point.next_alpha_at += periods * params.alpha_ps
        if periods < 4:
            for _ in range(periods):
                point.alpha *= 1 - params.g
        else:
            point.alpha *= (1 - params.g) ** periods
    if point.next_decrease_at < until:
        periods = (until - 1 - point.next_decrease_at) // params.decrease_ps + 1
        point.next_decrease_at += periods * params.decrease_ps


@kernel
def _update_alpha(point: Any, params: Any) -> None:
    point.next_alpha_at += params.alpha_ps
    point.alpha *= 1 - params.g
    if point.alpha_cnp:
        point.alpha += params.g
    point.alpha_cnp = 0


@kernel
def _check_decrease(point: Any, params: Any) -> None:
    """Cut the rate if a CNP has come since the last check; the cut restarts recovery."""
    checked_at = point.next_decrease_at
    point.next_decrease_at += params.decrease_ps
    if not point.decrease_cnp:
        return
    if params.clamp or (params.clamp_after_increase and (point.time_stage or point.byte_stage)):
        point.target_bps = point.rate_bps
    kept = max(1 - point.alpha * params.alpha_to_rate, params.min_decrease)
    point.rate_bps = max(params.min_rate_bps, point.rate_bps * kept)
    point.time_stage = point.byte_stage = 0
    point.decrease_cnp = 0
    point.byte_left = params.byte_reset
    point.next_increase_at = checked_at + params.increase_ps


@kernel
def next_start(w: World, number: int, wire_bytes: int) -> int:
    """Return when a flow's next frame may start, after one that starts now.

    With the pacing lock that is one frame at the present rate later, come what may. Without it the wait is looked at
    again whenever the rate rises.
    """
    now, point, params = w.clock.now, w.points[number], w.params[w.flows[number].dcqcn]
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
    flow, point, now = w.flows[number], w.points[number], w.clock.now
    params = w.params[flow.dcqcn]
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
