"""A NIC must map the DSCPs of RDMA to the priority that its switch pauses for them.

Severity: error
Subject: hosts

## What it does
Compares the map from DSCP to priority that was read on a host with the lossless classes: every DSCP of a class that an
intent declares, and without an intent those that the host itself sends RDMA on. A NIC that trusts VLAN tags does not
read the map; NIC009 reports that. DSCPs of other classes are compared by HST009.

## Why it breaks a lossless fabric
The map is used twice. At egress the NIC queues packets by that priority, so a pause for the switch's priority does not
stop them. At ingress it counts them there, so it pauses a priority without traffic. In both directions packets of RDMA
are dropped, at a port that has PFC on at both ends.

## Bad
```text facts file=mlnx_qos.eth2.txt beside=leaf-spine.yaml
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
        prio:2 dscp:26,   # <- here
        prio:6 dscp:48,
PFC configuration:
        priority    0   1   2   3   4   5   6   7
        enabled     0   0   0   1   0   0   0   0
```

## Good
```text facts file=mlnx_qos.eth2.txt beside=leaf-spine.yaml
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
        prio:3 dscp:26,
        prio:6 dscp:48,
PFC configuration:
        priority    0   1   2   3   4   5   6   7
        enabled     0   0   0   1   0   0   0   0
```

## Fix
`mlnx_qos -i IF --dscp2prio set,26,3`, or `dcb app replace dev IF dscp-prio 26:3`.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 3 (DSCP-based PFC)
- Mellanox/mlnx-tools python/mlnx_qos @088fadb (the map, and its default of DSCP / 8)
- NVIDIA/nccl issue 2383 (DSCP 59 on priority 5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread
from lossless.checks.rules.classification.host_markings import markings
from lossless.checks.rules.hosts.host_drift import at_dscp
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import number_ranges, spell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import ClassSet, TrafficClass
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host and lossless class with DSCPs that the NIC does not map to its priority.

    Hosts that trust PCP are left out.
    """
    classes = view.fabric.classes
    for host, names in view.host_kinds:
        if not classes.lossless or host.trust == "pcp":
            continue
        if host.dscp_to_priority is UNKNOWN:
            yield unread("into which priority its NIC sorts each DSCP", names)
            continue
        priority_of = dict(host.dscp_to_priority)
        for cls in classes.lossless:
            yield from _sorting(host, cls, _asked(cls, classes, host), priority_of, names)


def _asked(cls: TrafficClass, classes: ClassSet, host: HostQos) -> tuple[int, ...]:
    """Return the DSCPs of a class to check: all of a declared class, else those on which the host sends RDMA."""
    if classes.knowledge == "declared":
        return cls.dscps
    return tuple(sorted({marking.dscp for marking in markings(host)} & set(cls.dscps)))


def _sorting(
    host: HostQos,
    cls: TrafficClass,
    dscps: tuple[int, ...],
    priority_of: dict[int, int],
    names: tuple[str, ...],
) -> Iterator[Violation]:
    wrong = [dscp for dscp in dscps if cls.priority is not None and priority_of.get(dscp) != cls.priority]
    if not wrong:
        return
    sorted_into = sorted({priority_of[dscp] for dscp in wrong if dscp in priority_of})
    yield Violation(
        origin=at_dscp(host, wrong[0]),
        message=f"the NICs sort DSCP {number_ranges(wrong)} into {spell(sorted_into)}; "
        f"class {cls.name} is priority {cls.priority}",
        note=f"a pause of priority {cls.priority} does not stop what they send, and they ask for none of it",
        help=f"map DSCP {wrong[0]} to priority {cls.priority} on the NIC",
        elements=names,
        data={"dscps": [*wrong], "nic_priorities": [*sorted_into], "class_priority": cls.priority},
    )
