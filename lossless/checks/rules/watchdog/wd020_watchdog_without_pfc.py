"""A port with a watchdog row must pause a priority.

Severity: warning
Subject: device

## What it does
Looks for ports of a deployed switch that are up, have a row in `PFC_WD`, and pause no priority. Fragments without PORT
rows are left out. A port that has all else of a class that other ports pause is left to PFC001, and a class that
`--rdma-dscp` or an intent names to CLS001 and SWS018.

## Why it breaks a lossless fabric
Half of a lossless class is configured. Without a mask in `pfcwd_sw_enable` orchagent finds nothing to watch, logs an
error and tries again; with one it watches queues that no pause stops. Either the row is left over, or the PFC that it
was to watch is missing, and packets that congest there are dropped.

## Bad
```json config_db base=leaf
{
  "PFC_WD": {
    "Ethernet16": {"action": "drop", "detection_time": "400", "restoration_time": "400"}   // <- here
  },
  "PORT": {"Ethernet16": {"admin_status": "up", "lanes": "41,42,43,44", "speed": "400000", "mtu": "9100"}}
}
```

## Good
```json config_db base=leaf
{
  "PFC_WD": {
    "Ethernet4": {"action": "drop", "detection_time": "400", "restoration_time": "400"}
  }
}
```

## Fix
Pause the lossless priority on the port, or remove its row from `PFC_WD`.

## Sources
- sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b (registerInWdDb takes the mask of pfcwd_sw_enable; createEntry is tried
  again where it is empty)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.pfc.priorities import pausing, uncovered
from lossless.ground.basics.findings import grouped

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device


def check(device: Device) -> Results:
    """Yield a violation for ports with a watchdog row that pause no priority; those with a mask have their own.

    Left out are fragments, switches whose lossless classes are named, and ports that are not up or lack a priority
    which others pause.
    """
    if device.switch.is_fragment or device.switch.classes.knowledge != "inferred":
        return
    rows = device.tables.table("PFC_WD")
    sets = device.view.port_sets
    elsewhere = pausing(sets)
    short = {port.name for ports in sets if uncovered(elsewhere, ports) for port in ports.ports}
    watched = rows.keys() - short
    silent = grouped(
        (bool(port.qos and port.qos.watchdog_mask and port.qos.watchdog_mask.priorities), port)
        for port in device.switch.ports
        if port.name in watched and port.admin_up is True and not (port.qos and port.qos.pfc.priorities)
    )
    for masked, ports in silent.items():
        yield Violation(
            origin=device.tables.origin("PFC_WD", rows[ports[0].name]),
            message="the port has a watchdog and pauses no priority",
            note="it watches queues that no pause stops" if masked else "orchagent finds nothing to watch",
            help="pause the lossless priority on the port, or remove its row",
            elements=tuple(f"{device.switch.name}:{port.name}" for port in ports),
        )
