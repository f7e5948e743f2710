"""The key of a row must have the parts that its table requires.

Severity: warning
Subject: device
Needs: refusals

## What it does
Takes each key apart at `|` and compares the number of parts and their form with the table: `port|3-4` for priority
groups and queues, `host|asic|port|3` for queues of a VOQ chassis, fixed names such as those of counters. A key that
joins several ports with commas is refused by the models, although orchagent takes it apart.

## Why it breaks a lossless fabric
A row under a key that cannot be read is never applied: the group has no headroom, the queue no profile. The tools
that check refuse the file.

## Bad
```json config_db base=leaf
{
  "FLEX_COUNTER_TABLE": {
    "QUEUE_WATERMARKS": {"FLEX_COUNTER_STATUS": "enable"}   // <- here
  }
}
```

## Good
```json config_db base=leaf
{
  "FLEX_COUNTER_TABLE": {
    "QUEUE_WATERMARK": {"FLEX_COUNTER_STATUS": "enable"}
  }
}
```

## Fix
Write the key in the form that the message names, one row for each port.

## Sources
- sonic-buildimage src/sonic-yang-models/yang-models @086b03b (release by release: profiles/sonic/schema.json)
- sonic-utilities config/main.py @691b1bb (the commands that check against the models: config reload FILE, patches)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results
from lossless.checks.rules.schema.refusals import refusals

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device


def check(device: Device) -> Results:
    """Yield a violation per table and refusal of keys by SONiC's models, with all rows that it is of."""
    yield from refusals(device, "key")
