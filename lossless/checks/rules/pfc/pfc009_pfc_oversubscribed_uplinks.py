"""PFC on oversubscribed uplinks needs ECN to slow senders before pauses do.

Severity: warning
Subject: intent

## What it does
For each leaf with less uplink than host bandwidth and PFC on its uplinks, and in a fabric of pods for each spine with
less towards super-spines than towards leaves, checks that ECN marks on the lossless queues of the uplinks. Without
marking it warns, and from 4:1 on it is an error. A declared `oversubscription` changes nothing here: it accepts less
bandwidth (TOP001), but does not slow senders down. With marking, the ratio is TOP001's alone. A lossless class without
any marking is reported by the ECN rules; this rule reports the effect of both together.

## Why it breaks a lossless fabric
Above 1:1 the uplinks are a standing point of congestion. Nothing but pauses then ends it: they reach every
host below the leaf, also those that never use an uplink, and from there they spread. At 4:1 and more, hosts
that send across leaves at line rate have the fabric paused most of the time.

## Bad
```yaml intent base=leaf-spine
congestion_control: pfc-only
classes:
  rdma: {ecn: off}
topology:
  leaf_spine:
    oversubscription: 4
    uplinks: 1 x 400G   # <- here
```

## Good
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    oversubscription: 4
    uplinks: 1 x 400G
```

## Fix
Add uplinks until the ratio is 1:1, or give the lossless class an `ecn` curve and use DCQCN.

## Sources
- Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015 (the effect of PFC on victim flows)
- arithmetic: at R:1 a queue that is fed at line rate may forward 1/R of the time
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.ground.basics.units import format_capacity, spell
from lossless.model.fabric.model import Tier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.model import Capacity
    from lossless.model.fabric.qos import PortQos
    from lossless.model.fabric.view import View

PAUSED_MOST_OF_THE_TIME = 4
"""The oversubscription from which hosts at line rate are paused at least three quarters of the time."""


def check(view: View) -> Results:
    """Yield a violation per kind of leaf or spine whose oversubscribed uplinks pause without marking."""
    yield from merged(_violations(view))


def _violations(view: View) -> Iterator[Violation]:
    for capacity in view.fabric.capacities:
        unmarked = _unmarked(view, capacity) if capacity.down_bps > capacity.up_bps else ()
        if unmarked:
            yield _pfc_oversubscribed_uplinks(capacity, unmarked)


def _unmarked(view: View, capacity: Capacity) -> tuple[int, ...]:
    """Return the PFC priorities that leave some uplink through a queue without marking."""
    switch, others = view.switch_by_name[capacity.leaf], _not_up(view, capacity)
    uplinks = {
        id(port.qos): port.qos
        for port in switch.ports
        if port.leads_to == "switch" and port.qos is not None and port.name not in others
    }
    return tuple(sorted({p for qos in uplinks.values() for p in qos.pfc.priorities if not _marks(qos, p)}))


def _not_up(view: View, capacity: Capacity) -> set[str]:
    """Return the ports of a switch that lead to one of a lower tier, or to a peer of its own."""
    name = capacity.leaf
    ends = ((k.a_port, k.b) if k.a == name else (k.b_port, k.a) for k in view.links_of.get(name, ()))
    inside = {port for port, far in ends if _is_within(view, far, capacity.tier)}
    beyond = (link for link in view.fabric.beyond if link.switch == name)
    return inside | {link.port for link in beyond if link.tier is not None and link.tier <= capacity.tier}


def _is_within(view: View, name: str, tier: Tier) -> bool:
    switch = view.switch_by_name.get(name)
    return switch is not None and isinstance(switch.tier, Tier) and switch.tier <= tier


def _marks(qos: PortQos, priority: int) -> bool:
    queue = qos.queue_row(priority)
    return queue is not None and queue.wred is not None and queue.wred.marks


def _pfc_oversubscribed_uplinks(capacity: Capacity, priorities: tuple[int, ...]) -> Violation:
    ratio = capacity.down_bps / capacity.up_bps
    return Violation(
        origin=capacity.origin,
        message=f"{ratio:g}:1 uplinks pause {spell(priorities)}, and no ECN slows the senders before",
        note=f"{capacity.note}; what sends up at line rate is paused {1 - 1 / ratio:.0%} of the time",
        help=f"add uplinks until they carry {format_capacity(capacity.down_bps)}, or let ECN mark on them",
        elements=capacity.leaves,
        data={"ratio": round(ratio, 3), "priorities": list(priorities)},
        severity="error" if ratio >= PAUSED_MOST_OF_THE_TIME else None,
    )
