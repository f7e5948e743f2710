"""Lossless traffic should not cross links without PFC where packets can be lost.

Severity: warning
Fix: unsafe
Subject: intent

## What it does
Looks at the links that `pfc.tiers` of an intent leaves out. Their receivers do not pause, and have no headroom. There a
packet is lost as soon as an egress that it can leave by is full, so the rule warns of each switch where one can fill:
where the other ports bring in more than the egress sends, or where the neighbor behind it can pause it. It is silent
where neither is possible, as at a switch that joins two links of one rate and is never paused. All links of an intent
are one finding.

## Why it breaks a lossless fabric
RoCE resends everything after a lost packet. PFC on the tiers below does not help: a leaf that pauses its spine fills
the spine, and the spine drops traffic from above instead of pausing it. DCQCN makes such losses rarer; it does not rule
them out, since it reacts only after a round trip. It is safe to leave a tier out where no lossless traffic crosses it,
which the operator knows and an intent does not declare.

## Bad
```yaml intent base=leaf-spine
pfc:
  tiers: [hosts]   # <- here
```

## Good
```yaml intent base=leaf-spine
pfc: {tiers: [hosts, uplinks]}
```

## Fix
Add the links to `pfc.tiers`, or state `pfc: off` where the class is meant to be lossy. Suppress the finding where jobs
stay below the tier, or where the loss is accepted. The edit is unsafe since new links take headroom and spread pauses.

## Sources
- IEEE 802.1Q-2018, clause 36 (PFC prevents loss on the links that have it, and on no other)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 6.1 (PFC at ToR, podset and spine in turn)
- Juniper/jvd data_center/aidc/aiml_multitenancy_backend @005ab34 (PFC for DSCP 26 on every port of leaves and spines)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.fixes import key
from lossless.checks.rules.topology.buffer_cycles import closes_cycle_if_all_pause
from lossless.ground.basics.units import joined, spell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield one violation where links without PFC lead lossless traffic to switches that can drop it."""
    losing = [(switch, names) for switch, names in view.identical if _can_lose(switch)]
    if losing:
        yield _tier_without_pfc(
            view, _stated_at(losing[0][0]), [name for _, names in losing for name in names]
        )


def _can_lose(switch: Switch) -> bool:
    """Return whether some port takes in lossless traffic without PFC and one of the others can fill."""
    ports = [port for port in switch.ports if port.qos is not None]
    silent = [port for port in ports if port.pfc_unwanted]
    # Of two ports without PFC at least one is not the egress that fills.
    return any(_can_fill(ports, egress) for egress in ports if silent not in ([], [egress]))


def _can_fill(ports: Sequence[Port], egress: Port) -> bool:
    """Return whether an egress can be paused, or can get more traffic from the other ports than it sends."""
    arriving_bps = sum(port.speed_bps or 0 for port in ports if port is not egress)
    return not egress.pfc_unwanted or arriving_bps > (egress.speed_bps or 0)


def _stated_at(switch: Switch) -> Origin:
    return next(port.qos.pfc.origin for port in switch.ports if port.pfc_unwanted and port.qos is not None)


def _tier_without_pfc(view: View, origin: Origin, switches: Sequence[str]) -> Violation:
    fabric = view.fabric
    without = [tier for tier in fabric.link_tiers if tier not in (fabric.pfc_tiers or ())]
    priorities = spell({cls.priority for cls in fabric.classes.lossless if cls.priority is not None})
    closes = closes_cycle_if_all_pause(view)
    return Violation(
        origin=origin,
        message=f"{joined(without)} carry lossless traffic ({priorities}) without PFC: packets can be lost",
        note="a switch that is paused or congested drops what arrives on a link that it does not pause",
        help="state pfc: off: PFC on all links would make a cyclic buffer dependency (TOP005)"
        if closes
        else f"state pfc.tiers: [{', '.join(fabric.link_tiers)}]",
        elements=tuple(switches),
        data={"without_pfc": [*without]},
        fix=() if closes else key(origin, [*fabric.link_tiers]),
    )
