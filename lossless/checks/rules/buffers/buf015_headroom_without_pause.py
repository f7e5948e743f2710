"""A group with headroom needs PFC for its priority.

Severity: warning
Fix: unsafe
Subject: device

## What it does
Looks for groups with a lossless profile (`xoff`) on ports in service of a deployed switch whose priority has PFC on no
port. Where traffic is counted in such a group, or no row of the switch binds its maps, this is a warning, else only
information: the headroom is unused. Where other ports of the switch pause the priority, PFC001 reports it instead.
PFC005 reports a group that pauses and has a lossy profile. Ports without a row of `PORT_QOS_MAP` are left alone unless
the switch has maps and no such row at all; so are the dynamic model's own groups.

## Why it breaks a lossless fabric
Without PFC no sender stops: traffic passes the threshold, fills the headroom, and is dropped. The buffers are lossless,
the wire is not.

## Bad
```json config_db base=leaf
{
  "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"4": "4"}},
  "DSCP_TO_TC_MAP": {"AZURE": {"34": "4"}},
  "BUFFER_PG": {"Ethernet0|4": {
    "profile": "pg_lossless_400000_5m_profile"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_PG": {"Ethernet0|0": {
    "profile": "ingress_lossy_profile"
  }}
}
```

## Fix
Put the priority into `pfc_enable`, or give the group a lossy profile.

## Sources
- sonic-swss orchagent/bufferorch.cpp @e6b0c5b (xoff makes a profile lossless), cfgmgr/buffermgr.cpp @029506c (PG n =
  priority n)
- sonic-net/SONiC issue 480
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, added_up
from lossless.checks.rules.locations import row_of
from lossless.checks.rules.pfc.priorities import in_service, used_classes
from lossless.ground.basics.findings import Edit, Origin, grouped
from lossless.ground.basics.units import format_bytes, joined
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.ground.basics.findings import Severity
    from lossless.model.fabric.qos import BufferProfile, PriorityGroup
    from lossless.model.fabric.view import PortSet


def check(device: Device) -> Results:
    """Yield a violation per group number, profile and severity with headroom and no PFC.

    Where no port has PFC at all, profiles are not told apart. Ports out of service are left out, and those without a
    PORT_QOS_MAP row, unless the file has DSCP maps and no such row.
    """
    paused = {p for ports in device.view.port_sets for p in ports.qos.pfc.priorities}
    paused |= {
        ports.qos.pausing_group(p) for ports in device.view.port_sets for p in ports.qos.pfc.priorities
    }
    found = [violation for ports in device.view.port_sets for violation in _unpaused(device, ports, paused)]
    # Where no priority has PFC, that is the one cause for groups of all profiles.
    causes = (((v.severity, v.data["group"], v.data["profile"] if paused else None), v) for v in found)
    yield from map(added_up, grouped(causes).values())


def _unpaused(device: Device, ports: PortSet, paused: set[int]) -> Iterator[Violation]:
    for number, group in enumerate(ports.qos.groups):
        if group is None or group.buffer is None or not group.buffer.lossless or number in paused:
            continue
        # A single port without a row has no QoS of its own, which other rules report.
        bound = _is_unbound(device) or len(ports.qos.pfc.origin.path) > 1
        serving = in_service(ports) if bound else None
        if serving is not None:
            yield _headroom_without_pause(device, serving, number, group, group.buffer)


def _headroom_without_pause(
    device: Device, ports: PortSet, number: int, group: PriorityGroup, profile: BufferProfile
) -> Violation:
    qos = ports.qos
    # Where traffic fills the group, or no priority has PFC, the missing pause may be the fault.
    counted = sorted(tc for tc in used_classes(qos) if tc in PRIORITIES and qos.group_of(tc) == number)
    buffers = [other.buffer for other in qos.groups if other is not None and other.buffer is not None]
    lossy = next((buffer.name for buffer in buffers if not buffer.lossless and row_of(buffer)), "")
    nowhere = not any(other.qos.pfc.priorities for other in device.view.port_sets)
    severity: Severity = "warning" if counted or _is_unbound(device) else "info"
    fill = "fills" if len(counted) == 1 else "fill"
    use = f"TC {joined(map(str, counted))} {fill} it" if counted else "no DSCP uses it"
    return Violation(
        origin=qos.pfc.origin if nowhere else group.origin.at("profile"),
        message=f"PG {number} has {profile.name} with {format_bytes(profile.xoff_bytes)} of headroom, {use}, "
        f"and PFC is {'off on every port' if nowhere else f'on for priority {number} on no port'}",
        note="headroom is for what arrives after a pause, and nothing sends one",
        help=f"pause priority {number}, with its maps and watchdog, or give PG {number} a lossy profile"
        if counted or nowhere
        else f"give PG {number} the lossy profile {lossy}"
        if lossy
        else f"give PG {number} a lossy profile",
        fix=_lossy(ports, group, number, lossy) if lossy and not counted and not nowhere else (),
        data={"group": number, "profile": profile.name, "traffic_classes": [*counted]},
        severity=severity,
    ).on_ports(ports)


def _is_unbound(device: Device) -> bool:
    """Return whether a switch has DSCP maps, and no PORT_QOS_MAP row that could bind one to a port."""
    return bool(device.tables.table("DSCP_TO_TC_MAP")) and not device.tables.table("PORT_QOS_MAP")


def _lossy(ports: PortSet, group: PriorityGroup, number: int, name: str) -> tuple[Edit, ...]:
    """Return edits that set a profile in the rows of one priority group; none for a row of several ports or groups."""
    table, key = group.origin.path[:2]
    if key != f"{ports.ports[0].name}|{number}":
        return ()
    return tuple(
        Edit(Origin(group.origin.file, (table, f"{port.name}|{number}", "profile")), "set", name)
        for port in ports.ports
    )
