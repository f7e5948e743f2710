"""A NIC whose firmware runs DCBX may let its switch overrule PFC.

Severity: warning
Fix: unsafe
Subject: intent, hosts

## What it does
Looks for `hosts.dcbx: firmware`, or that mode on a host that was read, beside PFC. With `os`, the default, the rendered
script takes DCBX away from the firmware before it sets anything.

## Why it breaks a lossless fabric
Firmware that runs DCBX takes the PFC and ETS settings that its neighbor offers over LLDP if it is willing, and
ConnectX firmware is by default (DCBX_WILLING True). It runs DCBX only where LLDP_NB_DCBX is True, and LLDP_NB_RX_MODE
and LLDP_NB_TX_MODE are ALL. The default of the first is False in public mlxconfig prints: such a NIC takes nothing
until somebody turns it on. Where it is on, a switch that offers no PFC changes nothing; one that does, or a
replacement that does, may switch the lossless priority off at the next link-up, with no trace in any file.

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
Leave `dcbx` out. Or make sure that the firmware of all NICs has LLDP_NB_DCBX False, or DCBX_WILLING False, and waive
this rule.

## Sources
- firmware default in several independent mlxconfig query prints (DCBX_WILLING True, LLDP_NB_DCBX False)
- Mellanox/mstflint mlxconfig/mlxconfig_dbs/mlxconfig_host.db @b9d9e844 (LLDP_NB_DCBX applies where both modes are ALL)
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
                message="DCBX is left to the NICs' firmware: what a switch offers at link-up may override their PFC",
                note="it takes it where LLDP_NB_DCBX is on (off by default) and DCBX_WILLING is (on by default)",
                help="leave hosts.dcbx out: the rendered script then gives DCBX to the host"
                if host.provenance == "intent"
                else "give DCBX to the host: mlnx_qos -i IF --dcbx os",
                elements=names,
                fix=without(host, "dcbx"),
            )
