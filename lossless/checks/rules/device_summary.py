"""Summaries of deployed devices, by which a device is compared with its neighbors and hosts; tunnels of dual ToRs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.interface_tables import raw_rows
from lossless.checks.rules.pfc.priorities import (
    paused_priority,
    pausing,
    remapped,
    sent_priority,
    uncovered,
)
from lossless.checks.rules.role_settings import settings_of
from lossless.checks.rules.trimming.trimmed_dscps import trimmed_by_port
from lossless.checks.rules.watchdog.watchdog_rows import dead_ms
from lossless.formats.sonic.read.tables import whole_number
from lossless.formats.sonic.to_model.device_types import neighbor_types
from lossless.formats.sonic.to_model.lags import lag_mtus, vlan_mtus
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.deployed_devices import DeviceSummary, LinkEnd, Priorities
from lossless.model.fabric.qos import DSCPS, PRIORITIES, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.to_model.lags import Limit
    from lossless.ground.basics.findings import Path
    from lossless.ground.basics.records import Maybe
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import PortQos, TunnelMaps
    from lossless.model.fabric.view import PortSet

    Targets = tuple[int | None, ...]


class _WireBehavior(NamedTuple):
    """Priorities, ECN marking and dead time in a storm of ports with one QoS: fields of a link end of the device.

    See :class:`~lossless.model.fabric.deployed_devices.LinkEnd`.
    """

    remapped: tuple[int, ...] = ()
    uncovered: tuple[int, ...] = ()
    sent: Priorities = ()
    paused: Priorities = ()
    dead_ms: int | None = None
    marking: tuple[int, ...] = ()


_SILENT = _WireBehavior()


def summary_of(device: Device) -> DeviceSummary:
    """Return the summary of a SONiC device: its ports as ends of links, and the settings that its role shares."""
    switch, wire = device.switch, _on_the_wire(device)
    lossless, tunnel = bool(switch.classes.lossless), tunnel_to_peer(device)
    trimmed = trimmed_by_port(device)
    limits = lag_mtus(device.tables), vlan_mtus(device.tables)
    return DeviceSummary(
        name=switch.name,
        device_type=_type(device),
        tier=switch.tier,
        hwsku=switch.hwsku_name if isinstance(switch.hwsku_name, str) else None,
        file=device.tables.file,
        ends=tuple(
            _end(device, port, wire.get(id(port.qos), _SILENT), lossless, trimmed.get(port.name, ()), limits)
            for port in switch.ports
        ),
        settings=settings_of(device),
        intended=device.intended is not None,
        origin=device.tables.origin("DEVICE_METADATA"),
        beyond=tuple(neighbor_types(device.tables).items()),
        asn=whole_number(device.metadata.get("bgp_asn", "")),
        bounce=tunnel,
        moved=tunnel is not None and not kept_priorities(device),
    )


def summary_of_switch(switch: Switch, file: str) -> DeviceSummary:
    """Return the summary of a switch of any system, only with the values that are compared with its hosts."""
    return DeviceSummary(
        switch.name,
        None,
        switch.tier,
        None,
        file,
        tuple(_plain_end(switch, port, file) for port in switch.ports),
        (),
        intended=False,
        origin=switch.origin,
    )


def _plain_end(switch: Switch, port: Port, file: str) -> LinkEnd:
    qos = port.qos
    return LinkEnd(
        switch=switch.name,
        port=port.name,
        alias=None,
        file=file,
        neighbor=port.neighbor,
        up=port.admin_up,
        speed_bps=port.speed_bps,
        mtu_bytes=port.mtu_bytes,
        pfc=qos.pfc.priorities if qos else None,
        pfc_path=(qos.pfc.origin if qos else port.origin).path,
        lossless=bool(switch.classes.lossless),
        paused=_priorities(qos, _targets(qos), paused_priority) if qos and not qos.trust_dot1p else (),
        marking=_marking(qos) if qos else (),
    )


def _type(device: Device) -> str | None:
    """Return a device's type, with any subtype, since the maps of a DualToR differ by design; None without a type."""
    device_type, subtype = device.switch.device_type, device.metadata.get("subtype")
    return f"{device_type} {subtype}" if device_type and subtype else device_type


def _on_the_wire(device: Device) -> dict[int, _WireBehavior]:
    """Return the wire behavior of the ports of a device by the ``id`` of their QoS."""
    sets, poll_ms = device.view.port_sets, device.switch.qos.poll.poll_ms
    elsewhere, entering = pausing(sets), _entering(device.view.lossless_sets)
    return {
        id(ports.qos): _WireBehavior(
            remapped=tuple(sorted(remapped(ports.qos))),
            uncovered=uncovered(elsewhere, ports),
            sent=_priorities(ports.qos, entering, sent_priority),
            paused=()
            if ports.qos.trust_dot1p
            else _priorities(ports.qos, _targets(ports.qos), paused_priority),
            dead_ms=dead_ms(ports.qos.watchdog, poll_ms) if ports.qos.watchdog else None,
            marking=_marking(ports.qos),
        )
        for ports in sets
    }


def _marking(qos: PortQos) -> tuple[int, ...]:
    """Return the priorities with PFC whose queue marks ECN."""
    queues = ((priority, qos.queue_row(priority)) for priority in qos.pfc.priorities)
    return tuple(priority for priority, queue in queues if queue and queue.wred and queue.wred.marks)


