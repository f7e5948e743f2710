"""A partition must have a full member: two limited ones cannot communicate.

Severity: error
Subject: subnet

## What it does
Looks for partitions whose members all are limited, which is the default membership.

## Why it breaks a lossless fabric
A packet is taken where one of the two ends is a full member. Between two limited ones it is dropped at the port,
and the sender tries again until it gives up: jobs in such a partition fail with every counter of the fabric at
zero.

## Bad
```conf partitions base=none beside=opensm.conf
Default=0x7fff : ALL=limited, SELF=full ;
Compute=0x0002 : 0x506b4b0300000001, 0x506b4b0300000002 ;   # <- here
```

```conf partitions base=none beside=opensm.conf
Default=0x7fff : ALL=limited, SELF=full ;   # <- here
```

## Good
```conf partitions base=none beside=opensm.conf
Default=0x7fff : ALL=limited, SELF=full ;
Compute=0x0002, defmember=full : 0x506b4b0300000001, 0x506b4b0300000002 ;
```

## Fix
Write `=full` behind the members, or `defmember=full` before the colon.

## Sources
- opensm 3.3.23 on a simulated fabric, run: `ERR 1F1B ... do not have any shared PKeys` between two limited members
- linux-rdma/opensm opensm/osm_prtn_config.c @048c66e (a member without a word, or with one that is misspelled, is
  limited)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import by_key, many
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Member, Partition, Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per P_Key whose members are several and all limited; the default one only where it is alone."""
    by_pkey = by_key(subnet)
    for key, parts in by_pkey.items():
        members = [member for part in parts for member in part.members]
        if key == DEFAULT_PKEY:
            # Beside other partitions it is for the subnet manager alone.
            members = [m for m in members if m.word != "SELF"] if len(by_pkey) == 1 else []
        if many(members) and all(member.membership == "limited" for member in members):
            yield _partition_of_limited_members(parts, members, key == DEFAULT_PKEY)


def _partition_of_limited_members(parts: list[Partition], members: list[Member], default: bool) -> Violation:
    name = parts[0].name or "the partition"
    return Violation(
        origin=parts[0].origin,
        message=f"all hosts are limited members of {name}, the only partition: they reach the subnet manager alone"
        if default
        else f"all members of {name} are limited: no two of them can talk",
        help="make those that talk to each other full members",
        elements=tuple(m.hca or m.word or f"{m.guid:#x}" for m in members),
        data={"partition": name},
    )
