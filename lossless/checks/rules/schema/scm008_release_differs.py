"""Configured fields and values must exist in the release of the device.

Severity: warning
Subject: device
Needs: refusals

## What it does
Where releases are known to differ, compares the file with the release in `VERSIONS|DATABASE|VERSION`: a field that a
later release brought, a range that was changed. Where the release is unknown, or its models are not described, a field
or value that any known release accepts is correct; one that only master refuses is an info. Differences are claimed
only where a source proves them; the note names it.

## Why it breaks a lossless fabric
A feature that the device does not have is skipped without a message: the watchdog history, the trimming or the speed of
the file is missing on the device. The tools that check refuse the file.

## Bad
```json config_db base=leaf
{
  "VERSIONS": {"DATABASE": {"VERSION": "version_202411_01"}},
  "PORT": {"Ethernet4": {
    "fast_linkup": "true"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "VERSIONS": {"DATABASE": {"VERSION": "version_202411_01"}},
  "PORT": {"Ethernet4": {
    "dom_polling": "enabled"
  }}
}
```

## Fix
Remove the field or correct the value, or upgrade the device first.

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
    """Yield a violation per field or value that the release of the device does not have, with all its rows."""
    yield from refusals(device, "release")
