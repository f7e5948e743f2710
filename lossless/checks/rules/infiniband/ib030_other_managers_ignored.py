"""A subnet manager must not ignore the others.

Severity: error
Fix: unsafe
Subject: subnet

## What it does
Looks for `ignore_other_sm TRUE`.

## Why it breaks a lossless fabric
A manager that ignores others becomes master beside them: both give out LIDs and write routes, each over those of the
other, and packets are dropped or go in cycles for as long as both live. A standby is then the cause of the failure
instead of a protection.

## Bad
```conf opensm base=none
ignore_other_sm TRUE   # <- here
```

## Good
```conf opensm base=none
ignore_other_sm FALSE
```

## Fix
Take it out. Which manager is master follows from `sm_priority`.

## Sources
- opensm 3.3.23, run: `opensm -c` says of the key that other subnet managers on the subnet are ignored
- InfiniBand specification 1.2.1, 14.4 (one master per subnet, chosen by priority and GUID)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import is_on, set_to

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where ``ignore_other_sm`` is on."""
    setting = subnet.option("ignore_other_sm")
    if setting is not None and is_on(subnet, "ignore_other_sm"):
        yield Violation(
            origin=setting.origin,
            message="ignore_other_sm TRUE: two managers may rule the subnet at once",
            help="take it out",
            fix=set_to(setting, "FALSE"),
        )
