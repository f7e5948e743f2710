"""A stormed queue must be restored before the job gives up.

Severity: error
Subject: intent, hosts

## What it does
Adds up how long a queue can be dead for a sender, detection and one poll and, with action drop, restoration (a
time without pauses, which later pauses reset), and compares it with `hosts.job_timeout`, the time after which a
job or a storage client that hangs ends itself. Where none is stated, nothing is checked; the transport's patience is
WD008's.

## Why it breaks a lossless fabric
A watchdog that triggers after the job has given up saves nothing: the job restarts from its checkpoint, runs into the
same storm, and gives up again.

## Bad
```yaml intent base=leaf-spine
hosts:
  job_timeout: 2s   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts: {job_timeout: 600s}
```

## Fix
Shorten detection and restoration, or give the job more time.

## Sources
- sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b (detection in whole polls, restoration behind it)
- sonic-swss orchagent/pfc_restore.lua @e6b0c5b (received pauses reset restoration)
- sonic-swss orchagent/pfc_detect_broadcom.lua @0cb8610 (intervals that were paused from end to end count: up to one
  poll passes first)
- arithmetic: a storm that ends when the watchdog triggers stops the queue for up to detection + poll + restoration
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.watchdog.watchdog_rows import watched
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.checks.rules.watchdog.watchdog_rows import WatchdogRows
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per watchdog and kind of host whose jobs give up before a stormed queue is restored."""
    with_timeout = [
        (host, timeout_ms, names)
        for host, names in view.host_kinds
        if isinstance(timeout_ms := host.jobs.timeout_ms, int)
    ]
    for rows in watched(view) if with_timeout else ():
        for host, timeout_ms, names in with_timeout:
            if rows.dead_ms is not None and timeout_ms <= rows.dead_ms:
                yield _watchdog_outlasts_job(rows, rows.dead_ms, host, timeout_ms, names)


def _watchdog_outlasts_job(
    rows: WatchdogRows, dead_ms: int, host: HostQos, timeout_ms: int, names: tuple[str, ...]
) -> Violation:
    return Violation(
        origin=host.at("job_timeout"),
        message=f"a job gives up after {timeout_ms / 1000:g} s; a stormed queue can be dead for {dead_ms / 1000:g} s",
        note=rows.dead_sum,
        help=f"set hosts.job_timeout to more than {dead_ms} ms, or shorten the watchdog timers",
        elements=names,
        data={"job_timeout_ms": timeout_ms, "dead_ms": dead_ms},
        related=(RelatedPlace(rows.watchdog.origin, "the watchdog"),),
    )
