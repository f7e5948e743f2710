"""By NVIDIA's DOC-2790 `dce_tcp_g` weighs the previous alpha, in 1/1024: a small one discards the history at once.

Severity: warning
Confidence: medium
Subject: intent, hosts

## What it does
Reads a stated `dce_tcp_g`. Below 512 the previous alpha weighs less than half at each update; with the default, 1019,
it weighs 99.5 %. Papers call g the weight of the new sample: their 1/256 is 1020 here, not 4.

NVIDIA's texts contradict each other: DOC-2790 gives the formula that is used here, and the description that mlxconfig
prints gives the reverse, alpha = cnp x g + (1 - g) x alpha. By that one the default of 1019 would forget alpha at every
update, and older texts beside it have a default of 64.

## Why it breaks a lossless fabric
Alpha decides how far a sender cuts its rate. Without history it is 1 after any CNP, so that every cut is the deepest
allowed, and 0 without one: rates and the queue oscillate.

## Bad
```yaml intent base=leaf-spine
congestion_control:
  dcqcn:
    dce_tcp_g: 4   # <- here
```

## Good
```yaml intent base=leaf-spine
congestion_control:
  dcqcn: {dce_tcp_g: 1020}
```

## Fix
Write 1024 x (1 - g) for the g of a paper: 1020 for 1/256, 1008 for 1/64.

## Sources
- Mellanox community DOC-2790, DCQCN Parameters, version 19 (alpha is g/1024 x alpha, plus 1024 - g after a CNP)
- Mellanox/mstflint mlxconfig/mlxconfig_dbs/mlxconfig_host.db @b9d9e844 (DCE_TCP_G: the reverse)
- Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015 (g = 1/256)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.nics.dcqcn_parameters import running

if TYPE_CHECKING:
    from lossless.model.fabric.view import View

_WHOLE = 1024
_HALF = _WHOLE // 2


def check(view: View) -> Results:
    """Yield a violation per kind of host whose previous alpha weighs less than half at each update."""
    for dcqcn in running(view):
        weight = dcqcn.values.get("dce_tcp_g", _WHOLE)
        if weight < _HALF:
            yield Violation(
                origin=dcqcn.at("dce_tcp_g"),
                message=f"dce_tcp_g {weight} gives the previous alpha a weight of {weight / _WHOLE:.1%}; the default, "
                "1019, gives it 99.5%",
                note=f"as the g of papers, {weight}/1024 for the new sample, it would be {_WHOLE - weight} here",
                help=f"leave dce_tcp_g out, or make it {_WHOLE - weight}",
                elements=dcqcn.hosts,
                data={"dce_tcp_g": weight},
            )
