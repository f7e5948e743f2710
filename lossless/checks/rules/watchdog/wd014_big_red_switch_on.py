"""BIG_RED_SWITCH must be off.

Severity: error
Subject: device

## What it does
Looks for `BIG_RED_SWITCH` `enable` in `PFC_WD|GLOBAL` of a deployed switch with PFC.

## Why it breaks a lossless fabric
It is for emergencies. While it is on, every queue with PFC, on every port, drops all its packets as if it stormed,
and the watchdog itself is off. In a saved configuration it survives the reboot: no RDMA packet passes the switch.

## Bad
```json config_db base=leaf
{
  "PFC_WD": {"GLOBAL": {
    "BIG_RED_SWITCH": "enable"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "400"}}
}
```

## Fix
`pfcwd big_red_switch disable`, then save the configuration.

## Sources
- sonic-swss orchagent/pfcwdorch.cpp @0408e94 (enableBigRedSwitchMode: a drop handler for each queue with PFC)
- sonic-utilities pfcwd/main.py @015521a (big_red_switch writes the field)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device

_FIELD = "BIG_RED_SWITCH"


def check(device: Device) -> Results:
    """Yield a violation where ``BIG_RED_SWITCH`` makes all queues with PFC drop."""
    row = device.tables.row("PFC_WD", "GLOBAL")
    sets = device.view.lossless_sets
    if row is not None and row.fields.get(_FIELD) == "enable" and sets:
        yield Violation(
            origin=device.tables.origin("PFC_WD", row, _FIELD),
            message="BIG_RED_SWITCH is on: every queue with PFC drops all its packets",
            note="no watchdog detects storms while it is on",
            help="run pfcwd big_red_switch disable, and save the configuration",
        ).on_ports(*sets)
