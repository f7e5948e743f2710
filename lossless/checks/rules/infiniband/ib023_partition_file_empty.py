"""A partition file must define a partition.

Severity: error
Subject: subnet

## What it does
Looks for partition files without a single definition. Lines that opensm cannot read in such a file are reported by the
reader itself, and have the same effect.

## Why it breaks a lossless fabric
opensm takes such a file for an invalid one, ignores it, and makes every port a full member of the default partition:
hosts of separate partitions can reach each other, and the line in the log comes after the subnet is up.

## Bad
```conf opensm base=none beside=empty.conf
partition_config_file /etc/opensm/empty.conf   # <- here
```

## Good
```conf partitions base=none beside=opensm.conf
Default=0x7fff : ALL=full, SELF=full ;
```

## Fix
Define the default partition, or take the file away.

## Sources
- opensm 3.3.23 on a simulated fabric, run: of a file of one comment, `Partition configuration in error; retrying
  with default config`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import written

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where a partition file defines no partition."""
    if subnet.partitions == ():
        yield Violation(
            origin=written(subnet, "partition_config_file"),
            message="there is a file of partitions without a partition: opensm gives it up, and opens the subnet",
            note="every port becomes a full member of the default partition",
            help="define the default partition, or take the file away",
        )
