"""The aggregation manager of SHARP must run with the master subnet manager.

Severity: error

## What it does
Compares the host of the aggregation manager with that of the subnet manager that is meant to be the master.

## Why it breaks a lossless fabric
The aggregation manager asks the subnet manager beside it for the fabric. On another host it finds no master and
ends: jobs that want reductions in the switches fall back to the hosts, or fail.

## Bad
```yaml intent base=infiniband
sharp:
  manager: sm2   # <- here
```

## Good
```yaml intent base=infiniband
sharp:
  manager: sm1
```

## Fix
Run both on one host.

## Sources
- NVIDIA/nccl issue 1425: `FabricProvider must bind to port with master SM`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import active_sharp, master
from lossless.ground.basics.findings import RelatedPlace
from lossless.ground.basics.known import Unknown

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where the two managers are on different nodes."""
    sharp, master_host = active_sharp(subnet), master(subnet)
    if sharp is None or sharp.am_node is None or master_host is None:
        return
    if isinstance(sharp.am_node, Unknown) or isinstance(master_host.node, Unknown):
        yield MissingInput("on which hosts the managers run")
    elif sharp.am_node != master_host.node:
        yield Violation(
            origin=sharp.origin.at("manager"),
            message=f"the aggregation manager runs on {sharp.am_node}, the master subnet manager on {master_host.node}",
            help=f"run it on {master_host.node}",
            elements=(sharp.am_node,),
            data={"aggregation": sharp.am_node, "master": master_host.node},
            related=(RelatedPlace(master_host.origin, "the master subnet manager"),),
        )
