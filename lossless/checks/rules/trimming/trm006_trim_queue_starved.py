"""The queue of trimmed packets must be served while the queues that trim are full.

Severity: warning
Confidence: medium
Subject: device
Needs: SWITCH_TRIMMING

## What it does
Takes the queue of trimmed packets on ports of a deployed device that trim: `queue_index`, or with `dynamic` the queue
of their DSCP by the maps of the port. It must not be the only queue that trims, must not wait for a queue that trims
and is served strictly without a limit, and must have at least half of an equal share. The weight of a lossless queue is
SCH001's.

## Why it breaks a lossless fabric
Packets are trimmed at the moment at which the link has more to send than it can. A queue that is served last then holds
the notice of the loss until the congestion is over, or has no room for it: to the sender both look as if no packet had
been trimmed, and a timeout decides.

## Bad
```json config_db base=trimming-leaf
{
  "SCHEDULER": {"scheduler.trim": {
    "type": "DWRR",
    "weight": "1"   // <- here
  }},
  "QUEUE": {
    "Ethernet0|5": {"scheduler": "scheduler.trim"},
    "Ethernet4|5": {"scheduler": "scheduler.trim"},
    "Ethernet8|5": {"scheduler": "scheduler.trim"}
  },
  "SWITCH_TRIMMING": {"GLOBAL": {"queue_index": "5"}}
}
```

```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": {"GLOBAL": {
    "queue_index": "0"   // <- here
  }}
}
```

## Good
```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": {"GLOBAL": {"queue_index": "5"}}
}
```

## Fix
Send trimmed packets by a queue of their own, served strictly or with a share of the link like that of other queues.

## Sources
- sonic-net/SONiC doc/packet_trimming/packet-trimming-design.md @98de38f (1.1: sent on a different queue; 2.1: usually
  one of high priority, to ensure the delivery)
- opencomputeproject/SAI doc/SAI-Proposal-Packet-Trimming.md @91e6b86 (a trimmed packet that the trim queue does not
  admit is dropped)
- opencomputeproject/SAI inc/saischeduler.h @0051fac
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.ecn.wred_profiles import lossless_numbers
from lossless.checks.rules.scheduling.scheduler_use import (
    STRICT,
    WEIGHTS,
    below_half_share,
    scheduler_of,
    unbounded,
    waiting_for,
    weights,
)
from lossless.checks.rules.trimming.trimmed_packets import TABLE, queue_on, settings_row, trimming_queues
from lossless.ground.basics.findings import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.checks.rules.trimming.trimmed_packets import TrimmingQueue
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.view import PortSet


def check(device: Device) -> Results:
    """Yield a violation per reason for which trimmed packets are served late or too little."""
    row = settings_row(device)
    if row is not None:
        yield from merged(_starved(device, row))


def _starved(device: Device, row: ConfigRow) -> Iterator[Violation]:
    lossless = lossless_numbers(device.view)
    by_ports = grouped((id(queue.ports.ports), queue) for queue in trimming_queues(device))
    for ports_id, queues in by_ports.items():
        ports = queues[0].ports
        number = queue_on(row, ports.qos)
        if number is None:
            continue
        problem = _behind_data(queues, number)
        if problem:
            yield _misplaced(device, row, number, problem).on_ports(ports)
        elif number not in lossless.get(ports_id, ()):
            yield from _short(ports, number)


def _behind_data(queues: list[TrimmingQueue], number: int) -> str:
    """Return the reason why trimmed packets wait behind the data they were trimmed from; empty where they do not."""
    if [trimming.queue.number for trimming in queues] == [number]:
        return "the very queue that had no room for them"
    for trimming in queues:
        scheduler, ports = trimming.queue.scheduler, trimming.ports
        strict = scheduler is not None and scheduler.kind == STRICT and unbounded(scheduler, ports.speed_bps)
        if strict and number in waiting_for(ports.qos, trimming.queue.number):
            return f"which waits for queue {trimming.queue.number}, where they were trimmed: that is served strictly"
    return ""


def _misplaced(device: Device, row: ConfigRow, number: int, problem: str) -> Violation:
    return Violation(
        origin=_choice(device, row),
        message=f"trimmed packets are sent by queue {number}, {problem}",
        note="packets are trimmed while that queue is full: the news of a loss waits for the end of the congestion",
        help="send trimmed packets by a queue that is served before the data",
        data={"queue": number},
    )


def _choice(device: Device, row: ConfigRow) -> Origin:
    """Return the origin of the field that chooses the queue of trimmed packets."""
    dynamic = row.fields.get("queue_index", "").lower() == "dynamic"
    return device.tables.origin(TABLE, row, "dscp_value" if dynamic else "queue_index")


def _short(ports: PortSet, number: int) -> Iterator[Violation]:
    shared, scheduler = weights(ports.qos), scheduler_of(ports.qos, number)
    if number not in shared or scheduler is None or not all(weight in WEIGHTS for weight in shared.values()):
        return
    weight, total = shared[number], sum(shared.values())
    if len(shared) > 1 and below_half_share(shared, (number,)):
        yield Violation(
            origin=scheduler.origin.at("weight"),
            message=f"queue {number} of trimmed packets can count on {100 * weight / total:.1f} % of the link: weight "
            f"{weight} of {total}",
            note=f"equal weights on {len(shared)} queues would give {100 / len(shared):.1f} %; what the queue has no "
            "room for is dropped",
            help="raise its weight, or serve it strictly with a limit",
            data={"queue": number, "weight": weight, "total": total},
        ).on_ports(ports)
