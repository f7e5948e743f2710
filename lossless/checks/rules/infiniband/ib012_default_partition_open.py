"""Where partitions separate hosts, the default one must not join them again.

Severity: warning
Subject: subnet

## What it does
Looks for other partitions beside a default one in which all are full members. Another partition in which all are full
members separates no hosts by itself, and does not count.

## Why it breaks a lossless fabric
Every port that is a full member of 0x7fff can reach every other, even where its other partitions differ: a tenant
reaches the other's hosts, and traffic without a P_Key of its own shares the level of service of all.

## Bad
```conf partitions base=none beside=opensm.conf
Default=0x7fff :
  ALL=full,   # <- here
  SELF=full ;
Tenant=0x0002 : 0x506b4b0300000001=full, 0x506b4b0300000002=full ;
```

## Good
```conf partitions base=none beside=opensm.conf
Default=0x7fff : ALL=limited, SELF=full ;
Tenant=0x0002 : 0x506b4b0300000001=full, 0x506b4b0300000002=full ;
```

## Fix
Make all but the subnet manager limited members of the default partition: `Default=0x7fff : ALL=limited, SELF=full
;`.

## Sources
- opensm 3.3.23 on a simulated fabric, run: 0xffff and the tenant's key stand side by side in the tables of such
  ports
- linux-rdma/opensm doc/partition-config.txt @0149b13
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import is_of_hosts, partitions
from lossless.ground.basics.units import joined
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Member, Partition, Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where all hosts are full members of the default partition beside others that separate them."""
    parts = partitions(subnet) or ()
    others = [part.name for part in parts if part.base != DEFAULT_PKEY and _parts_hosts(part)]
    opened = [member for part in parts if part.base == DEFAULT_PKEY for member in _all_in_full(part)]
    if others and opened:
        yield Violation(
            origin=opened[0].origin,
            message=f"all hosts are full members of the default partition: {joined(others, 4)} keep nobody apart"
            if len(others) > 1
            else f"all hosts are full members of the default partition: {others[0]} keeps nobody apart",
            help="make them limited members, and the subnet manager a full one",
            data={"partitions": list(others)},
        )


def _parts_hosts(partition: Partition) -> bool:
    """Return whether a partition may cover hosts and no entry makes all full members: only then it separates hosts."""
    return any(map(is_of_hosts, partition.members)) and not _all_in_full(partition)


def _all_in_full(partition: Partition) -> list[Member]:
    """Return the entries that make all hosts full members of a partition."""
    return [m for m in partition.members if m.word in ("ALL", "ALL_CAS") and m.membership != "limited"]
