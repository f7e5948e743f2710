"""A leaf must keep a port in its MAC table at least as long as the MAC address in its ARP table.

Severity: error
Subject: intent

## What it does
Where an intent declares that leaves bridge RDMA traffic (`topology.bridging`) and flood unknown destinations, compares
how long they keep the port of a MAC address with how long they keep the MAC address of an IP address. If the first time
is the shorter, a dead host's port is removed first, and all packets to it are flooded, upwards too. Then it computes
the buffer dependencies with every leaf flooding, and shows the cycle. CONFIG_DB has no table for the ARP timeout, so
only intents are checked; CLS013 checks the VLANs of devices.

## Why it breaks a lossless fabric
Packets for a dead server are flooded to every port of its leaf, uplinks included, which is a valley. Two leaves with a
dead server each close a cyclic buffer dependency. A test cluster went into a PFC deadlock that way, with an ARP timeout
of 4 hours and a MAC aging time of 5 minutes.

## Bad
```yaml intent base=leaf-spine
topology:
  bridging:
    arp_timeout: 14400s
    mac_aging: 300s   # <- here
```

## Good
```yaml intent base=leaf-spine
topology:
  bridging:
    unknown_unicast: drop
    arp_timeout: 14400s
    mac_aging: 300s
```

## Fix
Drop lossless packets whose port is not known; or keep ports longer than addresses.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2 (the deadlock, the timeouts and the cure)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.topology.buffer_cycles import (
    cycle_violation,
    flooding_results,
    lossless_priorities,
    routing_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.routing.dependencies import CycleHop
    from lossless.model.fabric.cabling import Bridging
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation where timers let leaves flood, and flooding closes a cyclic buffer dependency."""
    bridging, routing = view.fabric.bridging, routing_of(view)
    if routing is None or bridging is None or not bridging.floods:
        return
    if bridging.arp_timeout_ms is None or bridging.mac_aging_ms is None:
        yield MissingInput("missing arp_timeout or mac_aging in topology.bridging")
    elif bridging.forgets_too_soon:
        times_ms = bridging.mac_aging_ms, bridging.arp_timeout_ms
        yield from flooding_results(
            routing, lambda cycle: _mac_forgotten_before_arp(view, bridging, *times_ms, cycle)
        )


def _mac_forgotten_before_arp(
    view: View, bridging: Bridging, mac_ms: int, arp_ms: int, cycle: Sequence[CycleHop]
) -> Violation:
    return cycle_violation(
        bridging.origin.at("mac_aging"),
        f"leaves forget a silent host's port after {mac_ms / 1000:g} s and its address after "
        f"{arp_ms / 1000:g} s; flooding in between closes a cyclic buffer dependency in {lossless_priorities(view)}",
        cycle,
        f"set unknown_unicast: drop, or mac_aging to at least {arp_ms / 1000:g}s",
    )._replace(data={"mac_aging_ms": mac_ms, "arp_timeout_ms": arp_ms})
