"""The bandwidth that remains after the planned failures must keep the declared oversubscription.

Severity: warning
Subject: intent

## What it does
Where an intent states `failures.oversubscription`, removes from every leaf, and in a fabric of pods from every spine,
the links and devices that are `out_of_service`, and then the fastest `links` of its uplinks, or the `switches` above it
that carry most (one, where no number is stated), whichever leaves less. It compares the bandwidth below with the
remaining bandwidth above: in the worst case over all failures of that many, not in an average. TOP004 and TOP005 check
routing after the same failures.

## Why it breaks a lossless fabric
Routing moves the traffic of a dead uplink to those beside it. A ratio of 1:1 is oversubscribed from then on, and the
queues that PFC held empty fill and pause every host below: jobs slow down for as long as the repair takes, and only the
pause counters show the reason.

## Bad
```yaml intent base=leaf-spine
failures:
  switches: 1
  oversubscription: 1.5   # <- here
```

## Good
```yaml intent base=leaf-spine
failures: {switches: 1, oversubscription: 2}
```

```yaml intent base=leaf-spine
failures: {links: 1, switches: 0, oversubscription: 1.34}
topology:
  leaf_spine:
    hosts_per_leaf: 4
    uplinks: 2 x 800G
```

## Fix
Add uplinks, or spread them over more switches, so that each failure takes less; or accept the higher ratio.

## Sources
- arithmetic: the sum of link rates, one way, without those that carry most
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.analysis.topology.bisection import left_without_links, left_without_switches, ratio
from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.units import format_capacity
from lossless.model.fabric.model import Tier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.cluster import Failures
    from lossless.model.fabric.model import Capacity
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of switch with too little bandwidth after failures, for the worst kind of failure."""
    failures = view.fabric.failures
    if failures is None or failures.accepted is None:
        return
    for capacity in view.fabric.capacities:
        left_bps, number, what = min(_cases(failures, capacity))
        if capacity.down_bps > left_bps * failures.accepted:
            lost = f" that loses {number} {what if number > 1 else what.removesuffix('s')}" if number else ""
            yield _oversubscribed_after_failures(failures, failures.accepted, capacity, lost, left_bps)


def _cases(failures: Failures, capacity: Capacity) -> Iterator[tuple[int, int, str]]:
    """Yield for each kind of failure the least b/s that remain, the number of failures, and the failed elements."""
    yield left_without_links(capacity, failures.links), failures.links, "uplinks"
    if failures.switches:
        above = "spines" if capacity.tier is Tier.LEAF else "super-spines"
        yield left_without_switches(capacity, failures.switches), failures.switches, above


def _oversubscribed_after_failures(
    failures: Failures, accepted: float, capacity: Capacity, lost: str, left_bps: int
) -> Violation:
    actual = ratio(capacity.down_bps, left_bps)
    needed_bps = math.ceil(capacity.down_bps / accepted)
    is_left = f"{actual:.4g}:1" if left_bps else "nothing is left above it"
    return Violation(
        origin=failures.origin.at("oversubscription"),
        message=f"a {capacity.tier.word}{lost} has {format_capacity(left_bps)} of uplinks for "
        f"{format_capacity(capacity.down_bps)} below it, {is_left}; {accepted:g}:1 is accepted",
        note=f"whole: {capacity.note}"
        + (f"; out of service: {', '.join(failures.gone)}" if failures.gone else ""),
        help=f"more uplinks, or more switches to share them: {format_capacity(needed_bps)} must be left"
        + (f"; to accept it, state oversubscription: {math.ceil(actual * 100) / 100:g}" if left_bps else ""),
        elements=capacity.leaves,
        data={"left_bps": left_bps, "down_bps": capacity.down_bps, "accepted": accepted},
    )
