"""Pauses must be counted, and collected often enough to be seen.

Severity: warning
Fix: unsafe
Subject: intent, device

## What it does
On a switch with PFC, checks the counter groups of pauses (`PORT`) and of queue depth and drops (`QUEUE`): one that is
switched off, or polled less often than every 10 s. A group without a row is switched on by the device itself. In an
intent, checks `telemetry: off` and an `interval` above 10 s; an intent without telemetry is not checked.

## Why it breaks a lossless fabric
A fabric that pauses does not fail, it slows down: no link is down and nothing is dropped. Pauses last microseconds to
seconds. Samples 30 s apart show that there were some, and not when, how long, and what the queues held. The limit of
10 s is a convention of this project: it is the interval that SONiC has for queues.

## Bad
```json config_db base=leaf
{
  "FLEX_COUNTER_TABLE": {"PORT": {
    "FLEX_COUNTER_STATUS": "disable"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "FLEX_COUNTER_TABLE": {"PORT": {
    "POLL_INTERVAL": "30000"   // <- here
  }}
}
```

```yaml intent base=leaf-spine
telemetry: off   # <- here
```

```yaml intent base=leaf-spine
telemetry:
  interval: 30s   # <- here
```

## Good
```json config_db base=leaf
{
  "FLEX_COUNTER_TABLE": {"PORT": {"POLL_INTERVAL": "1000"}, "QUEUE": {"POLL_INTERVAL": "10000"}}
}
```

```yaml intent base=leaf-spine
telemetry: {interval: 10s}
```

## Fix
`counterpoll port enable` and `counterpoll port interval 1000`; collect at least every 10 s.

## Sources
- sonic-buildimage files/build_templates/init_cfg.json.j2 @086b03b (rows that switch groups on, since 202411; before,
  dockers/docker-orchagent/enable_counters.py); sonic-utilities config/main.py @691b1bb (config reload reads
  init_cfg.json first)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, 5.2 (pause counters of every port are collected)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.fixes import field
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow

SLOWEST_MS = 10_000
"""SONiC's own interval for QUEUE, the slower of the two groups."""
_SHOWS = {"PORT": "pauses sent and received", "QUEUE": "what queues drop"}


def check(subject: View | Device) -> Results:
    """Yield a violation per counter group of a device, or telemetry policy of an intent, that leaves pauses unseen."""
    if isinstance(subject, View):
        yield from _declared(subject)
    elif subject.view.lossless_sets:
        for group, row in subject.tables.table("FLEX_COUNTER_TABLE").items():
            if group in _SHOWS:
                yield from _deployed(subject, group, row)


def _declared(view: View) -> Iterator[Violation]:
    telemetry = view.fabric.telemetry
    if telemetry is None or not view.fabric.classes.lossless:
        return
    if not telemetry.on:
        message = "nobody watches pauses: a fabric that pauses slows down and shows nothing else"
        yield Violation(
            telemetry.origin, message, help="collect pause and watchdog counters at least every 10 s"
        )
    elif telemetry.interval_ms is not None and telemetry.interval_ms > SLOWEST_MS:
        yield Violation(
            origin=telemetry.origin.at("interval"),
            message=f"counters are collected every {telemetry.interval_ms / 1000:g} s; storms come and go between",
            help=f"collect at least every {SLOWEST_MS // 1000} s",
            data={"interval_ms": telemetry.interval_ms, "slowest_ms": SLOWEST_MS},
        )


def _deployed(device: Device, group: str, row: ConfigRow) -> Iterator[Violation]:
    tables, shows = device.tables, _SHOWS[group]
    if row.fields.get("FLEX_COUNTER_STATUS") == "disable":
        yield Violation(
            origin=tables.origin("FLEX_COUNTER_TABLE", row, "FLEX_COUNTER_STATUS"),
            message=f"counter group {group} is off: {shows} are not counted",
            help=f"set FLEX_COUNTER_TABLE|{group}|FLEX_COUNTER_STATUS to enable",
            fix=field(tables.origin("FLEX_COUNTER_TABLE", row, "FLEX_COUNTER_STATUS"), "enable"),
        )
        return
    interval_ms = tables.number("FLEX_COUNTER_TABLE", row, "POLL_INTERVAL")
    if interval_ms is not None and interval_ms > SLOWEST_MS:
        yield Violation(
            origin=tables.origin("FLEX_COUNTER_TABLE", row, "POLL_INTERVAL"),
            message=f"counter group {group} is polled every {interval_ms / 1000:g} s; {shows} come and go between",
            help=f"set POLL_INTERVAL to at most {SLOWEST_MS} ms; SONiC's own is 1000 for PORT",
            fix=field(tables.origin("FLEX_COUNTER_TABLE", row, "POLL_INTERVAL"), str(SLOWEST_MS)),
            data={"interval_ms": interval_ms, "slowest_ms": SLOWEST_MS},
        )
