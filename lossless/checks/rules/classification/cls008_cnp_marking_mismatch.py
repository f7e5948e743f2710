"""The DSCP and priority that NICs put on CNPs must be those that the switches expect.

Severity: error
Subject: intent, hosts

## What it does
Compares the DSCP and the priority that the hosts' DCQCN puts on CNPs with the class that is meant for them: a DSCP that
class `cnp` does not name, and a priority other than that of the class that carries the DSCP, a warning where that
priority has no PFC. The default priority of the NIC's vendor (6 of NVIDIA, 7 of Broadcom) is accepted where it has no
PFC. Of a host that was read it also reports CNPs in a lossless class where none is called `cnp`, and, where no intent
declares the classes, CNPs on a priority with PFC. In an intent without a class called `cnp`, CLS007 checks theirs.

## Why it breaks a lossless fabric
The switches have a queue for CNPs and the CNPs use another one: the default queue, or a lossless one where they wait
behind the data they should slow down. A NIC that sends CNPs on a priority with PFC has them paused at once.

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
- Broadcom bnxt_setupcc.sh 233.2.77.9 (CNPs on DSCP 48 and priority 7)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation, unread
from lossless.checks.rules.classification.cls007_cnp_class_unsafe import CNP_CLASS
from lossless.checks.rules.locations import beside
from lossless.ground.basics.records import UNKNOWN, Unknown
from lossless.ground.basics.units import number_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import ClassSet, TrafficClass
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host whose CNPs are outside the class for them, or where pauses stop them."""
    classes = view.fabric.classes
    cnp_class = classes.named(CNP_CLASS)
    for host, names in view.host_kinds:
        dcqcn = host.dcqcn
        if dcqcn.enabled is False:
            continue
        if dcqcn.enabled is UNKNOWN or dcqcn.cnp_dscp is UNKNOWN:
            yield unread("whether DCQCN runs, and which DSCP its CNPs carry", names)
        elif dcqcn.cnp_dscp is None:
            yield MissingInput(
                "neither the intent nor the NIC profile says which DSCP CNPs carry", len(names)
            )
        elif classes.knowledge != "declared" and dcqcn.cnp_priority in _paused_by(host):
            yield _stopped(host, names)
        else:
            yield from _against_classes(host, dcqcn.cnp_dscp, cnp_class, classes, names)


def _paused_by(host: HostQos) -> tuple[int, ...]:
    """Return the priorities with PFC of a host that was read, which its own CNPs must not have; none for an intent."""
    paused = host.pfc_priorities
    return () if host.provenance == "intent" or isinstance(paused, Unknown) else paused


def _stopped(host: HostQos, hosts: tuple[str, ...]) -> Violation:
    return Violation(
        origin=host.dcqcn.at("cnp_priority"),
        message=f"the NICs send CNPs on priority {host.dcqcn.cnp_priority}, which has PFC",
        note="a NIC queues CNPs by this priority; a pause of it stops them with the data",
        help=_help(host, "cnp_priority", host.nic.cnp_priority if host.nic else None),
        elements=hosts,
        data={"nic_priority": host.dcqcn.cnp_priority if isinstance(host.dcqcn.cnp_priority, int) else None},
        related=beside(host.dcqcn.at("cnp_priority"), (host.pfc_origin, "the priorities with PFC")),
    )


def _against_classes(
    host: HostQos, dscp: int, cnp_class: TrafficClass | None, classes: ClassSet, names: tuple[str, ...]
) -> Iterator[Violation]:
    cls = classes.of_dscp(dscp)
    if cls is None:
        return
    if cnp_class is not None and cls.name != cnp_class.name:
        yield _dscp(host, dscp, cls, cnp_class, names)
    elif cnp_class is None and cls.lossless and host.provenance == "deployed":
        yield _paused(host, dscp, cls, names)
    elif dscp in cls.dscps:
        yield from _priority(host, cls, classes, names)


def _dscp(
    host: HostQos, dscp: int, cls: TrafficClass, cnp_class: TrafficClass, hosts: tuple[str, ...]
) -> Violation:
    lossless = ", which is lossless" if cls.lossless else ""
    origin = host.dcqcn.at("cnp_dscp")
    return Violation(
        origin=origin,
        message=(
            f"the NICs put DSCP {dscp} on CNPs, class {cnp_class.name} is DSCP {number_ranges(cnp_class.dscps)}: "
            f"they fall into {cls.name}{lossless}"
        ),
        help=_help(host, "cnp_dscp", cnp_class.dscps[0] if cnp_class.dscps else None),
        elements=hosts,
        data={"nic_dscp": dscp, "class_dscps": list(cnp_class.dscps), "class": cls.name},
        related=beside(origin, (cnp_class.origin, f"class {cnp_class.name}")),
    )


def _paused(host: HostQos, dscp: int, cls: TrafficClass, hosts: tuple[str, ...]) -> Violation:
    """Return the violation for CNPs that the map of the switch puts into the lossless class they should slow down."""
    origin = host.dcqcn.at("cnp_dscp")
    return Violation(
        origin=origin,
        message=f"the NICs put DSCP {dscp} on CNPs, which the switch counts as lossless {cls.name}",
        note="a pause of that class stops the CNPs with the data that they should slow down",
        help=_help(host, "cnp_dscp", None),
        elements=hosts,
        data={"nic_dscp": dscp, "class_dscps": list(cls.dscps), "class": cls.name},
        related=beside(origin, (cls.origin, f"class {cls.name}")),
    )


def _priority(
    host: HostQos, cls: TrafficClass, classes: ClassSet, hosts: tuple[str, ...]
) -> Iterator[Violation]:
    sent = host.dcqcn.cnp_priority
    if not isinstance(sent, int) or cls.priority is None or sent == cls.priority:
        return
    paused = any(other.priority == sent for other in classes.lossless)
    if not paused and host.nic is not None and sent == host.nic.cnp_priority:
        return  # The default of the vendor: no switch reads this priority, and it has no PFC.
    origin = host.dcqcn.at("cnp_priority")
    yield Violation(
        origin=origin,
        message=(
            f"the NICs send CNPs on priority {sent}{', which has PFC' if paused else ''}; "
            f"class {cls.name} is priority {cls.priority}"
        ),
        note="a NIC queues CNPs by this priority; a pause of it stops them with the data" if paused else "",
        help=_help(host, "cnp_priority", cls.priority),
        elements=hosts,
        data={"nic_priority": sent, "class_priority": cls.priority},
        related=beside(origin, (cls.origin, f"class {cls.name}")),
        severity=None if paused else "warning",
    )


def _help(host: HostQos, key: str, wanted: int | None) -> str:
    if host.provenance == "intent":
        return f"leave {key} out" + ("" if wanted is None else f", or make it {wanted}")
    return f"set {key} of the NICs to {'that of a class for CNPs' if wanted is None else wanted}"
