"""A pause storm that goes on from the switch that detects it.

Severity: warning
Subject: running device

## What it does
Where the watchdog detected a storm of a priority, looks for pauses of that priority that the same switch sent. With
`--since`, where both happened between the captures, this is a warning. From one capture it is information: both
count since boot or the last clear, and need not have happened at the same time.

## Why it breaks a lossless fabric
A stormed queue fills the buffers of the switch, and its senders are paused: the storm propagates from switch to switch,
and stops hosts with unrelated traffic. That lasts until the watchdog triggers, and comes again with each storm.

## Bad
```text capture
admin@leaf1:~$ show pfcwd stats
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP
-----------  -----------  -------------------------  ------------  ------------
Ethernet4:3  operational                        2/2       0/56035  14053/371184
Ethernet6:3  operational                        2/2       0/46416  11240/361565
admin@leaf1:~$ show pfc counters
    Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
-----------  ------  ------  ------  ------  ------  ------  ------  ------
  Ethernet4       0       0       0       0       0       0       0       0
  Ethernet6       0       0       0  15,437       0       0       0       0   # <- here
```

## Good
```text capture
admin@leaf1:~$ show pfcwd stats
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP
-----------  -----------  -------------------------  ------------  ------------
Ethernet4:3  operational                        0/0           0/0           0/0
admin@leaf1:~$ show pfc counters
    Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
-----------  ------  ------  ------  ------  ------  ------  ------  ------
  Ethernet4       0       0       0    1290       0       0       0       0
```

## Fix
Find the storm source and take it off the fabric. Set the detection time as short as its poll interval permits: until it
is over, the switch pauses its senders.

## Sources
- sonic-net/sonic-buildimage#9430: a Z9332 with two storms that ended sent 15,437 pauses of the priority itself
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.3
- sonic-swss orchagent/pfcwdsworch.cpp @e6b0c5b: the watchdog's queue has the number of the priority in its mask
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counting import Count, counted, each
from lossless.ground.basics.findings import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.running_subjects import RunningDevice


def check(device: RunningDevice) -> Results:
    """Yield a violation per priority that stormed and whose pauses the switch sent, at the port that sent most."""
    storms = grouped((queue, count) for queue, count in _storms(device))
    if not storms:
        return
    sent: list[tuple[str, Count]] = []
    for placed in each(device.state, "pfc_tx", "port", "priority"):
        priority = placed.part("priority") or ""
        count = counted(device, placed, "port", "priority") if priority in storms else None
        if isinstance(count, MissingInput):
            yield count
        elif count is not None and count.amount:
            sent.append((priority, count))
    for priority, counts in grouped(sent).items():
        yield _storm_propagated(device, priority, storms[priority], counts)


def _storms(device: RunningDevice) -> Iterator[tuple[str, Count]]:
    """Yield the queue and the count of storms of each queue with a detected one."""
    for placed in each(device.state, "pfcwd_detected", "port", "queue"):
        count = counted(device, placed, "port", "queue")
        if isinstance(count, Count) and count.amount:
            yield placed.part("queue") or "", count


def _storm_propagated(
    device: RunningDevice, priority: str, storms: list[Count], sent: list[Count]
) -> Violation:
    worst = max(sent, key=lambda count: count.amount)
    between = all(count.between for count in (*storms, *sent))
    detected = sum(count.amount for count in storms)
    window = worst._replace(between=between).window
    return Violation(
        origin=worst.placed.origin,
        message=(
            f"{device.name} sent {sum(count.amount for count in sent):,} pauses of priority {priority}, and its "
            f"watchdog detected {detected:,} {'storm' if detected == 1 else 'storms'} of it, {window}"
        ),
        note="those for other congestion are among them"
        if between
        else "both count since boot or the last clear, and need not be of one time",
        help=f"find what storms {storms[0].port} and take it off; a shorter detection time ends the next one sooner",
        elements=tuple(f"{device.name}:{count.port}:{priority}" for count in sent),
        severity="warning" if between else "info",
        data={"sent": sum(count.amount for count in sent), "detected": detected},
    )
