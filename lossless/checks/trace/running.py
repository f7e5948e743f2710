"""One packet followed through a fabric: its trace, with the counters of captures and the findings about them.

The trace is a pure function of a fabric, the findings on it, and captures.

The findings are those of rules: the trace repeats no check. A finding of the families APP, CTR and STM names a switch,
its port, or a number at the port (``leaf1:Ethernet4:3``, ``leaf1:Ethernet0:PG3``), and concerns a packet that passes
these. Findings about the captures themselves concern no packet. Pauses of another priority on a port of the path
concern a lossless packet as well: one end pauses a priority that the other does not treat as lossless.

Counters of a packet's class at a hop or a host are facts, no verdicts. A counter without a capture is unknown, with
the reason, and never 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.checks.rules.counting import counted, each, not_polled
from lossless.checks.trace.findings import (
    TracePacket,
    concerns_traffic,
    findings_on,
    findings_on_host,
    reference_to,
)
from lossless.checks.trace.model import (
    Trace,
    TraceCounter,
    TraceDifference,
    TraceFinding,
    TraceHost,
    TracePathChoice,
    TracePfc,
    losses_at,
)
from lossless.checks.trace.route import (
    TraceEnds,
    TraceRoute,
    TraceStep,
    check_names,
    check_switch,
    find_route,
)
from lossless.checks.trace.stages import SwitchTransit, hop_of, transit_of
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import MissingInput, natural_key
from lossless.ground.basics.records import NamedTuple, Unknown, certain
from lossless.model.fabric.qos import DSCPS
from lossless.model.fabric.state import highest_peaks
from lossless.model.fabric.view import View, bare

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.checks.trace.model import StageName, TraceHop, TracePfcPort
    from lossless.checks.trace.route import TraceEnd
    from lossless.ground.basics.findings import Finding
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.qos import DscpRewrites
    from lossless.model.fabric.state import PlacedReading


_MOST_DIFFERENCES = 16
"""The most differing switches on other paths that a trace names; a fabric can have thousands."""


def trace(
    view: View,
    source: str,
    target: str,
    dscp: int,
    *,
    via: str | None = None,
    findings: Sequence[Finding] = (),
    rewrites: DscpRewrites | None = None,
    running: RunningTrace | None = None,
) -> Trace:
    """Return the trace of a packet from ``source`` to ``target``, each a host or a port of a switch.

    ``via`` names a switch that the path must cross. ``findings`` are those of the rules on the fabric, and
    ``rewrites`` the maps by which egress ports rewrite the DSCP. ``running`` are the captures of devices:
    hops and hosts then have counters.

    Raises:
        LosslessError: no such host, switch or port, an end without a port or a link, an invalid DSCP, or no path; two
            ends that are one port, or two files with the same hostname.
    """
    if dscp not in DSCPS:
        raise LosslessError(f"{dscp} is not a DSCP; expected a number from 0 to 63")
    check_names(view)
    if via is not None:
        check_switch(view, via)
    ends = TraceEnds(view)
    route = find_route(view, ends.find(source), ends.find(target), via)
    hops = _hops(view, route, dscp, rewrites or {})
    packet = _packet(view, hops, dscp)
    hops = tuple(_verdict(view, hop, packet, findings) for hop in hops)
    traced = Trace(
        source=_spoken(route.source),
        target=_spoken(route.target),
        dscp=dscp,
        class_name=packet.class_name,
        lossless=packet.lossless,
        choice=_choice(view, route, hops, rewrites or {}, packet, findings),
        sender=_host(view, route.source, dscp, packet, findings),
        hops=hops,
        receiver=_host(view, route.target, hops[-1].stages.egress_dscp.dscp, packet, findings),
        elsewhere=0,
    )
    every = [*findings]
    if running is not None:
        traced, every = _with_captures(view, traced, packet, running), [*findings, *running.findings]
    errors = sum(1 for finding in every if finding.severity == "error")
    return traced._replace(elsewhere=errors - len(traced.breaks))


def not_one(fabrics: Sequence[Fabric]) -> str:
    """Return why several fabrics, or none, cannot be traced."""
    if not fabrics:
        return "nothing here to trace: no intent (YAML with lossless: v1) and no config_db.json"
    names = ", ".join(f"{f.name} ({f.sources[0]})" if f.declared else "the deployed devices" for f in fabrics)
    return f"{len(fabrics)} fabrics here: {names}; a packet stays in one: name its file or folder"


def fabrics_of_ends(fabrics: Sequence[Fabric], source: str, target: str) -> tuple[Fabric, ...]:
    """Return the deployed fabric that has both ends, where exactly one of several has them; else all fabrics.

    All fabrics are returned too if an intent declares one of them.
    """
    if len(fabrics) == 1 or any(fabric.declared for fabric in fabrics):
        return tuple(fabrics)
    having = tuple(fabric for fabric in fabrics if _has(fabric, source) and _has(fabric, target))
    return having if len(having) == 1 else tuple(fabrics)


def _has(fabric: Fabric, end: str) -> bool:
    try:
        return bool(TraceEnds(View(fabric)).find(end))
    except LosslessError:
        return False


def with_ports_outside(traced: Trace, outside: Mapping[str, Collection[str]]) -> Trace:
    """Return a trace with its ports that carry no RDMA marked as outside; ``outside`` has such ports by switch."""
    hops = (
        hop._replace(
            ingress=hop.ingress._replace(outside=hop.ingress.port in outside.get(hop.switch, ())),
            egress=hop.egress._replace(outside=hop.egress.port in outside.get(hop.switch, ())),
        )
        for hop in traced.hops
    )
    return traced._replace(hops=tuple(hops))


def _spoken(end: TraceEnd) -> str:
    if end.host is None:
        return f"{end.switch}:{end.port}"
    return f"{end.host}:{end.host_port}" if end.host_port else end.host


def _hops(view: View, route: TraceRoute, dscp: int, rewrites: DscpRewrites) -> tuple[TraceHop, ...]:
    hops: list[TraceHop] = []
    for number, step in enumerate(route.steps):
        before = _at(route.steps[number - 1], "egress") if number else _beyond(route.source)
        last = number + 1 == len(route.steps)
        after = _beyond(route.target) if last else _at(route.steps[number + 1], "ingress")
        hops.append(hop_of(transit_of(view, step), dscp, rewrites, (before, after)))
        dscp = hops[-1].stages.egress_dscp.dscp
    return tuple(hops)


def _at(step: TraceStep, side: str) -> str:
    return f"{step.switch}:{getattr(step, side)}"


def _beyond(end: TraceEnd) -> str | None:
    return _spoken(end) if end.host is not None else None


def _packet(view: View, hops: Sequence[TraceHop], dscp: int) -> TracePacket:
    dscps = frozenset((dscp, *(hop.stages.egress_dscp.dscp for hop in hops)))
    declared = view.fabric.classes.of_dscp(dscp) if view.fabric.declared else None
    classes = [
        view.switch_by_name[hop.switch].classes.of_dscp(hop.stages.classification.dscp) for hop in hops
    ]
    paused = any(side.on for hop in hops for side in hop.stages.pfc)
    numbers = {number for hop in hops for number in hop.stages.numbers}
    numbers.update(cls.priority for cls in classes if cls and cls.priority is not None)
    return TracePacket(
        dscps=dscps,
        class_name=declared.name if declared else None,
        lossless=paused or any(cls.lossless for cls in classes if cls),
        numbers=frozenset(numbers),
    )


def _verdict(view: View, hop: TraceHop, packet: TracePacket, findings: Sequence[Finding]) -> TraceHop:
    """Return a hop with the findings that concern a packet there, and the losses of a packet of a lossless class."""
    losses = losses_at(hop) if packet.lossless else ()
    return hop._replace(marks=findings_on(reference_to(view, hop), packet, findings), losses=losses)


def _with_captures(view: View, traced: Trace, packet: TracePacket, running: RunningTrace) -> Trace:
    """Return a trace with counters of captures; paths that are not taken are compared by their configuration alone."""

    sender, receiver = traced.sender, traced.receiver
    first, last = traced.hops[0].stages.pfc.ingress, traced.hops[-1].stages.pfc.egress
    return traced._replace(
        sender=host_with_counters(sender, first, packet, running) if sender else None,
        hops=tuple(with_counters(view, hop, packet, running) for hop in traced.hops),
        receiver=host_with_counters(receiver, last, packet, running) if receiver else None,
    )


def _choice(
    view: View,
    route: TraceRoute,
    hops: Sequence[TraceHop],
    rewrites: DscpRewrites,
    packet: TracePacket,
    findings: Sequence[Finding],
) -> TracePathChoice:
    """Return the number of paths of the same length, and the first differences of their switches from the chosen path.

    A switch is compared with the hop at the same distance, and left out without a differing stage or another error; of
    the pairs of ports of a switch that are configured the same, one is compared.
    """
    differences: dict[tuple[object, ...], TraceDifference] = {}
    for level, step in sorted(route.others, key=_by_name):
        here = hops[level]
        transit = transit_of(view, step)
        key = (transit.switch.name, id(transit.ingress.qos), id(transit.egress.qos), *_cables(transit))
        if step in route.steps or key in differences:
            continue
        there = hop_of(transit, here.stages.classification.dscp, rewrites, (None, None))
        differences[key] = _difference(here, _verdict(view, there, packet, findings))
    unlike = tuple(each for each in differences.values() if each.stages or each.breaks)
    return TracePathChoice(route.equal, unlike[:_MOST_DIFFERENCES], route.up_down, route.detour)


def _difference(here: TraceHop, there: TraceHop) -> TraceDifference:
    stages = zip(here.stages._fields, here.stages, there.stages, strict=True)
    own_codes = {mark.finding.code for mark in here.marks}
    errors = (mark.finding.code for mark in there.marks if mark.finding.severity == "error")
    return TraceDifference(
        switch=there.switch,
        ingress=there.ingress.port,
        egress=there.egress.port,
        stages=tuple(name for name, own, other in stages if _meaning(own) != _meaning(other)),
        breaks=tuple(dict.fromkeys(code for code in errors if code not in own_codes)),
        losses=() if here.losses else tuple(loss.why for loss in there.losses),
    )


def _by_name(leveled: tuple[int, TraceStep]) -> tuple[object, ...]:
    level, step = leveled
    return (level, *(natural_key(name) for name in step))


def _cables(transit: SwitchTransit) -> tuple[object, ...]:
    return tuple((port.speed_bps, port.cable.known_m, port.mtu_bytes) for port in transit.ports)


def _meaning(stage: object) -> object:
    """Return the content of a stage without its origins and port names."""
    if isinstance(stage, TracePfc):
        return tuple(bare(side._replace(port="")) for side in (stage.ingress, stage.egress))
    return bare(stage)


def _host(
    view: View, end: TraceEnd, dscp: int, packet: TracePacket, findings: Sequence[Finding]
) -> TraceHost | None:
    if end.host is None:
        return None
    host = view.host_by_name.get(end.host)
    if host is None:
        return TraceHost(end.host, end.host_port)
    qos = host.qos
    # Hosts with links come from an intent, which knows them throughout.
    priority = dict(certain(qos.dscp_to_priority)).get(dscp) if qos.trust == "dscp" else None
    traffic_class, nccl_tc = certain(qos.traffic_class), certain(qos.nccl_tc)
    paused = certain(qos.pfc_priorities)
    return TraceHost(
        host=end.host,
        port=end.host_port,
        nic=qos.nic_name,
        traffic_class=traffic_class,
        sends_dscp=_of_byte(traffic_class),
        nccl_tc=nccl_tc,
        nccl_dscp=_of_byte(nccl_tc),
        trust=certain(qos.trust),
        priority=priority,
        pfc=None if priority is None else priority in paused,
        pfc_priorities=paused,
        marks=findings_on_host(end.host, packet, findings),
    )


def _of_byte(traffic_class: int | None) -> int | None:
    """Return the DSCP of a ToS byte, its upper six bits (RFC 2474, section 3); None for None."""
    return None if traffic_class is None else traffic_class >> 2


_STAGES: dict[str, StageName] = {
    "APP001": "classification",
    "APP002": "priority_group",
    "APP004": "watchdog",
    "CTR002": "pfc",
    "CTR003": "ecn",
    "CTR006": "ports",
    "STM002": "pfc",
}
_FAMILIES: dict[str, StageName] = {"CTR": "queue", "STM": "watchdog"}
"""The stage of the findings of a family of rules; rules in ``_STAGES`` and findings on priority groups have others."""
_GROUP = "PG"
_OTHER_PRIORITY = "CTR002"


class RunningTrace(NamedTuple):
    """The devices with captures by name, and the findings of rules about running state on them."""

    devices: Mapping[str, RunningDevice]
    findings: Sequence[Finding]


def with_counters(view: View, hop: TraceHop, packet: TracePacket, running: RunningTrace) -> TraceHop:
    """Return a hop with the counters of the packet's class, and the findings about running state that concern it."""
    unit = view.switch_by_name[hop.switch].device
    names = dict.fromkeys((hop.switch, unit))
    device = next((running.devices[name] for name in names if name in running.devices), None)
    counters = RunningCounters(hop.switch, device).at(hop)
    marks = (*hop.marks, *_marks(hop, tuple(names), packet, running.findings))
    return hop._replace(counters=counters, marks=marks)


