"""The PFC watchdog must run on the lossless queues that it is configured for.

Severity: error
Subject: running device

## What it does
Where configuration or intent have a watchdog on a port, and its mask names a priority, looks for the watchdog's status
of that queue: `N/A` in `show pfcwd stats`, or no `PFC_WD_STATUS` in a dump of COUNTERS_DB that has the other counters
of the queue. Without an intent it is a warning. `show pfcwd stats` leaves out queues whose counters are all 0: a queue
that it does not print is not checked.

## Why it breaks a lossless fabric
Without the watchdog nothing ends a pause storm. The watchdog reads the masks of ports when it starts: a port whose mask
is changed later has its row in `PFC_WD`, is listed by `pfcwd show config`, and is not watched.

## Bad
```text capture beside=leaf.json
admin@leaf1:~$ show pfcwd stats
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP
-----------  -----------  -------------------------  ------------  ------------
Ethernet8:3          N/A                        5/5       200/400       100/300   # <- here
```

## Good
```text capture beside=leaf.json
admin@leaf1:~$ pfcwd show stats --empty
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP
-----------  -----------  -------------------------  ------------  ------------
Ethernet8:3  operational                        0/0           0/0           0/0
```

## Fix
`pfcwd stop`, then `pfcwd start_default` or `pfcwd start` with the times of the configuration.

## Sources
- sonic-net/sonic-utilities#682: after a stop the status is `N/A`, and all counters stay
- sonic-swss orchagent/pfcwdsworch.cpp @e6b0c5b: PFC_WD_STATUS is there from the start of the watchdog to its stop
- sonic-net/sonic-swss#842: the mask is read when the watchdog starts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.counting import each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Port

_COUNTERS = "SAI_QUEUE_STAT_"


def check(device: RunningDevice) -> Results:
    """Yield a violation per queue number of watchdog masks that is not watched, with its ports that are up."""
    yield from merged(_unwatched(device))


def _unwatched(device: RunningDevice) -> Iterator[Violation]:
    shown = {
        (placed.part("port") or "", placed.part("queue") or ""): placed
        for placed in each(device.state, "pfcwd_status", "port", "queue")
    }
    counted = {
        (placed.part("port") or "", placed.part("queue") or ""): placed
        for placed in each(device.state, "packets", "port", "queue")
        if placed.reading.heading.startswith(_COUNTERS) and _is_dump(device, placed.file)
    }
    # A status that is not text is N/A; a queue of a dump may have no status at all.
    silent = {key: placed for key, placed in shown.items() if not isinstance(placed.reading.value, str)}
    absent = {key: placed for key, placed in counted.items() if key not in shown}
    for (port, queue), placed in {**absent, **silent}.items():
        if _is_watched(device.ports.get(port), queue):
            yield _watchdog_not_running(device, port, queue, placed.origin)


def _is_dump(device: RunningDevice, file: str) -> bool:
    """Return whether a file is a dump of COUNTERS_DB with whole rows, not the answer to a query for some fields."""
    return any(capture.file == file and capture.form == "COUNTERS_DB" for capture in device.state.captures)


def _is_watched(port: Port | None, queue: str) -> bool:
    """Return whether a port is up with a watchdog whose mask names the priority of the queue's number."""
    if port is None or port.qos is None or port.admin_up is not True:
        return False
    mask = port.qos.watchdog_mask
    return port.qos.watchdog is not None and mask is not None and int(queue) in mask.priorities


def _watchdog_not_running(device: RunningDevice, port: str, queue: str, origin: Origin) -> Violation:
    return Violation(
        origin=origin,
        message=f"the PFC watchdog is configured for queue {queue} and does not run there",
        note="nothing ends a pause storm of these ports",
        help="stop the watchdog and start it again with the configured times",
        elements=(f"{device.name}:{port}:{queue}",),
    ).certain_if(device.intended is not None)
