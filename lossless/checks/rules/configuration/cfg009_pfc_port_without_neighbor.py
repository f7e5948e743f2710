"""A port with PFC must have its neighbor in DEVICE_NEIGHBOR.

Severity: info
Subject: device

## What it does
Looks at the ports of a deployed device that are up and have PFC, where the device names some of its neighbors: each
must be in `DEVICE_NEIGHBOR`. Ports that are down, ports between the chips of a chassis (role Int), in-band and
recirculation ports (Inb, Rec) and ports towards DPUs (Dpc) are left out, as SONiC needs no neighbor for them.

## Why it breaks a lossless fabric
SONiC treats a port without a neighbor as unused. `config qos reload` then writes no QoS for it, and
`pfcwd start_default` gives it no watchdog: at the next reload RDMA on this port loses its protection, and the attached
device can pause the switch without a watchdog.

## Bad
```json config_db base=wired-leaf
{
  "DEVICE_NEIGHBOR": {   // <- here
    "Ethernet4": null
  }
}
```

## Good
```json config_db base=wired-leaf
{
  "PORT": {"Ethernet4": {"admin_status": "down"}},
  "DEVICE_NEIGHBOR": {"Ethernet4": null}
}
```

## Fix
Add the neighbor; or, where nothing is connected, take PFC off the port or shut it.

## Sources
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (renders ports of DEVICE_NEIGHBOR only)
- sonic-utilities pfcwd/main.py @015521a (start_default goes by DEVICE_NEIGHBOR and internal ports)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.locations import element
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device

_INSIDE = frozenset({"Int", "Inb", "Rec", "Dpc"})


def check(device: Device) -> Results:
    """Yield a violation where ports with PFC that are up are missing from the neighbors that the device names.

    Ports within the device are left out.
    """
    neighbors = device.tables.table("DEVICE_NEIGHBOR")
    if not neighbors:
        return
    missing = [
        port.name
        for ports in device.view.lossless_sets
        for port in ports.ports
        if port.neighbor is None and port.admin_up is True and not _inside(device, port.name)
    ]
    if missing:
        yield _pfc_port_without_neighbor(device, missing)


def _inside(device: Device, name: str) -> bool:
    row = device.tables.row("PORT", name)
    return row is not None and row.fields.get("role") in _INSIDE


def _pfc_port_without_neighbor(device: Device, missing: list[str]) -> Violation:
    are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
    return Violation(
        origin=device.tables.origin("DEVICE_NEIGHBOR").key(),
        message=f"{listed(missing)} {are} up with PFC, and no row of DEVICE_NEIGHBOR names {them}",
        note="config qos reload writes no QoS for such ports, pfcwd start_default no watchdog",
        help="add the neighbor, or take PFC off where nothing is connected",
        elements=tuple(element(device, name) for name in missing),
        data={"ports": list(missing)},
    )
