"""A NIC whose firmware runs DCBX may let its switch overrule PFC.

Severity: warning
Fix: unsafe
Subject: intent, hosts

## What it does
Looks for `hosts.dcbx: firmware`. With `os`, the default, the rendered script takes DCBX away from the firmware
before it sets anything.

## Why it breaks a lossless fabric
ConnectX firmware is willing by default: it takes the PFC and ETS settings that its neighbor offers over LLDP. A switch
that offers none changes nothing; one that does, or a replacement that does, switches the lossless priority off at the
next link-up, with no trace in any file.

## Bad
```yaml intent base=leaf-spine
hosts:
  dcbx: firmware   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts: {dcbx: os}
```

## Fix
Leave `dcbx` out, or set DCBX_WILLING to 0 in the firmware and waive this rule.

## Sources
- firmware default in several independent mlxconfig query prints (DCBX_WILLING True)
- Mellanox/mlnx-tools python/mlnx_qos @088fadb (--dcbx os)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread
from lossless.checks.rules.fixes import without
from lossless.ground.basics.records import UNKNOWN

if TYPE_CHECKING:
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host whose PFC may be changed by DCBX of the firmware."""
    for host, names in view.host_kinds:
        if host.dcbx is UNKNOWN or host.pfc_priorities is UNKNOWN:
            yield unread("its PFC priorities and who speaks DCBX", names)
        elif host.dcbx == "firmware" and host.pfc_priorities:
            yield Violation(
                origin=host.at("dcbx"),
                message="the NICs' firmware runs DCBX: what a switch offers at link-up overrides their PFC",
                note="ConnectX firmware is willing by default (DCBX_WILLING)",
                help="leave hosts.dcbx out: the rendered script then gives DCBX to the host"
                if host.provenance == "intent"
                else "give DCBX to the host: mlnx_qos -i IF --dcbx os",
                elements=names,
                fix=without(host, "dcbx"),
            )
