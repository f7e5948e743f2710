"""A subnet must have one manager that becomes the master, and one that can take over.

Severity: error
Subject: subnet

## What it does
Compares the priorities of the subnet managers with their declared roles: the master must have the highest, and alone.
Reports where there is no other manager, where all run on the host of the master, and where all are attached to one
switch of several; UFM manages its own standby.

## Why it breaks a lossless fabric
Managers choose the master by priority, and by the lower GUID where priorities are equal. A standby that outranks the
master takes the subnet over when it starts, and routes are written again under running jobs. Without a standby no
manager reacts when the master's host dies: a link that fails afterward stays in the routes.

## Bad
```yaml intent base=infiniband
subnet_manager:
  hosts:
    - {on: sm1, priority: 5}
    - {on: sm2, priority: 15, standby: true}   # <- here
```

```yaml intent base=infiniband
subnet_manager:
  hosts:
    - {on: sm1, priority: 10}
    - {on: sm2, priority: 10}   # <- here
```

```yaml intent base=infiniband
subnet_manager:
  hosts:
    - {on: sm1, priority: 10}   # <- here
```

```yaml intent base=infiniband
topology:
  hosts: {sm1: {at: [leaf1, leaf2], links: 2 x NDR}}
subnet_manager:
  hosts:
    - {on: "sm1:mlx5_0", priority: 10}
    - {on: "sm1:mlx5_1", priority: 5, standby: true}   # <- here
```

```yaml intent base=infiniband
topology:
  hosts: {sm2: {at: leaf1}}
subnet_manager:
  hosts:
    - {on: sm1, priority: 15}
    - {on: sm2, priority: 14, standby: true}   # <- here
```

## Good
```yaml intent base=infiniband
subnet_manager:
  hosts:
    - {on: sm1, priority: 15}
    - {on: sm2, priority: 14, standby: true}
```

## Fix
Give the master the highest priority and every other manager a lower one of its own.

## Sources
- InfiniBand specification 1.2.1, 14.4.1 (master by priority, then by lower GUID)
- opensm 3.3.23, run: `sm_priority 16` becomes 0
- opensm(8), of opensm 3.3.23: priorities go from 0 to 15
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import hcas, links, master, switches
from lossless.ground.basics.findings import RelatedPlace
from lossless.ground.basics.records import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.infiniband.subnet import ManagerHost, Subnet


OWN_PRIORITY = 0
"""The priority of an opensm without a configured one (opensm 3.3.23, run)."""


def check(subnet: Subnet) -> Results:
    """Yield a violation per subnet manager that outranks or equals the master, and where none is on another host.

    UFM manages a standby of its own, and the files of a deployed manager do not show the others.
    """
    if subnet.provenance == "deployed":
        yield MissingInput("the other managers of the subnet are not in the files of this one")
        return
    master_host = master(subnet)
    others = [manager for manager in subnet.managers if manager is not master_host]
    for other in others:
        yield from _compared(master_host, other)
    if not others and subnet.manager != "ufm":
        yield _alone(master_host)
    if others and all(other.node == master_host.node for other in others):
        yield _together(master_host, others)
    elif others and (only := _common_switch(subnet)) is not None:
        yield _behind(only, master_host, others)


def _common_switch(subnet: Subnet) -> str | None:
    """Return the only switch that all managers are attached to or run on.

    None without such a switch, and in a subnet of one switch.
    """
    if len(switches(subnet)) < 2:
        return None
    attached: dict[str, set[str]] = {}
    for link in links(subnet):
        if link.to_hca:
            attached.setdefault(link.b, set()).add(link.a)
    of_host = {hca.host: hca.name for hca in hcas(subnet).values()}
    near: list[set[str]] = []
    for manager in subnet.managers:
        if isinstance(manager.node, Unknown):
            return None
        near.append(
            {manager.node}
            if manager.node in switches(subnet)
            else attached.get(manager.hca or of_host.get(manager.node, ""), set())
        )
    common = set.intersection(*near)
    return common.pop() if len(common) == 1 and all(len(each) == 1 for each in near) else None


def _behind(switch: str, master_host: ManagerHost, others: list[ManagerHost]) -> Violation:
    return Violation(
        origin=others[0].origin,
        message=f"all managers are attached to {switch}: none is left when it fails",
        note="the rest of the subnet keeps its routes, and no manager changes them when a link fails",
        help="attach the standby to another switch",
        elements=(switch,),
        data={"switch": switch},
        related=(RelatedPlace(master_host.origin, "the manager that is meant to be the master"),),
        severity="warning",
    )


def _together(master_host: ManagerHost, others: list[ManagerHost]) -> Violation:
    return Violation(
        origin=others[0].origin,
        message=f"all managers run on {master_host.node}: none takes over when it dies",
        help="run the standby on another host",
        elements=(str(master_host.node),),
        data={"node": str(master_host.node)},
        related=(RelatedPlace(master_host.origin, "the manager that is meant to be the master"),),
        severity="warning",
    )


def _compared(master_host: ManagerHost, other: ManagerHost) -> Iterator[Violation]:
    ours, theirs = (OWN_PRIORITY if m.priority is None else m.priority for m in (master_host, other))
    if ours > theirs:
        return
    same = ours == theirs
    yield Violation(
        origin=other.origin,
        message=f"{other.node} has priority {theirs}, and {master_host.node} is to be the master with {ours}"
        if not same
        else f"{other.node} and {master_host.node} both have priority {ours}: the lower GUID decides which is master",
        help=f"give {master_host.node} the highest priority",
        elements=(str(other.node),),
        data={"master": str(master_host.node), "priority": ours, "other_priority": theirs},
        related=(RelatedPlace(master_host.origin, "the manager that is meant to be the master"),),
        severity="warning" if same else "error",
    )


def _alone(master_host: ManagerHost) -> Violation:
    return Violation(
        origin=master_host.origin,
        message=f"{master_host.node} is the only manager: nobody takes over when it dies",
        note="routes stay as they are then, and with them links that fail",
        help="run a second manager, with a lower priority",
        elements=(str(master_host.node),),
        severity="warning",
    )
