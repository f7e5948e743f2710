"""Alerts on the NICs of hosts, by node_exporter.

Counters of RDMA devices (``hw_counters``) need a node_exporter that reads them, those of ``ethtool -S`` its collector
ethtool with the counters of priorities included. Alerts on counters that are missing do not fire; where all NICs are of
mlx5, ``LosslessHostCountersMissing`` does without hw_counters.

Lost packets appear at hosts as packets out of sequence and as retransmissions. Each has innocent causes too, which end
by themselves: these alerts wait longer than that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.metrics import (
    FOREIGN,
    HW_COUNTERS_SINCE,
    RDMA_SENT,
    any_of,
    ethtool_metric,
    packets_sent,
    pause_counters,
)
from lossless.formats.telemetry.prometheus.alerts.losses import LOSSES
from lossless.formats.telemetry.prometheus.alerts.storms import STORM
from lossless.formats.telemetry.prometheus.alerts.watching import HOSTS_JOB, SWITCH_DOWN
from lossless.formats.telemetry.prometheus.bench import (
    REPEATS,
    Alert,
    AlertCase,
    duration,
    line,
    matching,
    rising,
    steady,
)
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.telemetry.prometheus.alerts.watching import AlertContext
    from lossless.formats.telemetry.prometheus.bench import Labels, Severity

_EXPLAINED = tuple((name, ("fabric",)) for name in (STORM, SWITCH_DOWN, *LOSSES))
_WHO = "{{ $labels.instance }} {{ $labels.device }}"
_VERIFY = "lossless verify INTENT CAPTURES --since BEFORE, with captures of both hosts and the switches between them"
_RETRANSMITS = "roce_adp_retransmits_total"
_RDMA_RATE = 1000
"""Packets per second (ours): connections are set up by a few packets, which count as RDMA too."""


def host_alerts(context: AlertContext) -> Iterator[Alert]:
    """Yield the alerts on hosts; none where the intent has no hosts, or no lossless priority."""
    if not context.intended.hosts or not context.hosts.priorities:
        return
    if context.hosts.mlx5_only:
        yield _counters_missing(context)
    yield _out_of_sequence(context)
    yield _ack_timeouts(context)
    yield _adaptive_retransmission(context)
    if context.hosts.dcqcn:
        yield _cnp_ignored(context)
    if "mlx5" in context.hosts.drivers:
        yield _on_other_priority(context)
    for driver in context.hosts.drivers:
        yield from _pauses(context, driver)
        yield from _discards(context, driver)


def _host(context: AlertContext) -> Labels:
    return {"fabric": context.intended.fabric, "instance": context.intended.hosts[0]}


def _port(context: AlertContext) -> Labels:
    device = context.hosts.rdma_devices[0] if context.hosts.rdma_devices else "mlx5_0"
    return _host(context) | {"device": device, "port": "1"}


def _interface(context: AlertContext) -> Labels:
    return _host(context) | {"device": context.hosts.interfaces[0] if context.hosts.interfaces else "eth0"}


def _devices(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the matcher of the devices that the intent names, none without names."""
    return (f'device=~"{any_of(names)}"',) if names else ()


def _grows(
    context: AlertContext,
    name: str,
    for_s: int,
    texts: tuple[str, str, str, str],
    severity: Severity = "warning",
) -> Alert:
    """Return an alert on a counter of RDMA devices that grows in each window; growth in the past does not fire it."""
    metric = FOREIGN[f"node_infiniband_{name}"].name
    alert, summary, description, runbook = texts
    labels, seconds = _port(context), for_s + context.every.rate + context.every.sample
    rate = (
        f"rate({context.of(metric, *_devices(context.hosts.rdma_devices))}[{duration(context.every.rate)}])"
    )
    stopped = f"0+5x{context.every.rate // context.every.sample} 100+0{REPEATS}"
    return Alert(
        name=alert,
        severity=severity,
        expr=f"{rate} > 0",
        for_s=for_s,
        summary=summary,
        description=description,
        runbook=runbook,
        fires=AlertCase((line(metric, labels, rising(5)),), seconds, labels),
        quiet=AlertCase((line(metric, labels, stopped),), seconds),
        follows=_EXPLAINED,
    )


