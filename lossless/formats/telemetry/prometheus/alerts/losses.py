"""Alerts on faults that a lossless fabric must not have: drops in a lossless class, and headroom nearly used up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.metrics import named
from lossless.formats.telemetry.prometheus.alerts.storms import STORM, TRIGGERED
from lossless.formats.telemetry.prometheus.alerts.watching import status_changes
from lossless.formats.telemetry.prometheus.bench import (
    PORT,
    REPEATS,
    Alert,
    AlertCase,
    duration,
    line,
    port_bench,
    rising,
    saw_tooth,
    steady,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.telemetry.prometheus.alerts.watching import AlertContext
    from lossless.formats.telemetry.prometheus.bench import Line, PortBench
    from lossless.formats.telemetry.prometheus.inventory import HeadroomPool

QUEUE_DROPS = "LosslessQueueDrops"
GROUP_DROPS = "LosslessPriorityGroupDrops"
NEARLY_FULL = 0.9
"""Used share of headroom (ours): a tenth is left.

Rows of vendors are computed for the worst case, the smallest packets in cells that they do not fill; whole frames use
less.
"""
_AT = "{{ $labels.switch }} {{ $labels.interface }}"
_VERIFY = "lossless verify INTENT CAPTURES --since BEFORE"


def loss_alerts(context: AlertContext) -> Iterator[Alert]:
    """Yield the alerts on drops and headroom of lossless classes; none without ports of lossless priorities."""
    bench = port_bench(context.intended)
    if bench is None:
        return
    yield _queue_drops(context, bench)
    yield _group_drops(context, bench)
    if bench.lossless.headroom_bytes is not None:
        yield _headroom(context, bench, bench.lossless.headroom_bytes)
    if context.intended.pools:
        yield _pool(context, context.intended.pools[0])


def _queue_drops(context: AlertContext, bench: PortBench) -> Alert:
    """Return the alert on the first drop of a lossless queue.

    Excluded are ports that went down in the window, which empties their queues on a healthy fabric too (a host
    restarts), and ports where a watchdog saw a storm, which has alerts of its own. Drops are counted up to a poll later
    than their cause, so causes are searched a window further back. A port whose state is unknown (gNMI does not serve
    it) counts as up.
    """
    queue = {"queue": str(bench.lossless.queue)}
    return Alert(
        name=QUEUE_DROPS,
        severity="critical",
        expr=_dropped(context, "queue_dropped_packets_total", "queue", "queue:info"),
        for_s=0,
        summary=f"Lossless queue {{{{ $labels.queue }}}} of {_AT} drops",
        description=f"{_AT} (to {{{{ $labels.neighbor }}}}) dropped packets of a lossless class at its output. RoCE "
        "sends all that was in flight again; PFC did not stop the senders in time, or WRED drops instead of marking.",
        runbook=f"show queue counters {{{{ $labels.interface }}}}; ecnconfig -l. {_VERIFY} says whether the switch "
        "sent pauses meanwhile (CTR001); lossless trace INTENT --from HOST --to HOST --dscp N shows thresholds.",
        fires=_drops(context, bench, bench.sonic("queue_dropped_packets_total", rising(3), **queue), queue),
        quiet=_flap(context, bench, bench.sonic("queue_dropped_packets_total", rising(3), **queue)),
        follows=((STORM, ("fabric", "switch")),),
    )


def _group_drops(context: AlertContext, bench: PortBench) -> Alert:
    """Return the alert on the first drop of a lossless priority group, with the same exceptions as for queues."""
    group = {"pg": str(bench.lossless.group)}
    return Alert(
        name=GROUP_DROPS,
        severity="critical",
        expr=_dropped(context, "priority_group_dropped_packets_total", "pg", "priority_group:info"),
        for_s=0,
        summary=f"Lossless priority group {{{{ $labels.pg }}}} of {_AT} drops",
        description=f"{_AT} (from {{{{ $labels.neighbor }}}}) had no room left for packets of a lossless class: its "
        "headroom is too small for the cable and the peer, or the peer does not obey pauses.",
        runbook=f"show priority-group drop counters; show priority-group watermark headroom. {_VERIFY}; lossless "
        "headroom INTENT shows the calculation. Check that {{ $labels.neighbor }} obeys PFC of the priority.",
        fires=_drops(
            context, bench, bench.sonic("priority_group_dropped_packets_total", rising(3), **group), group
        ),
        quiet=_flap(context, bench, bench.sonic("priority_group_dropped_packets_total", rising(3), **group)),
        follows=((STORM, ("fabric", "switch")),),
    )


def _dropped(context: AlertContext, metric: str, number: str, info: str) -> str:
    of, every = context.of, context.every
    window, before = duration(every.event), duration(every.event + every.rate)
    counted = of.with_port(f"(increase({of.sonic(metric)}[{window}]) > 0)")
    down = f"min_over_time({of.sonic('interface_up')}[{before}]) == 0"
    stormed = f"max_over_time({of.sonic('pfc_watchdog_storm')}[{before}]) == 1"
    flapped = f"{status_changes(of, before)} > 0"
    triggered = f"increase({of.sonic('pfc_watchdog_storms_detected_total')}[{before}]) > 0"
    return (
        f"(\n{counted}\nand on (fabric, kind, {number}) {of.intended(info)}\n)\n"
        f"unless on ({PORT}) ({down} or {flapped} or {stormed} or {triggered})"
    )


def _drops(context: AlertContext, bench: PortBench, drops: Line, fires: dict[str, str]) -> AlertCase:
    return bench.scenario(context.every.event, drops, bench.sonic("interface_up", steady(1)), fires=fires)


def _flap(context: AlertContext, bench: PortBench, drops: Line) -> AlertCase:
    """Return the test with the same drops on a port that went down in the window: no alert fires."""
    up = bench.sonic("interface_up", f"1+0x{context.every.event // context.every.sample - 2} 0 1+0{REPEATS}")
    return bench.scenario(context.every.event, drops, up)


def _headroom(context: AlertContext, bench: PortBench, headroom_bytes: int) -> Alert:
    """Return the alert on a headroom watermark of a priority group above nine tenths of the intended headroom."""
    labels = {"pg": str(bench.lossless.group), "window": "periodic"}
    seconds = context.every.watermark + context.every.rate

    def level(ratio: float) -> Line:
        values = saw_tooth(int(headroom_bytes * ratio), context.every, seconds)
        return bench.sonic("priority_group_headroom_watermark_bytes", values, **labels)

    return Alert(
        name="LosslessHeadroomNearlyFull",
        severity="warning",
        expr=f"{context.of('lossless:priority_group_headroom:ratio')} > {NEARLY_FULL:g}",
        for_s=0,
        summary=f"Headroom of PG {{{{ $labels.pg }}}} of {_AT} was {{{{ $value | humanizePercentage }}}} full",
        description=f"{_AT} (from {{{{ $labels.neighbor }}}}) needed nearly all headroom that the intent gives ports "
        "of kind {{ $labels.kind }}. What comes beyond it is dropped: the cable may be longer than stated, or the peer "
        "slower to obey.",
        runbook="lossless headroom INTENT shows what the link needs; compare the cable with the intent, and the "
        "profile that runs with the rendered one: show priority-group watermark headroom; show buffer_pool watermark.",
        fires=bench.scenario(seconds, level(0.95), fires=labels),
        quiet=bench.scenario(seconds, level(0.85)),
        follows=((GROUP_DROPS, ("fabric", "switch")),),
    )


def _pool(context: AlertContext, pool: HeadroomPool) -> Alert:
    """Return the alert on a headroom watermark of a buffer pool above nine tenths of its shared headroom."""
    asic = {"namespace": pool.namespace} if pool.namespace else {}
    identity = {"fabric": context.intended.fabric, "switch": pool.switch, **asic, "pool": pool.pool}
    seconds = context.every.watermark + context.every.rate

    def scenario(ratio: float, fires: dict[str, str] | None) -> AlertCase:
        labels = identity | {"window": "periodic"}
        lines = (
            line(
                named("buffer_pool_headroom_watermark_bytes").name,
                labels,
                saw_tooth(int(pool.headroom_bytes * ratio), context.every, seconds),
            ),
            line("lossless:intended_headroom_pool:bytes", identity, steady(pool.headroom_bytes)),
        )
        return AlertCase(lines, seconds, fires)

    return Alert(
        name="LosslessHeadroomPoolNearlyFull",
        severity="warning",
        expr=f"{context.of('lossless:headroom_pool:ratio')} > {NEARLY_FULL:g}",
        for_s=0,
        summary="The headroom that {{ $labels.switch }} lends from {{ $labels.pool }} was "
        "{{ $value | humanizePercentage }} used",
        description="Lossless groups of {{ $labels.switch }} borrow headroom from one pool, and nearly all of it was "
        "borrowed at once. A group that gets none drops.",
        runbook="show headroom-pool watermark. lossless headroom INTENT says by how much the pool is oversubscribed.",
        fires=scenario(0.95, identity | {"window": "periodic"}),
        quiet=scenario(0.85, None),
        follows=((GROUP_DROPS, ("fabric", "switch")),),
    )


LOSSES = (QUEUE_DROPS, GROUP_DROPS, TRIGGERED)
"""Alerts that explain retransmissions of hosts."""
