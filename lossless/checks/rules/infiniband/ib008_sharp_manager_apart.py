"""The aggregation manager of SHARP must run with the master subnet manager, on a server of their own.

Severity: error
Subject: subnet

## What it does
Compares the host of the aggregation manager with that of the subnet manager that is meant to be the master. Reports
either of them on a switch; a standby there, and both on a compute host that takes no part in SHARP, are a warning.

## Why it breaks a lossless fabric
The aggregation manager asks the subnet manager beside it for the fabric. On another host it finds no master and ends:
jobs that request reductions in the switches fall back to the hosts, or fail. No switch runs an aggregation manager:
NVIDIA requires a dedicated server for both, which is no compute node, and that managers on switches are off.

## Bad
```yaml intent base=infiniband
flavour: nvidia
sharp:
  manager: sm2   # <- here
```

```yaml intent base=infiniband
flavour: nvidia
subnet_manager:
  hosts:
    - {on: leaf1, priority: 10}
    - {on: sm2, priority: 5, standby: true}
sharp:
  manager: leaf1   # <- here
```

## Good
```yaml intent base=infiniband
flavour: nvidia
sharp:
  manager: sm1
```

## Fix
Run both on one host that runs no jobs.

## Sources
- NVIDIA/nccl issue 1425: `FabricProvider must bind to port with master SM`
- NVIDIA, SHARP 3.2.0, Setting up NVIDIA SHARP Environment (a dedicated server that is no compute node, onboard subnet
  managers disabled); SHARP 3.4.0, Running NVIDIA SHARP Aggregation Manager Daemons
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import active_sharp, hosts, master, switches
from lossless.checks.rules.locations import beside
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import ManagerHost, Sharp, Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where the managers of SHARP and subnet run on different nodes, a switch, or a compute host.

    A compute host that takes part in SHARP is left to IB009.
    """
    sharp, master_host = active_sharp(subnet), master(subnet)
    if sharp is None:
        return
    on_switches = [manager for manager in subnet.managers if manager.node in switches(subnet)]
    if sharp.am_node in switches(subnet) or on_switches:
        yield _on_switch(subnet, sharp, on_switches)
        return
    if not isinstance(sharp.am_node, str):
        yield MissingInput("on which hosts the managers run")
    elif sharp.am_node != master_host.node:
        yield Violation(
            origin=sharp.origin.at("manager"),
            message=f"the aggregation manager runs on {sharp.am_node}, the master subnet manager on {master_host.node}",
            help=f"run it on {master_host.node}",
            elements=(sharp.am_node,),
            data={"aggregation": sharp.am_node, "master": str(master_host.node)},
            related=(RelatedPlace(master_host.origin, "the master subnet manager"),),
        )
    elif sharp.am_node in _resting(subnet, sharp):
        yield Violation(
            origin=sharp.origin.at("manager"),
            message=f"the aggregation manager runs on {sharp.am_node}, which is a compute node",
            note="NVIDIA demands a dedicated server for it and the master subnet manager",
            help="run both managers on a host with role: management",
            elements=(sharp.am_node,),
            data={"aggregation": sharp.am_node},
            severity="warning",
        )


def _resting(subnet: Subnet, sharp: Sharp) -> set[str]:
    """Return the compute hosts that take no part in SHARP: IB009 reports the others."""
    compute = {host.name for host in hosts(subnet).values() if host.role == "compute"}
    return compute - set(sharp.hosts)


def _on_switch(subnet: Subnet, sharp: Sharp, managers: list[ManagerHost]) -> Violation:
    node, waiting = sharp.am_node, False
    if isinstance(node, str) and node in switches(subnet):
        origin, message = (
            sharp.origin.at("manager"),
            f"the aggregation manager runs on {node}, which is a switch",
        )
    else:
        node, origin = str(managers[0].node), managers[0].origin
        waiting = all(manager.standby for manager in managers)
        message = (
            f"a subnet manager runs on {node}, which is a switch, beside an aggregation manager of SHARP"
        )
    return Violation(
        origin=origin,
        message=message,
        note="NVIDIA demands a dedicated server for both, and that managers on switches are off",
        help="run both managers on a host with role: management",
        elements=(node,),
        data={"node": node},
        related=beside(origin, *((manager.origin, f"a manager on {manager.node}") for manager in managers)),
        # A standby does harm when it takes over.
        severity="warning" if waiting else None,
    )
