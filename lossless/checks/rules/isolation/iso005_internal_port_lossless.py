"""Ports inside the switch must not pause.

Severity: error
Confidence: medium
Subject: device

## What it does
Looks for PFC on ports of a deployed device that have no cable: the CPU's (`PORT_QOS_MAP|CPU`), in-band and
recirculation ports (`role` Inb or Rec, or a name that begins with Ethernet-IB or Ethernet-Rec). Ports between the chips
of a chassis (Int) and towards DPUs (Dpc) are lossless where the fabric is.

## Why it breaks a lossless fabric
A paused recirculation port waits for itself: the full port is the one that should drain it. A busy CPU is no reason to
pause the fabric either; its packets are rate-limited and may be dropped. SONiC renders no QoS for such ports: chips
refuse it, and the daemon that requests it ends.

## Bad
```json config_db base=leaf
{
  "PORT": {"Ethernet-IB0": {"lanes": "513", "alias": "Cpu0", "index": "65", "speed": "400000", "mtu": "9100",
    "admin_status": "up", "role": "Inb"}},
  "CABLE_LENGTH": {"AZURE": {"Ethernet-IB0": "5m"}},
  "PORT_QOS_MAP": {
    "Ethernet-IB0": {
      "dscp_to_tc_map": "AZURE",
      "pfc_enable": "3"   // <- here
    }
  }
}
```

## Good
```json config_db base=leaf
{
  "PORT": {"Ethernet-IB0": {"lanes": "513", "alias": "Cpu0", "index": "65", "speed": "10000", "mtu": "9100",
    "admin_status": "up", "role": "Inb"}}
}
```

## Fix
Take the row of the port out of `PORT_QOS_MAP`.

## Sources
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (leaves Ethernet-IB and Ethernet-Rec out)
- sonic-net/sonic-buildimage pull request 7869 (why)
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang @086b03b (the roles of ports)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import element

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow

_KINDS = {"Inb": "in-band", "Rec": "recirculation"}


def check(device: Device) -> Results:
    """Yield a violation per kind of internal port with PFC and per PFC mask."""
    rows = device.tables.table("PORT_QOS_MAP")
    yield from merged(
        _internal_port_lossless(device, name, kind, row)
        for name, kind in _internal(device)
        if (row := rows.get(name)) is not None and row.fields.get("pfc_enable", "").strip(", ")
    )


def _internal(device: Device) -> Iterator[tuple[str, str]]:
    yield "CPU", "the CPU's port"
    for name, row in device.tables.table("PORT").items():
        role = row.fields.get("role")
        if role in _KINDS:
            yield name, f"an {_KINDS[role]} port" if role == "Inb" else f"a {_KINDS[role]} port"
        elif name.startswith("Ethernet-IB"):
            yield name, "an in-band port"
        elif name.startswith("Ethernet-Rec"):
            yield name, "a recirculation port"


def _internal_port_lossless(device: Device, name: str, kind: str, row: ConfigRow) -> Violation:
    priorities = row.fields["pfc_enable"]
    return Violation(
        origin=device.tables.origin("PORT_QOS_MAP", row, "pfc_enable"),
        message=f"{kind} has PFC on for {priorities}: it is inside the switch, and no cable ends there",
        help="take its row out of PORT_QOS_MAP",
        elements=(element(device, name),),
        data={"pfc_enable": priorities},
        # A PFC setting that such a port lacks is not to be added.
    )
