"""The watchdog should trigger at the tier next to the hosts before the tier above it.

Severity: info
Subject: devices

## What it does
Compares the detection times of two linked switches of different tiers (by their neighbors, else by the `type` in
`DEVICE_METADATA`): the longest on the lower one's ports to hosts, and that of the upper one on the link between them.
It informs where the upper one is the shorter. Equal times are SONiC's default.

## Why it breaks a lossless fabric
A NIC that is stuck pauses its leaf, and within milliseconds the leaf pauses its spines. Where the watchdog of
the spine triggers first, it drops the whole lossless class towards that leaf, for all hosts below it, while the leaf
would have dropped at one port. SONiC's defaults can cause this: they grow with the ports of a switch, and a leaf may
have more of them than its spines.

## Bad
```json config_db base=wired-spine beside=wired-leaf
{
  "PFC_WD": {
    "Ethernet0": {"detection_time": "400"},
    "Ethernet4": {"detection_time": "400"},
    "Ethernet8": {
      "detection_time": "400"   // <- here
    }
  }
}
```

## Good
```json config_db base=wired-spine beside=wired-leaf
{
  "PFC_WD": {
    "Ethernet0": {"detection_time": "1200", "restoration_time": "1200"},
    "Ethernet4": {"detection_time": "1200", "restoration_time": "1200"},
    "Ethernet8": {"detection_time": "1200", "restoration_time": "1200"}
  }
}
```

## Fix
Give the upper tier the detection time of the lower one, or a longer one.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.3 (how a storm spreads from tier to tier)
- sonic-utilities pfcwd/main.py @691b1bb (times by the number of ports)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import RelatedPlace, grouped
from lossless.model.fabric.model import known_tier

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.deployed_devices import CabledPair, DeployedDevices, LinkEnd
    from lossless.model.fabric.model import Tier


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per switch, its detection time and a longer one of linked lower switches."""
    longest = _longest(devices)
    ordered = (ends for pair in devices.pairs if (ends := _ordered(devices, pair)) is not None)
    inverted = grouped(
        ((upper.switch, detection_ms, longest[lower.switch]), (lower, upper))
        for lower, upper in ordered
        if (detection_ms := upper.detection_ms)
        and lower.switch in longest
        and detection_ms < longest[lower.switch]
    )
    for (_, detection_ms, longest_ms), links in inverted.items():
        yield _watchdog_tiers_inverted(links, detection_ms, longest_ms)


def _longest(devices: DeployedDevices) -> dict[str, int]:
    """Return the longest detection time by switch, on ports in service with PFC that lead to no other of them."""
    longest: dict[str, int] = {}
    for switch in devices.by_name.values():
        for end in switch.ends:
            to_switch = end.neighbor is not None and end.neighbor[0] in devices.by_name
            if end.detection_ms and end.pfc and end.in_service and not to_switch:
                longest[end.switch] = max(longest.get(end.switch, 0), end.detection_ms)
    return longest


def _ordered(devices: DeployedDevices, pair: CabledPair) -> tuple[LinkEnd, LinkEnd] | None:
    """Return the lower and the upper end of a link in service whose upper end has PFC, None for other links."""
    lower, upper = sorted((pair.near, pair.far), key=lambda end: _tier(devices, end) or 0)
    low, high = _tier(devices, lower), _tier(devices, upper)
    if low is None or high is None or low == high or not upper.pfc:
        return None
    return (lower, upper) if lower.in_service and upper.in_service else None


def _tier(devices: DeployedDevices, end: LinkEnd) -> Tier | None:
    return known_tier(devices.by_name[end.switch].tier)


def _watchdog_tiers_inverted(
    links: list[tuple[LinkEnd, LinkEnd]], detection_ms: int, longest_ms: int
) -> Violation:
    lower, upper = links[0]
    return Violation(
        origin=_origin(upper),
        message=f"the watchdog of {upper.switch} triggers after {detection_ms} ms, "
        f"that of {lower.switch} below it after {longest_ms} ms",
        note=f"{upper.switch} then drops the lossless traffic of every host below {lower.switch}, "
        f"where {lower.switch} would drop at one port",
        help=f"set detection on {upper.switch} to {longest_ms} ms or more",
        elements=tuple(f"{low.name} - {high.name}" for low, high in links),
        data={"upper_ms": detection_ms, "lower_ms": longest_ms},
        related=(RelatedPlace(_origin(lower), f"the watchdog of {lower.switch}"),),
    )


def _origin(end: LinkEnd) -> Origin:
    return end.origin._replace(path=("PFC_WD", end.port, "detection_time"))
