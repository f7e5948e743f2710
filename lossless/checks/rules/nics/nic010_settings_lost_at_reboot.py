"""The settings of NICs must be applied again after every reboot.

Severity: warning
Subject: intent

## What it does
Looks for `hosts.applied_by: hand`. With `unit`, the default, a systemd unit is rendered beside the script; with
`other`, another tool runs it.

## Why it breaks a lossless fabric
Trust, PFC, the DSCP map, DCQCN and the traffic class of an mlx5 NIC are state of the running driver. After a
reboot, or a reload of the driver, the host is back at the factory settings: global pause, trust in VLAN tags, no
PFC. It joins the fabric so, and drops.

## Bad
```yaml intent base=leaf-spine
hosts:
  applied_by: hand   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts: {applied_by: other}
```

## Fix
Leave `applied_by` out and install the unit, or let your configuration management run the script at every boot and state
`other`.

## Sources
- Mellanox/nic-configuration-operator README.md @8bfbeb3 (non-persistent settings are applied after each boot)
- Mellanox/mlnx-tools python/mlnx_qos @088fadb (writes to the driver, keeps nothing)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host whose NICs are set by hand."""
    for host, names in view.host_kinds:
        if host.applied_by == "hand":
            yield Violation(
                origin=host.at("applied_by"),
                message="the NICs are set by hand: a reboot takes PFC, trust, DSCP map and DCQCN away",
                help="leave hosts.applied_by out and install the rendered unit, or make it other",
                elements=names,
            )
