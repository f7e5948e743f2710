"""Alerts on pause storms: an ongoing storm, a watchdog that triggered, a watchdog that does not run.

On a healthy fabric no watchdog triggers: it detects a queue that sends no packet for the whole detection time while it
is paused. With a detection time shorter than legitimate pauses it triggers nevertheless (rule WD015 and the storm model
report that case); then it drops packets each time, and the alert is correct.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.prometheus.alerts.watching import POLLING_OFF
from lossless.formats.telemetry.prometheus.bench import (
    PORT,
    UNENDED,
    Alert,
    duration,
    port_bench,
    rising,
    steady,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.telemetry.prometheus.alerts.watching import AlertContext
    from lossless.formats.telemetry.prometheus.bench import PortBench

STORM = "LosslessPauseStorm"
TRIGGERED = "LosslessWatchdogTriggered"
NOT_RUNNING = "LosslessWatchdogNotRunning"
_AT = "{{ $labels.switch }} {{ $labels.interface }}"
_TO = "{{ $labels.leads_to }} {{ $labels.neighbor }} {{ $labels.neighbor_port }}"


def storm_alerts(context: AlertContext) -> Iterator[Alert]:
    """Yield the alerts on pause storms; none where the intent has no PFC watchdog."""
    bench = port_bench(context.intended)
    if bench is None or not context.intended.watched:
        return
    yield _storm(context, bench)
    yield _triggered(context, bench)
    for queue in context.intended.watched:
        watched = port_bench(context.intended, priority=queue)
        if watched is not None:
            yield _not_running(context, watched, queue)


def _storm(context: AlertContext, bench: PortBench) -> Alert:
    """Return the alert on a pause storm, which fires at once: the watchdog reports only after the detection time.

    It looks back over one cycle of the watchdog (detection, restoration, a poll for each, and a scrape), so that a
    storm that is restored and comes back is one alert and not many. It ends when the switch reports the end, not when
    the switch stops answering. Ports outside the intent count too.
    """
    of = context.of
    stormed = _stormed(context)
    queue = {"queue": str(bench.lossless.priority)}
    info = of.intended("port:info")
    return Alert(
        name=STORM,
        severity="critical",
        expr=f"{of.with_port(f'({stormed})')}\nor\n({stormed}) unless on ({PORT}) {info}",
        for_s=0,
        summary=f"Pause storm on queue {{{{ $labels.queue }}}} of {_AT}",
        description=f"{_AT} (to {_TO}) is paused without an end, and the watchdog has triggered: with drop, what is "
        "sent there is lost; with forward, it is no longer lossless. Where it leads to a host, that is the source. "
        "While {{ $labels.switch }} does not answer, this is the last that is known.",
        runbook="On the switch: show pfcwd stats; show pfc counters. Gather captures of all switches and run lossless "
        "verify INTENT CAPTURES: it follows the pauses to the device that began them (STM003). Then restart the NIC of "
        "that host, or shut its port: config interface shutdown {{ $labels.interface }}.",
        fires=bench.scenario(
            2 * context.every.sample, bench.sonic("pfc_watchdog_storm", steady(1), **queue), fires=queue
        ),
        quiet=bench.scenario(2 * context.every.sample, bench.sonic("pfc_watchdog_storm", steady(0), **queue)),
    )


def _stormed(context: AlertContext) -> str:
    """Return PromQL for queues in a storm: within the last cycle of the watchdog, or without a reported end."""
    seen = f"max_over_time({context.of.sonic('pfc_watchdog_storm')}[{duration(context.every.storm)}]) == 1"
    return f"{context.of(UNENDED)} or {seen}"


def _triggered(context: AlertContext, bench: PortBench) -> Alert:
    """Return the alert on a storm that is over: the watchdog's count grew, and its last known state is no storm."""
    of = context.of
    counted = (
        f"increase({of.sonic('pfc_watchdog_storms_detected_total')}[{duration(context.every.event)}]) > 0"
    )
    restored = f"last_over_time({of.sonic('pfc_watchdog_storm')}[{duration(context.every.rate)}]) == 0"
    queue = {"queue": str(bench.lossless.priority)}
    ended = bench.sonic("pfc_watchdog_storm", steady(0), **queue)
    return Alert(
        name=TRIGGERED,
        severity="warning",
        expr=f"{of.with_port(f'({counted})')}\nand on ({PORT}, queue) ({restored})\n"
        f"unless on ({PORT}, queue) ({_stormed(context)})",
        for_s=0,
        summary=f"The watchdog triggered on queue {{{{ $labels.queue }}}} of {_AT}, and restored it",
        description=f"A storm came and went on {_AT} (to {_TO}). Connections through it may have lost packets.",
        runbook="show pfcwd stats on the switch; on {{ $labels.neighbor }} look for NIC resets and for pauses it sent "
        "(ethtool -S). lossless storm INTENT --from {{ $labels.neighbor }} shows what such a storm reaches.",
        fires=bench.scenario(
            context.every.event,
            ended,
            bench.sonic("pfc_watchdog_storms_detected_total", rising(1), **queue),
            fires=queue,
        ),
        quiet=bench.scenario(
            context.every.event, ended, bench.sonic("pfc_watchdog_storms_detected_total", steady(7), **queue)
        ),
        follows=((STORM, ("fabric",)),),
    )


def _not_running(context: AlertContext, bench: PortBench, queue: int) -> Alert:
    """Return the alert on a port that is up and reports no PFC watchdog for a queue that the intent has watched.

    It waits as long as the alert on polling does: SONiC polls the watchdog some minutes after a boot.
    """
    of = context.of
    up = of.with_port(f"({of.sonic('interface_up')} == 1)")
    meant = of.intended("watchdog:seconds", f'queue="{queue}"')
    runs = of.sonic("pfc_watchdog_detection_seconds", f'queue="{queue}"')
    labels = {"queue": str(queue)}
    is_up = bench.sonic("interface_up", steady(1))
    seconds = 2 * context.every.settles + 2 * context.every.sample
    return Alert(
        name=NOT_RUNNING,
        severity="warning",
        expr=f"(\n{up}\nand on (fabric, kind) {meant}\n)\nunless on ({PORT}) {runs}",
        for_s=2 * context.every.settles,
        summary=f"The PFC watchdog does not run on queue {queue} of {_AT}",
        description=f"The intent has a watchdog there, and the switch reports none: nothing ends a storm at {_AT}.",
        runbook="show pfcwd config; counterpoll show (group PFCWD). lossless verify INTENT CAPTURES says why (APP004); "
        "then apply the rendered configuration of {{ $labels.switch }} again.",
        fires=bench.scenario(seconds, is_up, fires=labels),
        quiet=bench.scenario(
            seconds,
            is_up,
            bench.sonic("pfc_watchdog_detection_seconds", steady(bench.lossless.detection_s or 0), **labels),
        ),
        labels=labels,
        follows=((POLLING_OFF, ("fabric", "switch")),),
    )
