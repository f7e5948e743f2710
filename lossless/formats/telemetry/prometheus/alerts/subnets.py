"""Alerts on an InfiniBand subnet: by UFM Telemetry where UFM manages it, by node_exporter at its hosts.

Waiting for credits is InfiniBand's normal flow control: it is recorded, without an alert.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.foreign_metrics import FOREIGN
from lossless.formats.telemetry.prometheus.alerts.watching import UFM_JOB
from lossless.formats.telemetry.prometheus.bench import line, rising, steady
from lossless.formats.telemetry.prometheus.promql import FabricSeries, duration, matching
from lossless.formats.telemetry.prometheus.rule_data import Alert, AlertCase, Group, RecordingRule
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.telemetry.prometheus.bench import Labels
    from lossless.formats.telemetry.prometheus.times import AlertTimes

_SYMBOL_ERRORS_PER_HOUR = 10
"""Symbol errors per hour (ours) above which a cable of a host is bad.

A link within its specification (10^-15, InfiniBand vol. 2, 9.6) at 400 Gb/s has an error in 40 minutes before
correction, and the counter has the errors that correction left.
"""
_HOUR_S = 3600


class PortCounters(NamedTuple):
    """Names of a port's counters in one program, and its labels for the port."""

    program: str
    downed: str
    symbol_errors: str
    recoveries: str
    waits: str
    who: str
    labels: Labels


def port_counters(manager: str, host: str, fabric: str) -> tuple[PortCounters, ...]:
    """Return the counters of a subnet's ports: those of hosts, and those of all ports where UFM manages it."""
    node = PortCounters(
        "node_exporter",
        FOREIGN["node_infiniband_link_downed_total"].name,
        FOREIGN["node_infiniband_symbol_error_total"].name,
        FOREIGN["node_infiniband_link_error_recovery_total"].name,
        FOREIGN["node_infiniband_port_transmit_wait_total"].name,
        "{{ $labels.instance }} {{ $labels.device }}",
        {"fabric": fabric, "instance": host, "device": "mlx5_0", "port": "1"},
    )
    ufm = PortCounters(
        "UFM Telemetry",
        FOREIGN["LinkDownedCounterExtended"].name,
        FOREIGN["SymbolErrorCounterExtended"].name,
        FOREIGN["LinkErrorRecoveryCounterExtended"].name,
        FOREIGN["PortXmitWaitExtended"].name,
        "port {{ $labels.port_num }} of {{ $labels.node_guid }}",
        {"fabric": fabric, "node_guid": "0x506b4b03005c2740", "port_num": "3"},
    )
    return (node, ufm) if manager == "ufm" else (node,)


def subnet_recordings(fabric: str, every: AlertTimes, counters: tuple[PortCounters, ...]) -> Group:
    """Return the rate at which ports wait for credits, in ticks per second: information, since a loaded port waits."""
    of, window = FabricSeries(fabric), duration(every.rate)
    rules = (
        RecordingRule("lossless:infiniband_port_wait_ticks:rate", f"rate({of(item.waits)}[{window}])")
        for item in counters
    )
    return Group(f"lossless-rates-{fabric}", every.scrape, tuple(rules))


def subnet_alerts(fabric: str, every: AlertTimes, counters: tuple[PortCounters, ...]) -> Iterator[Alert]:
    """Yield the alerts on ports of a subnet."""
    for item in counters:
        yield _flaps(fabric, every, item)
        yield _symbol_errors(fabric, every, item)
    if len(counters) > 1:
        yield _ufm_away(fabric, every)


def _ufm_away(fabric: str, every: AlertTimes) -> Alert:
    """Return the alert on UFM Telemetry that answers on no manager; of two managers one is a standby."""
    job = matching("job", UFM_JOB)
    managers = [{"job": UFM_JOB, "fabric": fabric, "instance": name} for name in ("first", "second")]
    seconds = every.settles + 2 * every.sample
    first, second = (line("up", labels, steady(0)) for labels in managers)
    return Alert(
        name="LosslessUfmScrapeFailed",
        severity="warning",
        expr=f"max by (fabric) ({FabricSeries(fabric)('up', job)}) == 0",
        for_s=every.settles,
        summary="UFM Telemetry of {{ $labels.fabric }} cannot be scraped",
        description="Nothing is known of the switches of {{ $labels.fabric }}: neither links that flap nor bad cables "
        "there raise an alert.",
        runbook="curl -s http://MANAGER:PORT/metrics; on the manager: docker ps, and the log of UFM Telemetry.",
        fires=AlertCase((first, second), seconds, {"fabric": fabric}),
        quiet=AlertCase((first, line("up", managers[1], steady(1))), seconds),
    )


def _flaps(fabric: str, every: AlertTimes, item: PortCounters) -> Alert:
    """Return the alert on a link that went down three times in an hour.

    Once is a host that restarts, and twice one that restarts again: the counter counts those too.
    """
    window = duration(_HOUR_S)
    step = 4 * every.sample / _HOUR_S
    return Alert(
        name="LosslessIbLinkFlaps",
        severity="warning",
        expr=f"increase({FabricSeries(fabric)(item.downed)}[{window}]) >= 3",
        for_s=0,
        summary=f'The link of {item.who} went down {{{{ $value | printf "%.0f" }}}} times in an hour',
        description="Each time the subnet manager routes around it, and traffic that crosses it waits or is lost.",
        runbook="iblinkinfo; ibqueryerrors; the log of the subnet manager. lossless verify INTENT CAPTURES (IBC003).",
        fires=AlertCase((line(item.downed, item.labels, rising(step)),), _HOUR_S, item.labels),
        quiet=AlertCase((line(item.downed, item.labels, steady(9)),), _HOUR_S),
        labels={"program": item.program},
    )


def _symbol_errors(fabric: str, every: AlertTimes, item: PortCounters) -> Alert:
    """Return the alert on a port with symbol errors and link error recoveries in the same hour.

    Neither alone is reported: symbol errors occur while a cable is plugged, recoveries when the peer restarts.
    """
    of, window = FabricSeries(fabric), duration(_HOUR_S)
    errors = f"increase({of(item.symbol_errors)}[{window}]) > {_SYMBOL_ERRORS_PER_HOUR}"
    recovers = f"increase({of(item.recoveries)}[{window}]) > 0"
    names = ", ".join(item.labels)
    step = 40 * every.sample / _HOUR_S
    lines = (
        line(item.symbol_errors, item.labels, rising(step)),
        line(item.recoveries, item.labels, rising(step)),
    )
    still = line(item.recoveries, item.labels, steady(3))
    return Alert(
        name="LosslessIbCableBad",
        severity="warning",
        expr=f"{errors}\nand on ({names}) ({recovers})",
        for_s=0,
        summary=f"The cable of {item.who} is bad: symbol errors, and the link recovers from errors",
        description="A packet with an error is dropped, and its sender finds out by a timeout; while a link recovers "
        "it sends nothing.",
        runbook="ibqueryerrors; clean or replace the cable at both ends. lossless verify INTENT CAPTURES (IBC003).",
        fires=AlertCase(lines, _HOUR_S, item.labels),
        quiet=AlertCase((lines[0], still), _HOUR_S),
        labels={"program": item.program},
    )
