"""A queue should not be restored faster than a storm is detected.

Severity: warning

## What it does
Compares restoration with detection on each watchdog that acts. A restoration below the poll interval is
WD004's.

## Why it breaks a lossless fabric
A NIC that keeps storming is let in again sooner than it is shut out. Each time the queue holds its paused
packets and the pause spreads upstream once more; the peer toggles the queue for as long as it is ill.

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
    """Yield a violation per watchdog that restores faster than it detects."""
    for rows in watched(view):
        detection_ms, restoration_ms = rows.watchdog.detection_ms, rows.watchdog.restoration_ms
        if detection_ms is None or restoration_ms is None or rows.watchdog.action == "alert":
            continue
        if rows.accepted and rows.poll_ms <= restoration_ms < detection_ms:
            yield _violation(rows, detection_ms, restoration_ms)


def _violation(rows: WatchdogRows, detection_ms: int, restoration_ms: int) -> Violation:
    return Violation(
        origin=rows.at("restoration_time"),
        message=f"restoration of {restoration_ms} ms is shorter than detection of {detection_ms} ms",
        note="a peer that keeps storming is let in again sooner than it is shut out",
        help=f"set restoration to {2 * detection_ms} ms, twice the detection time; at least {detection_ms}",
        data={"restoration_ms": restoration_ms, "detection_ms": detection_ms},
    ).on_ports(*rows.sets)
