"""A profile or a policy must be bound to something.

Severity: warning
Confidence: medium
Subject: switch

## What it does
Looks at switches whose QoS is defined in named objects: a profile that no interface names is a warning. Nothing is
said of a file without any interface, which is a part of a configuration.

## Why it breaks a lossless fabric
What the object says has no effect. PFC, ECN and scheduling that people read in the configuration are not on any port,
and the ports have the defaults, which are lossy.

## Bad
```text switch base=switch-leaf
qos profile ROCE-400G   # <- here
   priority-flow-control on
   priority-flow-control priority 3 no-drop
```

## Good
```text switch base=switch-leaf
interface Ethernet2
   no switchport
   service-profile ROCE
```

## Fix
Bind it where it is meant to be, or remove it.

## Sources
- SongKou/songkou.github.io content/posts/arista-eos-roce-config.md @0c73d9a (service-profile binds a
  profile to an interface)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import SwitchConfiguration


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per object that nothing is bound to."""
    for unbound in switch.read.unbound:
        yield Violation(
            origin=unbound.origin,
            message=f"{unbound.kind} {unbound.name} is bound to nothing: it has no effect",
            note="what it says of PFC, ECN and queues is on no port",
            help=f"bind {unbound.kind} {unbound.name} to the ports it is meant for, or remove it",
            elements=(unbound.name,),
        )
