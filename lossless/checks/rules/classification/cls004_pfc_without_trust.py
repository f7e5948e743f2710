"""A port with PFC must trust the field in which its packets carry their class.

Severity: warning
Fix: unsafe
Subject: device, switch

## What it does
Looks at ports in service with PFC on a deployed device. A port that binds neither a DSCP map nor an 802.1p map, on a
switch without a global DSCP map, puts every packet into traffic class 0: an error where a lossless class has known
DSCPs. A port that trusts 802.1p alone must get tagged packets: on a routed port, or a member of a routed LAG, none
arrive. Sub-interfaces and VLANs are tagged, and storage backends trust 802.1p by design. CFG002 reports a bound map
that does not exist. On a switch that runs another system, a port with PFC on that trusts nothing is also reported where
no priority is no-drop yet.

## Why it breaks a lossless fabric
802.1p is in the VLAN tag, and the tag ends at the first router. From there on RDMA arrives without a class, is served
best effort and dropped under congestion, while PFC protects an empty queue. PFC by 802.1p also needs server ports to be
trunks, which broke booting over the network; PFC by DSCP avoids both problems.

## Bad
```json config_db base=leaf
{
  "PORT_QOS_MAP": {
    "global": null,
    "Ethernet0": {   // <- here
      "dscp_to_tc_map": null
    }
  }
}
```

```json config_db base=leaf
{
  "INTERFACE": {"Ethernet0": {}},
  "DOT1P_TO_TC_MAP": {"AZURE": {"0": "0", "1": "0", "2": "0", "3": "3", "4": "0", "5": "0", "6": "6", "7": "0"}},
  "PORT_QOS_MAP": {
    "global": null,
    "Ethernet0": {
      "dscp_to_tc_map": null,
      "dot1p_to_tc_map": "AZURE"   // <- here
    }
  }
}
```

```text switch base=switch-leaf
interface Ethernet2   # <- here
   switchport trunk allowed vlan 1
   service-profile ROCE
```

## Good
```json config_db base=leaf
{
  "PORT_QOS_MAP": {
    "Ethernet0": {"dscp_to_tc_map": null}
  }
}
```

```json config_db base=leaf
{
  "VLAN": {"Vlan100": {"vlanid": "100"}},
  "VLAN_MEMBER": {"Vlan100|Ethernet0": {"tagging_mode": "tagged"}},
  "DOT1P_TO_TC_MAP": {"AZURE": {"0": "0", "1": "0", "2": "0", "3": "3", "4": "0", "5": "0", "6": "6", "7": "0"}},
  "PORT_QOS_MAP": {
    "global": null,
    "Ethernet0": {"dscp_to_tc_map": null, "dot1p_to_tc_map": "AZURE"}
  }
}
```

## Fix
Bind a DSCP map to the port, or to the switch as `PORT_QOS_MAP|global`.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 3 (why PFC by DSCP)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (802.1p only for storage backends)
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-dscp-tc-map.yang @086b03b
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.fixes import port_rows
from lossless.checks.rules.interface_tables import untagged_routed
from lossless.checks.rules.pfc.priorities import in_service
from lossless.ground.basics.units import number_ranges, spell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device, SwitchConfiguration
    from lossless.ground.basics.findings import Edit
    from lossless.model.fabric.view import PortSet


def check(device: Device) -> Results:
    """Yield a violation for ports with PFC without any trusted field, and for routed ones that trust 802.1p alone.

    Ports out of service, ports that name a map which does not exist, and storage back ends are left out.
    """
    yield from merged(_violations(device))


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation for ports with PFC of another system that trust no field, or 802.1p without VLAN tags."""
    yield from merged(_of_switch(switch))


