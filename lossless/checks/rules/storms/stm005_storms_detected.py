"""A queue that has stormed.

Severity: warning
Subject: running device

## What it does
Looks for queues of which the watchdog has detected storms, and which are not stormed now. With `--since` it looks at
storms between the captures, also of a queue that is stormed now, if it has stormed before in that time. From one
capture it is information: the count runs since boot or the last clear, and may be of the day of installation.

## Why it breaks a lossless fabric
A capture after a storm shows all queues operational. The packets of the queue were dropped, RDMA across it has failed
or retransmitted, and the source of the pauses may storm again. Many storms in little time can be one that lasts: some
chips count no pauses while the watchdog has PFC off on the port, so that it restores the queue, and detects it again.

## Bad
```text capture
admin@leaf1:~$ show pfcwd stats
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP
-----------  -----------  -------------------------  ------------  ------------
Ethernet8:3  operational                    170/170       0/46416  11240/361565   # <- here
```

## Good
```text capture
admin@leaf1:~$ show pfcwd stats
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP
-----------  -----------  -------------------------  ------------  ------------
Ethernet8:3  operational                        0/0           0/0           0/0
```

## Fix
Compare with an earlier capture. Where the count grows, find the device that sends pauses to the port: its host, or
behind a switch the next port that is paused.

## Sources
- sonic-net/sonic-buildimage#29203: Tomahawk 4 to 6, all priorities of a port stormed: 170 detections and restorations
  in 20 minutes of one storm that did not stop
- sonic-net/sonic-buildimage#8483: a storm that is detected, restored and detected again within one test
- sonic-swss orchagent/pfcwdorch.cpp @005cc73: the counters of a storm, when it is detected and when it is restored
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counting import Count, counted, each, largest_of_each, other_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.ground.basics.findings import Origin

_STORMED = "stormed"


def check(device: RunningDevice) -> Results:
    """Yield a violation per queue number with past storms and counting period, at the port that stormed most often."""
    storms: list[tuple[str, Count]] = []
    for item in _detected(device):
        if isinstance(item, Count):
            storms.append((item.placed.part("queue") or "", item))
        else:
            yield item
    for queue, counts in largest_of_each(storms):
        yield _storms_detected(device, queue, counts)


def _detected(device: RunningDevice) -> Iterator[Count | MissingInput]:
    """Yield the count of earlier storms of queues that had any, or the missing input for a queue."""
    for placed in each(device.state, "pfcwd_detected", "port", "queue"):
        if not placed.number:
            continue
        count = counted(device, placed, "port", "queue")
        if isinstance(count, MissingInput):
            yield count
            continue
        port, queue = count.port, placed.part("queue") or ""
        goes_on = device.state.value("pfcwd_status", port=port, queue=queue) == _STORMED
        # STM001 reports the storm that goes on; how many came before it is known of two captures only.
        earlier = count.amount - goes_on if count.between or not goes_on else 0
        if earlier > 0:
            yield count._replace(amount=earlier)


def _storms_detected(device: RunningDevice, queue: str, counts: list[Count]) -> Violation:
    worst = counts[0]
    storms = "storm" if worst.amount == 1 else "storms"
    others = f", and such storms of {other_ports(counts)}" if len(counts) > 1 else ""
    again = worst.between and worst.amount > 1
    return Violation(
        origin=_origin(device, queue, counts),
        message=(
            f"the watchdog detected {worst.amount:,} {storms} of queue {queue} of {worst.port} {worst.window}{others}"
        ),
        note="a storm that lasts is detected again each time that its queue is restored" if again else "",
        help=f"find what pauses at {worst.port}"
        if worst.between
        else f"compare with an earlier capture (--since), and find what pauses at {worst.port}",
        elements=tuple(f"{device.name}:{count.port}:{queue}" for count in counts),
        severity=worst.severity("warning", "info"),
        data={"storms": worst.amount},
    )


def _origin(device: RunningDevice, queue: str, counts: list[Count]) -> Origin:
    """Return the place of one queue's status, which STM003 may explain; for several queues, that of the count."""
    status = device.state.of("pfcwd_status", port=counts[0].port, queue=queue)
    return counts[0].placed.origin if status is None or len(counts) > 1 else status.origin
