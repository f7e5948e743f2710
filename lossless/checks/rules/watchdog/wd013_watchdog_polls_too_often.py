"""The watchdog should not poll more often than SONiC does for as many ports.

Severity: warning
Fix: unsafe
Subject: fabric

## What it does
Compares the poll interval, 100 ms where none is configured, with the interval that `pfcwd start_default` would set: 200
ms for every 32 ports begun, 1,000 ms at most. Ports are those with PFC that are not down: older releases count all
ports and need more, never less. An interval out of range is WD003's.

## Why it breaks a lossless fabric
Each poll reads the counters of every watched queue and port, which takes longer the more there are. Where that takes
longer than the interval, polls are late and irregular, and two intervals count as one: storms are detected late, and on
some chips a healthy pause is taken for a storm.

## Bad
```yaml intent base=leaf-spine
pfc:
  watchdog:
    poll: 100ms   # <- here
```

```json config_db base=leaf
{
  "PFC_WD": {
    "GLOBAL": {
      "POLL_INTERVAL": "100"   // <- here
    }
  }
}
```

## Good
```yaml intent base=leaf-spine
pfc:
  watchdog:
    poll: 200ms
```

```json config_db base=leaf
{
  "PFC_WD": {
    "GLOBAL": {"POLL_INTERVAL": "200"}
  }
}
```

## Fix
`pfcwd interval` sets it; detection and restoration must not be shorter.

## Sources
- sonic-utilities pfcwd/main.py @691b1bb, @015521a (start_default; the later one counts ports with PFC only)
- sonic-swss orchagent/orchdaemon.cpp @e6b0c5b (100 ms without a GLOBAL row)
- sonic-swss orchagent/pfc_detect_broadcom.lua @0cb8610 (collection decides whether an interval can be kept)
- sonic-swss pull request 3036 (late polls mistaken for a storm)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, tightest
from lossless.checks.rules.watchdog.watchdog_rows import by_switch, default_poll_ms, watched

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.watchdog.watchdog_rows import WatchdogRows
    from lossless.model.fabric.view import PortSet, View


def check(view: View) -> Results:
    """Yield a violation per poll interval shorter than the longest that ``pfcwd start_default`` sets on a switch."""
    yield from tightest(_ranked(view))


def _ranked(view: View) -> Iterator[tuple[tuple[float, ...], Violation]]:
    for of_switch in by_switch(watched(view)):
        first = of_switch[0]
        if first.polled_in_range and first.poll_ms < default_poll_ms(len(first.switch.ports)):
            sets = [ports for ports in view.lossless_sets if ports.switch is first.switch]
            yield from _too_often(of_switch, sets)


def _too_often(
    of_switch: Sequence[WatchdogRows], sets: list[PortSet]
) -> Iterator[tuple[tuple[float, ...], Violation]]:
    rows = of_switch[0]
    ports = sum(len(identical.ports) for identical in sets)
    poll_ms, needed_ms = rows.poll_ms, default_poll_ms(ports)
    if poll_ms >= needed_ms:
        return
    unset = rows.switch.qos.poll.poll_ms is None
    violation = Violation(
        origin=rows.poll_origin,
        message=f"the watchdog polls every {poll_ms} ms{', as none is set' if unset else ''}; "
        f"SONiC polls {ports} ports with PFC every {needed_ms} ms",
        note="200 ms for every 32 ports begun, 1,000 ms at most",
        help=f"set the poll interval to {needed_ms} ms, and detection and restoration to no less",
        data={"poll_ms": poll_ms, "needed_ms": needed_ms, "ports": ports},
        fix=(*rows.poll_fixes(needed_ms), *(edit for each in of_switch for edit in each.slower(needed_ms))),
    ).on_ports(*sets)
    yield (-needed_ms, -ports), violation
