"""The ftree engine routes subnets of one LID per port only.

Severity: error
Fix: unsafe
Subject: subnet

## What it does
Looks for `lmc` above 0 beside the engine ftree.

## Why it breaks a lossless fabric
ftree refuses such a subnet, and opensm routes by the next engine of its list, or by minhop: the paths that ftree would
have spread over the spines meet on a few of them, and only the log shows it.

## Bad
```conf opensm base=none
routing_engine ftree
lmc 1   # <- here
```

## Good
```conf opensm base=none
routing_engine updn
lmc 1
```

## Fix
Leave `lmc` out, or use updn.

## Sources
- opensm 3.3.23 on a simulated fabric, run: with `lmc 1`, `ftree: cannot build lid matrices`, then `minhop tables
  configured on all switches`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import number, set_to
from lossless.checks.rules.locations import beside

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where ftree would have to route several LIDs per port."""
    setting, lmc = subnet.option("lmc"), number(subnet, "lmc")
    if setting is not None and lmc and "ftree" in subnet.routing.engines:
        yield Violation(
            origin=setting.origin,
            message=f"lmc {lmc} gives a port {2**lmc} LIDs, which ftree does not route: opensm skips it",
            help="leave lmc out, or use the engine updn",
            data={"lmc": lmc},
            related=beside(setting.origin, (subnet.routing.origin, "the routing engine")),
            fix=set_to(setting, "0"),
        )
