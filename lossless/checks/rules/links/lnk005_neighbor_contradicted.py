"""Two devices must agree on which ports the cable between them is plugged into.

Severity: warning
Subject: devices

## What it does
Compares a port whose `DEVICE_NEIGHBOR` row names a port of another device with the row of that other port, and reports
it where that row names a third port. Rows of ports that are down do not count.

## Why it breaks a lossless fabric
Cable lengths, watchdogs and PFC depend on the device at the other end. If one of the two rows is wrong, the port has
the headroom of another cable, and every check of this link compares the wrong ends.

## Bad
```json config_db base=wired-leaf beside=wired-spine
{
  "DEVICE_NEIGHBOR": {
    "Ethernet4": {"name": "spine1", "port": "Ethernet8"}   // <- here
  }
}
```

## Good
```json config_db base=wired-leaf beside=wired-spine
{
  "DEVICE_NEIGHBOR": {"Ethernet4": {"name": "server2", "port": "eth0"}}
}
```

## Fix
Compare with LLDP (`show lldp table`) on both devices and correct the row that is wrong.

## Sources
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-device_neighbor.yang @086b03b
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (ports with a neighbor get QoS rows)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.deployed_devices import CabledPair, DeployedDevices


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per row of DEVICE_NEIGHBOR that the named port contradicts, if both ports are in service."""
    for pair in devices.contradicted:
        if pair.near.in_service and pair.far.in_service:
            yield _neighbor_contradicted(pair)


def _neighbor_contradicted(pair: CabledPair) -> Violation:
    near, far = pair.near, pair.far
    claimed = ":".join(far.neighbor or ())
    return Violation(
        origin=near.neighbor_origin,
        message=f"{near.name} names {far.name} as its neighbor, which itself names {claimed}",
        help="compare with LLDP and correct the row that is wrong",
        elements=(pair.name,),
        data={"named": far.name, "names": claimed},
        related=(RelatedPlace(far.neighbor_origin, "what the other end says"),),
    )
