"""A switch of a tree must not have less bandwidth up than down, unless the intent declares it.

Severity: error
Subject: subnet

## What it does
Adds up, for each leaf of a fat tree or dragonfly+, the rates of the links to compute and storage hosts and of those to
the tier above, each one way, and compares their ratio with the `oversubscription` that the intent accepts (1 where none
is stated). In a tree of three tiers it does so for the tier in the middle too. Links that no product can have count as
declared.

## Why it breaks a lossless fabric
Credits stop every sender whose packets wait for a full uplink, and behind it those that do not even use it. Collectives
across leaves run at the uplinks' share, below the rate of the adapters.

## Bad
```yaml intent base=infiniband
topology:
  fat_tree:
    uplinks: 1 x NDR   # <- here
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
- arithmetic: the sum of link rates, one way
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.analysis.topology.subnet import switch_loads
from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import NO_TOPOLOGY, shape
from lossless.ground.basics.records import Unknown
from lossless.ground.basics.units import format_capacity

if TYPE_CHECKING:
    from lossless.analysis.topology.subnet import SwitchLoad
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per switch whose oversubscription exceeds the declared ratio.

    Tori and topologies that are listed link by link are left out.
    """
    if isinstance(subnet.links, Unknown):
        yield NO_TOPOLOGY
        return
    topology = shape(subnet)
    if topology is None or topology.kind == "torus":
        return
    for name, load in switch_loads(subnet).items():
        if load.down_bps > load.up_bps * topology.oversubscription:
            yield _leaf_oversubscribed(name, load, topology.oversubscription)


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
