"""The stages of one packet inside one switch: facts of the model, no verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import protection
from lossless.analysis.buffers.headroom.port import given_headroom, group_profile, link_need
from lossless.checks.trace.model import (
    TraceClassification,
    TraceEcn,
    TraceEgressBuffer,
    TraceEgressDscp,
    TraceHop,
    TraceLookup,
    TracePfc,
    TracePfcPort,
    TracePort,
    TracePriorityGroup,
    TraceQueue,
    TraceStages,
    TraceWatchdog,
)
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import PRIORITIES, UNREADABLE, PortQos
from lossless.model.fabric.view import single_port

if TYPE_CHECKING:
    from lossless.checks.trace.route import TraceStep
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import (
        BufferProfile,
        DscpRewrite,
        DscpRewrites,
        IndexMap,
        PriorityGroup,
        Queue,
    )
    from lossless.model.fabric.view import View


class SwitchTransit(NamedTuple):
    """A switch and the two ports of the model that a packet passes in it."""

    switch: Switch
    ingress: Port
    egress: Port

    @property
    def ports(self) -> tuple[Port, Port]:
        """Both ports, in the order in which a packet passes them."""
        return self.ingress, self.egress


def transit_of(view: View, step: TraceStep) -> SwitchTransit:
    """Return the switch and the two ports of a step, which must exist."""
    ingress, egress = (view.port(step.switch, name) for name in (step.ingress, step.egress))
    assert ingress is not None
    assert egress is not None
    return SwitchTransit(view.switch_by_name[step.switch], ingress, egress)


class TraceArrival(NamedTuple):
    """The ingress stages of a packet, independent of its egress port."""

    classification: TraceClassification
    group: TracePriorityGroup
    pfc: TracePfcPort


def arrival_of(transit: SwitchTransit, dscp: int) -> TraceArrival:
    """Return the ingress stages of a packet with a DSCP; PFC is that of its group."""
    classification = _classification(transit, dscp)
    group, qos = _group(transit, classification.lookup.target), transit.ingress.qos
    priority = _priority_of(qos, qos.pfc_to_pg if qos else None, group.lookup.target)
    return TraceArrival(classification, group, _direction(transit.ingress, priority))


class TraceDeparture(NamedTuple):
    """The egress stages of a packet, independent of its ingress port."""

    pfc: TracePfcPort
    watchdog: TraceWatchdog
    queue: TraceQueue
    ecn: TraceEcn
    egress_buffer: TraceEgressBuffer


def departure_of(transit: SwitchTransit, traffic_class: int | None) -> TraceDeparture:
    """Return the egress stages of a packet of a traffic class; PFC is that of its queue."""
    qos = transit.egress.qos
    queue = _queue(qos, traffic_class)
    number = queue.lookup.target
    row = _queue_row(qos, number)
    priority = _priority_of(qos, qos.pfc_to_queue if qos else None, number)
    return TraceDeparture(
        _direction(transit.egress, priority),
        _protection(transit, number),
        queue,
        _ecn(row),
        _egress_buffer(row),
    )


def hop_of(
    transit: SwitchTransit,
    dscp: int,
    rewrites: DscpRewrites,
    peers: tuple[str | None, str | None],
    arrival: TraceArrival | None = None,
    departure: TraceDeparture | None = None,
) -> TraceHop:
    """Return a hop of a packet that arrives with a DSCP; ``peers`` are at the other ends of both ports.

    ``arrival`` and ``departure`` are its ingress and egress stages, if already known.
    """
    ingress, egress = (_end(port, peer) for port, peer in zip(transit.ports, peers, strict=True))
    arrival = arrival or arrival_of(transit, dscp)
    traffic_class = arrival.classification.lookup.target
    departure = departure or departure_of(transit, traffic_class)
    rewrite = rewrites.get((transit.switch.name, transit.egress.name))
    stages = TraceStages(
        classification=arrival.classification,
        priority_group=arrival.group,
        pfc=TracePfc(arrival.pfc, departure.pfc),
        watchdog=departure.watchdog,
        queue=departure.queue,
        ecn=departure.ecn,
        egress_buffer=departure.egress_buffer,
        egress_dscp=_egress_dscp(dscp, traffic_class, rewrite),
    )
    return TraceHop(transit.switch.name, ingress, egress, stages, format=transit.switch.format)


def _end(port: Port, peer: str | None) -> TracePort:
    return TracePort(
        port=port.name,
        speed_bps=port.speed_bps,
        cable_m=port.cable.known_m,
        configured_m=port.cable.configured_m,
        mtu_bytes=port.mtu_bytes if isinstance(port.mtu_bytes, int) else None,
        up=port.admin_up if isinstance(port.admin_up, bool) else None,
        placed=port.placed,
        peer=peer,
    )


def _classification(transit: SwitchTransit, dscp: int) -> TraceClassification:
    qos = transit.ingress.qos
    dscp_map = qos.dscp_to_tc if qos else transit.switch.qos.global_dscp_map
    if qos is not None and qos.trust_dot1p:
        return TraceClassification(dscp, TraceLookup(None, "802.1p", None, qos.origin))
    if dscp_map is None:
        return TraceClassification(dscp, TraceLookup(None, "no map", 0, qos.origin if qos else None))
    return TraceClassification(dscp, _lookup(dscp_map, dscp))


def _lookup(index_map: IndexMap, index: int) -> TraceLookup:
    target = index_map.targets[index]
    if target is None:
        return TraceLookup(index_map.name, "no entry", 0, index_map.origin)
    if target == UNREADABLE:
        return TraceLookup(index_map.name, "unreadable", None, index_map.entry_origin(index))
    return TraceLookup(index_map.name, "entry", target, index_map.entry_origin(index))


def _look(index_map: IndexMap | None, traffic_class: int | None) -> TraceLookup:
    """Return the lookup of a traffic class in a map: without a map its own number; unknown for an unknown class."""
    if index_map is None:
        return TraceLookup(None, "no map", traffic_class, None)
    if traffic_class is None:
        return TraceLookup(index_map.name, "unreadable", None, index_map.origin)
    return _lookup(index_map, traffic_class)


def _group(transit: SwitchTransit, traffic_class: int | None) -> TracePriorityGroup:
    qos = transit.ingress.qos
    lookup = _look(qos.tc_to_pg if qos else None, traffic_class)
    row = qos.groups[lookup.target] if qos and lookup.target is not None else None
    if qos is None or lookup.target is None:
        return _unbacked(lookup, row, "no QoS rows for the port" if qos is None else "unknown group")
    if not transit.switch.runs_sonic:
        # Other systems compute headroom, where a class is no-drop.
        lossless = None if qos.pfc.undecided else bool(row and row.lossless)
        return _unbacked(lookup, row, "computed by the switch")._replace(lossless=lossless)
    ports = single_port(transit.switch, transit.ingress, qos)
    profile = group_profile(ports, lookup.target)
    if isinstance(profile, MissingInput):
        return _unbacked(lookup, row, profile.reason)
    need = link_need(ports) if profile else None
    headroom_need = None if need is None or isinstance(need, MissingInput) else need.need
    named = profile or (row.buffer if row else None)
    return TracePriorityGroup(
        lookup=lookup,
        profile=named.name if named else None,
        pool=_pool_name(named),
        generated=bool(row and row.generated),
        lossless=profile is not None,
        headroom_bytes=given_headroom(transit.switch, profile) if profile else None,
        need_bytes=headroom_need.headroom_bytes if headroom_need else None,
        need_method=headroom_need.method if headroom_need else None,
        reserved_bytes=named.reserved_bytes if named else None,
        unknown=need.reason if isinstance(need, MissingInput) else None,
    )


def _unbacked(lookup: TraceLookup, row: PriorityGroup | None, why: str) -> TracePriorityGroup:
    return TracePriorityGroup(lookup, generated=bool(row and row.generated), unknown=why)


def _priority_of(qos: PortQos | None, index_map: IndexMap | None, number: int | None) -> int | None:
    """Return the priority that a map assigns to a group or queue, one with PFC if there is any.

    Of several the priority with the number of the group or queue comes first, then the lowest. Without a map, or an
    entry with that target, the priority has the same number; None for an unknown group or queue.
    """
    if qos is None or index_map is None or number is None:
        return number
    sources = index_map.sources(number)
    leading = [priority for priority in sources if priority in qos.pfc.priorities] or sources
    return number if number in leading or not leading else leading[0]


def _direction(port: Port, priority: int | None) -> TracePfcPort:
    enabled = port.qos.pfc.priorities if port.qos else ()
    undecided = port.qos is not None and port.qos.pfc.undecided
    on = None if priority is None or undecided else priority in enabled
    return TracePfcPort(port.name, priority, on, enabled)


def _protection(transit: SwitchTransit, queue: int | None) -> TraceWatchdog:
    qos, poll_ms = transit.egress.qos, transit.switch.qos.poll.poll_ms
    if qos is None or not qos.pfc.priorities:
        return TraceWatchdog(poll_ms=poll_ms)
    mask, watchdog = qos.watchdog_mask, qos.watchdog
    return TraceWatchdog(
        state=protection(single_port(transit.switch, transit.egress, qos)),
        watched=None if mask is None or queue is None else queue in mask.priorities,
        detection_ms=watchdog.detection_ms if watchdog else None,
        restoration_ms=watchdog.restoration_ms if watchdog else None,
        action=watchdog.action if watchdog else None,
        poll_ms=poll_ms,
    )


def _queue(qos: PortQos | None, traffic_class: int | None) -> TraceQueue:
    lookup = _look(qos.tc_to_queue if qos else None, traffic_class)
    row = _queue_row(qos, lookup.target)
    scheduler = row.scheduler if row else None
    return TraceQueue(
        lookup=lookup,
        scheduler=scheduler.name if scheduler else None,
        kind=scheduler.kind if scheduler else None,
        weight=scheduler.weight if scheduler else None,
    )


def _queue_row(qos: PortQos | None, number: int | None) -> Queue | None:
    return qos.queues[number] if qos and number is not None and number in PRIORITIES else None


def _ecn(row: Queue | None) -> TraceEcn:
    wred = row.wred if row else None
    if wred is None:
        return TraceEcn()
    green = wred.green
    return TraceEcn(
        wred=wred.name,
        marks=wred.marks,
        drops=wred.drops,
        kmin_bytes=green.min_bytes,
        kmax_bytes=green.max_bytes,
        probability_percent=green.probability_percent,
        origin=wred.origin,
    )


def _egress_buffer(row: Queue | None) -> TraceEgressBuffer:
    profile = row.buffer if row else None
    if profile is None:
        return TraceEgressBuffer()
    return TraceEgressBuffer(
        profile=profile.name,
        pool=_pool_name(profile),
        reserved_bytes=profile.reserved_bytes,
        dynamic_th=profile.dynamic_th,
        static_th_bytes=profile.static_th_bytes,
        origin=profile.origin,
    )


def _pool_name(profile: BufferProfile | None) -> str | None:
    return profile.pool.name if profile and profile.pool else None


def _egress_dscp(dscp: int, traffic_class: int | None, rewrite: DscpRewrite | None) -> TraceEgressDscp:
    if rewrite is None:
        return TraceEgressDscp(dscp, None, "unchanged")
    if rewrite.dscps is None:
        return TraceEgressDscp(dscp, rewrite.map_name, "refused" if rewrite.refused else "no such map")
    if traffic_class is None or traffic_class not in rewrite.dscps:
        return TraceEgressDscp(dscp, rewrite.map_name, "no entry")
    return TraceEgressDscp(rewrite.dscps[traffic_class], rewrite.map_name, "rewritten")
