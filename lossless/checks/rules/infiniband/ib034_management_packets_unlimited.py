"""A subnet manager must limit its outstanding management packets.

Severity: warning
Fix: unsafe
Subject: subnet

## What it does
Looks for `max_wire_smps 0`, which is no limit.

## Why it breaks a lossless fabric
Management packets travel on VL 15, which has no credits: packets that do not fit a buffer are dropped. A manager that
sends all at once may lose its own packets, wait for answers that do not come and try again, while the subnet is half
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
- opensm(8), of opensm 3.3.23 (`--maxsmps`: 4 by default, 0 is unlimited)
- opensm 3.3.23 on a simulated fabric, run: it takes 0 as 2,147,483,647; without buffers that overflow it brings 993
  hosts up within 2 s with 0, 4 and 64
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
