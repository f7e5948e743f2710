"""The watermark of headroom must be read: it is the only early sign of loss.

Severity: warning
Fix: unsafe
Subject: device

## What it does
On a switch with PFC, looks for the counter group `PG_WATERMARK` switched off. Without a row the device switches it
on itself.

## Why it breaks a lossless fabric
Headroom that fills up to 90 % drops nothing and looks like headroom that is never touched. The watermark of each
priority group tells them apart; once packets are dropped it is too late, and only the drop counters show it.

## Bad
```json config_db base=leaf
{
  "FLEX_COUNTER_TABLE": {"PG_WATERMARK": {
    "FLEX_COUNTER_STATUS": "disable"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "FLEX_COUNTER_TABLE": {"PG_WATERMARK": {"FLEX_COUNTER_STATUS": "enable", "POLL_INTERVAL": "60000"}}
}
```

## Fix
`counterpoll watermark enable`

## Sources
- sonic-buildimage files/build_templates/init_cfg.json.j2 @086b03b (a row that switches the group on, since 202411;
  before, dockers/docker-orchagent/enable_counters.py)
- sonic-net/SONiC doc/qos/dynamically-headroom-calculation.md (headroom and its watermark)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.fixes import field

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device


def check(device: Device) -> Results:
    """Yield a violation where the counter group of priority group watermarks is off on a switch with PFC."""
    row = device.tables.row("FLEX_COUNTER_TABLE", "PG_WATERMARK")
    if row is None or row.fields.get("FLEX_COUNTER_STATUS") != "disable" or not device.view.lossless_sets:
        return
    yield Violation(
        origin=device.tables.origin("FLEX_COUNTER_TABLE", row, "FLEX_COUNTER_STATUS"),
        message="counter group PG_WATERMARK is off: nothing shows how near headroom is to loss",
        help="set FLEX_COUNTER_TABLE|PG_WATERMARK|FLEX_COUNTER_STATUS to enable",
        fix=field(device.tables.origin("FLEX_COUNTER_TABLE", row, "FLEX_COUNTER_STATUS"), "enable"),
    )
