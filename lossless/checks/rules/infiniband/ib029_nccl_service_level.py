"""Jobs must request their own service level.

Severity: error
Subject: subnet

## What it does
Compares NCCL_IB_SL and UCX_IB_SL with the level, or the level of the partition, that jobs are to use.

## Why it breaks a lossless fabric
A queue pair keeps the service level that it requests. On an unintended one the job uses a lane with other weights, or
with storage, and on a torus one that the engine did not choose for its path.

## Bad
```yaml intent base=infiniband
jobs:
  environment:
    NCCL_IB_SL: 0   # <- here
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
from lossless.checks.rules.infiniband.subnet_queries import partitions
from lossless.ground.basics.findings import RelatedPlace
from lossless.model.fabric.infiniband.subnet import c_number

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import Job, Subnet


VARIABLES = ("NCCL_IB_SL", "UCX_IB_SL")


def check(subnet: Subnet) -> Results:
    """Yield a violation per variable that names another service level than jobs are to use."""
    if subnet.job is None:
        return
    job_level = _level_of(subnet, subnet.job)
    if job_level is None:
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


def _level_of(subnet: Subnet, job: Job) -> tuple[int, str, Origin] | None:
    """Return the SL that jobs are to use, with the name and origin of its level or partition; None where not stated."""
    for level in subnet.qos.levels:
        if level.name == job.level:
            return level.sl, f"level {level.name}", level.origin
    for partition in partitions(subnet) or ():
        if partition.name == job.partition and partition.sl is not None:
            return partition.sl, f"partition {partition.name}", partition.origin
    return None
