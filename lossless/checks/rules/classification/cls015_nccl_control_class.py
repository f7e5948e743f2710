"""A separate class for NCCL's control messages must be lossless or have strict priority.

Severity: warning
Subject: intent, hosts

## What it does
Follows a stated `hosts.nccl.ib_fifo_tc`, or NCCL_IB_FIFO_TC that was read on a host, to its class. A lossless class, or
one with strict priority, is accepted; any other is a warning. Without it, control messages use the class of the data.

## Why it breaks a lossless fabric
A sender sends no data before the receiver's clear-to-send. In a lossy queue without strict priority, these small
messages are dropped first under congestion, and each loss delays a whole transfer until the transport retries.

## Bad
```yaml intent base=leaf-spine
hosts:
  nccl:
    ib_fifo_tc: 0   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts:
  nccl: {ib_fifo_tc: 192}
```

## Fix
Point NCCL_IB_FIFO_TC at a class with `scheduling: strict`: 192 for DSCP 48.

## Sources
- NVIDIA/nccl issue 1194 (why control messages have a traffic class of their own)
- Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale, SIGCOMM 2024 (CTS at high priority)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.model.fabric.model import TrafficClass
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host whose control messages are in a lossy class without strict priority."""
    for host, names in view.host_kinds:
        tos = host.jobs.fifo_tc
        cls = view.fabric.classes.of_dscp(tos >> 2) if isinstance(tos, int) else None
        if isinstance(tos, int) and cls is not None and not cls.lossless and not _strict(view, cls):
            yield Violation(
                origin=host.at("nccl", "ib_fifo_tc"),
                message=f"NCCL's control messages go to class {cls.name} (DSCP {tos >> 2}): lossy, and not strict",
                note="a sender moves nothing before them, and under congestion they are dropped",
                help="point NCCL_IB_FIFO_TC at a strict class, or leave it out: they then ride with the data",
                elements=names,
                data={"tos": tos, "class": cls.name},
            )


def _strict(view: View, cls: TrafficClass) -> bool:
    """Return whether every port serves a class with strict priority, where a scheduler is configured."""
    priority = cls.priority or 0
    queues = (ports.qos.queues[ports.qos.queue_of(priority)] for ports in view.port_sets)
    return all(
        queue is None or queue.scheduler is None or queue.scheduler.kind == "STRICT" for queue in queues
    )
