"""Both ends of a link must use the same FEC.

Severity: error
Fix: unsafe
Subject: devices

## What it does
Compares the `fec` of the two ports of a link, where both files state one, neither is `auto` and neither port
negotiates. Where only one of the files names the link in `DEVICE_NEIGHBOR`, it warns.

## Why it breaks a lossless fabric
A receiver cannot lock to a signal with another code: the link does not come up, and its traffic takes the other
uplinks.

## Bad
```json config_db base=wired-leaf beside=wired-spine
{
  "PORT": {"Ethernet8": {
    "fec": "none"   // <- here
  }}
}
```

## Good
```json config_db base=wired-leaf beside=wired-spine
{
  "PORT": {"Ethernet8": {"fec": "rs"}}
}
```

## Fix
Set the same `fec` at both ends; at 50 Gb/s a lane and above that is `rs`.

## Sources
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang @086b03b (`fec`: rs, fc, none, auto)
- IEEE 802.3, clauses 91 and 119 (RS-FEC of 100 and 400 Gb/s)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.links.cabling import Disagreement, disagreements
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.deployed_devices import DeployedDevices, LinkEnd

_STATED = ("none", "fc", "rs")
"""The FEC values that a port is set to, the weakest code first; ``auto`` leaves it to the hardware."""


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per pair of devices and of FEC codes that differ at the two ends of their links.

    Links with a port that negotiates are left out.
    """
    return map(_link_fec_differs, disagreements(devices, _fec))


def _fec(end: LinkEnd) -> int | None:
    return _STATED.index(end.fec) if end.fec in _STATED and not end.autoneg else None


def _link_fec_differs(links: Disagreement) -> Violation:
    weak, strong = links.low, links.high
    return Violation(
        origin=weak.origin.at("fec"),
        message=(
            f"{weak.name} has FEC {weak.fec}, its neighbor {strong.name} {strong.fec}: the link does not come up"
        ),
        note=links.doubt,
        help=f'set "fec": "{strong.fec}" on both ports',
        elements=links.elements,
        fix=links.lower_to_higher("fec", strong.fec or ""),
        data={"fec": [weak.fec, strong.fec]},
        related=(RelatedPlace(strong.origin.at("fec"), f"the end with {strong.fec}"),),
    ).certain_if(links.mutual)
