"""A switch of a tree must not have less bandwidth up than down, unless the intent declares it.

Severity: error
Subject: subnet

## What it does
Adds up, for each leaf of a fat tree or dragonfly+, the rates of the links to compute and storage hosts and of those to
the tier above, each one way, and compares their ratio with the `oversubscription` that the intent accepts (1 where none
is stated). In a tree of three tiers it does so for the tier in the middle too. Links that no product can have count as
declared. Where all tiers pass, the bandwidth between one half of these hosts and the other is compared too, computed as
by `lossless topology`, and for switches that are listed too: a dragonfly+ with too few global links, or uplinks that
add up but lead to different spines, are a warning that names the halves.

## Why it breaks a lossless fabric
Credits stop every sender whose packets wait for a full uplink, and behind it those that do not even use it. Collectives
across leaves run at the uplinks' share, below the rate of the adapters.

## Bad
```yaml intent base=infiniband
topology:
  fat_tree:
    uplinks: 1 x NDR   # <- here
```

```yaml intent base=infiniband
topology:
  fat_tree: null
  dragonfly_plus:   # <- here
    groups: 4
    leaves: 2
    spines: 2
    hosts_per_leaf: 4
    host_links: 1 x NDR
    uplinks: 2 x NDR
    global_links: 1 x NDR
  hosts: {storage1: null}
subnet_manager: {routing: {engine: dfsssp, roots: null}}
partitions: {storage: null}
jobs: null
```

## Good
```yaml intent base=infiniband
topology:
  fat_tree:
    uplinks: 1 x NDR
  oversubscription: 2.5
```

## Fix
Add uplinks until the ratio is 1:1, or state `oversubscription` where the ratio is meant.

## Sources
- arithmetic: the sum of link rates, one way; the maximum flow between two halves of the hosts
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.analysis.topology.bisection import bisection
from lossless.analysis.topology.subnet import subnet_fabric, switch_loads
from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import NO_TOPOLOGY, shape
from lossless.ground.basics.records import Unknown
from lossless.ground.basics.units import format_capacity

if TYPE_CHECKING:
    from lossless.analysis.topology.bisection import Bisection
    from lossless.analysis.topology.subnet import SwitchLoad
    from lossless.model.fabric.infiniband.subnet import Subnet, SubnetShape


def check(subnet: Subnet) -> Results:
    """Yield a violation per switch whose oversubscription exceeds the declared ratio, else one for two halves of hosts.

    Tori are left out, and of topologies that are listed link by link the tiers.
    """
    if isinstance(subnet.links, Unknown):
        yield NO_TOPOLOGY
        return
    if isinstance(subnet.shape, Unknown) or subnet.shape.kind == "torus":
        return
    accepted = subnet.shape.oversubscription
    over = {
        name: load
        for name, load in switch_loads(subnet).items()
        if shape(subnet) is not None and load.down_bps > load.up_bps * accepted
    }
    for name, load in over.items():
        yield _leaf_oversubscribed(name, load, accepted)
    across = bisection(subnet_fabric(subnet).links) if not over else None
    if across is not None and across.host_bps > across.bps * accepted:
        yield _halves_apart(subnet.shape, across)


def _halves_apart(topology: SubnetShape, across: Bisection) -> Violation:
    accepted, ratio = topology.oversubscription, across.host_bps / across.bps if across.bps else math.inf
    declared = f", {accepted:g}:1 is declared" if accepted > 1 else ""
    names = [f"{half[0]} .. {half[-1]}" if len(half) > 1 else half[0] for half in (across.a, across.b)]
    return Violation(
        origin=topology.origin,
        message=f"{format_capacity(across.bps)} lead from {names[0]} to {names[1]} for "
        f"{format_capacity(across.host_bps)} of hosts, {ratio:.3g}:1{declared}",
        note="the most that any routing can carry between these halves",
        help="add links between the halves"
        + (f"; to accept it, state oversubscription: {math.ceil(ratio * 100) / 100:g}" if across.bps else ""),
        data={"bps": across.bps, "host_bps": across.host_bps, "a": [*across.a], "b": [*across.b]},
        severity="warning",
    )


def _leaf_oversubscribed(name: str, load: SwitchLoad, accepted: float) -> Violation:
    ratio = load.down_bps / load.up_bps
    declared = f", {accepted:g}:1 is declared" if accepted > 1 else ""
    return Violation(
        origin=load.origin,
        message=f"links up carry {format_capacity(load.up_bps)} for {format_capacity(load.down_bps)} from below, "
        f"{ratio:g}:1{declared}",
        help=f"add links until they carry {format_capacity(load.down_bps)}; "
        f"to accept it, state oversubscription: {math.ceil(ratio * 100) / 100:g}",
        elements=(name,),
        data={"ratio": round(ratio, 3), "down_bps": load.down_bps, "up_bps": load.up_bps},
    )
