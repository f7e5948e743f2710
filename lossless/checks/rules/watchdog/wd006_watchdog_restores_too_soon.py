"""A queue should stay stopped for as long as it takes to detect the next storm.

Severity: warning
Fix: unsafe
Subject: fabric

## What it does
Compares restoration with detection on each watchdog that drops or forwards. A restoration below the poll interval is
WD004's.

## Why it breaks a lossless fabric
Restoration is a time without pauses: a poll that sees one resets it, so the queue of a NIC that storms without a
break is never restored. That of a NIC that storms in bursts is, in each break that is long enough. The next burst then
has to be detected from the start: for that time the queue holds its packets, and the pause propagates upstream. With a
restoration shorter than detection, senders wait longer in each round than the queue stayed out of their way.

## Bad
```yaml intent base=leaf-spine
pfc:
  watchdog:
    restoration: 800ms   # <- here
```

```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "restoration_time": "400"   // <- here
  }}
}
```

## Good
```yaml intent base=leaf-spine
pfc:
  watchdog:
    restoration: 1200ms
```

```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "restoration_time": "800"
  }}
}
```

## Fix
Make restoration at least as long as detection; `pfcwd start` takes twice the detection time.

## Sources
- sonic-swss orchagent/pfc_restore.lua @e6b0c5b (a poll with received pauses resets the time), and
  pfc_restore_cisco-8000.lua (so does a queue that is paused)
- sonic-utilities pfcwd/main.py @691b1bb (twice the detection time)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.watchdog.watchdog_rows import watched

if TYPE_CHECKING:
    from lossless.checks.rules.watchdog.watchdog_rows import WatchdogRows
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per watchdog with restoration shorter than detection, unless it only alerts or WD004 fires."""
    for rows in watched(view):
        detection_ms, restoration_ms = rows.watchdog.detection_ms, rows.watchdog.restoration_ms
        if detection_ms is None or restoration_ms is None or rows.watchdog.action == "alert":
            continue
        if rows.accepted and rows.poll_ms <= restoration_ms < detection_ms:
            yield _watchdog_restores_too_soon(rows, detection_ms, restoration_ms)


def _watchdog_restores_too_soon(rows: WatchdogRows, detection_ms: int, restoration_ms: int) -> Violation:
    return Violation(
        origin=rows.at("restoration_time"),
        message=f"restoration of {restoration_ms} ms is shorter than detection of {detection_ms} ms",
        note="a peer that storms in bursts gets its queue back in each break, and the next burst stalls senders for "
        "longer than the queue was stopped",
        help=f"set restoration to {2 * detection_ms} ms, twice the detection time; at least {detection_ms}",
        data={"restoration_ms": restoration_ms, "detection_ms": detection_ms},
        fix=rows.fixes("restoration_time", 2 * detection_ms),
    ).on_ports(*rows.sets)