def _counters_missing(context: AlertContext) -> Alert:
    """Return the alert on a host that is scraped without counters of its RDMA devices: info, not a fault of the fabric.

    Rendered for NICs of mlx5 alone: other drivers have other counter names, or node_exporter does not read them
    (prometheus/procfs sysfs/class_infiniband.go @01309d2: devices whose name begins with mlx5_ or irdma).
    """
    metric = FOREIGN["node_infiniband_out_of_sequence_packets_received_total"].name
    up, scraped = {"job": HOSTS_JOB, **_host(context)}, context.of("up", matching("job", HOSTS_JOB))
    return Alert(
        name="LosslessHostCountersMissing",
        severity="info",
        expr=f"({scraped} == 1)\nunless on (fabric, instance) {context.of(metric)}",
        for_s=context.every.settles,
        summary="{{ $labels.instance }} shows no hw_counters of RDMA devices",
        description="Alerts on retransmission, timeouts and CNPs cannot fire for {{ $labels.instance }}: node_exporter "
        f"has these counters since {HW_COUNTERS_SINCE}, needs its collector infiniband, and some releases read "
        "them only of devices that are called mlx5_*.",
        runbook="node_exporter --version; ls /sys/class/infiniband/*/ports/1/hw_counters on the host.",
        fires=AlertCase((line("up", up, steady(1)),), context.every.settles + 2 * context.every.sample, up),
        quiet=AlertCase(
            (line("up", up, steady(1)), line(metric, _port(context), steady(0))),
            context.every.settles + 2 * context.every.sample,
        ),
    )


def _out_of_sequence(context: AlertContext) -> Alert:
    """Return the alert on packets out of sequence for five minutes, while hosts of the fabric receive NAKs.

    A link that fails moves flows once, which reorders once. Where the packets of a flow are spread over paths, they
    arrive out of order by design, and NICs that support this send no NAK: so the alert needs the second sign.
    """
    naks = context.of(FOREIGN["node_infiniband_packet_sequence_errors_total"].name)
    alert = _grows(
        context,
        "out_of_sequence_packets_received_total",
        context.every.settles,
        (
            "LosslessHostOutOfSequence",
            f"{_WHO} receives packets out of sequence, and asks for them again",
            "Packets to this host are lost on the way, and no alert on the fabric explains it.",
            f"{_VERIFY}. Look for drops outside the lossless class: RDMA may be on another priority.",
        ),
    )
    nak = line(FOREIGN["node_infiniband_packet_sequence_errors_total"].name, _port(context), rising(5))
    asked = f"sum by (fabric) (rate({naks}[{duration(context.every.rate)}])) > 0"
    return alert._replace(
        expr=f"{alert.expr}\nand on (fabric) ({asked})",
        fires=alert.fires._replace(series=(*alert.fires.series, nak)),
        # Out of order without end, and nobody asks again.
        quiet=alert.fires._replace(labels=None),
    )


def _ack_timeouts(context: AlertContext) -> Alert:
    """Return the alert on ACK timeouts that go on for longer than a dead peer explains.

    A job that is killed leaves its peers waiting: their queue pairs time out until they have no retry left, 4.096 us x
    2^timeout x (retry_count + 1) with the values of the intent. It waits for twice that and a window, five minutes at
    least and an hour at most.
    """
    return _grows(
        context,
        "local_ack_timeout_errors_total",
        context.every.retries,
        (
            "LosslessHostAckTimeouts",
            f"Queue pairs of {_WHO} time out again and again",
            "ACKs do not come in time, for longer than a peer that died would explain "
            f"({context.every.patience} s until a queue pair gives up). Each timeout stalls its connection.",
            f"{_VERIFY}; look for a stalled queue: show pfcwd stats, show queue watermark on the leaf.",
        ),
    )


def _adaptive_retransmission(context: AlertContext) -> Alert:
    """Return the alert on adaptive retransmissions, which must go on for as long as ACK timeouts."""
    return _grows(
        context,
        _RETRANSMITS,
        context.every.retries,
        (
            "LosslessHostRetransmits",
            f"{_WHO} retransmits (adaptive retransmission)",
            "The NIC found packets lost before the transport timed out, again and again.",
            f"{_VERIFY}.",
        ),
    )


def _cnp_ignored(context: AlertContext) -> Alert:
    """Return the alert on CNPs that arrive and are ignored, although the intent has DCQCN on.

    No healthy fabric has them: mlx5 counts them only where its reaction point is off for the priority (Linux
    mlx5/counters.rst @16f448d).
    """
    return _grows(
        context,
        "rp_cnp_ignored_packets_received_total",
        context.every.settles,
        (
            "LosslessHostCnpIgnored",
            f"{_WHO} ignores CNPs",
            "The NIC is told of congestion and does not slow down: DCQCN is off there for the priority of the flow.",
            "cat /sys/class/net/IF/ecn/roce_rp/enable/*; run the rendered lossless-roce.sh on {{ $labels.instance }}.",
        ),
    )


