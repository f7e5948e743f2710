"""Both ends of a link must have the same MTU.

Severity: warning
Subject: devices

## What it does
Compares the MTU of the two ports of a link between two devices, both up. A port without one has SONiC's default.

## Why it breaks a lossless fabric
What the end with the larger MTU sends, the other drops when it is larger than its own: frames are lost on a link
whose buffers never overflow, and RDMA sends everything again from the one that is missing.

## Bad
```json config_db base=wired-leaf beside=wired-spine
{
  "PORT": {"Ethernet8": {
    "mtu": "1500"   // <- here
  }}
}
```

## Good
```json config_db base=wired-leaf beside=wired-spine
{
  "PORT": {"Ethernet8": {"mtu": "9100"}}
}
```

## Fix
Give both ports the larger of the two.

## Sources
- sonic-swss cfgmgr/portmgr.h @e1abf76 (DEFAULT_MTU_STR, 9100)
- iancaragol/AzureLocal-Supportability
  TSG/Networking/Top-Of-Rack-Switch/Reference-TOR-QOS-Policy-Configuration.md @13714e6 (one MTU on the whole path)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.links.disagreements import Disagreement, disagreements
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.deployed_devices import DeployedDevices, LinkEnd


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per pair of devices and of MTUs that differ."""
    return map(_violation, disagreements(devices, _mtu))


def _mtu(end: LinkEnd) -> int | None:
    return end.mtu_bytes if isinstance(end.mtu_bytes, int) else None


def _violation(links: Disagreement) -> Violation:
    low, high = links.low, links.high
    small, large = links.values
    return Violation(
        origin=low.origin.at("mtu"),
        message=f"{low.name} has an MTU of {small} B, its neighbor {high.name} {large} B",
        note=f"frames above {small} B that {high.switch} sends are dropped here: {large - small} B too large at most",
        help=f"set the MTU of both ports to {large}",
        elements=links.elements,
        data={"mtu_bytes": [small, large]},
        related=(RelatedPlace(high.origin.at("mtu"), f"the end with {large} B"),),
    )
