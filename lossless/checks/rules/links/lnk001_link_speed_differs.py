"""Both ends of a link must have the same speed.

Severity: error
Subject: devices

## What it does
Compares the `speed` of the two ports of a link, where both files name each other in `DEVICE_NEIGHBOR`, both ports
are up, and neither negotiates its speed. Where only one of the files names the link, it warns.

## Why it breaks a lossless fabric
Ports of different speeds do not bring a link up. Its traffic takes the other uplinks, which are then
oversubscribed, and pauses propagate to all servers below them.

## Bad
```json config_db base=wired-leaf beside=wired-spine
{
  "PORT": {"Ethernet8": {
    "speed": "400000"   // <- here
  }}
}
```

## Good
```json config_db base=wired-leaf beside=wired-spine
{
  "PORT": {"Ethernet8": {"speed": "800000"}}
}
```

## Fix
Give both ports the speed of the cable between them.

## Sources
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang @086b03b (`speed` in Mb/s, `autoneg`)
- IEEE 802.3, clause 73: without auto-negotiation both ends must be set to the same rate
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.links.cabling import Disagreement, disagreements
from lossless.ground.basics.findings import RelatedPlace
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from lossless.model.fabric.deployed_devices import DeployedDevices, LinkEnd


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per pair of devices and of port speeds that differ at the two ends of their links.

    Links with a port that negotiates are left out.
    """
    return map(_link_speed_differs, disagreements(devices, _speed))


def _speed(end: LinkEnd) -> int | None:
    return None if end.autoneg else end.speed_bps


def _link_speed_differs(links: Disagreement) -> Violation:
    low, high = links.low, links.high
    slow, fast = map(format_rate, links.values)
    return Violation(
        origin=low.at("speed"),
        message=f"{low.name} is set to {slow}, its neighbor {high.name} to {fast}: the link does not come up",
        note=links.doubt,
        help=f"set both ports to {slow}, or both to {fast}",
        elements=links.elements,
        data={"speeds_bps": list(links.values)},
        related=(RelatedPlace(high.at("speed"), f"the end with {fast}"),),
    ).certain_if(links.mutual)
