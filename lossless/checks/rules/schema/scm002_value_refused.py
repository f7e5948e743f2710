"""Every value must have the type, range and form that SONiC's models require.

Severity: warning
Subject: device
Needs: refusals

## What it does
Compares each value with the type of its field: whole numbers and their range, words of a choice, names, lists and forms
such as `40m` or `3,4`. Numbers may be JSON numbers; JSON `true` and `false` are not text and are refused, as the
translation into YANG makes `True` of them. The message names the allowed values.

## Why it breaks a lossless fabric
The effect of such a value depends on the daemon: it may skip the field, drop the row, read half of the number or stop.
The tools that check refuse the whole file, the good rows with it.

## Bad
```json config_db base=leaf
{
  "DEVICE_METADATA": {"localhost": {
    "default_bgp_status": "on"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "DEVICE_METADATA": {"localhost": {
    "default_bgp_status": "up"
  }}
}
```

## Fix
Write a value of the range or one of the words that the message names.

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
    """Yield a violation per table and refusal of values by SONiC's models, with all rows that it is of."""
    yield from refusals(device, "value")
