"""Lossless classes should be routed at the leaves, where nothing is flooded.

Severity: warning
Subject: intent

## What it does
Where an intent declares that leaves bridge RDMA traffic (`topology.bridging`) and flood unknown destinations, computes
the buffer dependencies while every leaf floods, and reports the cycle that this can close. Where timers make it happen
with the first dead host, TOP007 reports that instead. Routed ports flood nothing, and are not checked; CLS013 checks
the VLANs of deployed devices.

## Why it breaks a lossless fabric
A switch without a MAC table entry for the destination sends the packet to all other ports of the VLAN, uplinks
included. With any routing policy, flooded packets take valleys, in the lossless class. A dead host, a full table or a
cleared one is enough, and no timer excludes all of these.

## Bad
```yaml intent base=leaf-spine
topology:
  bridging:   # <- here
    arp_timeout: 300s
    mac_aging: 600s
```

## Good
```yaml intent base=leaf-spine
topology:
  bridging:
    unknown_unicast: drop
```

## Fix
Route at the leaves: leave `bridging` out. Or drop unknown unicast of lossless classes.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results
from lossless.checks.rules.topology.buffer_cycles import (
    cycle_violation,
    flooding_results,
    lossless_priorities,
    routing_of,
)

if TYPE_CHECKING:
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation where flooding leaves close a cyclic buffer dependency, unless TOP007 reports their timers."""
    bridging, routing = view.fabric.bridging, routing_of(view)
    if routing is None or bridging is None or not bridging.floods or bridging.forgets_too_soon:
        return
    message = "leaves flood unknown unicast, which can close a cyclic buffer dependency in "
    message += lossless_priorities(view)
    fix = "set unknown_unicast: drop, or route at the leaves and leave bridging out"
    yield from flooding_results(
        routing, lambda cycle: cycle_violation(bridging.origin.key(), message, cycle, fix)
    )
