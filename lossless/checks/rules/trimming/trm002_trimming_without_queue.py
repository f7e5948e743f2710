"""A switch that is set up for trimming needs a queue that trims.

Severity: info
Subject: device
Needs: SWITCH_TRIMMING

## What it does
Looks at a deployed device with `SWITCH_TRIMMING|GLOBAL` and rows in `BUFFER_QUEUE`. One of these must name a profile
with `packet_discard_action` trim; without one the switch drops as before. It is information, because trimming is
also switched off that way (`config mmu -p PROFILE -t off`).

## Why it breaks a lossless fabric
The row alone changes nothing. Receivers that wait for trimmed packets get no notice of a loss, and every loss costs a
timeout: only a profile makes a queue trim, and only where a queue has it.

## Bad
```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": {
    "GLOBAL": {"size": "128", "dscp_value": "48", "queue_index": "6"}   // <- here
  },
  "BUFFER_PROFILE": {"q_lossy_trim_profile": {"packet_discard_action": "drop"}}
}
```

## Good
```json config_db base=trimming-leaf
{
  "BUFFER_PROFILE": {"q_lossy_trim_profile": {"packet_discard_action": "trim"}}
}
```

## Fix
Give the lossy queues of the data a profile with `packet_discard_action` trim.

## Sources
- sonic-net/SONiC doc/packet_trimming/packet-trimming-design.md @98de38f (2.1: queues are eligible by their profile)
- sonic-net/sonic-mgmt docs/testplan/Packet_Trimming_Testplan.md @b4ba9de (2: with drop the whole packet is dropped)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.trimming.trimmed_packets import ACTION, TABLE, settings_row, trimming_profiles
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device


def check(device: Device) -> Results:
    """Yield a violation where a switch has settings for trimmed packets, and queues without a profile that trims."""
    row, queues = settings_row(device), device.tables.table("BUFFER_QUEUE")
    if row is None or not queues:
        return
    names = trimming_profiles(device)
    if any(queue.reference("profile") in names for queue in queues.values()):
        return
    unused = f"; {listed(sorted(names))}, which would, is the profile of none" if names else ""
    yield Violation(
        origin=device.tables.origin(TABLE, row),
        message=f"{TABLE}|GLOBAL says what becomes of trimmed packets, and no queue trims any{unused}",
        help=f"give a lossy queue a profile with {ACTION} trim",
        data={"profiles": [*sorted(names)]},
    )