def _entering(sets: tuple[PortSet, ...]) -> Targets:
    """Return the TC of each DSCP by the maps of ports with PFC that trust DSCP; empty without such a port.

    It is ``UNREADABLE`` for a DSCP on which the maps differ.
    """
    maps = {id(p.qos.dscp_to_tc): _targets(p.qos) for p in sets if not p.qos.trust_dot1p}.values()
    agreed: Targets = ()
    for targets in maps:
        both = zip(agreed, targets, strict=True) if agreed else zip(targets, targets, strict=True)
        agreed = tuple([tc if tc == other else UNREADABLE for tc, other in both])
    return agreed


def _targets(qos: PortQos) -> Targets:
    return qos.dscp_to_tc.targets if qos.dscp_to_tc else (None,) * len(DSCPS)


def _priorities(qos: PortQos, targets: Targets, of: Callable[[PortQos, int], int | None]) -> Priorities:
    """Return pairs of a DSCP and the priority that ``of`` gives its TC; a DSCP without a map entry has TC 0.

    DSCPs whose TC has no such priority are left out; empty without PFC.
    """
    if not qos.pfc.priorities:
        return ()
    wanted: dict[int | None, int] = {tc: p for tc in PRIORITIES if (p := of(qos, tc)) is not None}
    if 0 in wanted:
        wanted[None] = wanted[0]
    return tuple([(dscp, wanted[tc]) for dscp, tc in enumerate(targets) if tc in wanted])


def _smallest_mtu(
    port: Port, lags: Mapping[str, Limit], vlans: Mapping[str, Limit]
) -> tuple[Maybe[int], Path]:
    """Return the MTU of a port, or of its VLAN where that is smaller, and the path of the LAG or VLAN that sets it.

    The path is empty where the row of the port sets it.
    """
    own, path = port.mtu_bytes, lags[port.name][1] if port.name in lags else ()
    of_vlan = vlans.get(port.name, (None, ()))
    if of_vlan[0] is not None and isinstance(own, int) and of_vlan[0] < own:
        return of_vlan[0], of_vlan[1]
    return own, path


def _end(
    device: Device,
    port: Port,
    wire: _WireBehavior,
    lossless: bool,
    trimmed: tuple[tuple[int, Origin], ...],
    limits: tuple[Mapping[str, Limit], Mapping[str, Limit]],
) -> LinkEnd:
    row = device.tables.row("PORT", port.name)
    fields = row.fields if row else {}
    mtu_bytes, mtu_path = _smallest_mtu(port, *limits)
    return LinkEnd(
        switch=device.switch.name,
        port=port.name,
        alias=fields.get("alias"),
        file=device.tables.file,
        neighbor=port.neighbor,
        up=port.admin_up,
        speed_bps=port.speed_bps,
        mtu_bytes=mtu_bytes,
        mtu_path=mtu_path,
        fec=fields.get("fec"),
        autoneg=fields.get("autoneg") in ("on", "1"),
        cable_m=port.cable.configured_m,
        cable_row="".join(map(str, port.cable.origin.path[1:2])) if port.cable.configured_m else "",
        pfc=port.qos.pfc.priorities if port.qos else None,
        pfc_path=(port.qos.pfc.origin if port.qos else port.origin).path,
        remapped=wire.remapped,
        uncovered=wire.uncovered,
        lossless=lossless,
        sent=wire.sent,
        paused=wire.paused,
        dead_ms=wire.dead_ms,
        marking=wire.marking,
        trimmed=trimmed,
        dscp_path=port.qos.dscp_to_tc.origin.path if port.qos and port.qos.dscp_to_tc else (),
        undecided=port.qos is not None and port.qos.trust_dot1p and port.qos.dscp_to_tc is not None,
        detection_ms=port.qos.watchdog.detection_ms if port.qos and port.qos.watchdog else None,
        watched=device.tables.row("PFC_WD", port.name) is not None,
        # Without the field MACsec lets PFC frames pass in clear (sonic-net/SONiC doc/macsec/MACsec_hld.md @0969ba4).
        macsec_pfc=fields.get("pfc_encryption_mode", "bypass") if fields.get("macsec") else None,
        without_rdma=port.name in device.without_rdma,
    )


def tunnel_to_peer(device: Device) -> Origin | None:
    """Return the origin of the tunnel of a dual ToR with PFC to its peer; None without such a tunnel."""
    if device.metadata.get("subtype") != "DualToR" or not device.view.lossless_sets:
        return None
    names = [name for name, _ in raw_rows(device, "TUNNEL")]
    # muxorch makes a tunnel to a peer that is named, and no other.
    if not names or not any(True for _ in raw_rows(device, "PEER_SWITCH")):
        return None
    return Origin(device.tables.file, ("TUNNEL", names[0]))


def kept_priorities(device: Device) -> list[int]:
    """Return the priorities with PFC that packets keep when a dual ToR returns them, by the maps of its tunnel."""
    paused = {p for ports in device.view.lossless_sets for p in ports.qos.pfc.priorities}
    return sorted(p for p in paused if _stays(device.switch.qos.tunnel, p, paused))


def _stays(tunnel: TunnelMaps | None, priority: int, paused: set[int]) -> bool:
    """Return whether bounced packets of a priority stay in it, and those of no other priority come into it."""
    queues = tunnel.tc_to_queue if tunnel is not None else None
    if queues is None:
        return True
    second = {queues.targets[p] for p in paused if queues.targets[p] != p}
    return queues.targets[priority] in (priority, None) and priority not in second
