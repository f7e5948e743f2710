"""Fields must agree with each other as SONiC's models demand.

Severity: warning
Subject: device
Needs: refusals

## What it does
Checks the constraints of the models between fields: a threshold's maximum not below its minimum, and never without one;
`pir`, `cbs` and `pbs` of a scheduler only beside the fields they depend on; `percentage` of a pool only without `size`
and only in the dynamic buffer model; watchdog timers not below the poll interval; `all` alone in a list of speeds;
thresholds of CRM in order.

## Why it breaks a lossless fabric
A profile whose maximum lies below its minimum is refused by orchagent as well, and the queue keeps its previous
profile: no marking. Other constraints are not checked by the daemons at all; the tools that check refuse the file.

## Bad
```json config_db base=leaf
{
  "CRM": {"Config": {
    "acl_counter_low_threshold": "80",
    "acl_counter_high_threshold": "70"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "CRM": {"Config": {
    "acl_counter_low_threshold": "70",
    "acl_counter_high_threshold": "80"
  }}
}
```

## Fix
Change the field that is named, or the one it is compared with.

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
    """Yield a violation per table and constraint of SONiC's models that is broken, with all rows that break it."""
    yield from refusals(device, "constraint")
