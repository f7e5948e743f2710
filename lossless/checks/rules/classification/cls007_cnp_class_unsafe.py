"""CNPs need a class of their own that is not lossless.

Severity: error
Fix: unsafe
Subject: fabric, switch

## What it does
With DCQCN, looks up the class of the DSCP that the NICs put on CNPs. It is an error where no class names that DSCP, so
that CNPs fall into the class of the rest, or where its class is lossless. A class that is served by DWRR instead of
strict priority is information. Where a class called `cnp` exists and the NICs use another DSCP, CLS008 reports it
instead. A deployed file does not have the DSCP of the NICs: there, only their default, DSCP 48, on a traffic class with
PFC is a warning. On a switch that runs another system, DSCP 48 in one queue with unmarked traffic and without strict
priority is information. Under `pfc-only` there are no CNPs.

## Why it breaks a lossless fabric
A CNP asks the sender to slow down. Behind paused data, or behind a full default queue, it arrives long after the queue
has passed its thresholds; in a lossless class it is itself paused by the congestion it reports.

## Bad
```yaml intent base=leaf-spine
classes:   # <- here
  cnp: null
```

```json config_db base=leaf
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "48": "3"   // <- here
  }}
}
```

## Good
```yaml intent base=leaf-spine
classes:
  cnp: {dscp: 48, priority: 6, scheduling: strict}
```

```yaml intent base=leaf-spine
classes:
  cnp: null
  rdma:
    ecn: off
congestion_control: pfc-only
```

```json config_db base=leaf
{
  "DSCP_TO_TC_MAP": {"AZURE": {"48": "0"}}
}
```

## Fix
Declare a class for the DSCP of CNPs, not lossless, `scheduling: strict`.

## Sources
- CumulusNetworks/docs cumulus-linux-514 RDMA-over-Converged-Ethernet-RoCE.md @1ffba62 (CNP in a strict
  queue)
- Juniper/jvd data_center/aidc/aiml_multitenancy_backend rdma-rocev2-lossless.conf @005ab34 (the same)
- mlxconfig query prints: CNP_DSCP defaults to 48 (profiles/nics)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation, merged
from lossless.checks.rules.fixes import entries
from lossless.checks.rules.locations import beside, entry_or_map
from lossless.ground.basics.findings import Origin
from lossless.model.fabric.qos import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import SwitchConfiguration
    from lossless.model.fabric.model import CongestionControl, TrafficClass
    from lossless.model.fabric.view import PortSet, View

DEFAULT_CNP_DSCP = 48
"""The default DSCP of CNPs of ConnectX NICs (mlxconfig query prints, CNP_DSCP; profiles/nics)."""
_UNMARKED_DSCP = 0
CNP_CLASS = "cnp"
"""The name of the class for CNPs in an intent."""
_WHY = "a CNP that waits behind the congestion it reports slows the sender too late"


def check(view: View) -> Results:
    """Yield a violation where CNPs have no class of their own, a lossless one, or one that is not served strictly.

    On devices only DSCP 48, the default of CNPs, in a lossless traffic class is reported.
    """
    congestion = view.fabric.congestion
    if congestion is None:
        yield from _deployed(view)
    elif congestion.kind == "dcqcn":
        yield from _declared(view, congestion)


def _deployed(view: View) -> Iterator[Violation]:
    for ports in view.lossless_sets:
        classes = ports.switch.classes
        named = classes.knowledge != "inferred" and any(
            DEFAULT_CNP_DSCP in cls.dscps for cls in classes.lossless
        )
        if not named and not ports.qos.trust_dot1p:
            yield from _default_dscp(ports)


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation where a port of another system has DSCP 48 and unmarked traffic in one non-strict queue."""
    yield from merged(_behind_unmarked(switch.view))


def _behind_unmarked(view: View) -> Iterator[Violation]:
    for ports in view.lossless_sets:
        qos, dscp_map = ports.qos, ports.qos.dscp_to_tc
        if dscp_map is None or qos.trust_dot1p:
            continue
        tc = dscp_map.targets[DEFAULT_CNP_DSCP]
        shares = tc == dscp_map.targets[_UNMARKED_DSCP]
        if tc is None or tc == UNREADABLE or not shares or tc in qos.pfc.priorities:
            continue
        number = qos.queue_of(tc)
        queue = qos.queues[number]
        if queue is not None and queue.scheduler is not None and queue.scheduler.kind == "STRICT":
            continue
        origin = queue.origin if queue is not None and queue.scheduler is not None else dscp_map.origin
        yield Violation(
            origin=origin,
            message=f"DSCP {DEFAULT_CNP_DSCP}, which NICs put on CNPs by default, shares queue {number} with "
            "unmarked traffic, and is not served strictly",
            note=_WHY,
            help="give it a strict class of its own",
            data={"dscp": DEFAULT_CNP_DSCP, "queue": number},
            severity="info",
            confidence="medium",
            related=beside(origin, (dscp_map.origin, "what maps both")),
        ).on_ports(ports)


