"""A leaf must not have less uplink than host bandwidth, unless the intent declares it.

Severity: error
Subject: intent

## What it does
Adds up, for each leaf, the bandwidth of its host links and of its uplinks, each counted one way, and compares their
ratio with the `oversubscription` that the intent accepts (1 where none is stated). In a fabric of pods it does so for
each spine as well: its links to leaves against those to super-spines. One number counts for both tiers;
`{leaf: 1, spine: 7}` states one for each.

## Why it breaks a lossless fabric
On an oversubscribed leaf the uplinks are a permanent point of congestion. PFC keeps the queue from overflowing by
pausing every host below it, so one busy uplink slows servers that do not even use it. Collectives across leaves run at
the uplink's share, below the rate of the NICs.

## Bad
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    uplinks: 2 x 400G   # <- here
```

## Good
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    uplinks: 2 x 400G
    oversubscription: 2
```

## Fix
Add uplinks until the ratio is 1:1, or state `oversubscription` where the ratio is meant.

## Sources
- arithmetic: the sum of link rates, one way
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.ground.basics.units import format_capacity
from lossless.model.fabric.model import Tier

if TYPE_CHECKING:
    from lossless.model.fabric.model import Capacity
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of leaf or spine whose oversubscription exceeds the declared ratio."""
    yield from merged(
        _oversubscription_undeclared(capacity, _stated(capacity, view))
        for capacity in view.fabric.capacities
        if capacity.down_bps > capacity.up_bps * capacity.accepted
    )


def _stated(capacity: Capacity, view: View) -> str:
    """Return the value that accepts a ratio: a number for one tier, else a mapping with the ratios of all tiers."""
    ratio = math.ceil(capacity.down_bps / capacity.up_bps * 100) / 100
    ratios = {other.tier: other.accepted for other in view.fabric.capacities} | {capacity.tier: ratio}
    if len(ratios) == 1:
        return f"{ratio:g}"
    return "{" + ", ".join(f"{tier.word}: {ratios[tier]:g}" for tier in sorted(ratios)) + "}"


def _oversubscription_undeclared(capacity: Capacity, stated: str) -> Violation:
    ratio = capacity.down_bps / capacity.up_bps
    below = "hosts" if capacity.tier is Tier.LEAF else "links to leaves"
    declared = f", {capacity.accepted:g}:1 is declared" if capacity.accepted > 1 else ""
    return Violation(
        origin=capacity.origin.key(),
        message=(
            f"{capacity.tier.word} uplinks carry {format_capacity(capacity.up_bps)} for "
            f"{format_capacity(capacity.down_bps)} of {below}, {ratio:g}:1{declared}"
        ),
        note=capacity.note,
        help=f"add uplinks until they carry {format_capacity(capacity.down_bps)}; "
        f"to accept it, state oversubscription: {stated}",
        elements=capacity.leaves,
        data={"ratio": round(ratio, 3), "down_bps": capacity.down_bps, "up_bps": capacity.up_bps},
    )
