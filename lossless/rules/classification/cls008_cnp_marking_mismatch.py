"""What the NICs put on CNPs must be what the switches expect.

## What it does
Compares the DSCP and the priority that the hosts' DCQCN puts on CNPs with the class that is meant for them:
a DSCP that class `cnp` does not name, and a priority other than that of the class that carries the DSCP.
Where no class called `cnp` exists, CLS007 judges where CNPs end up.

## Why it breaks a lossless fabric
The switches prepared a queue for CNPs and the CNPs use another: the default one, or worse a lossless one
where they wait behind the data they should slow down. A NIC that sends CNPs on a priority with PFC has them
paused at once.

## Bad
```yaml intent base=leaf-spine
congestion_control:
  dcqcn:
    cnp_dscp: 46   # <- here
```

```yaml intent base=leaf-spine
congestion_control:
  dcqcn:
    cnp_priority: 7   # <- here
```

## Good
```yaml intent base=leaf-spine
congestion_control:
  dcqcn: {cnp_dscp: 48, cnp_priority: 6}
```

## Fix
Leave `cnp_dscp` and `cnp_priority` out, so that they follow class `cnp`, or change both together.

## Sources
- Mellanox/nic-configuration-operator pkg/configuration/configvalidation.go @8bfbeb3 (sets CNP_DSCP to 4)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (DSCP 4 is a PFC class)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.rules.base import Gap, Hit, Rule
from lossless.rules.classification.cls007_cnp_class_unsafe import CNP_CLASS
from lossless.rules.classification.marking import spell_dscps
from lossless.rules.places import beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.fabric.hosts import Dcqcn
    from lossless.fabric.model import ClassSet, TrafficClass
    from lossless.fabric.view import View

RULE = Rule(
    code="CLS008",
    name="cnp-marking-mismatch",
    severity="error",
    summary="What the NICs put on CNPs must be what the switches expect",
    sources=(
        "Mellanox/nic-configuration-operator pkg/configuration/configvalidation.go @8bfbeb3",
        "sonic-buildimage files/build_templates/qos_config.j2 @086b03b",
    ),
)


def check(view: View) -> Iterator[Hit | Gap]:
    """Yield a hit per DCQCN setting that contradicts the class of CNPs."""
    classes = view.fabric.classes
    meant = next((cls for cls in classes.classes if cls.name == CNP_CLASS), None)
    for host, names in view.host_kinds:
        dcqcn = host.dcqcn
        if not dcqcn.enabled:
            continue
        if dcqcn.cnp_dscp is None:
            yield Gap("neither the intent nor the NIC profile says which DSCP CNPs carry", len(names))
            continue
        cls = classes.of_dscp(dcqcn.cnp_dscp)
        if cls is not None and meant is not None and cls.name != meant.name:
            yield _dscp(dcqcn, dcqcn.cnp_dscp, cls, meant, names)
        elif cls is not None and dcqcn.cnp_dscp in cls.dscps:
            yield from _priority(dcqcn, cls, classes, names)


def _dscp(dcqcn: Dcqcn, dscp: int, cls: TrafficClass, meant: TrafficClass, hosts: tuple[str, ...]) -> Hit:
    lossless = ", which is lossless" if cls.lossless else ""
    return Hit(
        origin=dcqcn.origin.at("cnp_dscp"),
        message=(
            f"the NICs put DSCP {dscp} on CNPs, class {meant.name} is DSCP {spell_dscps(meant.dscps)}: "
            f"they fall into {cls.name}{lossless}"
        ),
        help=f"leave cnp_dscp out, or make it {meant.dscps[0]}" if meant.dscps else "leave cnp_dscp out",
        elements=hosts,
        places=len(hosts),
        data={"nic_dscp": dscp, "class_dscps": list(meant.dscps), "class": cls.name},
        related=beside(dcqcn.origin, (meant.origin, f"class {meant.name}")),
    )


def _priority(dcqcn: Dcqcn, cls: TrafficClass, classes: ClassSet, hosts: tuple[str, ...]) -> Iterator[Hit]:
    found = dcqcn.cnp_priority
    if found is None or cls.priority is None or found == cls.priority:
        return
    paused = any(other.priority == found for other in classes.lossless)
    yield Hit(
        origin=dcqcn.origin.at("cnp_priority"),
        message=(
            f"the NICs send CNPs on priority {found}{', which has PFC' if paused else ''}; "
            f"class {cls.name} is priority {cls.priority}"
        ),
        note="a NIC queues CNPs by this priority; a pause of it stops them with the data" if paused else "",
        help=f"leave cnp_priority out, or make it {cls.priority}",
        elements=hosts,
        places=len(hosts),
        data={"nic_priority": found, "class_priority": cls.priority},
        related=beside(dcqcn.origin, (cls.origin, f"class {cls.name}")),
        severity=None if paused else "warning",
    )
