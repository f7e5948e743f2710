"""A row must have the fields that SONiC's models demand.

Severity: warning
Subject: device
Needs: refusals

## What it does
Looks for the mandatory fields of each row: `lanes` and `speed` of a port, `type` and `mode` of a pool, `size` and
`pool` of a buffer profile, the parameters of the dynamic buffer model. Ports of a chassis supervisor need no lanes.

## Why it breaks a lossless fabric
A profile without its pool is never created, and every row that refers to it waits. The tools that check refuse the
file.

## Bad
```json config_db base=leaf
{
  "LOSSLESS_TRAFFIC_PATTERN": {
    "AZURE": {"mtu": "1024"}   // <- here
  }
}
```

## Good
```json config_db base=leaf
{
  "LOSSLESS_TRAFFIC_PATTERN": {
    "AZURE": {"mtu": "1024", "small_packet_percentage": "100"}
  }
}
```

## Fix
Add the field that is named.

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
    """Yield a violation per table and mandatory field that is missing, with all rows that lack it."""
    yield from refusals(device, "missing")
