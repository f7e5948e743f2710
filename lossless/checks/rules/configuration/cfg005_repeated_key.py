"""A key must not occur twice in one JSON object.

Severity: warning
Subject: device

## What it does
Reports every key that occurs more than once in an object of a `config_db.json`.

## Why it breaks a lossless fabric
SONiC loads the file with a JSON parser that keeps the last value and drops the first without a message. A review of the
first one, a watchdog or a headroom profile, approves a setting that the switch never had.

## Bad
```json config_db base=none
{
  "PFC_WD": {
    "Ethernet0": {"detection_time": "400", "restoration_time": "400"},
    "Ethernet0": {"detection_time": "400"}   // <- here
  }
}
```

## Good
```json config_db base=none
{
  "PFC_WD": {
    "Ethernet0": {"detection_time": "400", "restoration_time": "400"}
  }
}
```

## Fix
Remove one of the two.

## Sources
- RFC 8259, section 4: names within an object should be unique, and what software does otherwise is unpredictable
- Python documentation, json: the last of repeated names is used
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device


def check(device: Device) -> Results:
    """Yield a violation per key that occurs more than once in one JSON object of the file."""
    for repeated in device.fabric.repeated_keys:
        key = repeated.origin.path[-1]
        yield Violation(
            origin=repeated.origin,
            message=f"{key!r} occurs twice in one object; SONiC uses the last and drops the first",
            note=f"the first is on line {repeated.first_line}",
            help="remove one of the two",
            data={"first_line": repeated.first_line},
        )
