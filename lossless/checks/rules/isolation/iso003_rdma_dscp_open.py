"""Networks without access to the lossless class must not be able to mark packets for it.

Severity: warning
Subject: intent

## What it does
Checks the `networks` of an intent that share the fabric and whose senders choose the DSCPs of their packets:
`marking: untrusted`, and `purpose: tenant` where no `marking` is stated. Such a network can mark its packets with the
DSCPs of every lossless class; each lossless class other than its own `class` is reported. Where a rule rewrites DSCPs
at the ports of its hosts, state `marking: rewritten`; nothing is then reported.

## Why it breaks a lossless fabric
Ports trust the DSCP of packets from hosts. A tenant who marks bulk traffic with the DSCP of RDMA, on purpose or by
following a guide, fills the buffers that pauses protect, and its congestion pauses the jobs of all other tenants.

## Bad
```yaml intent base=leaf-spine
networks:
  customers:
    on: fabric
    class: default
    marking: untrusted   # <- here
```

```yaml intent base=leaf-spine
networks:
  customers:
    on: fabric
    class: default
    purpose: tenant   # <- here
```

## Good
```yaml intent base=leaf-spine
networks:
  customers: {on: fabric, class: default, purpose: tenant, marking: rewritten}
```

```yaml intent base=leaf-spine
networks:
  customers: {on: fabric, class: rdma, purpose: tenant}
```

## Fix
Rewrite the DSCPs where its hosts attach, with an ACL or in their hypervisors, and state `marking: rewritten`; give it
the lossless class if it may have it; or `on: separate`.

## Sources
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (every port is bound to the same DSCP map)
- RFC 2475, abstract (traffic is marked and conditioned where it enters a network)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.units import number_ranges

if TYPE_CHECKING:
    from lossless.model.fabric.model import Network, TrafficClass
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per network that can mark packets for a lossless class which is not its own."""
    for network in view.fabric.networks:
        if not network.separate and _chooses(network):
            others = [
                cls for cls in view.fabric.classes.lossless if cls.name != network.class_name and cls.dscps
            ]
            if others:
                yield _rdma_dscp_open(network, others)


def _chooses(network: Network) -> bool:
    """Return whether the senders of a network choose their DSCPs."""
    return network.marking == "untrusted" or (network.marking is None and network.purpose == "tenant")


def _rdma_dscp_open(network: Network, others: list[TrafficClass]) -> Violation:
    dscps = sorted(dscp for cls in others for dscp in cls.dscps)
    names = " and ".join(cls.name for cls in others)
    own = f"may use class {network.class_name}" if network.class_name else "has no class"
    return Violation(
        origin=network.origin.at("marking" if network.marking else "purpose"),
        message=f"network {network.name} {own}, and can mark its packets with DSCP {number_ranges(dscps)} "
        f"of lossless class {names}",
        note="ports trust the DSCP of what hosts send",
        help="rewrite DSCPs where its hosts attach, and state marking: rewritten; or on: separate",
        data={"network": network.name, "dscps": list(dscps), "classes": [cls.name for cls in others]},
    )
