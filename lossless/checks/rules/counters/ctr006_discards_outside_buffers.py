"""Packets that a port discards outside its buffers are no sign of congestion.

Severity: info
Subject: running device

## What it does
Looks for ports that discard received packets (`IF_IN_DISCARDS`) and have dropped none for want of buffer
(`IN_DROPPED_PKTS`). Where the second counter is not captured, the first is not checked.

## Why it breaks a lossless fabric
It does not: such discards come from a VLAN, an ACL, a missing route, or an unsupported protocol. They are in the same
counter as real loss, and alerts on it are false alarms. Headroom does not help against them.

## Bad
```json capture
{
  "COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1000000000002"},
  "COUNTERS:oid:0x1000000000002": {
    "SAI_PORT_STAT_IF_IN_DISCARDS": "38858",   // <- here
    "SAI_PORT_STAT_IN_DROPPED_PKTS": "0"
  }
}
```

## Good
```json capture
{
  "COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1000000000002"},
  "COUNTERS:oid:0x1000000000002": {
    "SAI_PORT_STAT_IF_IN_DISCARDS": "38858",
    "SAI_PORT_STAT_IN_DROPPED_PKTS": "38858"
  }
}
```

## Fix
Configure debug counters (`config dropcounters`) to learn the reason. Alert on drops of queues and priority groups, not
on discards of ports.

## Sources
- opencomputeproject/SAI inc/saiport.h @6d8326b: SAI_PORT_STAT_IN_DROPPED_PKTS counts packets dropped for want of buffer
- sonic-net/sonic-utilities tests/mock_tables/t1/counter_db.json @691b1bbc4fd2: 24 of 34 ports of a 7050CX3 with 37
  to 39 thousand discards, and none in its buffers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counting import Count, count_of, counted, each, largest_of_each, other_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.running_subjects import RunningDevice


def check(device: RunningDevice) -> Results:
    """Yield a violation per period of counting with discards outside buffers, at the port with the most."""
    discards: list[tuple[str, Count]] = []
    for item in _discards(device):
        if isinstance(item, Count):
            discards.append(("", item))
        else:
            yield item
    for _, counts in largest_of_each(discards):
        yield _discards_outside_buffers(device, counts)


def _discards(device: RunningDevice) -> Iterator[Count | MissingInput]:
    for placed in each(device.state, "in_discards", "port"):
        count = counted(device, placed, "port")
        if isinstance(count, MissingInput):
            yield count
        elif count.amount:
            in_buffers = count_of(device, "SAI_PORT_STAT_IN_DROPPED_PKTS", port=count.port)
            if isinstance(in_buffers, MissingInput):
                yield in_buffers
            elif in_buffers.amount == 0 and in_buffers.between == count.between:
                yield count


def _discards_outside_buffers(device: RunningDevice, counts: list[Count]) -> Violation:
    worst = counts[0]
    others = f", as did {other_ports(counts)}" if len(counts) > 1 else ""
    return Violation(
        origin=worst.placed.origin,
        message=f"{worst.port} discarded {worst.amount:,} packets outside its buffers {worst.window}{others}",
        note="none was dropped for want of buffer: this is no congestion",
        help="configure debug counters to learn the reason, and alert on drops of queues and groups instead",
        elements=tuple(f"{device.name}:{count.port}" for count in counts),
        data={"discards": worst.amount},
    )