def _default_dscp(ports: PortSet) -> Iterator[Violation]:
    dscp_map, tc = ports.qos.dscp_to_tc, ports.qos.traffic_class(DEFAULT_CNP_DSCP)
    if dscp_map is None or tc not in ports.qos.pfc.priorities:
        return
    lossy = next((tc for tc in (6, 7, 5, 1, 0, 2, 3, 4) if tc not in ports.qos.pfc.priorities), None)
    yield Violation(
        origin=entry_or_map(dscp_map, DEFAULT_CNP_DSCP),
        message=f"DSCP {DEFAULT_CNP_DSCP}, which NICs put on CNPs by default, maps to lossless TC {tc}",
        note=f"{_WHY}; DSCP {DEFAULT_CNP_DSCP} is also CS6, the DSCP of BGP",
        help="pause fewer priorities: every class is lossless"
        if lossy is None
        else f'map it to a lossy class of its own: "{DEFAULT_CNP_DSCP}": "{lossy}"',
        fix=() if lossy is None else entries(dscp_map, (DEFAULT_CNP_DSCP, lossy)),
        data={"dscp": DEFAULT_CNP_DSCP, "traffic_class": tc},
        related=beside(dscp_map.origin, (ports.qos.pfc.origin, "the priorities that PFC pauses")),
        severity="warning",
        confidence="medium",
    ).on_ports(ports)


def _declared(view: View, congestion: CongestionControl) -> Results:
    dscp = congestion.cnp_dscp
    if dscp is None:
        yield MissingInput("neither the intent nor the NIC profile says which DSCP CNPs carry")
        return
    cls = view.fabric.classes.of_dscp(dscp)
    named = view.fabric.classes.named(CNP_CLASS) is not None
    if cls is None or (named and cls.name != CNP_CLASS):
        return
    if dscp not in cls.dscps:
        yield _missing(cls, dscp)
    elif cls.lossless:
        yield _lossless(view, congestion, cls, dscp)
    else:
        yield from _served(view, cls, dscp)


def _missing(rest: TrafficClass, dscp: int) -> Violation:
    lossless = ", which is lossless" if rest.lossless else ""
    return Violation(
        origin=Origin(rest.origin.file, rest.origin.path[:1], "key"),
        message=f"no class carries CNP (DSCP {dscp}): it falls into {rest.name}{lossless}",
        note=_WHY,
        help=f"declare {CNP_CLASS}: {{dscp: {dscp}, priority: 6, scheduling: strict}} under classes",
        data={"dscp": dscp, "class": rest.name},
    )


def _lossless(view: View, congestion: CongestionControl, cls: TrafficClass, dscp: int) -> Violation:
    by_default = any(host.nic is not None and host.nic.cnp_dscp == dscp for host, _ in view.host_kinds)
    stated = cls.name != CNP_CLASS and not by_default
    return Violation(
        origin=congestion.origin.at("dcqcn", "cnp_dscp") if stated else cls.origin,
        message=f"class {cls.name} carries CNP (DSCP {dscp}) and is lossless",
        note=_WHY,
        help=f"give DSCP {dscp} a class of its own that is not lossless",
        data={"dscp": dscp, "class": cls.name},
    )


def _served(view: View, cls: TrafficClass, dscp: int) -> Iterator[Violation]:
    for ports in view.port_sets:
        queue = ports.qos.queues[ports.qos.queue_of(ports.qos.traffic_class(dscp))]
        scheduler = queue.scheduler if queue else None
        if scheduler is not None and scheduler.kind != "STRICT":
            yield Violation(
                origin=scheduler.origin,
                message=f"class {cls.name} carries CNP (DSCP {dscp}) and is served by {scheduler.kind}",
                note="a CNP then waits for the turn of its queue",
                help=f"scheduling: strict for class {cls.name}",
                data={"dscp": dscp, "class": cls.name},
                severity="info",
            ).on_ports(ports)
