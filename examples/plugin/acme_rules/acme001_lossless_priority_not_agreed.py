"""RDMA has priority 3 on every switch of ACME.

Severity: error
Subject: fabric

## What it does
Reports ports that pause another priority than 3. Every priority that is paused is named.

## Why it breaks a lossless fabric
The hosts of ACME are installed with PFC on priority 3. A switch that pauses priority 4 sends pauses that they ignore,
and ignores theirs: both sides drop.

## Bad
```yaml intent base=leaf-spine
classes:
  rdma:
    priority: 4   # <- here
```

## Good
```yaml intent base=leaf-spine
classes:
  rdma: {priority: 3}
```

## Fix
Give the lossless class priority 3.

## Sources
- ACME, design of the RDMA network, section 4 (an invented document: this rule is an example)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.locations import below

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.view import PortSet, View

AGREED = 3


def check(view: View) -> Results:
    """Yield a violation for each set of identical ports that pauses another priority than the agreed one."""
    for ports in view.lossless_sets:
        others = [priority for priority in ports.qos.pfc.priorities if priority != AGREED]
        if others:
            yield Violation(
                origin=_origin(view, ports, others[0]),
                message=f"PFC is on for priority {', '.join(map(str, others))}; ACME has agreed on {AGREED}",
                help=f"give the lossless class priority {AGREED}",
                data={"priorities": [*others], "agreed": AGREED},
            ).on_ports(ports)


def _origin(view: View, ports: PortSet, priority: int) -> Origin:
    """Return the place of the class of a priority in an intent, else that of the PFC mask of a switch."""
    if view.fabric.declared:
        for cls in ports.switch.classes.lossless:
            if cls.priority == priority:
                return below(cls.origin, "priority")
    return ports.qos.pfc.origin
