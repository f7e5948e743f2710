"""A lossless packet must leave a switch with a DSCP that is lossless at the next one.

Severity: warning
Confidence: medium
Fix: unsafe
Subject: device, switch
Needs: TC_TO_DSCP_MAP

## What it does
Looks at ports with PFC on a deployed device that bind a `tc_to_dscp_map`, which rewrites the DSCP of leaving packets.
Each lossless traffic class must leave with a DSCP that the ingress maps of the device itself lead to that class. On a
switch that runs another system it reads the rewrite commands: `remark` of NVUE, `qos rewrite dscp` of EOS, `set dscp`
of NX-OS. Maps that name other classes only, such as those for trimmed packets, are accepted; CLS010 checks tunnels. The
class at the next switch is configured in its own file: hence a warning.

## Why it breaks a lossless fabric
The first hop protects the packet and the second does not: it finds another DSCP, serves it best effort and drops it
under congestion. Each switch alone is correct. In a published storage fabric the class of DSCP 26 is rewritten to CS1.

## Bad
```json config_db base=leaf
{
  "TC_TO_DSCP_MAP": {
    "REMARK": {
      "3": "8",   // <- here
      "6": "48"
    }
  },
  "PORT_QOS_MAP": {"Ethernet8": {"tc_to_dscp_map": "REMARK"}}
}
```

```text switch base=switch-nvue
nv set qos remark default-global rewrite l3
nv set qos remark default-global switch-priority 3 dscp 8   # <- here
```

## Good
```json config_db base=leaf
{
  "TC_TO_DSCP_MAP": {
    "REMARK": {"0": "0", "3": "26", "6": "48"}
  },
  "PORT_QOS_MAP": {"Ethernet8": {"tc_to_dscp_map": "REMARK"}}
}
```

```json config_db base=leaf
{
  "TC_TO_DSCP_MAP": {
    "TRIM": {"5": "10"}
  },
  "PORT_QOS_MAP": {"Ethernet8": {"tc_to_dscp_map": "TRIM"}}
}
```

## Fix
Write the DSCP that leads to the lossless class, or take `tc_to_dscp_map` off the ports.

## Sources
- sonic-swss orchagent/qosorch.cpp @e6b0c5b (`tc_to_dscp_map` of PORT_QOS_MAP)
- sonic-net/sonic-swss pull request 3517 (the DSCP of packets is written again where the map is bound)
- NVIDIA, Cumulus Linux User Guide, "Quality of Service", "Mark and Remark Traffic"
- pyavd 6.4.0 schema of eos_cli_config_gen (`qos.rewrite_dscp`: without it DSCPs are not written again)
- Juniper/jvd storage-leaf1_qfx5130 class-of-service @005ab34 (rewrites DSCP 26 to CS1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.fixes import field
from lossless.checks.rules.locations import beside
from lossless.checks.rules.pfc.priorities import paused_classes, remapped
from lossless.formats.sonic.to_model.lags import rewrite_of
from lossless.ground.basics.units import number_ranges
from lossless.model.fabric.qos import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.subjects import Device, SwitchConfiguration
    from lossless.model.fabric.qos import DscpRewrite
    from lossless.model.fabric.view import PortSet


def check(device: Device) -> Results:
    """Yield a violation per ``TC_TO_DSCP_MAP`` entry that gives a lossless class the DSCP of another class."""
    if "TC_TO_DSCP_MAP" not in device.tables.data:
        return
    for ports in device.view.lossless_sets:
        row = device.tables.row("PORT_QOS_MAP", ports.ports[0].name)
        name = row.reference("tc_to_dscp_map") if row else ""
        if name and not ports.qos.trust_dot1p:
            yield from _lost(device, ports, rewrite_of(device.tables, name))


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per rewrite of another system that gives a lossless class the DSCP of another class."""
    sets = switch.view.lossless_sets
    lossless = {tc for ports in sets for tc in paused_classes(ports.qos)}
    for rewrite in switch.read.rewrites:
        comes_back = _taken_in(sets, rewrite.dscp)
        tc = rewrite.traffic_class
        if tc not in lossless or not comes_back or comes_back & {tc, UNREADABLE}:
            continue
        back = min(comes_back)
        yield Violation(
            origin=rewrite.origin,
            message=f"lossless TC {tc} leaves with DSCP {rewrite.dscp}, which this switch itself takes in as TC {back}",
            note="a next hop with the same maps serves it in the class of the new DSCP",
            help="write a DSCP that leads to the lossless class, or leave the DSCP of packets alone",
            data={"traffic_class": tc, "dscp": rewrite.dscp, "taken_in_as": back},
            elements=tuple(f"{switch.read.switch.name}:{port}" for port in rewrite.ports),
        )


def _lost(device: Device, ports: PortSet, rewrite: DscpRewrite) -> Iterator[Violation]:
    """Yield a violation per lossless class whose new DSCP leads to another class; a refused map rewrites nothing."""
    for tc in sorted({*ports.qos.pfc.priorities} - remapped(ports.qos)):
        dscp = rewrite.dscps.get(tc) if rewrite.dscps else None
        comes_back = set() if dscp is None else _taken_in(device.view.lossless_sets, dscp)
        if dscp is not None and comes_back and not comes_back & {tc, UNREADABLE}:
            yield _dscp_rewritten(device, ports, rewrite, tc, dscp, min(comes_back))


def _taken_in(sets: Sequence[PortSet], dscp: int) -> set[int]:
    """Return the traffic classes of a DSCP by the DSCP maps of ports with PFC that trust DSCP."""
    return {p.qos.traffic_class(dscp) for p in sets if p.qos.dscp_to_tc and not p.qos.trust_dot1p}


def _dscp_rewritten(
    device: Device, ports: PortSet, rewrite: DscpRewrite, tc: int, dscp: int, back: int
) -> Violation:
    classes = device.switch.classes.lossless
    named = [d for cls in classes for d in cls.dscps if ports.qos.traffic_class(d) == tc]
    usual = f" (DSCP {number_ranges(named)})" if named else ""
    origin = device.tables.origin("TC_TO_DSCP_MAP").at(rewrite.map_name)
    taken_in = ports.qos.dscp_to_tc
    return Violation(
        origin=origin.at(str(tc)),
        message=f"lossless TC {tc}{usual} leaves with DSCP {dscp}, which this switch itself takes in as TC {back}",
        note="a next hop with the same maps serves it in the class of the new DSCP",
        help=f'write the DSCP of the class: "{tc}": "{named[0]}"'
        if named
        else "take tc_to_dscp_map off the ports",
        fix=field(origin.at(str(tc)), str(named[0])) if named else (),
        data={"traffic_class": tc, "dscp": dscp, "taken_in_as": back},
        related=beside(
            origin,
            (
                taken_in.entry_origin(dscp) if taken_in and taken_in.targets[dscp] is not None else None,
                f"DSCP {dscp} is taken in as TC {back}",
            ),
        ),
    ).on_ports(ports)
