"""Jobs on Ethernet must use RDMA, and cannot have the switches reduce.

Severity: error
Subject: intent, hosts

## What it does
Looks at the environment of jobs, in an intent's `hosts.environment` or in a file that was read on a host. NCCL that is
taken off RDMA (NCCL_IB_DISABLE, NCCL_NET=Socket) is an error; libfabric that is (FI_PROVIDER=tcp) is a warning; UCX
that is (UCX_TLS=tcp) is information, since jobs of NCCL that MPI starts need no more of it. Reductions in switches are
SHARP, which InfiniBand alone has: variables that request them (NCCL_COLLNET_ENABLE, NCCL_ALGO with CollNet algorithms
alone, HCOLL_ENABLE_SHARP from 2 on) are a warning.

## Why it breaks a lossless fabric
Jobs run over TCP without an error, in the default class and at a fraction of the rate; the lossless class stays empty.
Without a plugin that has CollNet, NCCL turns CollNet off and takes rings or trees, which send twice the bytes that were
counted on; where NCCL_ALGO leaves no other algorithm, the first all-reduce fails.

## Bad
```yaml intent base=leaf-spine
hosts:
  environment:
    NCCL_IB_DISABLE: 1   # <- here
```

```yaml intent base=leaf-spine
hosts:
  environment:
    NCCL_COLLNET_ENABLE: 1   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts:
  environment: {NCCL_IB_DISABLE: 0, NCCL_COLLNET_ENABLE: 0, NCCL_ALGO: "Ring,Tree"}
```

## Fix
Take the variable out.

## Sources
- NVIDIA/nccl docs, environment variables (NCCL_IB_DISABLE, NCCL_NET, NCCL_COLLNET_ENABLE, NCCL_ALGO)
- NVIDIA/nccl src/init.cc @5067397 (collNetSupport: without a plugin CollNet is off), src/graph/tuning.cc (CollNet, and
  NVLS between hosts, are then off too), src/enqueue.cc (No algorithm/protocol available, NCCL_ALGO was set to)
- Mellanox/nccl-rdma-sharp-plugins src/p2p_plugin.c @2f5ac02 (isSharpDev: ports whose link layer is InfiniBand alone)
- openucx/ucx src/ucp/core/ucp_context.c @9466d10 (UCX_TLS), libfabric fabric(7) (FI_PROVIDER)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.model.fabric.hosts import departure, effect_without_reductions, reduces_in_switches

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import Variable
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host and variable that takes jobs off RDMA, or requests reductions in switches."""
    for host, names in view.host_kinds:
        for variable in host.jobs.variables:
            left = departure(variable.name, variable.value)
            if left is not None:
                yield Violation(
                    origin=variable.origin,
                    message=f"{variable.name}={variable.value} takes {left.library} off RDMA: it uses sockets",
                    help="take it out",
                    elements=names,
                    data={"variable": variable.name, "stated": variable.value},
                    severity=left.severity,
                )
            elif reduces_in_switches(variable.name, variable.value):
                yield _reductions(variable, names)


def _reductions(variable: Variable, hosts: tuple[str, ...]) -> Violation:
    return Violation(
        origin=variable.origin,
        message=f"{variable.name}={variable.value} requests reductions in switches, which Ethernet does not have",
        note=effect_without_reductions(variable.name),
        help="take it out",
        elements=hosts,
        data={"variable": variable.name, "stated": variable.value},
        severity="warning",
    )
