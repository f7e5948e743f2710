"""Watchdog triggers and long pauses must raise an alert.

Severity: warning
Subject: intent

## What it does
Where an intent lists the alerts of its telemetry, looks for the two that a lossless fabric needs: `watchdog`, of
every storm that is detected, and `pauses`, of ports that are paused for too much of the time. No list is not
checked.

## Why it breaks a lossless fabric
A watchdog ends one storm and writes it to a log. Without an alert the same NIC storms again every few minutes, and each
time a queue of healthy traffic is dropped; one server of a large operator sent 2,000 pauses a second, unseen.

## Bad
```yaml intent base=leaf-spine
telemetry:
  alerts: [pauses]   # <- here
```

## Good
```yaml intent base=leaf-spine
telemetry: {alerts: [watchdog, pauses]}
```

## Fix
Alert on detected storms, and on the share of time that a port is paused.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, 4.3 and 6.2 (a pause storm without an alert)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.model.fabric.view import View

NEEDED = {"watchdog": "watchdog triggers", "pauses": "long pauses"}


def check(view: View) -> Results:
    """Yield a violation where the listed telemetry alerts lack one that a lossless fabric needs."""
    telemetry = view.fabric.telemetry
    if telemetry is None or telemetry.alerts is None or not view.fabric.classes.lossless:
        return
    missing = [alert for alert in NEEDED if alert not in telemetry.alerts]
    if missing:
        yield Violation(
            origin=telemetry.origin.at("alerts"),
            message=f"telemetry.alerts has no alert for {' or '.join(NEEDED[alert] for alert in missing)}",
            help=f"add {', '.join(missing)} to telemetry.alerts, and alert on it",
            data={"missing": list(missing)},
        )