def _on_other_priority(context: AlertContext) -> Alert:
    """Return the alert on a NIC of mlx5 that sends RDMA, and no packet on a lossless priority.

    That all packets have other priorities is no sign of this fault: it is so on any host without RDMA. A host whose
    RDMA belongs in a lossy class alone fires the alert.
    """
    window = duration(context.every.event)
    sent = context.of(f"node_{ethtool_metric(RDMA_SENT)}", *_devices(context.hosts.interfaces))
    lossless = [f"node_{ethtool_metric(packets_sent(number))}" for number in context.hosts.priorities]
    summed = " + on (fabric, instance, device) ".join(
        f"rate({context.of(name)}[{window}])" for name in lossless
    )
    labels = _interface(context)
    rdma = line(f"node_{ethtool_metric(RDMA_SENT)}", labels, rising(5000 * context.every.sample))
    seconds = 2 * context.every.event + context.every.sample

    def scenario(step: int, fires: Labels | None) -> AlertCase:
        return AlertCase((rdma, *(line(name, labels, rising(step)) for name in lossless)), seconds, fires)

    return Alert(
        name="LosslessHostRdmaOffLosslessPriority",
        severity="warning",
        expr=f"rate({sent}[{window}]) > {_RDMA_RATE}\nand on (fabric, instance, device) ({summed}) == 0",
        for_s=context.every.event,
        summary=f"{_WHO} sends RDMA, and none of it on a lossless priority",
        description="Its packets travel with all other traffic: no PFC, no marks, dropped under congestion.",
        runbook="lossless verify INTENT CAPTURES (HCT003). mlnx_qos -i {{ $labels.device }} (trust dscp); the traffic "
        "class of the RDMA device and NCCL_IB_TC must give the DSCP of the lossless class.",
        fires=scenario(0, labels),
        quiet=scenario(5000 * context.every.sample, None),
    )


def _pauses(context: AlertContext, driver: str) -> Iterator[Alert]:
    """Yield, by priority, an alert on pauses that a NIC receives in a priority that the intent makes lossy.

    Where the intent does not name the interfaces, the NIC may belong to another fabric: then it is info.
    """
    severity: Severity = "warning" if context.hosts.interfaces else "info"
    window, seconds = (
        duration(context.every.rate),
        context.every.sustained + context.every.rate + context.every.sample,
    )
    for priority in PRIORITIES:
        counters = pause_counters(driver, priority)
        if priority in context.hosts.priorities or counters is None:
            continue
        metric = f"node_{ethtool_metric(counters.received)}"
        labels = {"priority": str(priority), "driver": driver}
        series = line(metric, _interface(context), rising(20))
        yield Alert(
            name="LosslessHostPausedOnLossyPriority",
            severity=severity,
            expr=f"rate({context.of(metric, *_devices(context.hosts.interfaces))}[{window}]) > 0",
            for_s=context.every.sustained,
            summary=f"{_WHO} is paused on priority {priority}, which is not lossless",
            description="Its switch sends pauses of a priority that the intent makes lossy.",
            runbook="show pfc counters on its leaf; lossless verify INTENT CAPTURES (CTR002).",
            fires=AlertCase((series,), seconds, _interface(context) | labels),
            quiet=AlertCase((line(metric, _interface(context), steady(40)),), seconds),
            labels=labels,
        )


def _discards(context: AlertContext, driver: str) -> Iterator[Alert]:
    """Yield, by lossless priority, an alert on packets that a NIC receives and drops for want of buffer.

    Only for drivers that count them.
    """
    window, seconds = duration(context.every.event), context.every.event
    for priority in context.hosts.priorities:
        counters = pause_counters(driver, priority)
        if counters is None or counters.drops is None:
            continue
        metric = f"node_{ethtool_metric(counters.drops)}"
        labels = {"priority": str(priority), "driver": driver}
        yield Alert(
            name="LosslessHostBufferDiscards",
            severity="warning",
            expr=f"increase({context.of(metric, *_devices(context.hosts.interfaces))}[{window}]) > 0",
            for_s=0,
            summary=f"{_WHO} discards packets of lossless priority {priority} for want of buffer",
            description="These packets crossed the fabric and were lost in the NIC; no switch counts them. Either PFC "
            "is off there, or its receive buffer is too small for the cable, or it ended a storm of its own.",
            runbook="mlnx_qos -i {{ $labels.device }} on {{ $labels.instance }} (PFC, buffers); ethtool -S; "
            "lossless verify INTENT CAPTURES (HCT005).",
            fires=AlertCase(
                (line(metric, _interface(context), rising(5)),), seconds, _interface(context) | labels
            ),
            quiet=AlertCase((line(metric, _interface(context), steady(40)),), seconds),
            labels=labels,
        )
