"""Every field must exist in SONiC's models.

Severity: warning
Subject: device
Needs: refusals

## What it does
Every field of the tables that SONiC's schema describes here (QoS maps, queues, schedulers, WRED, buffers, PFC watchdog,
ports, counters, telemetry) is looked up in the models. A field that no known release has is a warning, with the nearest
name that exists. `NULL`, which Redis writes into empty rows, is skipped, and so are fields of `DEVICE_METADATA`, of
which only a part is described. Fields that only another release has are reported by SCM008.

## Why it breaks a lossless fabric
The daemons skip or drop unknown fields: a mistyped `pfc_enabel` leaves PFC off without a message. The tools that check
the file can no longer load it, so the next change has to be made by hand.

## Bad
```json config_db base=leaf
{
  "PORT_QOS_MAP": {"Ethernet4": {
    "pfc_enabled": "3"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "PORT_QOS_MAP": {"Ethernet4": {
    "pfc_enable": "3"
  }}
}
```

## Fix
Correct the name, or remove the field. Where a daemon reads it although the models do not have it, keep it and suppress
the finding: `config reload FILE` and patches will refuse the file.

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
    """Yield a violation per table with fields that SONiC's models do not have; one with a near name has its own."""
    yield from refusals(device, "field")
