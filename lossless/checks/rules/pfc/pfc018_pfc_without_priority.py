"""Where PFC is turned on at a port, some priority must be no-drop there.

Severity: error
Subject: switch

## What it does
Looks at switches on which PFC is turned on and priorities are named by separate commands. A port with PFC on, in its
own lines or by its profile, that pauses no priority is an error where a lossless class is named or declared, or other
ports of the switch have one. Elsewhere it is a warning.

## Why it breaks a lossless fabric
The port looks as if it had PFC, in its configuration and in the output of show commands, and it pauses nothing: RDMA
that congests there is dropped.

## Bad
```text switch base=switch-leaf
interface Ethernet2
   no switchport
   priority-flow-control on   # <- here
```

## Good
```text switch base=switch-leaf
interface Ethernet2
   no switchport
   service-profile ROCE
   priority-flow-control on
```

## Fix
Name the lossless priority as no-drop, or turn PFC off.

## Sources
- SongKou/songkou.github.io content/posts/arista-eos-roce-config.md @0c73d9a (PFC is turned on and
  priorities are named one by one)
- pyavd 6.4.0, schema of eos_cli_config_gen (priority_flow_control: enabled, priorities)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import grouped

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import SwitchConfiguration


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per command that turns PFC on for ports of another system without a no-drop priority."""
    name = switch.read.switch.name
    has_class = any(cls.dscps for cls in switch.read.switch.classes.lossless)
    for origin, ports in grouped((origin, port) for port, origin in switch.read.silent).items():
        yield Violation(
            origin=origin,
            message="PFC is on, and no priority is no-drop: nothing is paused",
            note="without a no-drop priority the port drops what congests there",
            help="name the lossless priority as no-drop, or turn PFC off",
            elements=tuple(f"{name}:{port}" for port in ports),
            severity=None if has_class else "warning",
        )
