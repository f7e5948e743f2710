"""A queue that PFC pauses must not trim.

Severity: warning
Subject: device
Needs: BUFFER_QUEUE

## What it does
Looks at the queues of priorities with PFC on a deployed device. None may have a buffer profile with
`packet_discard_action` trim. A profile that trims on a group or in a list is SWS014's.

## Why it breaks a lossless fabric
A lossless queue keeps packets that it cannot send and pauses upstream; a queue that trims removes their payload
instead. One of the two never happens: either trimming does nothing, or RDMA loses payload that PFC and headroom are
there to keep, and a NIC that goes back N sends all of it again. SONiC's trimming is for lossy queues.

## Bad
```json config_db base=trimming-leaf
{
  "BUFFER_PROFILE": {"egress_trim_profile": {
    "pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7", "packet_discard_action": "trim"
  }},
  "BUFFER_QUEUE": {
    "Ethernet0|3": {
      "profile": "egress_trim_profile"   // <- here
    }
  }
}
```

## Good
```json config_db base=trimming-leaf
{
  "BUFFER_QUEUE": {
    "Ethernet0|1": {"profile": "q_lossy_trim_profile"},
    "Ethernet0|3": {"profile": "egress_lossless_profile"}
  }
}
```

## Fix
Give the queue the lossless egress profile, and trim the queues of lossy traffic.

## Sources
- sonic-net/sonic-mgmt docs/testplan/Packet_Trimming_Testplan.md @b4ba9de (5: trimming supports lossy queues only)
- opencomputeproject/SAI doc/SAI-Proposal-Packet-Trimming.md @91e6b86 (trimming begins where a lossy queue drops)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.ecn.wred_profiles import lossless_numbers
from lossless.checks.rules.locations import beside
from lossless.checks.rules.trimming.trimmed_packets import trimming_queues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.checks.rules.trimming.trimmed_packets import TrimmingQueue


def check(device: Device) -> Results:
    """Yield a violation per lossless queue and profile that trims."""
    queues = trimming_queues(device)
    if queues:
        yield from merged(_lossless(device, queues))


def _lossless(device: Device, queues: tuple[TrimmingQueue, ...]) -> Iterator[Violation]:
    lossless = lossless_numbers(device.view)
    for trimming in queues:
        if trimming.queue.number in lossless.get(id(trimming.ports.ports), ()):
            yield _lossless_queue_trims(trimming)


def _lossless_queue_trims(trimming: TrimmingQueue) -> Violation:
    number, name = trimming.queue.number, trimming.profile.name
    origin = (trimming.queue.buffer_origin or trimming.queue.origin).at("profile")
    return Violation(
        origin=origin,
        message=f"lossless queue {number} has the profile {name}, which trims packets",
        note="PFC pauses the queue so that it loses nothing; trimming is what a lossy queue does instead of dropping",
        help="give the queue a profile that does not trim",
        data={"queue": number, "profile": name},
        related=beside(origin, (trimming.action_origin, "here it trims")),
    ).on_ports(trimming.ports)
