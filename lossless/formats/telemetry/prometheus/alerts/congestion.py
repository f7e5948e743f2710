"""Alerts on pauses and marks of a fabric, and on a subnet of InfiniBand.

Of a fabric these are pauses of lossy priorities, slow receivers, congestion that spreads, and queues without marks.
Pauses alone are not a fault: a lossless fabric under load pauses, so no alert here fires on pauses of a lossless
priority as such.

A subnet is watched by UFM Telemetry where UFM manages it, by node_exporter at its hosts. Waiting for credits is
InfiniBand's normal flow control: it is recorded, without an alert.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.metrics import FOREIGN
from lossless.formats.telemetry.prometheus.alerts.storms import STORM
from lossless.formats.telemetry.prometheus.alerts.watching import HOUR_S, UFM_JOB, host_scrape_failed
from lossless.formats.telemetry.prometheus.bench import (
    INTENT,
    PORT,
    Alert,
    AlertCase,
    FabricSeries,
    Group,
    RecordingRule,
    duration,
    line,
    matching,
    port_bench,
    rising,
    saw_tooth,
    steady,
)
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from lossless.formats.telemetry.prometheus.alerts.watching import AlertContext
    from lossless.formats.telemetry.prometheus.bench import Labels, Line, PortBench
    from lossless.formats.telemetry.prometheus.inventory import AlertTimes


SLOW_RECEIVER = "LosslessSlowReceiver"
SPREADS = "LosslessCongestionSpreads"
SLOW_RATIO = 0.1
"""Share of time (ours): a host that pauses its port a tenth of the time receives at most nine tenths of the traffic."""
SPREADS_RATIO = 0.25
"""Share of time (ours): a link between switches that is paused a quarter of the time lacks a quarter of its capacity.