def host_with_counters(
    host: TraceHost, side: TracePfcPort, packet: TracePacket, running: RunningTrace
) -> TraceHost:
    """Return a host with the counters of its NICs, and the findings about running state that concern the packet there.

    ``side`` is the port of the switch that it is attached to: pauses on the link are of its priority.
    """
    priority = side.priority if side.priority is not None else host.priority
    about = (finding for finding in running.findings if _names(finding, host.host))
    marks = [
        TraceFinding("host", finding)
        for finding in about
        if concerns_traffic(finding, packet, lossless_only=True)
    ]
    counters = RunningCounters(host.host, running.devices.get(host.host))
    return host._replace(marks=(*host.marks, *marks), counters=counters.of_host(priority))


def _names(finding: Finding, host: str) -> bool:
    return any(element == host or element.startswith(f"{host}:") for element in finding.elements)


def _marks(
    hop: TraceHop, names: Sequence[str], packet: TracePacket, findings: Sequence[Finding]
) -> Iterator[TraceFinding]:
    for finding in findings:
        stages = (
            stage
            for element in finding.elements
            for name in names
            if (stage := _stage(hop, packet, finding, element, name)) is not None
        )
        stage = next(stages, None)
        if stage is not None:
            yield TraceFinding(stage, finding)


def _stage(
    hop: TraceHop, packet: TracePacket, finding: Finding, element: str, switch: str
) -> StageName | None:
    """Return the stage at which a finding on one element of a switch concerns the packet, None if it does not."""
    if element == switch:
        return _STAGES.get(finding.code)
    if not element.startswith(f"{switch}:"):
        return None
    port, _, number = element.removeprefix(f"{switch}:").partition(":")
    stage = _STAGES.get(finding.code) or _FAMILIES.get(finding.code.rstrip("0123456789"))
    if number.startswith(_GROUP):
        stage, number = "priority_group", number.removeprefix(_GROUP)
    if stage is None:
        return None
    met = _met(hop, stage)
    another = finding.code == _OTHER_PRIORITY and packet.lossless
    return stage if any(port == at and (another or number in ("", own)) for at, own in met) else None