def _of_switch(switch: SwitchConfiguration) -> Iterator[Violation]:
    silent = {name for name, _ in switch.read.silent}
    for ports in switch.view.port_sets:
        qos = ports.qos
        pauses = bool(qos.pfc.priorities)
        on_ports = ports.ports if pauses else tuple(p for p in ports.ports if p.name in silent)
        untagged = tuple(port for port in on_ports if pauses and port.name in switch.read.untagged)
        reached = on_ports if not qos.trust_dot1p else untagged
        if qos.dscp_to_tc is not None or not reached:
            continue
        reads = "802.1p alone, and gets no VLAN tags" if qos.trust_dot1p else "neither DSCP nor 802.1p"
        on = f"PFC is on for {spell(qos.pfc.priorities)}" if pauses else "PFC is on"
        yield Violation(
            origin=qos.origin,
            message=f"{on}, and the port reads {reads}: all packets get the default class of the port",
            note="the lossless class is then empty, and what belongs into it is served best effort",
            help="trust DSCP at the port",
            data={"pfc": list(qos.pfc.priorities)},
        ).on_ports(ports._replace(ports=reached))


def _violations(device: Device) -> Iterator[Violation]:
    for ports in device.view.lossless_sets:
        if ports.qos.dscp_to_tc is not None or ports.switch.qos.storage_backend:
            continue
        serving = in_service(ports)
        if serving is None:
            continue
        if not ports.qos.trust_dot1p:
            yield from _trusts_nothing(device, serving)
        elif routed := _routed(device, serving):
            yield _trusts_tags(device, routed)


def _trusts_nothing(device: Device, ports: PortSet) -> Iterator[Violation]:
    rows = (device.tables.row("PORT_QOS_MAP", name) for name in (ports.ports[0].name, "global"))
    # A named map that does not exist is reported by CFG002: the whole row then waits for it.
    if any(row is not None and row.reference("dscp_to_tc_map") for row in rows):
        return
    priorities, name = spell(ports.qos.pfc.priorities), _map_for(device, ports)
    yield Violation(
        origin=ports.qos.origin,
        message=f"PFC is on for {priorities}, and the port reads neither DSCP nor 802.1p: all packets get TC 0",
        note="the lossless class is then empty, and what belongs into it is served best effort",
        help=_help(name, ports, "bind a map"),
        fix=_fix(name, ports),
        data={"pfc": list(ports.qos.pfc.priorities)},
        # The DSCPs of a lossless class are known, and this port does not read them.
        severity="error" if any(cls.dscps for cls in ports.switch.classes.lossless) else None,
    ).on_ports(ports)


def _routed(device: Device, ports: PortSet) -> PortSet | None:
    routed = untagged_routed(device)
    members = tuple(port for port in ports.ports if port.name in routed)
    return ports._replace(ports=members) if members else None


def _trusts_tags(device: Device, ports: PortSet) -> Violation:
    row = device.tables.row("PORT_QOS_MAP", ports.ports[0].name)
    name = _map_for(device, ports)
    return Violation(
        origin=device.tables.origin("PORT_QOS_MAP", row, "dot1p_to_tc_map"),
        message=f"PFC is on for {spell(ports.qos.pfc.priorities)}, and the port reads 802.1p alone; "
        "it is routed, and gets no VLAN tags",
        note="the class of a packet must be in its IP header to come through a router",
        help=_help(name, ports, "bind a DSCP map instead"),
        fix=_fix(name, ports),
        data={"pfc": list(ports.qos.pfc.priorities)},
        confidence="medium",
    ).on_ports(ports)


def _map_for(device: Device, ports: PortSet) -> str:
    """Return the name of a DSCP map that leads to all priorities with PFC of the ports; empty without one."""
    wanted = {str(priority) for priority in ports.qos.pfc.priorities}
    rows = device.tables.table("DSCP_TO_TC_MAP").values()
    return next((row.key for row in rows if wanted <= {*row.fields.values()}), "")


def _help(name: str, ports: PortSet, bind: str) -> str:
    if name:
        return f'{bind}: "dscp_to_tc_map": "{name}"'
    tcs = number_ranges(ports.qos.pfc.priorities)
    return f"{bind}, by dscp_to_tc_map; no DSCP_TO_TC_MAP of the switch leads to TC {tcs}"


def _fix(name: str, ports: PortSet) -> tuple[Edit, ...]:
    return port_rows([ports], ports.qos.origin, "dscp_to_tc_map", name) if name else ()
