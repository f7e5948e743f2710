"""Follows one packet: a pure function from a view of a fabric and the findings on it to a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.trace.findings import TracePacket, findings_on, findings_on_host, reference_to
from lossless.checks.trace.model import (
    Trace,
    TraceDifference,
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
from lossless.ground.basics.natural_order import natural_key
from lossless.ground.basics.records import certain
from lossless.model.fabric.qos import DSCPS
from lossless.model.fabric.view import View, bare

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from lossless.checks.trace.model import TraceHop
    from lossless.checks.trace.route import TraceEnd
    from lossless.checks.trace.running import RunningTrace
    from lossless.ground.basics.findings import Finding
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.qos import DscpRewrites

_MOST_DIFFERENCES = 16
"""Other paths that are named; a fabric can have thousands."""


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
    """Return the hops of a packet from ``source`` to ``target``, each a host or a port of a switch.

    ``via`` names a switch that the path must cross. ``findings`` are those of the rules on the fabric, and
    ``rewrites`` the maps by which egress ports rewrite the DSCP. ``running`` are the captures of devices:
    hops and hosts then have counters.

    Raises:
        LosslessError: no such host, switch or port, no DSCP, or no path.
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
    """Return the only one of several deployed fabrics that has both ends; all of them where no one alone has."""
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
    """Return a trace that says which of its ports carry no RDMA; ``outside`` has them by switch."""
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
    """Return a hop with the faults that break the chain there: findings, and losses of a lossless packet."""
    losses = losses_at(hop) if packet.lossless else ()
    return hop._replace(marks=findings_on(reference_to(view, hop), packet, findings), losses=losses)


def _with_captures(view: View, traced: Trace, packet: TracePacket, running: RunningTrace) -> Trace:
    """Return a trace with counters of captures; paths that are not taken are compared by their configuration alone."""
    from lossless.checks.trace.running import host_with_counters, with_counters

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
    """Compare every step of the other paths with the hop of this path at the same distance."""
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
    """Return the DSCP of a ToS byte: its upper six bits (RFC 2474, section 3)."""
    return None if traffic_class is None else traffic_class >> 2
