"""NICs of a routed RDMA fabric must classify by DSCP, not by VLAN tag.

Severity: error
Fix: unsafe
Subject: intent, hosts

## What it does
Looks for `hosts.trust: pcp` where a lossless class has another priority than 0. Of a host that was read by itself only
its own files are known: it is an error where a job or the driver sets a DSCP, which such a NIC ignores. Where none
does, RDMA may carry VLAN tags with an egress map, a design that works, and the rule is not checked. Neither is it of a
host that pauses nothing and shows no RDMA in any file, even if the switch at its port pauses.

## Why it breaks a lossless fabric
A routed RoCEv2 packet has no VLAN tag, and a NIC that classifies by tags puts untagged packets into priority 0. Its
receive buffer for RDMA is then the lossy one: it cannot pause the priority that fills it, and drops. The NIC does not
read the map from DSCP to priority at all.

## Bad
```yaml intent base=leaf-spine
hosts:
  trust: pcp   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts: {trust: dscp}
```

## Fix
Leave `trust` out: it is `dscp` by default.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 3 (DSCP-based PFC, and why)
- Mellanox/mlnx-tools python/mlnx_qos @088fadb (the DSCP map exists under trust in DSCP alone)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread
from lossless.checks.rules.classification.host_markings import every_marking, shows_rdma
from lossless.checks.rules.fixes import without
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import spell

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import View


def _marks(view: View, host: HostQos) -> bool:
    """Return whether a DSCP identifies a lossless class: by the fabric's declaration, or by the host's own marking."""
    if any(cls.dscps or cls.rest for cls in view.fabric.classes.lossless) or view.fabric.declared:
        return True
    return any(marking.tos for marking in every_marking(host))


def _shows_nothing(view: View, host: HostQos) -> bool:
    """Return whether PFC is known to be off on a host, and neither an intent nor a file of it shows RDMA."""
    return view.fabric.classes.knowledge == "inferred" and host.pfc_priorities == () and not shows_rdma(host)


def check(view: View) -> Results:
    """Yield a violation per kind of host that puts untagged RDMA into priority 0, if a lossless class has another."""
    missed = [cls.priority for cls in view.fabric.classes.lossless if cls.priority]
    for host, names in view.host_kinds:
        if host.trust is UNKNOWN and missed:
            yield unread("what its NICs trust", names)
        elif host.trust == "pcp" and missed and _shows_nothing(view, host):
            yield unread("whether it carries RDMA", names)
        elif host.trust == "pcp" and missed and not _marks(view, host):
            yield unread("whether RDMA carries VLAN tags", names)
        elif host.trust == "pcp" and missed:
            yield Violation(
                origin=host.at("trust"),
                message=f"the NICs trust VLAN tags: RDMA without one is priority 0, not {spell(missed)}",
                note="a NIC pauses only the priority it has sorted a packet into",
                help="leave hosts.trust out, or make it dscp"
                if host.provenance == "intent"
                else "make the NICs trust DSCP: mlnx_qos -i IF --trust dscp, or dcb apptrust set dev IF order dscp",
                elements=names,
                data={"priorities": list(missed)},
                fix=without(host, "trust"),
            )
