"""PFC at super-spines should be stated explicitly.

Severity: warning
Fix: unsafe
Subject: intent

## What it does
Looks for super-spines whose ports pause, in an intent that does not declare which links have PFC. Switches that join
leaves alone are not checked: without PFC there, a lossless class would not cross the fabric at all.

## Why it breaks a lossless fabric
A pause at the top reaches every pod, and the long cables there need the most headroom. Microsoft switched PFC on tier
by tier, the top one last, and each step only after the one before had run well. Without that decision, one bad adapter
can stop traffic of other pods.

## Bad
```yaml intent base=leaf-spine
hardware: {super-spine: nvidia-sn5600}
topology:
  leaf_spine: null
  three_tier:
    pods: 2
    leaves_per_pod: 2
    spines_per_pod: 2
    super_spines: 2
    hosts_per_leaf: 4
    host_links: 2 x 400G
    uplinks: 2 x 800G
    spine_uplinks: 2 x 800G   # <- here
    cables: {host: 3m, uplink: 30m, spine_uplink: 300m}
```

## Good
```yaml intent base=leaf-spine
pfc: {tiers: [hosts, uplinks, spine_uplinks]}
hardware: {super-spine: nvidia-sn5600}
topology:
  leaf_spine: null
  three_tier:
    pods: 2
    leaves_per_pod: 2
    spines_per_pod: 2
    super_spines: 2
    hosts_per_leaf: 4
    host_links: 2 x 400G
    uplinks: 2 x 800G
    spine_uplinks: 2 x 800G
    cables: {host: 3m, uplink: 30m, spine_uplink: 300m}
```

## Fix
State `pfc: {tiers: [hosts, uplinks, spine_uplinks]}` where they are wanted. Leaving `spine_uplinks` out keeps pauses
within pods, and packets between pods can then be lost ([PFC017](PFC017.md)): that is right only where lossless traffic
stays within pods. The edit is unsafe since it states a decision that is the operator's.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 6.1 (ToR first, then podset, then spine)
- Juniper/jvd data_center/aidc/aiml_multitenancy_backend @005ab34 (two tiers: PFC on every port of leaves and spines)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import Edit, Origin
from lossless.ground.basics.units import spell
from lossless.model.fabric.model import Tier

if TYPE_CHECKING:
    from lossless.model.fabric.view import PortSet, View


def check(view: View) -> Results:
    """Yield one violation where super-spines pause and the intent does not declare which links do."""
    if not view.fabric.declared or view.fabric.pfc_tiers is not None:
        return
    top = [ports for ports in view.lossless_sets if ports.switch.tier is Tier.SUPER_SPINE]
    if top:
        yield _pfc_at_super_spines(view, top)


def _pfc_at_super_spines(view: View, top: list[PortSet]) -> Violation:
    first = top[0]
    switches = dict.fromkeys(name for ports in top for name in ports.switches)
    lengths = [ports.cable.known_m for ports in top if ports.cable.known_m is not None]
    cables = f", over cables of up to {max(lengths)} m" if lengths else ""
    priorities = spell({p for ports in top for p in ports.qos.pfc.priorities})
    return Violation(
        origin=first.ports[0].origin.key(),
        message=f"super-spines pause {priorities}{cables}, and pfc.tiers does not say that they should",
        note="a pause there propagates to every pod",
        help=f"state pfc.tiers: [{', '.join(view.fabric.link_tiers)}]; without spine_uplinks packets between pods "
        "can be lost",
        elements=tuple(switches),
        data={"longest_cable_m": max(lengths, default=None)},
        fix=(Edit(Origin(first.ports[0].origin.file, ("pfc", "tiers")), "add", [*view.fabric.link_tiers]),),
    )
