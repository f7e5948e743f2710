"""Two partitions must not have one P_Key.

Severity: error
Subject: subnet

## What it does
Looks for partitions of different names and members whose P_Keys are the same but for the membership bit. A partition
that states no key, or 0, gets the lowest one that is free at its line, which may be that of a later one.
Statements of one name belong to one partition, and so do the names that a file gives the same members.

## Why it breaks a lossless fabric
opensm merges them without an error: the hosts of one tenant are members of the other's partition and reach its hosts,
and all of them are on the service level of the last one in the file.

## Bad
```yaml intent base=infiniband
partitions:
  tenant:   # <- here
    pkey: 0x0002
    members: {full: "@storage"}
```

```conf partitions base=none beside=opensm.conf
Default=0x7fff : ALL=limited, SELF=full ;
TenantA=0x0002 : 0x506b4b0300000001=full, 0x506b4b0300000002=full ;
TenantB=0x8002 : 0x506b4b0300000003=full, 0x506b4b0300000004=full ;   # <- here
```

## Good
```conf partitions base=none beside=opensm.conf
Default=0x7fff : ALL=limited, SELF=full ;
TenantA=0x0002 : 0x506b4b0300000001=full, 0x506b4b0300000002=full ;
TenantB=0x0003 : 0x506b4b0300000003=full, 0x506b4b0300000004=full ;
```

## Fix
Give each partition a P_Key of its own.

## Sources
- opensm 3.3.23 on a simulated fabric, run: of two partitions with 0x0010 it logs `Duplicated partition definition`,
  as information, and puts 0x8010 into the tables of the members of both
- linux-rdma/opensm opensm/osm_prtn.c @fa74b98 (osm_prtn_make_new: the low 15 bits; generate_pkey)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import by_key, free_key
from lossless.checks.rules.locations import beside

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Partition, Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per partition that opensm merges with one of another name and other members."""
    keys = by_key(subnet)
    free = free_key(keys)
    for key, parts in keys.items():
        first = parts[0]
        for part in parts[1:]:
            if part.name != first.name and _membership(part) != _membership(first):
                yield _partition_key_shared(part, first, key, free)


def _membership(part: Partition) -> set[tuple[object, ...]]:
    return {(member.hca, member.guid, member.word, member.membership) for member in part.members}


def _partition_key_shared(part: Partition, first: Partition, key: int, free: int) -> Violation:
    return Violation(
        origin=part.origin,
        message=f"partitions {first.name} and {part.name} have one P_Key, {key:#06x}: opensm merges them",
        note="the hosts of both are members of both, on the service level of the last one",
        help=f"give {part.name} a P_Key of its own, such as {free:#06x}",
        elements=(part.name,),
        data={"pkey": key, "partitions": [first.name, part.name]},
        related=beside(part.origin, (first.origin, f"partition {first.name}")),
    )
