"""Detection should be a whole number of polls, two at least.

Severity: info
Fix: unsafe
Subject: fabric

## What it does
Divides the detection time of each watchdog by the poll interval of its switch, and reports the real detection time
where the first is no multiple of the second. In an intent it reports equal times too; SONiC's own defaults are equal,
so a deployed switch is left alone there. A detection time below the poll interval is WD004's.

## Why it breaks a lossless fabric
The watchdog counts in polls. With 1,000 ms of poll, a detection of 1,200 ms takes two polls, and as a storm may
begin just after a poll, a queue can be stalled for up to 3 s, not for 1.2 s. With one poll of detection, a single
sample decides, and on chips that sample only at both ends of the interval a healthy pause can be taken for a storm.

## Bad
```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "detection_time": "500"   // <- here
  }}
}
```

```yaml intent base=leaf-spine
pfc:
  watchdog:
    detection: 600ms   # <- here
```

## Good
```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {"detection_time": "800"}}
}
```

```yaml intent base=leaf-spine
pfc:
  watchdog:
    poll: 400ms
```

## Fix
Make detection two polls or more, and a whole number of them.

## Sources
- sonic-swss orchagent/pfc_detect_mellanox.lua @9040c8e, pfc_detect_broadcom.lua @0cb8610 (time left, poll by poll)
- sonic-mgmt issue 26045 and pull request 27657 (detection plus one poll at worst; no margin where both are equal)
- sonic-buildimage issue 3964 (measured times exceed the configured ones)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.locations import beside
from lossless.checks.rules.watchdog.watchdog_rows import watched
from lossless.model.fabric.qos import DETECTION_RANGE_MS

if TYPE_CHECKING:
    from lossless.checks.rules.watchdog.watchdog_rows import WatchdogRows
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per watchdog whose detection time is no whole number of polls or, in an intent, one poll.

    A detection time below the poll interval is left out.
    """
    for rows in watched(view):
        detection_ms, poll_ms = rows.watchdog.detection_ms, rows.poll_ms
        if detection_ms is None or not rows.accepted or not rows.polled_in_range or detection_ms < poll_ms:
            continue
        if detection_ms % poll_ms:
            yield _between(rows, detection_ms)
        elif rows.declared and detection_ms == poll_ms:
            yield _one_look(rows, detection_ms)


def _between(rows: WatchdogRows, detection_ms: int) -> Violation:
    poll_ms = rows.poll_ms
    looks = -(-detection_ms // poll_ms)
    first_ms, last_ms = looks * poll_ms, (looks + 1) * poll_ms
    whole_ms = first_ms if first_ms in DETECTION_RANGE_MS else first_ms - poll_ms
    return Violation(
        origin=rows.at("detection_time"),
        message=f"a storm is detected after {first_ms:,} to {last_ms:,} ms, not after {detection_ms:,} ms",
        note=f"{detection_ms} / {poll_ms} ms makes {looks} polls, and a storm that begins between two waits "
        "for one more",
        help=f"make detection a whole number of polls, {whole_ms} ms, or poll more often",
        fix=rows.fixes("detection_time", whole_ms),
        data={"detection_ms": detection_ms, "poll_ms": poll_ms, "seen_ms": first_ms, "at_latest_ms": last_ms},
        related=beside(rows.at("detection_time"), (rows.poll_origin, f"polled every {poll_ms} ms")),
    ).on_ports(*rows.sets)


def _one_look(rows: WatchdogRows, detection_ms: int) -> Violation:
    return Violation(
        origin=rows.at("detection_time"),
        message=f"detection is one poll of {detection_ms} ms: a single sample decides that a queue storms",
        note="some releases need two samples that agree, others trigger on the first",
        help=f"set detection to {2 * detection_ms} ms, two polls",
        data={"detection_ms": detection_ms, "poll_ms": rows.poll_ms},
        fix=rows.fixes("detection_time", 2 * detection_ms),
        related=beside(rows.at("detection_time"), (rows.poll_origin, "the poll interval")),
    ).on_ports(*rows.sets)
