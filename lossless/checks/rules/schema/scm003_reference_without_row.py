"""A row that another row refers to must exist.

Severity: warning
Subject: device
Needs: refusals

## What it does
Looks up each name of a row in another table: the map, scheduler, profile or pool that a field names, and the port
that a key names. Names in brackets, the form of before 202111, lead nowhere either. Ports that have no row are one
finding for each table that names them. In part of a configuration, which has neither `PORT` nor `DEVICE_METADATA`,
tables that are missing altogether are an info.

## Why it breaks a lossless fabric
orchagent keeps the row waiting, and with a dangling map of `PORT_QOS_MAP` the whole port waits, PFC with it. The
tools that check refuse the file.

## Bad
```json config_db base=leaf
{
  "MACSEC_PROFILE": {},
  "PORT": {"Ethernet4": {
    "macsec": "strict"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "MACSEC_PROFILE": {"strict": {}},
  "PORT": {"Ethernet4": {
    "macsec": "strict"
  }}
}
```

## Fix
Add the row that is named, or correct the name.

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
    """Yield a violation per missing row or table that other rows name, with all of these rows."""
    yield from refusals(device, "reference")
