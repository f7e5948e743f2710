"""The counters that the watchdog reads must be polled.

Severity: error
Fix: unsafe
Subject: device

## What it does
Looks for `FLEX_COUNTER_STATUS` `disable` in `FLEX_COUNTER_TABLE|PFCWD` of a deployed switch with watchdogs. Without
that row the device switches the group on itself.

## Why it breaks a lossless fabric
The watchdog is a script that runs whenever these counters are read. Where they are not read, every row of `PFC_WD`
is in place, `pfcwd show config` looks right, and no storm is ever seen.

## Bad
```json config_db base=leaf
{
  "FLEX_COUNTER_TABLE": {"PFCWD": {
    "FLEX_COUNTER_STATUS": "disable"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "FLEX_COUNTER_TABLE": {"PFCWD": {"FLEX_COUNTER_STATUS": "enable"}}
}
```

## Fix
`pfcwd counter_poll enable`, then save the configuration.

## Sources
- sonic-swss orchagent/flexcounterorch.cpp @005cc73 (the status goes to the counter group of the watchdog)
- sonic-utilities pfcwd/main.py @015521a (counter_poll writes the field)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import Edit

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device

_FIELD = "FLEX_COUNTER_STATUS"


def check(device: Device) -> Results:
    """Yield a violation where watchdogs are configured, and the counters that they read are not polled."""
    row = device.tables.row("FLEX_COUNTER_TABLE", "PFCWD")
    if row is None or row.fields.get(_FIELD) != "disable":
        return
    blind = [ports for ports in device.view.lossless_sets if ports.qos.watchdog is not None]
    if blind:
        yield Violation(
            origin=device.tables.origin("FLEX_COUNTER_TABLE", row, _FIELD),
            message="the watchdog's counters are not polled: it never detects a storm",
            note="PFC_WD has its rows, and pfcwd show config shows them",
            help="run pfcwd counter_poll enable, and save the configuration",
            fix=(Edit(device.tables.origin("FLEX_COUNTER_TABLE", row, _FIELD), "set", "enable"),),
        ).on_ports(*blind)
