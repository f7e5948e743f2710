"""Members of both kinds need `allow_both_pkeys`.

Severity: warning
Subject: subnet

## What it does
Looks for members of partitions that are `both` while `allow_both_pkeys` is not `TRUE`.

## Why it breaks a lossless fabric
opensm then makes them full members, without a message: their limited key is in no table. Members that must not reach
other limited members, such as virtual functions with the limited key, have no key or the full one.

## Bad
```conf partitions base=none beside=opensm.conf
Default=0x7fff : ALL=limited, SELF=full ;
Tenant=0x0002 :
  0x506b4b0300000001=both,   # <- here
  0x506b4b0300000002=full ;
```

## Good
```conf partitions base=none beside=opensm.conf
Default=0x7fff : ALL=limited, SELF=full ;
Tenant=0x0002 : 0x506b4b0300000001=full, 0x506b4b0300000002=full ;
```

## Fix
Write `allow_both_pkeys TRUE`, and start opensm again; or make them full members.

## Sources
- opensm 3.3.23 on a simulated fabric, run: of `A=0x10 : GUID=both` the table has 0x8010; with `allow_both_pkeys TRUE`
  0x0010 and 0x8010
- linux-rdma/opensm opensm/osm_prtn_config.c @fa74b98 (partition_add_port), doc/opensm-sriov.txt
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import is_on, partitions

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per partition with members of both kinds, where opensm makes full ones of them."""
    if is_on(subnet, "allow_both_pkeys"):
        return
    for part in partitions(subnet) or ():
        members = [member for member in part.members if member.membership == "both"]
        if members:
            yield Violation(
                origin=members[0].origin,
                message=f"members of {part.name} are stated as both full and limited: opensm makes them full members",
                note="allow_both_pkeys is not TRUE",
                help="set allow_both_pkeys to TRUE, or make them full members",
                elements=tuple(m.hca or m.word or f"{m.guid:#x}" for m in members),
                places=1,
                data={"partition": part.name},
            )
