"""A watchdog that drops or forwards must also restore.

Severity: error
Fix: unsafe
Subject: fabric

## What it does
Looks for a restoration time on each watchdog whose action is drop or forward; without one, forward is a warning.
Action alert changes nothing on the queue and so restores nothing.

## Why it breaks a lossless fabric
Without a restoration time the queue stays as the storm left it until an operator restarts the watchdog. With
action drop every RDMA packet through that queue is lost from then on: an error. With action forward the port has no PFC
on that priority: it ignores pauses, and packets are lost where the other end cannot take them; and it sends none, so
that packets from the other end are lost where their group is full. Both happen under congestion alone: a warning.

## Bad
```yaml intent base=leaf-spine
pfc:
  watchdog:
    restoration: null   # <- here
```

```json config_db base=leaf
{
  "PFC_WD": {
    "Ethernet4": {   // <- here
      "restoration_time": null
    }
  }
}
```

## Good
```yaml intent base=leaf-spine
pfc:
  watchdog:
    restoration: 2400ms
```

```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "restoration_time": "1600"
  }}
}
```

## Fix
Set a restoration time; `pfcwd start` gives twice the detection time where none is named.

## Sources
- sonic-swss orchagent/pfcwdorch.cpp and pfc_restore.lua @e6b0c5b (an empty time never restores)
- sonic-swss orchagent/pfcactionhandler.cpp @e6b0c5b (PfcWdLossyHandler takes the priority out of the port's PFC; not on
  Cisco 8000, and not where a Broadcom chip recovers by itself)
- sonic-utilities pfcwd/main.py @691b1bb (twice the detection time)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.watchdog.watchdog_rows import watched

if TYPE_CHECKING:
    from lossless.checks.rules.watchdog.watchdog_rows import WatchdogRows
    from lossless.model.fabric.view import View

_AFTER = {
    "drop": "drops its packets until an operator intervenes",
    "forward": "neither obeys nor sends pauses until an operator intervenes",
}


def check(view: View) -> Results:
    """Yield a violation per watchdog that triggers and never restores."""
    for rows in watched(view):
        if rows.accepted and rows.watchdog.restoration_ms is None and rows.watchdog.action in _AFTER:
            yield _watchdog_restoration_unset(rows)


def _watchdog_restoration_unset(rows: WatchdogRows) -> Violation:
    action, detection_ms = rows.watchdog.action, rows.watchdog.triggers_after_ms
    return Violation(
        origin=rows.at("restoration_time") if rows.declared else rows.watchdog.origin.key(),
        message=f"no restoration time is set: a queue that stormed once {_AFTER[action]}",
        note="the script that restores queues skips a queue without one",
        help=f"set restoration to {2 * detection_ms} ms, twice the detection time",
        data={"action": action, "detection_ms": detection_ms},
        severity="warning" if action == "forward" else None,
        fix=rows.fixes("restoration_time", 2 * detection_ms),
    ).on_ports(*rows.sets)
