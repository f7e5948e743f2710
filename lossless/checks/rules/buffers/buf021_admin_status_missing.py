"""A port with PFC needs an admin_status.

Severity: warning
Fix: unsafe
Subject: device

## What it does
Looks on a deployed device of the traditional buffer model for ports with PFC whose `PORT` row has no `admin_status`,
although they are meant for service: the file names their neighbor, or it names no neighbors at all and at least as
many ports with PFC are up.

## Why it breaks a lossless fabric
Without the field the port is down after a reload. Until the field is there, buffermgrd also makes no lossless group for
the port. Since August 2025 it treats the port as down instead, and on NVIDIA and Barefoot chips removes the group.
Ports that were split by hand come up in this state: PFC is on, without headroom.

## Bad
```json config_db base=leaf
{
  "PORT": {
    "Ethernet4": {   // <- here
      "admin_status": null
    }
  }
}
```

## Good
```json config_db base=leaf
{
  "PORT": {
    "Ethernet4": {
      "admin_status": "up"
    }
  }
}
```

## Fix
Write `admin_status` up, or down where the port is not in use.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp @029506c (without admin_status the task is put off), @e6b0c5b (it counts as down;
  since @cbe9ca8, pull request 3751)
- sonic-swss cfgmgr/portmgr.h @0273978 (a port is down by default)
- sonic-net/sonic-buildimage issue 23354 (ports split by hand without lossless groups)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.fixes import field
from lossless.checks.rules.locations import element

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.model import Port


def check(device: Device) -> Results:
    """Yield a violation for the ports with PFC that are meant for service and have no ``admin_status``.

    The dynamic buffer model is left out.
    """
    if device.switch.qos.buffer_model == "dynamic":
        return
    sets = device.view.lossless_sets
    missing = [port for ports in sets for port in ports.ports if port.admin_up is None]
    if not missing:
        return
    wired = device.switch.names_neighbors
    up = sum(port.admin_up is True for ports in sets for port in ports.ports)
    if not wired and up < len(missing):
        return
    yield from merged(
        _admin_status_missing(device, port) for port in missing if not wired or port.neighbor is not None
    )


def _admin_status_missing(device: Device, port: Port) -> Violation:
    return Violation(
        origin=port.origin.key(),
        message="PFC is on and the port has no admin_status: it is down after a reload, and no lossless group is "
        "made for it",
        note="buffermgrd puts the groups of a port off until it has an admin_status, or takes the port for down",
        help=f'write "admin_status": "up" on {port.name}, or "down" where it is not in use',
        fix=field(port.origin.at("admin_status"), "up"),
        elements=(element(device, port.name),),
    )