def _met(hop: TraceHop, stage: StageName) -> tuple[tuple[str, str], ...]:
    """Return the ports of a stage, each with the packet's priority, group or queue there as text, "" if it has none."""
    stages, ingress, egress = hop.stages, hop.ingress.port, hop.egress.port
    if stage == "priority_group":
        return ((ingress, str(stages.priority_group.lookup.target)),)
    if stage == "pfc":
        return (ingress, str(stages.pfc.ingress.priority)), (egress, str(stages.pfc.egress.priority))
    if stage in ("ports", "classification"):
        return (ingress, ""), (egress, "")
    return ((egress, str(stages.queue.lookup.target)),)


if TYPE_CHECKING:
    PortNumbers = tuple[str, int]


class _Counted(NamedTuple):
    """One counter that is shown at each hop: its stage, its direction, its kind of element, its name and unit."""

    stage: StageName
    way: Literal["ingress", "egress"]
    kind: Literal["pg", "queue", "priority"]
    name: str
    unit: str = "packets"


_AT_HOPS = (
    _Counted("priority_group", "ingress", "pg", "shared_watermark_bytes", "bytes"),
    _Counted("priority_group", "ingress", "pg", "xoff_room_watermark_bytes", "bytes"),
    _Counted("priority_group", "ingress", "pg", "dropped_packets"),
    _Counted("pfc", "ingress", "priority", "pfc_tx"),
    _Counted("pfc", "ingress", "priority", "pfc_rx"),
    _Counted("pfc", "egress", "priority", "pfc_rx"),
    _Counted("pfc", "egress", "priority", "pfc_tx"),
    _Counted("watchdog", "egress", "queue", "pfcwd_status", ""),
    _Counted("watchdog", "egress", "queue", "pfcwd_detected", "storms"),
    _Counted("watchdog", "egress", "queue", "pfcwd_restored", "storms"),
    _Counted("queue", "egress", "queue", "packets"),
    _Counted("queue", "egress", "queue", "dropped_packets"),
    _Counted("ecn", "egress", "queue", "ecn_marked_packets"),
    _Counted("egress_buffer", "egress", "queue", "shared_watermark_bytes", "bytes"),
)
_OF_PRIORITY = ("pfc_rx", "pfc_tx")
_OF_RDMA = (
    "out_of_sequence",
    "np_ecn_marked_roce_packets",
    "np_cnp_sent",
    "rp_cnp_handled",
    "rp_cnp_ignored",
)
"""Counters of RDMA devices, by the names of the kernel (hw_counters); those of CNPs as mlx5 has them."""
_NOT_CAPTURED = "not captured"