DCQCN with marks in time keeps pauses between switches rare (Zhu et al., Congestion Control for Large-Scale RDMA
Deployments, SIGCOMM 2015, section 6).
"""
_AT = "{{ $labels.switch }} {{ $labels.interface }}"
_QUIET_FRAMES = 50
"""Pauses from one scrape to the next of a port that is healthy under load."""


def congestion_alerts(context: AlertContext) -> Iterator[Alert]:
    """Yield the alerts on pauses and ECN marks of a fabric; none without ports of lossless priorities."""
    bench = port_bench(context.intended)
    if bench is None:
        return
    lossy = next((priority for priority in PRIORITIES if priority not in context.intended.priorities), None)
    if lossy is not None:
        yield _on_lossy(context, bench, lossy, "received")
        yield _on_lossy(context, bench, lossy, "sent")
    to_host = port_bench(context.intended, "host")
    if to_host is not None:
        yield _slow_receiver(context, to_host)
    to_switch = port_bench(context.intended, "up", "down", "switch")
    if to_switch is not None and not context.pfc_only:
        yield _spreads(context, to_switch)
    if bench.lossless.kmax_bytes is not None:
        yield _no_marks(context, bench, bench.lossless.kmax_bytes)
        if context.hosts.mlx5_only and context.intended.hosts:
            yield _no_marks_anywhere(context, bench, bench.lossless.kmax_bytes)


def _on_lossy(
    context: AlertContext, bench: PortBench, lossy: int, direction: Literal["received", "sent"]
) -> Alert:
    """Return the alert on pauses, for two rate windows, of a priority that is not lossless on ports of one kind.

    A NIC that starts may send some pauses before PFC is set on it. A port with asymmetric PFC obeys all priorities, so
    pauses that it receives are excluded.
    """
    obeys = ', pfc!="asymmetric"' if direction == "received" else ""
    of = context.of
    rate = of(f"lossless:pfc_{direction}_frames:rate")
    ports = of.intended("port:info", f'pfc=~".+"{obeys}')
    seconds = context.every.rate + context.every.sustained
    labels = {"priority": str(lossy), "direction": direction}
    metric = f"pfc_{direction}_frames_total"
    return Alert(
        name="LosslessPauseOnLossyPriority",
        severity="warning",
        expr=f"({rate} > 0 and on ({PORT}) {ports})\n"
        f"unless on (fabric, kind, priority) {of.intended('priority:info')}",
        for_s=context.every.sustained,
        summary=f"{_AT} {direction} pauses of priority {{{{ $labels.priority }}}}, which is not lossless",
        description="The intent makes priority {{ $labels.priority }} lossy on "
        f"{_AT} (to {{{{ $labels.neighbor }}}}): one end of the link waits where the other drops.",
        runbook="show pfc counters; show pfc priority. lossless verify INTENT CAPTURES (CTR002); on a host: mlnx_qos "
        "-i IF, or dcb pfc show dev IF. Make PFC of both ends the same.",
        fires=bench.scenario(seconds, bench.sonic(metric, rising(20), priority=str(lossy)), fires=labels),
        quiet=bench.scenario(
            seconds, bench.sonic(metric, rising(_QUIET_FRAMES), priority=str(bench.lossless.priority))
        ),
        labels={"direction": direction},
    )


def _slow_receiver(context: AlertContext, bench: PortBench) -> Alert:
    """Return the alert on a host that pauses its switch a tenth of the time, while the switch sends pauses too.

    Both are in the same priority. Neither alone is a fault: a switch may pause in any large incast, and pauses of a
    host that go no further harm the traffic to this host alone. The alert needs a switch that counts paused time (PFC
    history): counts of pause frames do not show how long a pause lasts. A host whose PCIe slot is slower than its ports
    is slow by design, and fires it under load.
    """
    of = context.of
    paused_by_host = of("lossless:pfc_received_pause:ratio", 'leads_to="host"')
    sends = f"sum by (fabric, switch, priority) ({of('lossless:pfc_sent_frames:rate')}) > 0"
    priority = {"priority": str(bench.lossless.priority)}
    seconds = context.every.settles + context.every.rate + context.every.sample
    sent = bench.sonic("pfc_sent_frames_total", rising(_QUIET_FRAMES), **priority)

    def paused(ratio: float) -> Line:
        step = ratio * context.every.sample
        return bench.sonic("pfc_received_pause_seconds_total", rising(step), **priority)

    return Alert(
        name=SLOW_RECEIVER,
        severity="warning",
        expr=f"{paused_by_host} >= {SLOW_RATIO:g}\nand on (fabric, switch, priority) ({sends})",
        for_s=context.every.settles,
        summary="{{ $labels.neighbor }} receives too slowly: it pauses "
        f"{_AT} {{{{ $value | humanizePercentage }}}} of the time",
        description="What {{ $labels.neighbor }} does not take waits in {{ $labels.switch }}, which pauses its other "
        "neighbors in turn: senders that never talk to that host slow down too.",
        runbook="On the host: ethtool -S (tx_prioN_pause), lspci -vv (width and speed of the slot), NUMA placement. "
        "lossless storm INTENT --from {{ $labels.neighbor }} shows whom it slows down.",
        fires=bench.scenario(seconds, sent, paused(0.4), fires=priority),
        quiet=bench.scenario(seconds, sent, paused(0.02)),
        follows=((STORM, ("fabric",)),),
    )


def _spreads(context: AlertContext, bench: PortBench) -> Alert:
    """Return the alert on a link between switches that is paused a quarter of the time, for ten minutes.

    It needs a switch that counts paused time (PFC history): frames alone show how often a port was paused, not how
    long, and under load on a healthy fabric they are many. It is not rendered where PFC is the only congestion control:
    there pauses between switches are the normal mechanism.
    """
    priority = {"priority": str(bench.lossless.priority)}
    seconds = 2 * context.every.settles + context.every.rate + context.every.sample

    def paused(ratio: float) -> Line:
        return bench.sonic(
            "pfc_received_pause_seconds_total", rising(ratio * context.every.sample), **priority
        )

    ratio = context.of("lossless:pfc_received_pause:ratio", 'leads_to!="host"')
    return Alert(
        name=SPREADS,
        severity="warning",
        expr=f"{ratio} >= {SPREADS_RATIO:g}",
        for_s=2 * context.every.settles,
        summary=f"{_AT} waits {{{{ $value | humanizePercentage }}}} of the time for {{{{ $labels.neighbor }}}}",
        description=f"Congestion has spread to the link from {_AT} to {{{{ $labels.neighbor }}}}: marks come too "
        "late, or senders do not react to them, and flows that have no part in it wait as well.",
        runbook="Follow the pauses: lossless verify INTENT CAPTURES --since BEFORE. Compare marks with peaks of "
        "queues: lossless simulate INTENT; show queue wredcounters; on hosts rp_cnp_ignored.",
        fires=bench.scenario(seconds, paused(0.5), fires=priority),
        quiet=bench.scenario(seconds, paused(0.05)),
        follows=((STORM, ("fabric",)), (SLOW_RECEIVER, ("fabric",))),
    )


def _no_marks(context: AlertContext, bench: PortBench, kmax_bytes: int) -> Alert:
    """Return the alert on a queue above Kmax in three watermark periods that neither marks nor drops a packet by WRED.

    They are three of seven (:attr:`~.inventory.AlertTimes.unmarked`). One peak is no proof: chips that average the
    depth of a queue mark later. A switch that counts no marks at all looks the same, so some switch of the same HWSKU
    must have counted some.
    """
    of, window = context.of, duration(context.every.peaks)
    marks = of.sonic("queue_ecn_marked_packets_total")
    dropped = f"increase({of.sonic('queue_wred_dropped_packets_total')}[{window}]) > 0"
    info = of.intended("switch:info")
    counts = f"(max by (fabric, switch) ({marks}) > 0) * on (fabric, switch) group_left (hwsku) {info}"
    return Alert(
        name="LosslessNoMarksAboveKmax",
        severity="warning",
        expr=f"(\n{of('lossless:queue_peak_to_kmax:ratio')} > 1\n"
        f"and on ({PORT}, queue) (increase({marks}[{window}]) == 0)\n)\n"
        f"unless on ({PORT}, queue) ({dropped})\n"
        f"and on (fabric, switch) ({info} and on (fabric, hwsku) ({counts}))",
        for_s=context.every.unmarked,
        summary=f"Queue {{{{ $labels.queue }}}} of {_AT} stands above Kmax and marks nothing",
        description="Above Kmax all packets are marked that can be. Senders to {{ $labels.neighbor }} get no sign to "
        "slow down, and PFC is all that holds them back.",
        runbook="ecnconfig -l; show queue wredcounters {{ $labels.interface }}; compare the WRED profile that runs "
        "with the rendered one (lossless verify INTENT CAPTURES, CTR003). Check that hosts send ECT(0).",
        fires=_peaks(context, bench, kmax_bytes, marked=0),
        quiet=_peaks(context, bench, kmax_bytes, marked=100),
    )


def _no_marks_anywhere(context: AlertContext, bench: PortBench, kmax_bytes: int) -> Alert:
    """Return the alert on a fabric with queues above Kmax in which no switch counts a mark, and no host receives one.

    The counters of all hosts are the proof: switches that count no marks look like those that make none. It waits as
    long as the alert on a single queue.
    """
    of, window = context.of, duration(context.every.peaks)
    metric = FOREIGN["node_infiniband_np_ecn_marked_roce_packets_received_total"].name
    marked = f"max by (fabric) (increase({of.sonic('queue_ecn_marked_packets_total')}[{window}])) > 0"
    received = f"max by (fabric) (increase({of(metric)}[{window}]))"
    unknown = f"count by (fabric) ({of.intended('host:info')} unless on (fabric, instance) {of(metric)})"
    host = {"fabric": context.intended.fabric, "instance": context.intended.hosts[0]}

    def scenario(step: int, *, fires: bool) -> AlertCase:
        peaks = _peaks(context, bench, kmax_bytes, marked=0)
        lines = tuple(each for each in peaks.series if 'queue="9"' not in each[0])
        own = (
            line(f"{INTENT}host:info", host, steady(1)),
            line(metric, host | {"device": "mlx5_0", "port": "1"}, rising(step)),
        )
        return AlertCase(
            (*lines, *own), peaks.seconds, {"fabric": context.intended.fabric} if fires else None
        )

    return Alert(
        name="LosslessNoMarksInFabric",
        severity="warning",
        expr=f"max by (fabric) ({of('lossless:queue_peak_to_kmax:ratio')}) > 1\n"
        f"unless on (fabric) ({marked})\n"
        f"and on (fabric) ({received} == 0)\n"
        f"unless on (fabric) {unknown}",
        for_s=context.every.unmarked,
        summary="Queues of {{ $labels.fabric }} stand above Kmax, and no host receives a marked packet",
        description="Either ECN is off on all switches, or hosts do not send ECT(0). Senders get no sign to slow down: "
        "PFC alone holds them back, and congestion spreads through the fabric.",
        runbook="ecnconfig -l and show queue wredcounters on a leaf; lossless verify INTENT CAPTURES (CTR003); "
        "tcpdump -i IF on a host: the last two bits of the ToS byte of RDMA are 10.",
        fires=scenario(0, fires=True),
        quiet=scenario(7, fires=False),
    )


def _peaks(context: AlertContext, bench: PortBench, kmax_bytes: int, *, marked: int) -> AlertCase:
    """Return the test of a queue above Kmax with some or no ECN marks, on a switch that marks on another queue."""
    queue = str(bench.lossless.queue)
    labels = {"queue": queue, "window": "periodic"}
    switch = next(item for item in context.intended.switches if item.place.name == bench.port.switch)
    known = {"fabric": context.intended.fabric, "switch": switch.place.name, "hwsku": switch.hwsku}
    seconds = context.every.peaks + context.every.unmarked + context.every.sample
    return bench.scenario(
        seconds,
        line(f"{INTENT}switch:info", known, steady(1)),
        bench.sonic("queue_watermark_bytes", saw_tooth(2 * kmax_bytes, context.every, seconds), **labels),
        bench.sonic("queue_ecn_marked_packets_total", rising(marked), queue=queue),
        bench.sonic("queue_ecn_marked_packets_total", rising(7), queue="9"),
        fires=None if marked else labels,
    )


_SYMBOL_ERRORS_PER_HOUR = 10
"""Symbol errors per hour (ours) above which a cable of a host is bad.

