"""SHARP must have a tree for each job that uses one.

Severity: warning
Subject: subnet

## What it does
Compares the declared trees with the declared jobs.

## Why it breaks a lossless fabric
A streaming tree serves one job at a time. The next one cannot lock it and falls back to the hosts, with a message in
its log alone: its reductions take twice the traffic, on links that were planned for half.

## Bad
```yaml intent base=infiniband
flavour: nvidia
sharp:
  manager: sm1
  jobs: 4
  trees: 1   # <- here
```

## Good
```yaml intent base=infiniband
flavour: nvidia
sharp: {manager: sm1, jobs: 4, trees: 4}
```

## Fix
Allow as many trees as jobs run at once.

## Sources
- Mellanox/nccl-rdma-sharp-plugins issue 151: the lock of a streaming tree failed, and the job went on from host to
  host
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import active_sharp

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where SHARP has fewer trees than declared jobs."""
    sharp = active_sharp(subnet)
    if sharp is None or sharp.trees is None or sharp.jobs is None or sharp.trees >= sharp.jobs:
        return
    yield Violation(
        origin=sharp.origin.at("trees"),
        message=f"{sharp.jobs} jobs are to reduce in the switches, and there are trees for {sharp.trees}",
        note="a streaming tree serves one job at a time; the others fall back to the hosts",
        help=f"allow {sharp.jobs} trees",
        data={"trees": sharp.trees, "jobs": sharp.jobs},
    )
