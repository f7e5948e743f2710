"""A lossless queue needs a buffer profile of its own.

Severity: warning
Subject: device

## What it does
Looks at the egress queues of priorities with PFC on ports in service of a deployed switch. Where one has no
`BUFFER_QUEUE` row, and the same queue of other ports has, that is a warning. A switch without any such row, as a
fragment of a configuration is, is left alone.

## Why it breaks a lossless fabric
Without a profile the queue has whatever the chip gives a queue that nobody configured, which is a lossy share. What
ingress keeps with PFC and headroom is then dropped at egress, where no pause helps.

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
from lossless.checks.rules.locations import counted_lossy
from lossless.checks.rules.pfc.priorities import in_service
from lossless.model.fabric.qos import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.qos import PortQos
    from lossless.model.fabric.view import PortSet


def check(device: Device) -> Results:
    """Yield a violation per queue without a buffer profile that other ports give the same queue."""
    sets = device.view.lossless_sets
    usual = {number for ports in sets for number in _queues(ports.qos, buffered=True)}
    violations = []
    for ports in sets:
        missing = sorted(usual.intersection(_queues(ports.qos, buffered=False)))
        serving = in_service(ports) if missing else None
        if serving is not None:
            violations.append(_violation(serving, missing))
    yield from merged(violations)


def _queues(qos: PortQos, *, buffered: bool) -> Iterator[int]:
    """Yield the queues of priorities with PFC that have a BUFFER_QUEUE row, or that have none."""
    for priority in qos.pfc.priorities:
        number = qos.queue_of(priority)
        if number == UNREADABLE or counted_lossy(qos, priority):
            continue
        queue = qos.queues[number]
        if (queue is not None and queue.buffer_origin is not None) is buffered:
            yield number


def _violation(ports: PortSet, numbers: Sequence[int]) -> Violation:
    queue = ports.qos.queues[numbers[0]]
    which = ", ".join(map(str, numbers))
    return Violation(
        origin=queue.origin if queue is not None else ports.qos.pfc.origin,
        message=f"no BUFFER_QUEUE row for lossless queue {which}, which other ports have",
        note="such a queue has whatever the chip gives one that nobody configured",
        help=f"add BUFFER_QUEUE|PORT|{numbers[0]} with the profile of the other ports",
        data={"queues": [*numbers]},
    ).on_ports(ports)
