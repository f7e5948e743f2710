"""Watchdog timers must not be shorter than the poll interval.

Severity: error
Fix: unsafe
Subject: fabric

## What it does
Compares detection and restoration of each watchdog with the poll interval of its switch, 100 ms where none is
configured. Where every watchdog of a switch is below it, the poll interval is blamed. A deployed switch takes such
timers, and it is a warning; the configuration that an intent renders is refused, an error. A poll interval that is
itself out of range is WD003's.

## Why it breaks a lossless fabric
The watchdog sees a queue only when it polls. With a detection time below the poll interval a single interval
decides: a queue that sent nothing between two polls, and whose peer paused it, is taken for a storm, however short a
time was configured. Broadcom's script reads pause and counters at different instants, so one sample can show a pause
that never was. SONiC's model refuses such a file, but `pfcwd start` lets it through, so it lives on switches until a
reload.

## Bad
```yaml intent base=leaf-spine
pfc:
  watchdog:
    detection: 400ms   # <- here
```

```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "detection_time": "200"   // <- here
  }}
}
```

## Good
```yaml intent base=leaf-spine
pfc:
  watchdog:
    poll: 400ms
```

```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "detection_time": "400"
  }}
}
```

## Fix
Raise the timer to the poll interval or, better, to twice of it; or poll more often.

## Sources
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-pfcwd.yang @086b03b (the ``must`` statement of both timers)
- sonic-swss orchagent/orchdaemon.cpp @e6b0c5b (PFC_WD_POLL_MSECS, 100 ms)
- sonic-swss orchagent/pfc_detect_mellanox.lua @e6b0c5b, pfc_detect_broadcom.lua @0cb8610
- sonic-buildimage issue 27865, sonic-utilities issue 4520
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.watchdog.watchdog_rows import by_switch, sets_of, watched
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.watchdog.watchdog_rows import WatchdogRows
    from lossless.ground.basics.findings import Edit
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per watchdog with a timer below the poll interval; one per deployed switch if all have one.

    Rows that orchagent drops, and poll intervals out of range, are left out.
    """
    for of_switch in by_switch(rows for rows in watched(view) if rows.accepted and rows.polled_in_range):
        below = [rows for rows in of_switch if below_poll(rows)]
        if below and len(below) == len(of_switch) and not view.fabric.declared:
            yield _poll_violation(below)
        else:
            yield from map(_row_violation, below)


def below_poll(rows: WatchdogRows) -> tuple[str, ...]:
    """Return the fields of the timers that are shorter than the poll interval."""
    timers = {
        "detection_time": rows.watchdog.detection_ms,
        "restoration_time": rows.watchdog.restoration_ms,
    }
    return tuple(name for name, value in timers.items() if value is not None and value < rows.poll_ms)


def _poll_violation(watchdogs: Sequence[WatchdogRows]) -> Violation:
    violation = _row_violation(min(watchdogs, key=lambda rows: rows.watchdog.triggers_after_ms))
    return violation._replace(
        origin=watchdogs[0].poll_origin,
        fix=tuple(edit for rows in watchdogs for edit in _raised(rows)),
        related=(),
    ).on_ports(*sets_of(watchdogs))


def _raised(rows: WatchdogRows) -> tuple[Edit, ...]:
    return tuple(edit for field in below_poll(rows) for edit in rows.fixes(field, 2 * rows.poll_ms))


def _row_violation(rows: WatchdogRows) -> Violation:
    below = below_poll(rows)
    values = {
        "detection": rows.watchdog.detection_ms,
        "restoration": rows.watchdog.restoration_ms,
    }
    short = [f"{name} of {values[name]} ms" for name in (field.partition("_")[0] for field in below)]
    return Violation(
        origin=rows.at(below[0]),
        message=f"{' and '.join(short)} {'are' if len(short) > 1 else 'is'} shorter than "
        f"the poll interval of {rows.poll_ms} ms",
        note="a queue is looked at once per poll: with a shorter detection a single interval decides, "
        "a shorter restoration waits for the next poll anyway",
        help=f"raise {' and '.join(f.partition('_')[0] for f in below)} to {2 * rows.poll_ms} ms, two polls; "
        f"{rows.poll_ms} ms is the least",
        data={**{f"{name}_ms": value for name, value in values.items()}, "poll_ms": rows.poll_ms},
        related=(RelatedPlace(rows.poll_origin, f"the poll interval is {rows.poll_ms} ms"),),
        fix=_raised(rows),
        severity=None if rows.declared else "warning",
    ).on_ports(*rows.sets)
