"""The counter groups that rules read must be polled.

Severity: info
Subject: running device

## What it does
Looks for counter groups that are switched off, in `FLEX_COUNTER_TABLE` or by `counterpoll show`, and whose counters
rules about running state read. The counters of such a group are not checked.

## Why it breaks a lossless fabric
Counters of a group that is switched off stay in COUNTERS_DB with their last values. They look healthy, or as bad as
they were, and no event changes them.

## Bad
```text capture
admin@leaf1:~$ counterpoll show
Type                  Interval (in ms)    Status
------------------  ------------------  --------
QUEUE_STAT                       10000   disable   # <- here
PORT_STAT                         1000    enable
```

## Good
```text capture
admin@leaf1:~$ counterpoll show
Type                  Interval (in ms)    Status
------------------  ------------------  --------
QUEUE_STAT                       10000    enable
PORT_STAT                         1000    enable
```

## Fix
`counterpoll queue enable` (or the group that is named), and capture again after its interval.

## Sources
- sonic-swss orchagent/flexcounterorch.cpp @e6b0c5b: the groups, and the status that switches each
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.counting import GROUPS, switched_off

if TYPE_CHECKING:
    from lossless.checks.rules.running_subjects import RunningDevice


def check(device: RunningDevice) -> Results:
    """Yield a violation per counter group that rules read and that is off."""
    for group in GROUPS:
        said = switched_off(device.state, group)
        if said is not None:
            yield Violation(
                origin=said.origin,
                message=f"counter group {group} is off: its counters do not move, and are not checked",
                help=f"enable counter group {group}, and capture again",
                elements=(f"{device.name}:{group}",),
            )
