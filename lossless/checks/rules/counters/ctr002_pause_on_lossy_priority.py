"""Priorities that are not lossless must not be paused.

Severity: warning
Subject: running device

## What it does
Looks for pauses that a port received or sent of a priority that is not lossless there: on a switch with lossless
classes, and on one whose configuration has PORT_QOS_MAP and switches PFC on nowhere. With `--since` it looks at those
between the captures. From one capture it is information: the counters run since boot or the last clear, and the
configuration may have been another one then. Pauses that a port with asymmetric PFC receives are left out: it obeys
pauses of all priorities.

## Why it breaks a lossless fabric
Received: the class is lossless on the neighbor and lossy on the switch, so that one of them drops where the other
waits; some chips obey such pauses and drop the stopped packets. Sent: a lossy group pauses its senders, and slows all
traffic of its priority that should be dropped instead.

## Bad
```text capture beside=leaf.json
admin@leaf1:~$ show pfc counters
    Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
-----------  ------  ------  ------  ------  ------  ------  ------  ------
  Ethernet0       0       0       0     312       0       0       0       0
  Ethernet8       0       0       0       0  179523       0       0       0   # <- here
```

## Good
```text capture beside=leaf.json
admin@leaf1:~$ show pfc counters
    Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
-----------  ------  ------  ------  ------  ------  ------  ------  ------
  Ethernet0       0       0       0     312       0       0       0       0
  Ethernet8       0       0       0  179523       0       0       0       0
```

## Fix
Enable PFC of the same priorities at both ends of the link (`pfc_enable`, and PFC of the NIC). Where the switch itself
sends the pauses, check the profiles of its lossy groups: none may have `xoff`.

## Sources
- sonic-net/sonic-buildimage#20590: a switch sends pauses of priority group 0, which is lossy
- sonic-net/sonic-buildimage#23441: a switch obeys pauses of lossy priorities, and drops their traffic
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counting import OTHER_PORT, Count, counted, each, largest_of_each, other_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.running_subjects import RunningDevice

_VERBS = {"pfc_rx": "received", "pfc_tx": "sent"}
_HELP = {
    "pfc_rx": "enable PFC for the same priorities at both ends of the link",
    "pfc_tx": "take xoff out of the profiles of lossy priority groups, or make the class lossless everywhere",
}


def check(device: RunningDevice) -> Results:
    """Yield a violation per direction, lossy priority with pauses and counting period, at the port with most pauses."""
    if not device.lossless and not _states_its_maps(device):
        return
    for name in _VERBS:
        pauses: list[tuple[str, Count]] = []
        for item in _on_lossy(device, name):
            if isinstance(item, Count):
                pauses.append((item.placed.part("priority") or "", item))
            else:
                yield item
        for priority, counts in largest_of_each(pauses):
            yield _pause_on_lossy_priority(device, name, priority, counts)


def _states_its_maps(device: RunningDevice) -> bool:
    """Return whether the configuration has PORT and PORT_QOS_MAP rows, so that PFC is off without lossless classes."""
    configured = device.configured
    return (
        configured is not None
        and not configured.switch.is_fragment
        and bool(configured.tables.table("PORT_QOS_MAP"))
    )


def _on_lossy(device: RunningDevice, name: str) -> Iterator[Count | MissingInput]:
    for placed in each(device.state, name, "port", "priority"):
        port = device.ports.get(placed.part("port") or "")
        if port is None and placed.number:
            yield OTHER_PORT
        if port is None or (name == "pfc_rx" and port.asymmetric):
            continue
        lossless = device.lossless.get(port.name)
        if lossless is not None and int(placed.part("priority") or "0") in lossless.priorities:
            continue
        count = counted(device, placed, "port", "priority")
        if isinstance(count, MissingInput) or count.amount:
            yield count


def _pause_on_lossy_priority(
    device: RunningDevice, name: str, priority: str, counts: list[Count]
) -> Violation:
    worst = counts[0]
    others = f", as did {other_ports(counts)}" if len(counts) > 1 else ""
    return Violation(
        origin=worst.placed.origin,
        message=(
            f"{worst.port} {_VERBS[name]} {worst.amount:,} pauses of priority {priority}, which is not lossless "
            f"there, {worst.window}{others}"
        ),
        help=_HELP[name],
        elements=tuple(f"{device.name}:{count.port}:{priority}" for count in counts),
        severity=worst.severity("warning", "info"),
        data={"pauses": worst.amount},
    )
