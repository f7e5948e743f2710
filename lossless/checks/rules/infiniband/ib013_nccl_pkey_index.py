"""NCCL_IB_PKEY is a place in a port's table of keys, not a key.

Severity: error

## What it does
Compares NCCL_IB_PKEY with the number of partitions that the job's hosts are in, and with the partition that jobs
are to use. Place 0 is the default partition, or the one with `indx0`.

## Why it breaks a lossless fabric
A place that is empty fails the queue pair; place 0 puts the job into the default partition, whose level of service
it shares with all, or where its hosts are limited members and cannot talk.

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
- opensm 3.3.23 on a simulated fabric, run: place 0 is 0xffff, with `indx0` the partition's; the order of the others
  is not that of the file
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.partitions import at_index_0, keys_of_jobs
from lossless.checks.rules.infiniband.subnet_queries import NO_PARTITIONS, partitions
from lossless.ground.basics.findings import RelatedPlace
from lossless.model.fabric.infiniband.options import c_number

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where the place is none, or holds another key than jobs are to use."""
    job = subnet.job
    setting = (
        next((variable for variable in job.environment if variable.key == "NCCL_IB_PKEY"), None)
        if job
        else None
    )
    if job is None or (setting is None and job.partition is None):
        return
    if partitions(subnet) is None:
        yield NO_PARTITIONS
        return
    keys = keys_of_jobs(subnet)
    place = 0 if setting is None else c_number(setting.text)
    if setting is not None and (place is None or not 0 <= place < len(keys)):
        yield _no_place(setting, keys)
    elif job.partition is not None and place is not None:
        yield from _other(subnet, setting, place, keys)


def _no_place(setting: ManagerSetting, keys: set[int]) -> Violation:
    return Violation(
        origin=setting.origin,
        message=f"NCCL_IB_PKEY={setting.text} is no place in the tables of the hosts: they have {len(keys)}, from 0",
        note="it is an index, not a P_Key",
        help=f"state a place of 0 to {len(keys) - 1}",
        data={"places": len(keys)},
    )


def _other(subnet: Subnet, setting: ManagerSetting | None, place: int, keys: set[int]) -> Results:
    wanted = next(
        (part for part in partitions(subnet) or () if subnet.job and part.name == subnet.job.partition), None
    )
    if wanted is None or wanted.base is None:
        return
    first = at_index_0(subnet)
    if place and len(keys) > 2:
        yield MissingInput("which of several partitions opensm puts at which place")
    elif (place == 0) != (wanted.base == first):
        right = 0 if wanted.base == first else 1
        stated = f"NCCL_IB_PKEY={setting.text}" if setting else "without NCCL_IB_PKEY"
        yield Violation(
            origin=setting.origin if setting else subnet.job.origin if subnet.job else subnet.origin,
            message=f"{stated} jobs use the partition at place {place}, which is not {wanted.name}",
            help=f"state NCCL_IB_PKEY={right}",
            data={"place": place, "right": right},
            related=(RelatedPlace(wanted.origin, "the partition that jobs are to use"),),
        )
