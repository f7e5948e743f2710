"""Switches must enforce partitions.

Severity: error
Fix: unsafe
Subject: subnet

## What it does
Looks for `part_enforce off`, and for `no_partition_enforcement TRUE`, its old name, which wins over the new one. It
is an error where there are partitions beside the default one, and a warning otherwise.

## Why it breaks a lossless fabric
Switches then pass packets of any partition to any port. A host drops foreign packets only after they have crossed the
fabric: the traffic of other partitions takes the lanes and buffers of hosts that are meant to be separate, and a host
that does not check is open to all.

## Bad
```conf opensm base=none
part_enforce off   # <- here
```

## Good
```conf opensm base=none
part_enforce both
```

## Fix
Leave it out: both ends of a link are checked then.

## Sources
- opensm 3.3.23, run: `opensm -c` names both, in, out and off
- linux-rdma/opensm opensm/osm_subnet.c (osm_subn_verify_config: no_partition_enforcement makes part_enforce off)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import is_on, partitions, set_to, value
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where switches do not enforce partitions."""
    old, new = subnet.option("no_partition_enforcement"), subnet.option("part_enforce")
    if old is not None and is_on(subnet, "no_partition_enforcement"):
        yield _partitions_not_enforced(subnet, old, "FALSE")
    elif new is not None and value(subnet, "part_enforce") == "off":
        yield _partitions_not_enforced(subnet, new, "both")


def _partitions_not_enforced(subnet: Subnet, setting: ManagerSetting, instead: str) -> Violation:
    apart = any(partition.base != DEFAULT_PKEY for partition in partitions(subnet) or ())
    return Violation(
        origin=setting.origin,
        message=f"{setting.key} {setting.text}: switches pass packets of every partition",
        note="hosts drop them, after they have crossed the fabric" if apart else "",
        help=f"write {setting.key} {instead}, or leave it out",
        severity=None if apart else "warning",
        fix=set_to(setting, instead),
    )
