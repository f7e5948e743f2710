"""What a deployed device says that others can contradict, gathered while its file is at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.fabric.across import LinkEnd, Summary
from lossless.rules.pfc.masks import remapped, uncovered
from lossless.rules.settings import settings_of

if TYPE_CHECKING:
    from lossless.fabric.model import Port
    from lossless.fabric.view import PortSet
    from lossless.findings import Origin
    from lossless.rules.device import Device

    Masks = dict[int, tuple[tuple[int, ...], tuple[int, ...]]]


def summary_of(device: Device) -> Summary:
    """Return the summary of a device."""
    switch = device.switch
    masks = _masks(device)
    return Summary(
        name=switch.name,
        role=switch.role,
        hwsku=switch.hwsku_name if isinstance(switch.hwsku_name, str) else None,
        file=device.tables.file,
        ends=tuple(_end(device, port, masks) for port in switch.ports),
        settings=settings_of(device),
        origin=device.tables.origin("DEVICE_METADATA"),
    )


def _masks(device: Device) -> Masks:
    """Return, by the identity of a QoS, what remapping added to its mask and what the mask leaves out."""
    sets = device.view.port_sets
    return {id(ports.qos): (_sorted(remapped(ports.qos)), _left_out(sets, ports)) for ports in sets}


def _left_out(sets: tuple[PortSet, ...], ports: PortSet) -> tuple[int, ...]:
    return uncovered(sets, ports)


def _sorted(priorities: frozenset[int]) -> tuple[int, ...]:
    return tuple(sorted(priorities))


def _end(device: Device, port: Port, masks: Masks) -> LinkEnd:
    row = device.tables.row("PORT", port.name)
    fields = row.fields if row else {}
    added, left_out = masks.get(id(port.qos), ((), ()))
    pfc_origin: Origin = port.qos.pfc.origin if port.qos else port.origin
    return LinkEnd(
        switch=device.switch.name,
        port=port.name,
        neighbor=port.neighbor,
        up=port.admin_up,
        speed_bps=port.speed_bps,
        mtu_bytes=port.mtu_bytes,
        fec=fields.get("fec"),
        autoneg=fields.get("autoneg") in ("on", "1"),
        cable_m=port.cable.configured_m,
        cable_origin=port.cable.origin,
        pfc=port.qos.pfc.priorities if port.qos else None,
        pfc_origin=pfc_origin,
        remapped=added,
        uncovered=left_out,
        lossless=bool(device.switch.classes.lossless),
        origin=port.origin,
    )
