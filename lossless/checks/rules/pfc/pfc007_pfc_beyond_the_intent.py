"""Ports that the intent does not name must not pause.

Severity: warning
Subject: device
Needs: intent

## What it does
Where an intent is checked together with the file of one of its switches, looks for ports in service with PFC that the
intent does not use on that switch, and whose buffer it does not reclaim. Without an intent the ports of the RDMA
network are unknown, and nothing is checked; nor where the switch runs another HWSKU than the intent declares, as its
ports have other names then.

## Why it breaks a lossless fabric
A device at such a port can pause the switch, and through it every sender of the lossless class. Its headroom, NIC and
watchdog are in no calculation or check: a storm from there has the same effect as one from a host.

## Bad
```json config_db base=rendered-spine beside=leaf-spine.yaml
{
  "PORT": {"Ethernet32": {"lanes": "32,33,34,35,36,37,38,39", "alias": "etp5", "index": "5", "speed": "800000",
    "mtu": "9100", "admin_status": "up", "fec": "rs"}},
  "DEVICE_NEIGHBOR": {"Ethernet32": {"name": "leaf9", "port": "Ethernet32"}},
  "CABLE_LENGTH": {"AZURE": {"Ethernet32": "40m"}},
  "QUEUE": {"Ethernet32|3": {"scheduler": "scheduler.rdma", "wred_profile": "AZURE_LOSSLESS"}},
  "BUFFER_QUEUE": {"Ethernet32|3": {"profile": "egress_lossless_profile"}},
  "PFC_WD": {"Ethernet32": {"action": "drop", "detection_time": "1200", "restoration_time": "1200"}},
  "PORT_QOS_MAP": {"Ethernet32": {
    "dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE", "pfc_to_queue_map": "AZURE",
    "pfc_to_pg_map": "AZURE", "pfcwd_sw_enable": "3",
    "pfc_enable": "3"   // <- here
  }}
}
```

## Good
```json config_db base=rendered-leaf beside=leaf-spine.yaml
{
  "PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": "3"}}
}
```

## Fix
Switch PFC off on the port, or declare the attached device in the intent.

## Sources
- Bai et al., Empowering Azure Storage with RDMA, NSDI 2023 (PFC only inside the RDMA network)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.3 (one port that pauses affects them all)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.locations import element
from lossless.checks.rules.subjects import OTHER_HWSKU
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import spell

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.model import Port, Switch


def check(device: Device) -> Results:
    """Yield a violation where ports beyond those of the intent have PFC."""
    intended = device.intended
    if intended is None or not device.view.lossless_sets:
        return
    if intended.hwsku_name != device.switch.hwsku_name:
        yield OTHER_HWSKU
        return
    beyond = _beyond(device, intended)
    if beyond:
        yield _pfc_beyond_the_intent(device, beyond, len(intended.ports))


def _beyond(device: Device, intended: Switch) -> list[Port]:
    """Return ports in service with PFC that an intent does not have; see in_service of pfc/priorities."""
    names = {port.name for port in intended.ports}
    wired = device.switch.names_neighbors
    return [
        port
        for port in device.switch.ports
        if port.name not in names
        and port.qos is not None
        and port.qos.pfc.priorities
        and port.admin_up in (True, UNKNOWN)
        and (port.neighbor or not wired)
    ]


def _pfc_beyond_the_intent(device: Device, beyond: list[Port], intended: int) -> Violation:
    first = beyond[0]
    priorities = first.qos.pfc.priorities if first.qos else ()
    row = device.tables.row("PORT_QOS_MAP", first.name)
    neighbor = f", where {first.neighbor[0]} is," if first.neighbor else ""
    return Violation(
        origin=device.tables.origin("PORT_QOS_MAP", row, "pfc_enable"),
        message=f"{first.name}{neighbor} has PFC on for {spell(priorities)}, and the intent does not use the port",
        note=f"the intent uses {intended} ports of this switch; what pauses from outside is counted nowhere",
        help="take pfc_enable off the port, or bring what is attached to it into the intent",
        elements=tuple(element(device, port.name) for port in beyond),
        data={"ports": [port.name for port in beyond], "intended_ports": intended},
    )
