"""Jobs must request their own service level.

Severity: error
Subject: subnet

## What it does
Compares NCCL_IB_SL and UCX_IB_SL with the level, or the level of the partition, that jobs are to use. Where none is
stated, a service level that no declared level and no partition has is a warning.

## Why it breaks a lossless fabric
A queue pair keeps the service level that it requests. On an unintended one the job uses a lane with other weights, or
with storage, and on a torus one that the engine did not choose for its path.

## Bad
```yaml intent base=infiniband
jobs:
  environment:
    NCCL_IB_SL: 0   # <- here
```

```yaml intent base=infiniband
jobs:
  level: null
  partition: null
  environment:
    NCCL_IB_PKEY: null
    NCCL_IB_SL: 5   # <- here
```

## Good
```yaml intent base=infiniband
jobs: {environment: {NCCL_IB_SL: 1}}
```

## Fix
Leave the variables out, or state the level's number.

## Sources
- NVIDIA/nccl src/transport/net_ib.cc @02aedae (ah_attr.sl = NCCL_IB_SL)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import SL_COUNT, is_on, partitions
from lossless.ground.basics.findings import RelatedPlace
from lossless.model.fabric.infiniband.derived_policy import SL_IS_LANE, TORUS_ENGINE
from lossless.model.fabric.infiniband.subnet import c_number, levels_in_use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import Job, Subnet


VARIABLES = ("NCCL_IB_SL", "UCX_IB_SL")


def check(subnet: Subnet) -> Results:
    """Yield a violation per variable with another service level than jobs are to use, or an undeclared one."""
    if subnet.job is None:
        return
    job_level = _level_of(subnet, subnet.job)
    if job_level is None:
        yield from _undeclared(subnet, subnet.job)
        return
    sl, name, origin = job_level
    for setting in subnet.job.environment:
        if setting.key in VARIABLES and c_number(setting.text) != sl:
            yield Violation(
                origin=setting.origin,
                message=f"{setting.key}={setting.text}, and jobs are to use {name}, which is SL {sl}",
                help=f"state {setting.key}={sl}, or leave it out",
                data={"stated": setting.text, "sl": sl},
                related=(RelatedPlace(origin, f"{name}, SL {sl}"),),
            )


def _undeclared(subnet: Subnet, job: Job) -> Iterator[Violation]:
    """Yield a violation for each requested service level, not 0, that no level or partition has.

    Where the routing engine chooses the service level of a path, IB046 reports the variable.
    """
    if subnet.routing.engine in (*SL_IS_LANE, TORUS_ENGINE):
        return
    used = levels_in_use(subnet)
    for setting in job.environment:
        sl = c_number(setting.text)
        if setting.key in VARIABLES and sl is not None and 0 < sl < SL_COUNT and sl not in used:
            off = "" if is_on(subnet, "qos") else ", and QoS is off"
            yield Violation(
                origin=setting.origin,
                message=f"{setting.key}={setting.text}: no level or partition has SL {sl}{off}",
                note="opensm then writes no table that says which lane that is"
                if off
                else "the packets share the lane that qos_sl2vl has for it",
                help="declare a level for it, or leave the variable out",
                data={"stated": setting.text, "sl": sl},
                severity="warning",
            )


def _level_of(subnet: Subnet, job: Job) -> tuple[int, str, Origin] | None:
    """Return the SL that jobs are to use, with the name and origin of its level or partition; None where not stated."""
    for level in subnet.qos.levels:
        if level.name == job.level:
            return level.sl, f"level {level.name}", level.origin
    for partition in partitions(subnet) or ():
        if partition.name == job.partition and partition.sl is not None:
            return partition.sl, f"partition {partition.name}", partition.origin
    return None
