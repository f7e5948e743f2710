"""A port of the subnet manager must not take part in SHARP.

Severity: error
Subject: subnet

## What it does
Looks for hosts of jobs whose first adapter, or the one that is named, is the port of a subnet manager.

## Why it breaks a lossless fabric
SHARP refuses a port that the subnet manager uses: the job's first adapter fails on that host, and with it the job,
or its reductions go over the hosts.

## Bad
```yaml intent base=infiniband
flavour: nvidia
subnet_manager:
  hosts:
    - {on: host1, priority: 10}   # <- here
    - {on: sm2, priority: 5, standby: true}
sharp: {manager: host1}
```

## Good
```yaml intent base=infiniband
flavour: nvidia
subnet_manager:
  hosts:
    - {on: sm1, priority: 10}
    - {on: sm2, priority: 5, standby: true}
sharp: {manager: sm1}
```

## Fix
Run the subnet manager on a host that takes no part, or leave its host out of SHARP.

## Sources
- NVIDIA/nccl issue 1219: `port is used by SM`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import active_sharp, hcas
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per subnet manager on a port of a host that takes part in SHARP."""
    sharp = active_sharp(subnet)
    if sharp is None:
        return
    ports = hcas(subnet)
    for manager in subnet.managers:
        port = ports.get(manager.hca or "")
        if port is not None and port.host in sharp.hosts:
            yield Violation(
                origin=manager.origin,
                message=f"{port.name} is the port of the subnet manager, and {port.host} takes part in SHARP",
                help=f"run the manager elsewhere, or leave {port.host} out of SHARP",
                elements=(port.name,),
                related=(RelatedPlace(sharp.origin, "who takes part in SHARP"),),
            )
