"""On InfiniBand jobs choose a service level; a traffic class has no effect.

Severity: warning
Fix: safe
Subject: subnet

## What it does
Looks for NCCL_IB_TC, NCCL_IB_FIFO_TC and UCX_IB_TRAFFIC_CLASS in the environment of jobs on an InfiniBand subnet.

## Why it breaks a lossless fabric
The traffic class is a byte of the header that routed Ethernet packets carry. On InfiniBand NCCL does not set it, so the
job uses service level 0, the lane of all other traffic, while its environment declares another class. The trafficClass
of a communicator's configuration is another setting: NCCL takes it for the service level where NCCL_IB_SL is not set.

## Bad
```yaml intent base=infiniband
jobs:
  environment:
    NCCL_IB_TC: 106   # <- here
```

## Good
```yaml intent base=infiniband
jobs: {environment: {NCCL_IB_SL: 1}}
```

## Fix
State NCCL_IB_SL, or UCX_IB_SL, instead.

## Sources
- NVIDIA/nccl src/transport/net_ib/connect.cc @5067397 (the traffic class is set on an Ethernet link layer alone; the
  service level is NCCL_IB_SL, else the trafficClass of the communicator, else 0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import Edit

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


INSTEAD = {"NCCL_IB_TC": "NCCL_IB_SL", "NCCL_IB_FIFO_TC": "NCCL_IB_SL", "UCX_IB_TRAFFIC_CLASS": "UCX_IB_SL"}


def check(subnet: Subnet) -> Results:
    """Yield a violation per variable of a traffic class in the environment of jobs."""
    for setting in subnet.job.environment if subnet.job else ():
        if setting.key in INSTEAD:
            yield Violation(
                origin=setting.origin,
                message=f"{setting.key} has no effect on InfiniBand: packets keep their service level",
                help=f"state {INSTEAD[setting.key]} instead",
                data={"key": setting.key},
                fix=(Edit(setting.origin, "remove"),),
            )
