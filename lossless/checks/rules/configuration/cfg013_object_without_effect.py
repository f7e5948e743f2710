"""A profile or a policy must be bound.

Severity: warning
Confidence: medium
Subject: switch

## What it does
Looks at switches whose QoS is defined in named objects: a profile, policy or class map that nothing names is a warning.
A file without any interface is part of a configuration and not checked.

## Why it breaks a lossless fabric
The object has no effect. Its PFC, ECN and scheduling are not on any port, and the ports have the defaults, which are
lossy.

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
Bind the object to its ports, or remove it.

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
    """Yield a violation per profile, policy or class map that is bound to nothing."""
    for unbound in switch.read.unbound:
        yield Violation(
            origin=unbound.origin,
            message=f"{unbound.kind} {unbound.name} is bound to nothing: it has no effect",
            note="what it says of PFC, ECN and queues is on no port",
            help=f"bind {unbound.kind} {unbound.name} to the ports it is meant for, or remove it",
            elements=(unbound.name,),
        )
