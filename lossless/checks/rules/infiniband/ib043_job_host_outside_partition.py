"""Every host of a job must be a member of the partition that jobs use.

Severity: error
Subject: subnet

## What it does
Compares the partition that jobs are to use with the P_Keys of the compute hosts. A host that is no member, and two or
more hosts that are limited members, are errors. Hosts that are full members of another partition belong to another
tenant, and are not reported where no place is stated (NCCL_IB_PKEY), as long as the partition has any compute host.

## Why it breaks a lossless fabric
NCCL_IB_PKEY is a place in the host's own table: on a host that is not a member the same place holds the key of another
partition, or none. Its queue pairs fail, or its traffic is in another tenant's partition, on that one's service level.
Limited members reach full members alone: two of them cannot communicate.

## Bad
```yaml intent base=infiniband
partitions:
  compute: {members: {full: "host[1-4]"}}   # <- here
```

```yaml intent base=infiniband
partitions:
  compute: {members: {full: "host[1-4]", limited: "host[5-8]"}}   # <- here
```

```yaml intent base=infiniband
partitions:
  compute: {members: {full: "@storage"}}   # <- here
  other: {pkey: 0x0004, members: {full: "@compute"}}
jobs: {environment: {NCCL_IB_PKEY: null}}
```

## Good
```yaml intent base=infiniband
partitions: {compute: {members: {full: "host[1-8]"}}}
```

## Fix
Make all compute hosts full members, or leave `jobs.partition` out and state the place with each tenant's jobs.

## Sources
- opensm 3.3.23 on a simulated fabric, run: a member of 0x0010 alone and one of 0x0020 alone both have the key of their
  partition at place 1
- linux-rdma/opensm doc/partition-config.txt @0149b13 (limited members)
- NVIDIA/nccl src/transport/net_ib.cc @02aedae (pkey_index = NCCL_IB_PKEY)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import (
    FULL_MEMBER,
    base_of,
    hcas,
    tables_of_jobs,
    wanted_key,
)
from lossless.ground.basics.findings import RelatedPlace
from lossless.ground.basics.units import joined
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.model.fabric.infiniband.subnet import Partition, Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation for host ports outside the jobs' partition, and for limited members of it on several hosts."""
    wanted = wanted_key(subnet)
    if wanted is None:
        return
    part, key = wanted
    tables = tables_of_jobs(subnet)
    stated = subnet.job is not None and any(one.key == "NCCL_IB_PKEY" for one in subnet.job.environment)
    # A partition of jobs without a host that computes is nobody's.
    stated = stated or not any(key in map(base_of, table) for table in tables)
    outside = [
        hca
        for table, of_table in tables.items()
        if key not in map(base_of, table) and (stated or not _of_others(table))
        for hca in of_table
    ]
    full = key | FULL_MEMBER
    limited = [
        hca for table, of_table in tables.items() if key in table and full not in table for hca in of_table
    ]
    if outside:
        yield _job_host_outside_partition(subnet, part, outside, "no")
    # Ports of one host need not reach each other: GPUs of a host exchange data inside it.
    if len({hcas(subnet)[hca].host for hca in limited}) > 1:
        yield _job_host_outside_partition(subnet, part, limited, "limited")


def _of_others(table: Sequence[int]) -> bool:
    """Return whether a port is a full member of a partition besides the default one."""
    return any(key & FULL_MEMBER and base_of(key) != DEFAULT_PKEY for key in table)


def _job_host_outside_partition(subnet: Subnet, part: Partition, ports: list[str], kind: str) -> Violation:
    names = list(dict.fromkeys(hcas(subnet)[port].host for port in ports))
    are, members = ("is", "member") if len(names) == 1 else ("are", "members")
    assert subnet.job is not None
    return Violation(
        origin=part.origin,
        message=f"{joined(names, 4)} {are} {kind} {members} of {part.name}, the partition of jobs",
        note="NCCL_IB_PKEY selects another partition there, or none"
        if kind == "no"
        else "limited members cannot talk to each other",
        help="make them full members, or leave jobs.partition out",
        elements=tuple(ports),
        places=1,
        data={"partition": part.name, "members": kind},
        related=(RelatedPlace(subnet.job.origin, "what jobs are told"),),
    )
