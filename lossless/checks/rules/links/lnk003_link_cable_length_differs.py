"""A cable is as long at one end as at the other.

Severity: warning
Subject: devices

## What it does
Compares the `CABLE_LENGTH` of the two ports of a link with PFC between two devices whose files name each other. The
length decides the headroom, so the shorter entry gives its port less. Ports without a length, or with `0m`, are
BUF004's.

## Why it breaks a lossless fabric
One of the two entries is wrong. If it is the shorter one, the port keeps too little headroom for the data that is still
in flight when it pauses, and drops it.

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
- IEEE 802.1Q, annex O (the data on the cable when a pause is sent must fit the headroom)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.links.cabling import Disagreement, disagreements
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.deployed_devices import DeployedDevices, LinkEnd


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per pair of devices and of cable lengths that differ at the two ends of links with PFC.

    Links that only one of the two files names are left out.
    """
    return (_link_cable_length_differs(links) for links in disagreements(devices, _length) if links.mutual)


def _length(end: LinkEnd) -> int | None:
    return end.cable_m if end.cable_m and end.pfc else None


def _link_cable_length_differs(links: Disagreement) -> Violation:
    short, long = links.low, links.high
    short_m, long_m = links.values
    return Violation(
        origin=short.cable_origin,
        message=f"the cable is {short_m}m at {short.name} and {long_m}m at {long.name}",
        note=f"if {long_m}m is right, {short.switch} keeps headroom for {long_m - short_m}m too little",
        help="enter the length of the cable at both ends",
        elements=links.elements,
        data={"cable_m": [short_m, long_m]},
        related=(RelatedPlace(long.cable_origin, f"the end with {long_m}m"),),
    )
