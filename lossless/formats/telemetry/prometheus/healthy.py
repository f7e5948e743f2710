"""Series of a healthy fabric under load, on which no alert may fire.

It pauses in its lossless priorities, marks, uses headroom, has queues above Kmax, and has counted drops, storms and
retransmissions long ago.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.metrics import (
    FOREIGN,
    RDMA_SENT,
    ethtool_metric,
    named,
    packets_sent,
    pause_counters,
)
from lossless.formats.telemetry.prometheus.alerts.watching import HOSTS_JOB, SWITCHES_JOB
from lossless.formats.telemetry.prometheus.bench import (
    INTENT,
    AlertCase,
    PortBench,
    line,
    rising,
    saw_tooth,
    steady,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.telemetry.prometheus.alerts.watching import AlertContext
    from lossless.formats.telemetry.prometheus.bench import Labels, Line

_LONG_AGO = steady(17)


def healthy(context: AlertContext) -> AlertCase:
    """Return the test with series of a port of each lossless kind, of one switch, and of one host, if there are any."""
    lines = dict.fromkeys((*_ports(context), *_switches(context), *_host(context)))
    return AlertCase(tuple(lines), _seconds(context))


def _seconds(context: AlertContext) -> int:
    """Return the window and the waiting time of the alert on queues without marks, together, in seconds."""
    return context.every.peaks + context.every.unmarked


def _ports(context: AlertContext) -> Iterator[Line]:
    seen = set()
    for port in context.intended.ports:
        if port.kind not in seen:
            seen.add(port.kind)
            for lossless in context.intended.kinds[port.kind].priorities:
                bench = PortBench(context.intended, port, lossless)
                yield from (*bench.intent, *_of_port(bench), *_of_class(context, bench))


def _of_port(bench: PortBench) -> Iterator[Line]:
    yield bench.sonic("interface_up", steady(1))
    yield bench.sonic("interface_speed_bytes_per_second", steady(50e9))


def _of_class(context: AlertContext, bench: PortBench) -> Iterator[Line]:
    item, per_scrape = bench.lossless, context.every.sample
    priority, watched = {"priority": str(item.priority)}, {"queue": str(item.priority)}
    queue, group = {"queue": str(item.queue)}, {"pg": str(item.group)}
    yield bench.sonic("pfc_received_frames_total", rising(50 * per_scrape), **priority)
    yield bench.sonic("pfc_sent_frames_total", rising(50 * per_scrape), **priority)
    yield bench.sonic("pfc_received_pause_seconds_total", rising(0.03 * per_scrape), **priority)
    yield bench.sonic("pfc_watchdog_storm", steady(0), **watched)
    yield bench.sonic("pfc_watchdog_storms_detected_total", _LONG_AGO, **watched)
    yield bench.sonic("pfc_watchdog_detection_seconds", steady(item.detection_s or 1), **watched)
    yield bench.sonic("queue_sent_packets_total", rising(1e6 * per_scrape), **queue)
    yield bench.sonic("queue_ecn_marked_packets_total", rising(1e3 * per_scrape), **queue)
    yield bench.sonic("queue_dropped_packets_total", _LONG_AGO, **queue)
    yield bench.sonic("priority_group_dropped_packets_total", _LONG_AGO, **group)
    peak, headroom = (item.kmax_bytes or 0) * 1.2, (item.headroom_bytes or 0) * 0.7
    for name, value, number in (
        ("queue_watermark_bytes", peak, queue),
        ("priority_group_headroom_watermark_bytes", headroom, group),
    ):
        yield bench.sonic(
            name, saw_tooth(value, context.every, _seconds(context)), **number, window="periodic"
        )


def _switches(context: AlertContext) -> Iterator[Line]:
    fabric = {"fabric": context.intended.fabric}
    for place, hwsku in context.intended.switches[:1]:
        switch = fabric | {"switch": place.name}
        yield line(f"{INTENT}switch:info", switch | {"tier": place.tier, "hwsku": hwsku}, steady(1))
        yield line("up", {"job": SWITCHES_JOB, **switch}, steady(1))
        yield line(named("info").name, switch, steady(1))
        yield line(named("database_up").name, switch | {"database": "COUNTERS_DB"}, steady(1))
        for group in context.polled:
            yield line(named("polling_enabled").name, switch | {"group": group}, steady(1))


def _host(context: AlertContext) -> Iterator[Line]:
    if not context.intended.hosts:
        return
    host = {"fabric": context.intended.fabric, "instance": context.intended.hosts[0]}
    yield line(f"{INTENT}host:info", host, steady(1))
    yield line("up", {"job": HOSTS_JOB, **host}, steady(1))
    for name, metric in FOREIGN.items():
        if name.startswith("node_infiniband") and metric.kind == "counter":
            yield line(name, host | {"device": "mlx5_0", "port": "1"}, _LONG_AGO)
    for driver in context.hosts.drivers:
        yield from _interface(context, driver, host | {"device": "eth0"})


def _interface(context: AlertContext, driver: str, interface: Labels) -> Iterator[Line]:
    grows = rising(1e5 * context.every.sample)
    yield line(f"node_{ethtool_metric(RDMA_SENT)}", interface, grows)
    for priority in context.intended.priorities:
        yield line(f"node_{ethtool_metric(packets_sent(priority))}", interface, grows)
        counters = pause_counters(driver, priority)
        if counters is not None:
            yield line(f"node_{ethtool_metric(counters.received)}", interface, rising(100))