class RunningCounters:
    """The counters of one device, or the reason why they are unknown."""

    def __init__(self, name: str, device: RunningDevice | None) -> None:
        self._name = name
        self._device = device
        self._indexes: dict[tuple[str, str], dict[PortNumbers, PlacedReading]] = {}

    def at(self, hop: TraceHop) -> tuple[TraceCounter, ...]:
        """Return all counters that a trace shows at a hop, also unknown ones, with the reason."""
        return tuple(self._of(row, hop) for row in _AT_HOPS)

    def of_host(self, priority: int | None) -> tuple[TraceCounter, ...]:
        """Return the counters of a host's NICs: pauses of a priority, packets out of sequence, ECN marks and CNPs."""
        asked = [(name, "priority", priority) for name in _OF_PRIORITY]
        asked += [(name, "", None) for name in _OF_RDMA]
        return tuple(counter for one in asked for counter in self._of_nics(*one))

    def _of(self, row: _Counted, hop: TraceHop) -> TraceCounter:
        port = getattr(hop, row.way).port
        blank = TraceCounter(row.stage, row.name, port, row.kind, _number(row, hop), unit=row.unit)
        if self._device is None:
            return blank._replace(unknown=f"no captures of {self._name}")
        if blank.number is None:
            return blank._replace(unknown=f"which {row.kind} the packet meets is unknown")
        placed = self._index(row.name, row.kind).get((port, blank.number))
        if placed is None:
            return blank._replace(unknown=_NOT_CAPTURED)
        return _told(self._device, placed, blank)

    def _index(self, name: str, kind: str) -> dict[PortNumbers, PlacedReading]:
        assert self._device is not None
        if (name, kind) not in self._indexes:
            state = self._device.state
            readings = (
                (placed.part("port") or "", placed.part(kind) or "", placed)
                for placed in each(state, name, "port", kind)
            )
            index = {
                (port, int(number)): placed
                for port, number, placed in readings
                if number.isascii() and number.isdecimal()
            }
            if name.endswith("watermark_bytes"):
                index |= highest_peaks(state, name, kind)
            self._indexes[name, kind] = index
        return self._indexes[name, kind]

    def _of_nics(self, name: str, kind: str, number: int | None) -> Iterator[TraceCounter]:
        blank = TraceCounter("host", name, "", kind, number, unit="packets")
        if self._device is None:
            yield blank._replace(unknown=f"no captures of {self._name}")
        elif kind and number is None:
            yield blank._replace(unknown="the priority of the packet is unknown")
        else:
            placed = [*self._named(name, kind, number)]
            yield from (_told(self._device, one, blank._replace(port=_nic(one))) for one in placed)
            if not placed:
                yield blank._replace(unknown=_NOT_CAPTURED)

    def _named(self, name: str, kind: str, number: int | None) -> Iterator[PlacedReading]:
        assert self._device is not None
        for placed in self._device.state.named(name, *([kind] if kind else [])):
            if not kind or placed.part(kind) == str(number):
                yield placed