A link within its specification (10^-15, InfiniBand vol. 2, 9.6) at 400 Gb/s has an error in 40 minutes before
correction, and the counter has the errors that correction left.
"""


class PortCounters(NamedTuple):
    """The names of an InfiniBand port's counters in one exporter, and its labels of an example port."""

    program: str
    downed: str
    symbol_errors: str
    recoveries: str
    waits: str
    who: str
    labels: Labels


def port_counters(manager: str, host: str, fabric: str) -> tuple[PortCounters, ...]:
    """Return the counter names of a subnet's ports: in node_exporter, and in UFM Telemetry where UFM manages it."""
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
    """Return the rules that record how long ports wait for credits, in ticks per second; under load that is normal."""
    of, window = FabricSeries(fabric), duration(every.rate)
    rules = (
        RecordingRule("lossless:infiniband_port_wait_ticks:rate", f"rate({of(item.waits)}[{window}])")
        for item in counters
    )
    return Group(f"lossless-rates-{fabric}", every.scrape, tuple(rules))


def subnet_alerts(
    fabric: str, every: AlertTimes, counters: tuple[PortCounters, ...], hosts: tuple[str, ...]
) -> Iterator[Alert]:
    """Yield the alerts on ports of an InfiniBand subnet, on its hosts, and on UFM Telemetry where that is scraped."""
    if hosts:
        yield host_scrape_failed(fabric, hosts[0], every)
        yield _port_down(fabric, every, counters[0])
    for item in counters:
        yield _flaps(fabric, every, item)
        yield _symbol_errors(fabric, every, item)
    if len(counters) > 1:
        yield _ufm_away(fabric, every)


