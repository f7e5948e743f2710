"""Asymmetric PFC makes a port obey pauses of every priority.

Severity: warning
Fix: unsafe
Subject: device

## What it does
Looks for `pfc_asym` `on` in the `PORT` rows of a deployed switch, on ports that are up. Where its intent is checked
with it and states `pfc: {asymmetric: on}`, asymmetric PFC is intended and nothing is reported.

## Why it breaks a lossless fabric
Such a port still sends pauses only for the priorities of `pfc_enable`, but obeys pauses of all eight. Its neighbor
can then stop any queue, that of CNPs and routing protocols included, and the watchdog looks only after the
priorities in its mask: a storm of another one has no end.

## Bad
```json config_db base=leaf
{
  "PORT": {"Ethernet4": {
    "pfc_asym": "on"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "PORT": {"Ethernet4": {"pfc_asym": "off"}}
}
```

## Fix
`config interface pfc asymmetric Ethernet4 off`, unless the neighbor pauses priorities that the switch must not: then
state `pfc: {asymmetric: on}` in the intent.

## Sources
- sonic-swss orchagent/portsorch.cpp @e6b0c5b (setPortPfcAsym: separate modes, 0xff for the obeyed priorities)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.locations import element
from lossless.ground.basics.findings import Edit, grouped
from lossless.ground.basics.units import spell

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.model import Port


def check(device: Device) -> Results:
    """Yield a violation per PFC mask of ports that are up with asymmetric PFC, which the intent does not have."""
    rows = device.tables.table("PORT").items()
    asymmetric = {name for name, row in rows if row.fields.get("pfc_asym") == "on"}
    if asymmetric and device.intended:
        asymmetric -= {port.name for port in device.intended.ports if port.asymmetric}
    ports = (port for port in device.switch.ports if port.admin_up is True and port.name in asymmetric)
    by_mask = grouped((port.qos.pfc.priorities if port.qos else (), port) for port in ports)
    yield from (_pfc_asymmetric(device, priorities, sending) for priorities, sending in by_mask.items())


def _pfc_asymmetric(device: Device, priorities: tuple[int, ...], ports: list[Port]) -> Violation:
    row = device.tables.table("PORT")[ports[0].name]
    return Violation(
        origin=device.tables.origin("PORT", row, "pfc_asym"),
        message=f"pfc_asym is on: the port obeys pauses of all 8 priorities, and sends them for {spell(priorities)}",
        note="a neighbor can stop any queue, and the watchdog looks only after the priorities in its mask",
        help="set pfc_asym to off",
        fix=tuple(Edit(port.origin.at("pfc_asym"), "set", "off") for port in ports),
        elements=tuple(element(device, port.name) for port in ports),
        data={"sends": [*priorities]},
    )
