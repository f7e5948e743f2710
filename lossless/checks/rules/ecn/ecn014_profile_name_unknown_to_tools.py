"""The one WRED profile of a switch should have the name that SONiC's tools look for.

Severity: info
Subject: device

## What it does
On a deployed switch whose lossless queues all share one marking WRED profile, checks that its name is `AZURE_LOSSLESS`.
Where several profiles are needed, one per speed or class, only one of them could have that name, and the rule does not
apply.

## Why it breaks a lossless fabric
It does not by itself: `ecnconfig -q 3` compares the name and answers "off" for a queue that marks. An operator who then
enters `ecnconfig -q 3 on` binds `AZURE_LOSSLESS` to the queues instead, with the thresholds of that profile, if it
exists.

## Bad
```json config_db base=leaf
{
  "WRED_PROFILE": {"ROCE": {
    "ecn": "ecn_all",
    "wred_green_enable": "true",
    "green_min_threshold": "819200",
    "green_max_threshold": "3276800",
    "green_drop_probability": "20"
  }},
  "QUEUE": {
    "Ethernet0|3": {
      "wred_profile": "ROCE"   // <- here
    },
    "Ethernet4|3": {"wred_profile": "ROCE"},
    "Ethernet8|3": {"wred_profile": "ROCE"}
  }
}
```

## Good
```json config_db base=leaf
{
  "QUEUE": {
    "Ethernet0|3": {"wred_profile": "AZURE_LOSSLESS"}
  }
}
```

## Fix
Name the profile `AZURE_LOSSLESS`, or do not trust `ecnconfig -q` on this switch.

## Sources
- sonic-utilities scripts/ecnconfig @0ed3461 (the name is compared, and set)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.ecn.wred_profiles import refused, uses
from lossless.checks.rules.locations import places

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device

KNOWN_NAME = "AZURE_LOSSLESS"
"""The name that ``ecnconfig`` takes for "on" (sonic-utilities scripts/ecnconfig @0ed3461)."""


def check(device: Device) -> Results:
    """Yield a violation where the only WRED profile of a switch marks and is not named ``AZURE_LOSSLESS``."""
    profiles = uses(device.view)
    use = profiles[0] if len(profiles) == 1 else None
    if use is None or not use.wred.marks or refused(use.wred) or use.wred.name == KNOWN_NAME:
        return
    queues = (queue for ports in device.view.port_sets for queue in ports.qos.queues if queue is not None)
    if {queue.wred.name for queue in queues if queue.wred is not None} != {use.wred.name}:
        return  # One name cannot stand for the curves of several classes.
    first = use.queues[0].queue
    yield Violation(
        origin=first.origin.at("wred_profile") if first else use.wred.origin,
        message=f'"ecnconfig -q" calls ECN off on {places(use.sets)} ports: it looks for {KNOWN_NAME}, '
        f"the profile is {use.wred.name}",
        note=f"ecnconfig -q N on would bind {KNOWN_NAME} instead, whatever it holds",
        help=f"name the profile {KNOWN_NAME}",
        data={"profile": use.wred.name, "queues": list(use.numbers)},
    ).on_ports(*use.sets)
