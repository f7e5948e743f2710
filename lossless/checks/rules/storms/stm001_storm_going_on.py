"""A queue in a pause storm.

Severity: error
Subject: running device

## What it does
Looks for queues that the PFC watchdog has found stormed and has not restored. Counts of storms that are over, or
more storms found than restored, are no sign of one: a switch counts them apart.

## Why it breaks a lossless fabric
The device at the port pauses it without an end. The watchdog drops or forwards the packets of the queue, so RDMA to the
hosts behind it is not lossless, and their connections break.

## Bad
```json capture
{
  "Ethernet96:3": {
    "PFC_WD_STATUS": "stormed",   // <- here
    "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "19", "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED": "9"
  }
}
```

## Good
```json capture
{
  "Ethernet96:3": {
    "PFC_WD_STATUS": "operational",
    "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "0", "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED": "0"
  }
}
```

## Fix
Find the device that sends the pauses: the host at the port, or behind a switch the next port that is paused. Restart
its NIC or take it off the fabric; the watchdog restores the queue when the pauses end.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, sections 4.3 and 6.2
- sonic-net/sonic-utilities#500: a port with 19 storms found, 9 restored, and one going on
- sonic-swss orchagent/pfcwdorch.cpp @005cc73: PFC_WD_STATUS is `stormed` until the queue is restored
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.checks.rules.running_subjects import RunningDevice

_STORMED = "stormed"


def check(device: RunningDevice) -> Results:
    """Yield a violation per queue that the watchdog has found stormed and has not restored."""
    for status in device.state.named("pfcwd_status", "port", "queue"):
        if status.reading.value == _STORMED:
            port, queue = status.part("port") or "", status.part("queue") or ""
            yield Violation(
                origin=status.origin,
                message=f"queue {queue} of {port} is in a pause storm",
                help=f"find what pauses at {port}, and restart its NIC or take it off the fabric",
                elements=(f"{device.name}:{port}:{queue}",),
                data={"detected": _count(device, "pfcwd_detected", port, queue)},
            )


def _count(device: RunningDevice, name: str, port: str, queue: str) -> int | None:
    placed = device.state.of(name, port=port, queue=queue)
    return None if placed is None else placed.number
