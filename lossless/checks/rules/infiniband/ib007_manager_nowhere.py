"""A subnet manager must run where one can.

Severity: error
Subject: subnet

## What it does
Looks for managers that are to run on a switch without a management module.

## Why it breaks a lossless fabric
An externally managed switch (QM8790, QM9790) cannot run a subnet manager. Without a manager no port gets a LID and no
switch a route: the links come up, but carry no traffic.

## Bad
```yaml intent base=infiniband
hardware: {spine: nvidia-qm9790}
subnet_manager:
  hosts:
    - {on: spine1, priority: 10}   # <- here
    - {on: sm2, priority: 5, standby: true}
sharp: off
```

## Good
```yaml intent base=infiniband
hardware: {spine: nvidia-qm9790}
subnet_manager:
  hosts:
    - {on: sm1, priority: 10}
    - {on: sm2, priority: 5, standby: true}
```

## Fix
Run the manager on a host, on UFM, or on a managed switch.

## Sources
- NVIDIA QM87xx and QM97xx user manuals: QM8790 and QM9790 are externally managed, by way of their profiles
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import switches
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per subnet manager on a switch that cannot run one."""
    nodes = switches(subnet)
    for manager in subnet.managers:
        switch = nodes.get(str(manager.node))
        if switch is not None and not switch.profile.managed:
            yield Violation(
                origin=manager.origin,
                message=f"{switch.name} is a {switch.profile.product}, which cannot run a subnet manager",
                note="it is managed from outside",
                help="run the manager on a host, on UFM or on a managed switch",
                elements=(switch.name,),
                data={"product": switch.profile.product},
                related=(RelatedPlace(switch.hardware_origin, f"what chooses the {switch.profile.product}"),),
            )
