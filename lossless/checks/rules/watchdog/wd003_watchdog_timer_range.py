"""Watchdog timers must lie in the ranges that the switch accepts.

Severity: error
Fix: unsafe
Subject: fabric

## What it does
Checks detection (100 to 5,000 ms), restoration (100 to 60,000 ms) and the poll interval (100 to 1,000 ms) of ports with
PFC, and that a `PFC_WD` row has a detection time at all. On a deployed switch a poll interval out of range is a
warning: orchagent takes any, and detects a storm after one interval. With 0 no queue is ever polled, an error. Timers
that this rule refuses are not checked by WD004, WD005, WD006 and WD008.

## Why it breaks a lossless fabric
orchagent drops the whole row when one of its timers is out of range or the detection time is missing. The port then has
PFC and no watchdog, and only the log shows it. With a poll interval out of range the switch refuses the whole file when
it checks it, and with a longer one storms last at least as long.

## Bad
```yaml intent base=leaf-spine
pfc:
  watchdog:
    detection: 6000ms   # <- here
```

```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "restoration_time": "90000"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "PFC_WD": {
    "Ethernet4": {   // <- here
      "detection_time": null
    }
  }
}
```

## Good
```yaml intent base=leaf-spine
pfc:
  watchdog:
    detection: 4800ms
    restoration: 4800ms
```

```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "detection_time": "1200",
    "restoration_time": "1200"
  }}
}
```

## Fix
Bring the timer into the range.

## Sources
- sonic-swss orchagent/pfcwdorch.h and pfcwdorch.cpp @e6b0c5b (limits; a row that breaks them is dropped)
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-pfcwd.yang @086b03b (POLL_INTERVAL)
- sonic-sairedis syncd/FlexCounter.cpp @eb21195 (counters are read where the poll interval is above 0)
- dellemc.enterprise_sonic 2.5.1, module sonic_qos_pfc (poll up to 3,000 ms)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.watchdog.watchdog_rows import by_switch, sets_of, watched
from lossless.model.fabric.qos import DETECTION_RANGE_MS, POLL_RANGE_MS, RESTORATION_RANGE_MS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.watchdog.watchdog_rows import WatchdogRows
    from lossless.model.fabric.view import View

_DROPPED = "orchagent drops the whole row, and the port has no watchdog"


def check(view: View) -> Results:
    """Yield a violation per watchdog timer and switch's poll interval out of range, and per missing detection time."""
    watchdogs = list(watched(view))
    for rows in watchdogs:
        yield from _timers(rows)
    for of_switch in by_switch(watchdogs):
        if not of_switch[0].polled_in_range:
            yield _poll(of_switch)


def _timers(rows: WatchdogRows) -> Iterator[Violation]:
    detection_ms, restoration_ms = rows.watchdog.detection_ms, rows.watchdog.restoration_ms
    if detection_ms is None:
        yield _without_detection(rows)
    elif detection_ms not in DETECTION_RANGE_MS:
        yield _timer(rows, "detection_time", detection_ms, DETECTION_RANGE_MS)
    if restoration_ms is not None and restoration_ms not in RESTORATION_RANGE_MS:
        yield _timer(rows, "restoration_time", restoration_ms, RESTORATION_RANGE_MS)


def _without_detection(rows: WatchdogRows) -> Violation:
    return Violation(
        origin=rows.watchdog.origin.key(),
        message=f"the watchdog has no detection time: {_DROPPED}",
        help="set detection_time, for example to twice the poll interval",
    ).on_ports(*rows.sets)


def _timer(rows: WatchdogRows, field: str, value_ms: int, accepted: range) -> Violation:
    name = field.partition("_")[0]
    nearest_ms, why = min(max(value_ms, accepted[0]), accepted[-1]), "the nearest that is accepted"
    if nearest_ms < rows.poll_ms and rows.polled_in_range:
        nearest_ms = min(2 * rows.poll_ms, accepted[-1])
        why = "two polls"
    return Violation(
        origin=rows.at(field),
        message=f"{name} of {value_ms:,} ms is outside {_span(accepted)}: {_DROPPED}",
        help=f"set {name} to {nearest_ms} ms, {why}",
        data={f"{name}_ms": value_ms, "minimum_ms": accepted[0], "maximum_ms": accepted[-1]},
        fix=rows.fixes(field, nearest_ms),
    ).on_ports(*rows.sets)


def _poll(watchdogs: Sequence[WatchdogRows]) -> Violation:
    first = watchdogs[0]
    poll_ms = first.poll_ms
    above = any((rows.watchdog.detection_ms or poll_ms) < poll_ms for rows in watchdogs)
    nearest_ms = min(max(poll_ms, POLL_RANGE_MS[0]), POLL_RANGE_MS[-1])
    return (
        Violation(
            origin=first.poll_origin,
            message=f"poll interval of {poll_ms:,} ms is outside {_span(POLL_RANGE_MS)}",
            note="no queue is ever looked at"
            if poll_ms <= 0
            else "SONiC's own model refuses the file; Dell Enterprise SONiC accepts up to 3,000 ms"
            + ("; detection is shorter than the poll interval" if above else ""),
            help=f"set it to {nearest_ms} ms, the nearest that is accepted",
            fix=first.poll_fixes(nearest_ms),
            data={"poll_ms": poll_ms, "minimum_ms": POLL_RANGE_MS[0], "maximum_ms": POLL_RANGE_MS[-1]},
        )
        .certain_if(first.declared or poll_ms <= 0)
        .on_ports(*sets_of(watchdogs))
    )


def _span(accepted: range) -> str:
    return f"{accepted[0]} to {accepted[-1]:,} ms"