def _port_down(fabric: str, every: AlertTimes, item: PortCounters) -> Alert:
    """Return the alert on a port of an HCA that is not active and was up before, since its counters were cleared.

    A port that was never up may have no cable by design. States are those of PortInfo (InfiniBand vol. 1, 14.2.5.6): 4
    is active; one that stays in 2 has a link, and no subnet manager sets it up.
    """
    of = FabricSeries(fabric)
    state = FOREIGN["node_infiniband_state_id"].name
    names, seconds = ", ".join(item.labels), every.settles + 2 * every.sample
    downed = line(item.downed, item.labels, steady(1))
    return Alert(
        name="LosslessIbPortDown",
        severity="warning",
        expr=f"{of(state)} != 4\nand on ({names}) ({of(item.downed)} > 0)",
        for_s=every.settles,
        summary=f"The port of {item.who} is down (state {{{{ $value }}}}: 1 is down, 2 waits for a subnet manager)",
        description="It was up before. Jobs on {{ $labels.instance }} have a rail less, or fail when they start.",
        runbook="ibstat on {{ $labels.instance }}; iblinkinfo on the subnet: the cable and the port of the switch; the "
        "log of the subnet manager.",
        fires=AlertCase((line(state, item.labels, steady(1)), downed), seconds, item.labels),
        quiet=AlertCase((line(state, item.labels, steady(4)), downed), seconds),
    )


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
    """Return the alert on an InfiniBand link that went down three times in an hour.

    The counter also counts restarts of a host, so one or two in an hour may be no fault.
    """
    window = duration(HOUR_S)
    step = 4 * every.sample / HOUR_S
    return Alert(
        name="LosslessIbLinkFlaps",
        severity="warning",
        expr=f"increase({FabricSeries(fabric)(item.downed)}[{window}]) >= 3",
        for_s=0,
        summary=f'The link of {item.who} went down {{{{ $value | printf "%.0f" }}}} times in an hour',
        description="Each time the subnet manager routes around it, and traffic that crosses it waits or is lost.",
        runbook="iblinkinfo; ibqueryerrors; the log of the subnet manager. lossless verify INTENT CAPTURES (IBC003).",
        fires=AlertCase((line(item.downed, item.labels, rising(step)),), HOUR_S, item.labels),
        quiet=AlertCase((line(item.downed, item.labels, steady(9)),), HOUR_S),
        labels={"program": item.program},
    )


def _symbol_errors(fabric: str, every: AlertTimes, item: PortCounters) -> Alert:
    """Return the alert on an InfiniBand port with symbol errors and link error recoveries in the same hour.

    Neither alone is reported: symbol errors occur while a cable is plugged, recoveries when the peer restarts.
    """
    of, window = FabricSeries(fabric), duration(HOUR_S)
    errors = f"increase({of(item.symbol_errors)}[{window}]) > {_SYMBOL_ERRORS_PER_HOUR}"
    recovers = f"increase({of(item.recoveries)}[{window}]) > 0"
    names = ", ".join(item.labels)
    step = 40 * every.sample / HOUR_S
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
        fires=AlertCase(lines, HOUR_S, item.labels),
        quiet=AlertCase((lines[0], still), HOUR_S),
        labels={"program": item.program},
    )
