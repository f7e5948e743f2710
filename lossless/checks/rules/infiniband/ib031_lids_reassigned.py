"""A subnet manager must keep the LIDs that ports have.

Severity: error
Fix: unsafe
Subject: subnet

## What it does
Looks for `reassign_lids TRUE`.

## Why it breaks a lossless fabric
Every port is given a new LID when the manager starts, or a standby takes over. Queue pairs have the LID of their
peer written into them: all running jobs lose their connections.

## Bad
```conf opensm base=none
reassign_lids TRUE   # <- here
```

## Good
```conf opensm base=none
reassign_lids FALSE
```

## Fix
Take it out. Where LIDs have to be given again, do it once, by `opensm -r`, while no job runs.

## Sources
- opensm(8), of opensm 3.3.23: "Specifying -r on a running subnet may disrupt subnet traffic"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import is_on, set_to

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where ``reassign_lids`` is on."""
    setting = subnet.option("reassign_lids")
    if setting is not None and is_on(subnet, "reassign_lids"):
        yield Violation(
            origin=setting.origin,
            message="reassign_lids TRUE: ports lose their LIDs, and running jobs their connections",
            help="take it out",
            fix=set_to(setting, "FALSE"),
        )
