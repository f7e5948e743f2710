"""A map of one name must mean the same on every switch of a role.

Severity: warning
Subject: devices

## What it does
Compares maps of the same table and name over all switches of a role (`DEVICE_METADATA` `type`): DSCP to TC, TC to
queue, TC to priority group, and both maps of PFC priorities. It names the entries that differ.

## Why it breaks a lossless fabric
The same packet is lossless on one leaf and not on the next. The name `AZURE` in both files looks like the same map, and
traffic that moves to another leaf loses its protection there.

## Bad
```json config_db base=wired-leaf beside=wired-leaf2,wired-leaf3
{
  "DSCP_TO_TC_MAP": {
    "AZURE": {"30": "6"}   // <- here
  }
}
```

## Good
```json config_db base=wired-leaf beside=wired-leaf2,wired-leaf3
{
  "DSCP_TO_TC_MAP": {
    "AZURE": {"30": "0"}
  }
}
```

## Fix
Give all switches of the role the same map, or the map that is meant to differ a name of its own.

## Sources
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (every device gets its maps under the name AZURE)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 6.2 (one device configured otherwise)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.roles.outliers import Outlier, outliers

if TYPE_CHECKING:
    from lossless.model.fabric.deployed_devices import DeployedDevices

_SHOWN = 4
"""Differing entries that a message shows."""


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per map and meaning that is not the usual one of its role."""
    return map(_map_name_ambiguous, outliers(devices, "map"))


def _map_name_ambiguous(outlier: Outlier) -> Violation:
    here, usual = dict(outlier.these[0].setting.value), dict(outlier.usual[0].setting.value)
    differing = sorted((k for k in {*here, *usual} if here.get(k) != usual.get(k)), key=lambda k: (len(k), k))
    shown = "; ".join(
        f"{k} to {here.get(k, 'nothing')}, not {usual.get(k, 'nothing')}" for k in differing[:_SHOWN]
    )
    more = f", and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    return Violation(
        origin=outlier.these[0].setting.origin,
        message=f"this map means something else than on {outlier.proportion}",
        note=f"it maps {shown}{more}",
        help="make the maps identical, or give one that is meant to differ a name of its own",
        elements=outlier.elements,
        data={"differing": [*differing]},
        related=(outlier.related[0]._replace(message=f"the map of {outlier.usual[0].switch.name}"),),
    )
