"""Control traffic and unmarked traffic must not be lossless.

Severity: warning
Confidence: medium
Fix: unsafe
Subject: fabric, switch

## What it does
Looks up the traffic classes of DSCP 0 (unmarked traffic: ssh, telemetry, health probes) and DSCP 56 (CS7, network
control) on the ports with PFC of a deployed device. Where `--rdma-dscp` names RDMA DSCPs, CLS002 reports them instead.
On a switch that runs another system, it looks at the class of untagged traffic on ports that trust VLAN tags.
In an intent a lossless class that names DSCP 48 (CS6, used by BGP) or 56 is a warning. Where CNPs carry DSCP 48, and on
devices, CLS007 checks it.

## Why it breaks a lossless fabric
A receiver can stop a lossless queue. Under a storm the sessions that should route around it stop as well: BGP misses
its keepalives and flaps, and logins for diagnosis fail. And unmarked traffic, which does not slow down for ECN, pauses
RDMA.

## Bad
```json config_db base=leaf
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "0": "3"   // <- here
  }}
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    dscp: [26, 56]   # <- here
```

## Good
```json config_db base=leaf
{
  "DSCP_TO_TC_MAP": {"AZURE": {"0": "0", "56": "6"}}
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    dscp: [26, 0]
```

## Fix
Map the DSCP to a lossy traffic class: `"0": "0"`, `"56": "6"`.

## Sources
- RFC 2474, section 4.2.2.2 (CS6 and CS7 are for routing traffic) and 4.1 (DSCP 0 is the default)
- sonic-net/sonic-mgmt issue 20073 (BGP flaps when its queue is paused)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (the stock map: 0, 48 and 56 are lossy)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.fixes import entries
from lossless.ground.basics.units import number_ranges
from lossless.model.fabric.qos import PRIORITIES, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import SwitchConfiguration
    from lossless.model.fabric.model import TrafficClass
    from lossless.model.fabric.view import PortSet, View

UNMARKED, ROUTING, NETWORK_CONTROL = 0, 48, 56
_WHO = {
    UNMARKED: "all traffic that nobody marked, ssh and health probes among it",
    ROUTING: "BGP",
    NETWORK_CONTROL: "network control (CS7)",
}


def check(view: View) -> Results:
    """Yield a violation per lossless class of an intent with DSCP 48 or 56; of devices, per port set with 0 or 56.

    Devices with named classes, and ports that trust 802.1p, are left out.
    """
    if view.fabric.declared:
        for cls in view.fabric.classes.lossless:
            yield from _declared(view, cls)
        return
    for ports in view.lossless_sets:
        if not ports.qos.trust_dot1p and ports.switch.classes.knowledge == "inferred":
            yield from _deployed(ports)


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per set of ports of another system that trust VLAN tags and make untagged traffic lossless."""
    for ports in switch.view.lossless_sets:
        qos = ports.qos
        index_map = qos.dscp_to_tc or qos.dot1p_to_tc
        tc = index_map.targets[UNMARKED] if index_map is not None else None
        if not qos.trust_dot1p or tc is None or tc == UNREADABLE or qos.groups[tc] is None:
            continue
        yield Violation(
            origin=qos.pfc.origin,
            message=f"traffic that nobody marked is lossless: {_WHO[UNMARKED]}",
            note="whoever pauses that class stops this traffic, and this traffic can pause RDMA",
            help="leave the class of unmarked traffic without PFC",
            data={"traffic_classes": [tc]},
        ).on_ports(ports)


def _declared(view: View, cls: TrafficClass) -> Iterator[Violation]:
    congestion = view.fabric.congestion
    on_cnps = congestion.cnp_dscp if congestion and congestion.kind == "dcqcn" else None
    dscps = [dscp for dscp in (ROUTING, NETWORK_CONTROL) if dscp in cls.dscps and dscp != on_cnps]
    if dscps:
        yield Violation(
            origin=cls.origin.at("dscp"),
            message=f"class {cls.name} is lossless and takes DSCP {number_ranges(dscps)}: {_who(dscps)}",
            note="a pause then stops the sessions that should route around its cause",
            help="leave these DSCPs to a lossy class",
            data={"class": cls.name, "dscps": list(dscps)},
        )


def _deployed(ports: PortSet) -> Iterator[Violation]:
    dscp_map, paused = ports.qos.dscp_to_tc, ports.qos.pfc.priorities
    # CLS003 reports DSCPs without an entry: there the whole of traffic class 0 is lossless.
    dscps = [d for d in (UNMARKED, NETWORK_CONTROL) if dscp_map is not None and dscp_map.targets[d] in paused]
    if not dscps or dscp_map is None:
        return
    tcs = sorted({ports.qos.traffic_class(dscp) for dscp in dscps})
    lossy = next((tc for tc in PRIORITIES if tc not in paused), None)
    target = f': "{dscps[0]}": "{lossy}"' if len(dscps) == 1 else ""
    yield Violation(
        origin=dscp_map.entry_origin(dscps[0]),
        message=f"DSCP {number_ranges(dscps)} goes to lossless TC {number_ranges(tcs)}: {_who(dscps)}",
        note="whoever pauses that class stops this traffic, and this traffic can pause RDMA",
        help="pause fewer priorities: every class is lossless"
        if lossy is None
        else f"map {'it' if len(dscps) == 1 else 'them'} to a lossy class{target}",
        fix=() if lossy is None else entries(dscp_map, *((dscp, lossy) for dscp in dscps)),
        data={"dscps": list(dscps), "traffic_classes": list(tcs)},
    ).on_ports(ports)


def _who(dscps: list[int]) -> str:
    return " and ".join(_WHO[dscp] for dscp in dscps)
