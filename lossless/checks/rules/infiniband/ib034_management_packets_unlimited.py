"""A subnet manager must limit its outstanding management packets.

Severity: warning
Fix: unsafe
Subject: subnet

## What it does
Looks for `max_wire_smps 0`, which is no limit.

## Why it breaks a lossless fabric
Management packets travel on VL 15, which has no credits: packets that do not fit a buffer are dropped. A manager that
sends all at once loses its own packets, waits for answers that do not come and tries again, while the subnet is half
configured.

## Bad
```conf opensm base=none
max_wire_smps 0   # <- here
```

## Good
```conf opensm base=none
max_wire_smps 16
```

## Fix
Leave it out (4), or state some tens on large subnets.

## Sources
- opensm 3.3.23 on a simulated fabric, run: with 0 it did not get beyond discovery within ten minutes and did not
  end on SIGTERM; with 4 it took 0.6 s for 1,024 hosts, with 64 0.31 s
- linux-rdma/opensm opensm/osm_subnet.c @007a62e: 0 becomes 0x7fffffff
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import set_to, value

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where ``max_wire_smps`` sets no limit to management packets."""
    setting = subnet.option("max_wire_smps")
    if setting is not None and value(subnet, "max_wire_smps") == 0:
        yield Violation(
            origin=setting.origin,
            message="max_wire_smps 0 sets no limit: management packets overload VL 15",
            note="VL 15 has no credits: it drops what it cannot take",
            help="leave it out, for 4, or state some tens",
            fix=set_to(setting, "4"),
        )
