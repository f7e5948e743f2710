"""All members of a LAG must pause for the same priorities, at the same speed.

Severity: error
Fix: unsafe
Subject: device
Needs: PORTCHANNEL_MEMBER

## What it does
Compares the ports in service that `PORTCHANNEL_MEMBER` of a deployed switch puts into one LAG: the priorities with
PFC, without 2 and 6 where tunnel remapping added them, and the speed. Headroom may differ with the cable, and is
checked port by port.

## Why it breaks a lossless fabric
Flows are spread over the members by a hash. Those that meet the one member without PFC lose packets under
congestion, the others do not: the same job loses packets with some peers and not with others, and no counter of the LAG
shows why. A slower member is congested while the others are idle, and pauses the traffic for them.

## Bad
```json config_db base=leaf
{
  "PORTCHANNEL": {"PortChannel1": {"admin_status": "up"}},
  "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet4": {}},
  "PORT_QOS_MAP": {"Ethernet4": {
    "pfc_enable": ""   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "PORTCHANNEL": {"PortChannel1": {"admin_status": "up"}},
  "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet4": {}}
}
```

## Fix
Give all members the `PORT_QOS_MAP` row of the others, and one speed.

## Sources
- sonic-swss orchagent/qosorch.cpp @e6b0c5b (PFC and maps belong to physical ports, never to the LAG)
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-portchannel.yang @086b03b (PORTCHANNEL_MEMBER)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.fixes import field
from lossless.checks.rules.locations import beside, element
from lossless.checks.rules.pfc.priorities import remapped
from lossless.formats.sonic.read.tables import priority_list
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import format_rate, spell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.model import Port


def check(device: Device) -> Results:
    """Yield a violation per LAG whose members pause different priorities, and per LAG with PFC of several speeds."""
    rows = device.tables.data.get("PORTCHANNEL_MEMBER")
    if not isinstance(rows, dict) or not device.view.lossless_sets:
        return
    for lag, members in _members(device, rows).items():
        masks = {_mask(port) for port in members}
        if len(masks) > 1:
            yield _mask_violation(device, lag, members)
        by_speed = grouped((port.speed_bps, port) for port in members if port.speed_bps is not None)
        if len(by_speed) > 1 and masks != {()}:
            yield _speed_violation(device, lag, members, by_speed)


def _members(device: Device, rows: dict[object, object]) -> dict[str, list[Port]]:
    """Return the ports in service of each LAG; one without ``admin_status`` is down."""
    ports = {port.name: port for port in device.switch.ports if port.admin_up in (True, UNKNOWN)}
    keys = (key.partition("|") for key in sorted(map(str, rows)))
    return grouped((lag, ports[name]) for lag, _, name in keys if name in ports)


def _mask(port: Port) -> tuple[int, ...]:
    qos = port.qos
    return tuple(sorted(set(qos.pfc.priorities) - remapped(qos))) if qos else ()


def _mask_violation(device: Device, lag: str, members: Sequence[Port]) -> Violation:
    full = max((_mask(port) for port in members), key=len)
    short = [port for port in members if _mask(port) != full]
    qos = short[0].qos
    whole = next(port for port in members if _mask(port) == full)
    missing = sorted(set(full) - set(_mask(short[0])))
    return Violation(
        origin=qos.pfc.origin if qos else short[0].origin,
        message=f"{short[0].name} is a member of {lag} and has PFC on for {spell(_mask(short[0]))}, "
        f"other members for {spell(full)}",
        note=f"flows that hash to it lose the pauses of {spell(missing)}",
        help=f'"pfc_enable": "{priority_list(full)}" on all members of {lag}',
        elements=tuple(element(device, port.name) for port in short),
        data={"lag": lag, "members": [port.name for port in members], "missing": [*missing]},
        related=beside(
            short[0].origin,
            (whole.qos.pfc.origin if whole.qos else None, f"{whole.name} has {spell(full)}"),
        ),
        # The same flows use both ports; but other ports may lack PFC for reasons of their own.
        conclusive=_only_members(device, short),
        fix=tuple(
            edit for port in short if port.qos for edit in field(port.qos.pfc.origin, priority_list(full))
        ),
    )


def _only_members(device: Device, short: Sequence[Port]) -> bool:
    """Return whether these LAG members alone have their PFC masks, among ports that are not down."""
    masks = {_mask(port) for port in short}
    others = (port for port in device.switch.ports if port.qos and port.admin_up is not False)
    return not any(_mask(port) in masks for port in others if port not in short)


def _speed_violation(
    device: Device, lag: str, members: Sequence[Port], by_speed: dict[int, list[Port]]
) -> Violation:
    speeds_bps = sorted(by_speed)
    slow, fast = by_speed[speeds_bps[0]][0], by_speed[speeds_bps[-1]][0]
    origin, other = (
        device.tables.origin("PORT", device.tables.row("PORT", port.name), "speed") for port in (slow, fast)
    )
    return Violation(
        origin=origin,
        message=f"{slow.name} is a member of {lag} at {format_rate(speeds_bps[0])}, "
        f"{fast.name} at {format_rate(speeds_bps[-1])}",
        note="flows are spread evenly: the slower member is congested, and pauses all senders, while others are idle",
        help="give all members one speed",
        elements=tuple(element(device, port.name) for port in members),
        data={"lag": lag, "speeds_bps": [*speeds_bps]},
        related=beside(origin, (other, "the faster member")),
        severity="warning",
    )
