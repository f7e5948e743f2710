"""A watchdog must end a storm, not only report it.

Severity: warning
Fix: unsafe
Subject: fabric

## What it does
Looks for the action `alert` on ports with PFC. `drop` and `forward` are both decisions; the choice between them is the
operator's.

## Why it breaks a lossless fabric
With `alert` the watchdog writes a line in the log and leaves the queue as it is. A stuck NIC then pauses
its port permanently, and the pause propagates through the fabric as if there were no watchdog.

## Bad
```yaml intent base=leaf-spine
pfc:
  watchdog:
    action: alert   # <- here
```

```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "action": "alert"   // <- here
  }}
}
```

## Good
```yaml intent base=leaf-spine
pfc:
  watchdog:
    action: forward
```

```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {"action": "drop"}}
}
```

## Fix
Set the action to `drop`, SONiC's default: stop the watchdog on the port first, then start it again.

## Sources
- sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b (alert has no handler that touches the queue; drop is the default)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.3 (a storm ends when somebody ends it)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.watchdog.watchdog_rows import watched

if TYPE_CHECKING:
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per watchdog whose action is ``alert``."""
    for rows in watched(view):
        if rows.accepted and rows.watchdog.action == "alert":
            yield Violation(
                origin=rows.at("action"),
                message="the watchdog action is alert: nothing ends a storm",
                note="a stuck NIC pauses the port permanently, and the pause propagates through the fabric",
                help="set the action to drop, SONiC's default, or to forward",
                fix=rows.action_fixes("drop"),
            ).on_ports(*rows.sets)
