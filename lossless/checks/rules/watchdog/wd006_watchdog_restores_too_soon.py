"""A queue should not be restored faster than a storm is detected.

Severity: warning
Fix: unsafe
Subject: fabric

## What it does
Compares restoration with detection on each watchdog that drops or forwards. A restoration below the poll interval is
WD004's.

## Why it breaks a lossless fabric
The queue of a NIC that keeps storming is restored sooner than the storm is detected again. Each time the queue holds
its paused packets and the pause propagates upstream once more; this repeats for as long as the NIC is faulty.

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
- sonic-utilities pfcwd/main.py @691b1bb
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
        note="the queue of a peer that keeps storming is restored sooner than the storm is detected again",
        help=f"set restoration to {2 * detection_ms} ms, twice the detection time; at least {detection_ms}",
        data={"restoration_ms": restoration_ms, "detection_ms": detection_ms},
        fix=rows.fixes("restoration_time", 2 * detection_ms),
    ).on_ports(*rows.sets)
