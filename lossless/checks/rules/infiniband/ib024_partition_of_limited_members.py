"""A partition must have a full member: two limited ones cannot communicate.

Severity: error
Subject: subnet

## What it does
Looks for partitions whose members all are limited, which is the default membership. Where the hosts are known, it also
looks for compute hosts that are limited members of every partition that other compute hosts are in, and warns of
storage hosts with a partition of their own that share none with a compute host in which one of the two is a full
member. Where UFM manages the subnet this is *not checked*: it makes partitions for jobs that no file has.

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

```yaml intent base=infiniband
partitions:
  Default: {members: {full: "@management", limited: ALL}}   # <- here
  compute: null
  storage: null
jobs: null
```

```yaml intent base=infiniband
partitions:
  storage: {members: {limited: null}}   # <- here
jobs: null
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

from collections import Counter
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import (
    FULL_MEMBER,
    base_of,
    by_key,
    hcas,
    hosts,
    hosts_in,
    key_tables,
    many,
    partitions,
    wanted_key,
)
from lossless.ground.basics.units import joined
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.infiniband.subnet import Member, Partition, Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per P_Key whose several members are all limited, else for hosts that reach no other one.

    The default partition counts only where it is alone.
    """
    found = list(_all_limited(subnet))
    yield from found
    # The host ports outside of the partition that jobs are to use are those of IB043.
    if not found and wanted_key(subnet) is None:
        if subnet.manager == "ufm" and partitions(subnet):
            yield MissingInput("the partitions that UFM has beside those of the intent")
        else:
            yield from _unreachable(subnet)


def _all_limited(subnet: Subnet) -> Iterator[Violation]:
    by_pkey = by_key(subnet)
    for key, parts in by_pkey.items():
        members = [member for part in parts for member in part.members]
        if key == DEFAULT_PKEY:
            # Beside other partitions it is for the subnet manager alone.
            members = [m for m in members if m.word != "SELF"] if len(by_pkey) == 1 else []
        if many(members) and all(member.membership == "limited" for member in members):
            yield _partition_of_limited_members(parts, members, key == DEFAULT_PKEY)


def _unreachable(subnet: Subnet) -> Iterator[Violation]:
    """Yield violations for compute hosts that reach no other one, and for storage hosts that reach no compute host.

    A host that is alone in a partition as its full member is a tenant of one host.
    """
    parts = partitions(subnet)
    if not parts:
        return
    held: dict[str, set[int]] = {}
    for hca, table in key_tables(subnet).items():
        held.setdefault(hcas(subnet)[hca].host, set()).update(table)
    role_of = {host.name: host.role for host in hosts(subnet).values() if host.name in held}
    computing = [name for name, role in role_of.items() if role == "compute"]
    full = {name: {base_of(key) for key in keys if key & FULL_MEMBER} for name, keys in held.items()}
    every = {name: {*map(base_of, keys)} for name, keys in held.items()}
    counted = Counter(key for name in computing for key in every[name])
    counted_full = Counter(key for name in computing for key in full[name])
    limited = [
        name
        for name in computing
        if not any(counted_full[key] for key in every[name]) and not full[name] - {DEFAULT_PKEY}
    ]
    origin = parts[0].origin
    if len(computing) > 1 and limited:
        whole = len(limited) == len(computing)
        yield Violation(
            origin=origin,
            message="no two compute hosts can talk: each is a limited member of all its partitions"
            if whole
            else f"{joined(limited, 4)} cannot talk to other compute hosts: limited members of all their partitions",
            help="make them full members of a partition of jobs",
            elements=tuple(limited),
            places=1,
            data={"hosts": [*limited]},
            severity=None if whole else "warning",
        )
    # A storage host in no partition of its own may be reached another way.
    apart = [
        name
        for name, role in role_of.items()
        if role == "storage"
        and computing
        and every[name] - {DEFAULT_PKEY}
        and not any(counted[key] for key in full[name])
        and not any(counted_full[key] for key in every[name])
    ]
    if apart:
        yield Violation(
            origin=next(
                part.origin
                for key, of_key in by_key(subnet).items()
                for part in of_key
                if key != DEFAULT_PKEY and hosts_in(subnet, part) & {*apart}
            ),
            message=f"no compute host reaches {joined(apart, 4)}: they share no partition with a full member",
            help="make the compute hosts limited members of the storage partition",
            elements=tuple(apart),
            places=1,
            data={"hosts": [*apart]},
            severity="warning",
        )


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
