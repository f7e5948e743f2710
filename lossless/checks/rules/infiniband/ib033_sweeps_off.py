"""A subnet must be swept.

Severity: warning
Fix: unsafe
Subject: subnet

## What it does
Looks for `sweep_interval 0`, and for sweeps that no trap brings forward.

## Why it breaks a lossless fabric
A sweep lets a manager detect changes whose trap was lost, and completes changes of ports that were left half done.
Without it a link that came back stays unused, and one that died may stay in the routes: packets for it fill the lanes
behind them until they are discarded.

## Bad
```conf opensm base=none
sweep_interval 0   # <- here
```

```conf opensm base=none
sweep_on_trap FALSE   # <- here
```

## Good
```conf opensm base=none
sweep_interval 10
```

## Fix
Leave both out: sweeps then come every 10 s, and at once after a trap.

## Sources
- opensm(8), of opensm 3.3.23: "-s 0 disables sweeping", 10 s by default; `opensm -c`: every trap 128 and 144
  causes a heavy sweep with sweep_on_trap
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import set_to, value

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where sweeps of the subnet are off, or traps cause none."""
    interval, traps = subnet.option("sweep_interval"), subnet.option("sweep_on_trap")
    if interval is not None and value(subnet, "sweep_interval") == 0:
        yield Violation(
            origin=interval.origin,
            message="sweep_interval 0: what changes without a trap that arrives is never seen",
            help="leave it out, for a sweep every 10 s",
            fix=set_to(interval, "10"),
        )
    if traps is not None and value(subnet, "sweep_on_trap") is False:
        yield Violation(
            origin=traps.origin,
            message=f"sweep_on_trap {traps.text}: a link that fails stays in the routes until the next sweep",
            help="leave it out",
            fix=set_to(traps, "TRUE"),
        )
