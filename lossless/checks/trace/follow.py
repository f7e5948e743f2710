"""Follows one packet: a pure function from a view of a fabric and the findings on it to a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.trace.ends import Ends, check_names, check_switch
from lossless.checks.trace.marks import Packet, host_marks, marks_of, place_of
from lossless.checks.trace.model import Choice, Difference, HostEnd, Pfc, Trace
from lossless.checks.trace.route import Route, Step, find_route
from lossless.checks.trace.stages import Way, hop_of, way_of
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.known import certain
from lossless.ground.basics.natural_order import natural_key
from lossless.model.fabric.qos import DSCPS
from lossless.model.fabric.view import bare

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.checks.trace.ends import Attachment
    from lossless.checks.trace.model import Hop, Stages
    from lossless.checks.trace.stages import Rewrites
    from lossless.ground.basics.findings import Finding
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.view import View

_MOST_DIFFERENCES = 16
"""Other ways that are named; a fabric can have thousands."""


def trace(
    view: View,
    source: str,
    target: str,
    dscp: int,
    *,
    via: str | None = None,
    findings: Sequence[Finding] = (),
    rewrites: Rewrites | None = None,
) -> Trace:
    """Return what a packet meets from ``source`` to ``target``, each a host or a port of a switch.

    ``via`` names a switch that the path must meet. ``findings`` are what the rules say of the fabric, and
    ``rewrites`` the maps by which egress ports write DSCP anew.

    Raises:
        LosslessError: no such host, switch or port, no DSCP, or no path.
    """
    if dscp not in DSCPS:
        raise LosslessError(f"{dscp} is not a DSCP; expected a number from 0 to 63")
    check_names(view)
    if via is not None:
        check_switch(view, via)
    ends = Ends(view)
    route = find_route(view, ends.find(source), ends.find(target), via)
    hops = _hops(view, route, dscp, rewrites or {})
    packet = _packet(view, hops, dscp)
    hops = tuple(hop._replace(marks=marks_of(place_of(view, hop), packet, findings)) for hop in hops)
    found = Trace(
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
    errors = sum(1 for finding in findings if finding.severity == "error")
    return found._replace(elsewhere=errors - len(found.breaks))


def not_one(fabrics: Sequence[Fabric]) -> str:
    """Return why several fabrics, or none, cannot be traced."""
    if not fabrics:
        return "nothing here to trace: no intent (YAML with lossless: v1) and no config_db.json"
    names = ", ".join(f"{f.name} ({f.sources[0]})" if f.declared else "the deployed devices" for f in fabrics)
    return f"{len(fabrics)} fabrics here: {names}; a packet stays in one: name its file or folder"


def _spoken(end: Attachment) -> str:
    if end.host is None:
        return f"{end.switch}:{end.port}"
    return f"{end.host}:{end.host_port}" if end.host_port else end.host


def _hops(view: View, route: Route, dscp: int, rewrites: Rewrites) -> tuple[Hop, ...]:
    hops: list[Hop] = []
    for number, step in enumerate(route.steps):
        before = _at(route.steps[number - 1], "egress") if number else _beyond(route.source)
        last = number + 1 == len(route.steps)
        after = _beyond(route.target) if last else _at(route.steps[number + 1], "ingress")
        hops.append(hop_of(way_of(view, step), dscp, rewrites, (before, after)))
        dscp = hops[-1].stages.egress_dscp.dscp
    return tuple(hops)


def _at(step: Step, side: str) -> str:
    return f"{step.switch}:{getattr(step, side)}"


def _beyond(end: Attachment) -> str | None:
    return _spoken(end) if end.host is not None else None


def _packet(view: View, hops: Sequence[Hop], dscp: int) -> Packet:
    dscps = frozenset((dscp, *(hop.stages.egress_dscp.dscp for hop in hops)))
    declared = view.fabric.classes.of_dscp(dscp) if view.fabric.declared else None
    classes = [
        view.switch_by_name[hop.switch].classes.of_dscp(hop.stages.classification.dscp) for hop in hops
    ]
    paused = any(side.on for hop in hops for side in hop.stages.pfc)
    numbers = {number for hop in hops for number in _numbers(hop.stages)}
    numbers.update(cls.priority for cls in classes if cls and cls.priority is not None)
    return Packet(
        dscps=dscps,
        class_name=declared.name if declared else None,
        lossless=paused or any(cls.lossless for cls in classes if cls),
        numbers=frozenset(numbers),
    )


def _numbers(stages: Stages) -> Iterable[int]:
    met = (
        stages.classification.lookup.target,
        stages.priority_group.lookup.target,
        stages.queue.lookup.target,
        stages.pfc.ingress.priority,
        stages.pfc.egress.priority,
    )
    return (number for number in met if number is not None)


def _choice(
    view: View,
    route: Route,
    hops: Sequence[Hop],
    rewrites: Rewrites,
    packet: Packet,
    findings: Sequence[Finding],
) -> Choice:
    """Compare every step of the other paths with the hop of this path that stands at the same distance."""
    differences: dict[tuple[object, ...], Difference] = {}
    for level, step in sorted(route.others, key=_by_name):
        here = hops[level]
        way = way_of(view, step)
        key = (way.switch.name, id(way.ingress.qos), id(way.egress.qos), *_cables(way))
        if step in route.steps or key in differences:
            continue
        there = hop_of(way, here.stages.classification.dscp, rewrites, (None, None))
        marks = marks_of(place_of(view, there), packet, findings)
        differences[key] = _difference(here, there._replace(marks=marks))
    unlike = tuple(found for found in differences.values() if found.stages or found.breaks)
    return Choice(route.equal, unlike[:_MOST_DIFFERENCES], route.up_down, route.detour)


def _difference(here: Hop, there: Hop) -> Difference:
    stages = zip(here.stages._fields, here.stages, there.stages, strict=True)
    known = {mark.finding.code for mark in here.marks}
    errors = (mark.finding.code for mark in there.marks if mark.finding.severity == "error")
    return Difference(
        switch=there.switch,
        ingress=there.ingress.port,
        egress=there.egress.port,
        stages=tuple(name for name, one, other in stages if _meaning(one) != _meaning(other)),
        breaks=tuple(dict.fromkeys(code for code in errors if code not in known)),
    )


def _by_name(leveled: tuple[int, Step]) -> tuple[object, ...]:
    level, step = leveled
    return (level, *(natural_key(name) for name in step))


def _cables(way: Way) -> tuple[object, ...]:
    return tuple((port.speed_bps, port.cable.known_m, port.mtu_bytes) for port in way.ports)


def _meaning(stage: object) -> object:
    """Return what a stage says but for where it was written and what its ports are called."""
    if isinstance(stage, Pfc):
        return tuple(bare(side._replace(port="")) for side in (stage.ingress, stage.egress))
    return bare(stage)


def _host(
    view: View, end: Attachment, dscp: int, packet: Packet, findings: Sequence[Finding]
) -> HostEnd | None:
    if end.host is None:
        return None
    host = view.host_by_name.get(end.host)
    if host is None:
        return HostEnd(end.host, end.host_port, None, None, None, None, None, None, None, None, ())
    qos = host.qos
    # Hosts with links come from an intent, which knows them throughout.
    priority = dict(certain(qos.dscp_to_priority)).get(dscp) if qos.trust == "dscp" else None
    traffic_class, nccl_tc, paused = (
        certain(qos.traffic_class),
        certain(qos.nccl_tc),
        certain(qos.pfc_priorities),
    )
    return HostEnd(
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
        marks=host_marks(end.host, packet, findings),
    )


def _of_byte(traffic_class: int | None) -> int | None:
    """Return the DSCP of a ToS byte: its upper six bits (RFC 2474, section 3)."""
    return None if traffic_class is None else traffic_class >> 2
