"""Packets that a switch floods must not be lossless between switches.

Severity: warning
Confidence: medium
Subject: device
Needs: VLAN_MEMBER

## What it does
Looks for VLANs of a deployed device with two or more ports with PFC, one of which leads to another switch without a
limit of unknown unicast (`PORT_STORM_CONTROL|PORT|unknown-unicast`). VLANs of server ports alone, which are usual on
top-of-rack switches, are accepted, because flooded packets go down there and end; so are routed ports. An intent or
`DEVICE_NEIGHBOR_METADATA` gives the device at the other end of a port; without either, nothing is checked.

## Why it breaks a lossless fabric
A switch with the IP address of a host and no longer its MAC address floods its packets to every port of the VLAN, up as
well as down. Up-down routes have no cyclic buffer dependency; flooded packets take valleys and can close one, and where
they are lossless no switch drops a packet to break it. A test cluster went into a PFC deadlock that way, after servers
died.

## Bad
```json config_db base=wired-leaf
{
  "DEVICE_NEIGHBOR_METADATA": {"spine1": {"type": "LeafRouter", "hwsku": "ACS-SN5600", "mgmt_addr": "10.0.0.2"}},
  "VLAN": {"Vlan100": {"vlanid": "100"}},
  "VLAN_MEMBER": {
    "Vlan100|Ethernet0": {"tagging_mode": "tagged"},
    "Vlan100|Ethernet8": {"tagging_mode": "tagged"}   // <- here
  }
}
```

## Good
```json config_db base=wired-leaf
{
  "DEVICE_NEIGHBOR_METADATA": {"spine1": {"type": "LeafRouter", "hwsku": "ACS-SN5600", "mgmt_addr": "10.0.0.2"}},
  "VLAN": {"Vlan100": {"vlanid": "100"}},
  "VLAN_MEMBER": {
    "Vlan100|Ethernet0": {"tagging_mode": "untagged"},
    "Vlan100|Ethernet4": {"tagging_mode": "untagged"}
  }
}
```

## Fix
Route between switches. Where a VLAN must span them, limit unknown unicast on its ports.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2 (the deadlock, and its cure)
- edge-core/sonic-buildimage src/sonic-yang-models/yang-models/sonic-storm-control.yang @2b7a3ac (what can be
  limited)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.interface_tables import bridged, facing, neighbor_types, raw_rows
from lossless.checks.rules.locations import element
from lossless.ground.basics.findings import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.model import Port


def check(device: Device) -> Results:
    """Yield a violation per VLAN of several ports with PFC, one of them to a switch without unknown-unicast limit."""
    if not device.tables.data.get("VLAN_MEMBER") or not device.view.lossless_sets:
        return
    kinds = neighbor_types(device)
    paused = {port.name: port for ports in device.view.lossless_sets for port in ports.ports}
    limited = {key.partition("|")[0] for key, _ in _limits(device)}
    for vlan, names in bridged(device).items():
        open_ = [paused[name] for name in names if name in paused and name not in limited]
        switches = [port for port in open_ if facing(device, port, kinds) == "switch"]
        if switches and sum(name in paused for name in names) > 1:
            yield _flooding_lossless(device, vlan, open_, switches)


def _limits(device: Device) -> Iterator[tuple[str, object]]:
    rows = raw_rows(device, "PORT_STORM_CONTROL")
    return ((key, fields) for key, fields in rows if key.endswith("|unknown-unicast"))


def _flooding_lossless(
    device: Device, vlan: str, open_: Sequence[Port], switches: Sequence[Port]
) -> Violation:
    name = switches[0].name
    rows = dict(raw_rows(device, "VLAN_MEMBER"))
    key = f"{vlan}|{name}"
    path = ("VLAN_MEMBER", key) if key in rows else ("VLAN_MEMBER",)
    neighbor = f" to {switches[0].neighbor[0]}" if switches[0].neighbor else ""
    return Violation(
        origin=Origin(device.tables.file, path),
        message=f"{vlan} bridges {name}{neighbor} with other ports that have PFC, and floods unknown unicast without "
        "limit",
        note="a host whose MAC address is forgotten has its lossless packets flooded up and down: that can close a "
        "cyclic buffer dependency",
        help=f'route between switches, or limit it: "PORT_STORM_CONTROL|{name}|unknown-unicast"',
        elements=tuple(element(device, port.name) for port in open_),
        data={"vlan": vlan, "to_switches": [port.name for port in switches]},
    )
