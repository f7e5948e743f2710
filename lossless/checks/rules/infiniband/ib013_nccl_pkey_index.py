"""NCCL_IB_PKEY is a place in a port's table of keys, not a key.

Severity: error
Subject: subnet

## What it does
Compares NCCL_IB_PKEY with the tables of the job's hosts, and with the partition that jobs are to use. Place 0 is the
default partition, or the one with `indx0`. With `allow_both_pkeys` it is the default partition for its full members
alone: opensm puts another key there for the limited ones. UCX_IB_PKEY is a key, without the bit of full members: it
must be one of the hosts', and that of the jobs' partition.

## Why it breaks a lossless fabric
An empty place fails the queue pair; place 0 puts the job into the default partition, whose level of service it shares
with all, or where its hosts are limited members and cannot communicate.

## Bad
```yaml intent base=infiniband
jobs:
  environment:
    NCCL_IB_PKEY: "0x8002"   # <- here
```

```yaml intent base=infiniband
jobs:
  environment:
    NCCL_IB_PKEY: 0   # <- here
```

```yaml intent base=infiniband
jobs:
  environment:
    UCX_IB_PKEY: "0x0009"   # <- here
```

## Good
```yaml intent base=infiniband
partitions: {storage: {members: {limited: []}}}
jobs: {environment: {NCCL_IB_PKEY: 1}}
```

## Fix
State the place: 1 where hosts are in one partition beside the default one, or 0 with `index0` on the job's
partition.

## Sources
- NVIDIA/nccl src/transport/net_ib.cc @02aedae (pkey_index = NCCL_IB_PKEY)
- openucx/ucx src/uct/ib/base/ib_iface.c @9466d10 (uct_ib_iface_init_pkey: 0 to 0x7fff, compared with the low 15 bits)
- opensm 3.3.23 on a simulated fabric, run: place 0 is 0xffff, with `indx0` the partition's; the order of the others
  is not that of the file; with `allow_both_pkeys TRUE` a port that is a limited member of the default partition and a
  full one of 0x0010 has 0x8010 at place 0 and 0x7fff at place 1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import (
    FULL_MEMBER,
    NO_PARTITIONS,
    base_of,
    is_on,
    partitions,
    tables_of_jobs,
    wanted_key,
)
from lossless.ground.basics.findings import RelatedPlace
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY
from lossless.model.fabric.infiniband.subnet import c_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.model.fabric.infiniband.subnet import Job, ManagerSetting, Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where NCCL_IB_PKEY, or 0 without it, is an index without a P_Key, or of another partition."""
    job = subnet.job
    setting = (
        next((variable for variable in job.environment if variable.key == "NCCL_IB_PKEY"), None)
        if job
        else None
    )
    if job is not None and partitions(subnet) is not None:
        yield from _ucx(subnet, job)
    if job is None or (setting is None and job.partition is None):
        return
    if partitions(subnet) is None:
        yield NO_PARTITIONS
        return
    place = 0 if setting is None else c_number(setting.text)
    for table, ports in tables_of_jobs(subnet).items():
        if setting is not None and (place is None or not 0 <= place < len(table)):
            yield _no_place(setting, table, ports)
        elif place is not None:
            yield from _other(subnet, job, setting, place, table, ports)


def _ucx(subnet: Subnet, job: Job) -> Results:
    """Yield a violation where UCX_IB_PKEY is not a P_Key of all compute hosts, or not that of the jobs' partition.

    The variable has a P_Key without its membership bit.
    """
    for setting in job.environment:
        if setting.key != "UCX_IB_PKEY" or setting.text.lower() == "auto":
            continue
        try:
            key = int(setting.text, 16)
        except ValueError:
            key = FULL_MEMBER
        wanted = wanted_key(subnet)
        lacking = [
            hca
            for table, of in tables_of_jobs(subnet).items()
            if key not in map(base_of, table)
            for hca in of
        ]
        if not 0 <= key < FULL_MEMBER:
            problem = f"is no P_Key of 0 to {FULL_MEMBER - 1:#x}, which UCX takes"
        elif wanted is not None and wanted[1] != key:
            problem = f"is not the P_Key of {wanted[0].name}, the partition of jobs, {wanted[1]:#06x}"
        elif lacking:
            problem = "is in no partition of some compute hosts"
        else:
            continue
        yield Violation(
            origin=setting.origin,
            message=f"UCX_IB_PKEY={setting.text} {problem}",
            help="leave it out: UCX takes the first partition that the port is a full member of",
            elements=tuple(lacking),
            places=1,
            data={"stated": setting.text},
        )


def _no_place(setting: ManagerSetting, table: Sequence[int], ports: Sequence[str]) -> Violation:
    return Violation(
        origin=setting.origin,
        message=f"NCCL_IB_PKEY={setting.text} is no place in the tables of the hosts: they have {len(table)}, from 0",
        note="it is an index, not a P_Key",
        help=f"state a place of 0 to {len(table) - 1}",
        elements=tuple(ports),
        data={"places": len(table)},
    )


def _other(
    subnet: Subnet,
    job: Job,
    setting: ManagerSetting | None,
    place: int,
    table: Sequence[int],
    ports: Sequence[str],
) -> Results:
    wanted = wanted_key(subnet)
    if wanted is None:
        return
    part, key = wanted
    places = {key_there: at for at, key_there in enumerate(table) if base_of(key_there) == key}
    if not places:
        return
    right = places[max(places)]
    if len(set(map(base_of, table))) > 2 and (place or not _is_fixed(subnet, table)):
        yield MissingInput("which of several partitions opensm puts at which place")
    elif place != right:
        stated = f"NCCL_IB_PKEY={setting.text}" if setting else "without NCCL_IB_PKEY"
        yield Violation(
            origin=setting.origin if setting else job.origin,
            message=f"{stated} jobs use the partition at place {place}, which is not {part.name}",
            note=f"the tables of their hosts hold {', '.join(f'{key_there:#06x}' for key_there in table)}",
            help=f"state NCCL_IB_PKEY={right}",
            elements=tuple(ports),
            data={"place": place, "right": right},
            related=(RelatedPlace(part.origin, "the partition that jobs are to use"),),
        )


def _is_fixed(subnet: Subnet, table: Sequence[int]) -> bool:
    """Return whether place 0 of a P_Key table has the same key, independent of the earlier content of the table."""
    asked = any(part.index0 and part.base == base_of(table[0]) for part in partitions(subnet) or ())
    return asked or table[0] == DEFAULT_PKEY | FULL_MEMBER or not is_on(subnet, "allow_both_pkeys")
