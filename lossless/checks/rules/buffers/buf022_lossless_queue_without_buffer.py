"""A lossless queue needs a buffer profile of its own.

Severity: warning
Subject: device

## What it does
Looks at the egress queues of priorities with PFC on ports in service of a deployed switch. One without a `BUFFER_QUEUE`
row is a warning where the same queue of other ports has a row, where other queues of the port have rows, or where the
switch has profiles of egress pools and no such row at all. A fragment of a configuration without all of these is left
alone.

## Why it breaks a lossless fabric
Without a profile the queue has the chip's default, which is a lossy share. Packets that PFC and headroom keep at
ingress are then dropped at egress, where no pause helps.

## Bad
```json config_db base=leaf
{
  "BUFFER_QUEUE": {"Ethernet4|3": null},
  "QUEUE": {
    "Ethernet4|3": {"scheduler": "scheduler.1"}   // <- here
  }
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_QUEUE": {"Ethernet4|3": {"profile": "egress_lossless_profile"}}
}
```

## Fix
Add `BUFFER_QUEUE|PORT|QUEUE` with the lossless egress profile that the other ports have.

## Sources
- sonic-buildimage files/build_templates/buffers_config.j2 @02aaf5c (ports in use get rows for their lossless queues)
- Bai et al., Empowering Azure Storage with RDMA, NSDI 2023 (lossless traffic must not be dropped at egress)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import counted_lossy, has_egress_profiles
from lossless.checks.rules.pfc.priorities import in_service
from lossless.model.fabric.qos import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.qos import PortQos
    from lossless.model.fabric.view import PortSet


def check(device: Device) -> Results:
    """Yield a violation per set of lossless queues without a buffer profile, where other queues or ports have one.

    Where no queue of the switch has one, the switch must have profiles of egress pools.
    """
    sets = device.view.lossless_sets
    usual = {number for ports in sets for number in _queues(ports.qos, buffered=True)}
    unused = not device.tables.table("BUFFER_QUEUE") and has_egress_profiles(device)
    violations = []
    for ports in sets:
        bare = {*_queues(ports.qos, buffered=False)}
        missing = sorted(bare if unused or _gives_queues_buffers(ports.qos) else usual & bare)
        serving = in_service(ports) if missing else None
        if serving is not None:
            others = "ports" if usual.issuperset(missing) else "queues"
            sign = "though the switch has egress profiles" if unused else f"which other {others} have"
            violations.append(_lossless_queue_without_buffer(serving, missing, sign))
    yield from merged(violations)


def _gives_queues_buffers(qos: PortQos) -> bool:
    """Return whether some queue of a port has a BUFFER_QUEUE row: then the rows are not in another file."""
    return any(queue is not None and queue.buffer_origin is not None for queue in qos.queues)


def _queues(qos: PortQos, *, buffered: bool) -> Iterator[int]:
    """Yield the queues of priorities with PFC that have a BUFFER_QUEUE row, or without ``buffered`` have none.

    Left out are unreadable queues, queues that a pause does not stop, and those of priorities in a lossy group.
    """
    for priority in qos.pfc.priorities:
        number = qos.queue_of(priority)
        stopped = qos.pfc_to_queue.targets[priority] if qos.pfc_to_queue else priority
        # Where a pause stops another queue, traffic should not be in this one (PFC005).
        if number == UNREADABLE or counted_lossy(qos, priority) or stopped not in (number, None):
            continue
        queue = qos.queues[number]
        if (queue is not None and queue.buffer_origin is not None) is buffered:
            yield number


def _lossless_queue_without_buffer(ports: PortSet, numbers: Sequence[int], sign: str) -> Violation:
    queue = ports.qos.queues[numbers[0]]
    which = ", ".join(map(str, numbers))
    return Violation(
        origin=queue.origin if queue is not None else ports.qos.pfc.origin,
        message=f"no BUFFER_QUEUE row for lossless queue {which}, {sign}",
        note="such a queue has whatever the chip gives one that nobody configured",
        help=f"add BUFFER_QUEUE|PORT|{numbers[0]} with the egress profile of lossless queues",
        data={"queues": [*numbers]},
    ).on_ports(ports)
