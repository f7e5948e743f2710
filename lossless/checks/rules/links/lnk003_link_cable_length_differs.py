"""A cable is as long at one end as at the other.

Severity: warning

## What it does
Compares the `CABLE_LENGTH` of the two ports of a link between two devices whose files name each other. The length
decides the headroom, so the shorter entry gives its port less. Ports without a length, or with `0m`, are BUF004's.

## Why it breaks a lossless fabric
One of the two entries is wrong. If it is the shorter one, the port keeps too little headroom for what is still on
its way when it pauses, and drops it.

## Bad
```json config_db base=wired-leaf beside=wired-spine
{
  "CABLE_LENGTH": {"AZURE": {
    "Ethernet8": "5m"   // <- here
  }}
}
```

## Good
```json config_db base=wired-leaf beside=wired-spine
{
  "CABLE_LENGTH": {"AZURE": {"Ethernet8": "40m"}}
}
```

## Fix
Enter the length of the cable at both ends, rounded up to the next row of each switch's headroom table.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b (headroom by speed and cable length)
- IEEE 802.1Q, annex O (what is on the cable when a pause is sent must fit the headroom)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.links.disagreements import Disagreement, disagreements
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.deployed_devices import DeployedDevices, LinkEnd


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per pair of devices and of lengths that differ on links with PFC."""
    differing = disagreements(devices, _length, lambda end: end.cable_m or 0)
    return (_violation(links) for links in differing if links.mutual)


def _length(end: LinkEnd) -> int | None:
    return end.cable_m if end.cable_m and end.pfc else None


def _violation(links: Disagreement) -> Violation:
    short, long = links.low, links.high
    missing_m = (long.cable_m or 0) - (short.cable_m or 0)
    return Violation(
        origin=short.cable_origin,
        message=f"the cable is {short.cable_m}m at {short.name} and {long.cable_m}m at {long.name}",
        note=f"if {long.cable_m}m is right, {short.switch} keeps headroom for {missing_m}m too little",
        help="enter the length of the cable at both ends",
        elements=links.elements,
        data={"cable_m": [short.cable_m, long.cable_m]},
        related=(RelatedPlace(long.cable_origin, f"the end with {long.cable_m}m"),),
    )