def _number(row: _Counted, hop: TraceHop) -> int | None:
    stages = hop.stages
    if row.kind == "priority":
        return stages.pfc.ingress.priority if row.way == "ingress" else stages.pfc.egress.priority
    return (stages.priority_group if row.kind == "pg" else stages.queue).lookup.target


def _told(device: RunningDevice, placed: PlacedReading, blank: TraceCounter) -> TraceCounter:
    """Return a counter with the value of a reading: a peak or status as it is, a count since an earlier time.

    ``unknown`` has the reason if there is no such value.
    """
    reading = placed.reading
    told = blank._replace(origin=placed.origin, unit=reading.unit or blank.unit)
    at_switch = blank.stage != "host"
    kinds = ("port", blank.kind) if at_switch else tuple(kind for kind, _ in reading.identity)
    if reading.name.endswith("watermark_bytes") or reading.since == "now":
        standing = not_polled(device.state, reading.name, blank.kind)
        if standing is not None:
            return told._replace(unknown=standing.reason)
        if reading.value is None or isinstance(reading.value, Unknown):
            return told._replace(
                unknown=f"the captures do not say the value of {reading.heading or reading.name}"
            )
        return told._replace(value=reading.value, since=reading.since)
    count = counted(device, placed, *kinds)
    if isinstance(count, MissingInput):
        return told._replace(unknown=count.reason)
    return told._replace(
        value=count.amount, since="earlier capture" if count.between else count.placed.reading.since
    )


def _nic(placed: PlacedReading) -> str:
    return placed.part("device") or placed.part("port") or ""
