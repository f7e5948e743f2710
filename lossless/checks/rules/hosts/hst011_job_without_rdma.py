"""Jobs on Ethernet must use RDMA, and cannot have the switches reduce.

Severity: error
Subject: intent, hosts

## What it does
Looks at the environment of jobs, in an intent's `hosts.environment`, in a file that was read on a host, or in a
manifest of Kubernetes or Compose. NCCL that is taken off RDMA (NCCL_IB_DISABLE, NCCL_NET=Socket) is an error; libfabric
that is (FI_PROVIDER=tcp) is a warning; UCX that is (UCX_TLS=tcp) is information, since jobs of NCCL that MPI starts
need no more of it. Reductions in switches are SHARP, which InfiniBand alone has: variables that request them
(NCCL_COLLNET_ENABLE, NCCL_ALGO with CollNet algorithms alone, HCOLL_ENABLE_SHARP from 2 on) are a warning.

So is a container with GPUs, and variables that choose a NIC or a traffic class of RDMA, that gets no RDMA device: it
requests no resource but CPUs, memory and GPUs, has no claim, no additional network, no `/dev/infiniband`, is not
privileged, and does not ask NVIDIA's runtime for it (`NVIDIA_MOFED`).

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

```yaml facts file=train.yaml beside=leaf-spine.yaml
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  containers:
    - name: train   # <- here
      env:
        - name: NCCL_IB_TC
          value: "106"
      resources:
        limits: {nvidia.com/gpu: 8}
```

## Good
```yaml intent base=leaf-spine
hosts:
  environment: {NCCL_IB_DISABLE: 0, NCCL_COLLNET_ENABLE: 0, NCCL_ALGO: "Ring,Tree"}
```

```yaml facts file=train.yaml beside=leaf-spine.yaml
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  containers:
    - name: train
      env:
        - name: NCCL_IB_TC
          value: "106"
      resources:
        limits: {nvidia.com/gpu: 8, rdma/hca_shared_devices_a: 1}
```

## Fix
Take the variable out. Give a container the device: the resource of the cluster's device plugin (`kubectl describe node`
lists it), or in a Compose file `devices: [/dev/infiniband]`.

## Sources
- NVIDIA/nccl docs, environment variables (NCCL_IB_DISABLE, NCCL_NET, NCCL_COLLNET_ENABLE, NCCL_ALGO)
- NVIDIA/nccl src/init.cc @5067397 (collNetSupport: without a plugin CollNet is off), src/graph/tuning.cc (CollNet, and
  NVLS between hosts, are then off too), src/enqueue.cc (No algorithm/protocol available, NCCL_ALGO was set to)
- Mellanox/nccl-rdma-sharp-plugins src/p2p_plugin.c @2f5ac02 (isSharpDev: ports whose link layer is InfiniBand alone)
- openucx/ucx src/ucp/core/ucp_context.c @9466d10 (UCX_TLS), libfabric fabric(7) (FI_PROVIDER)
- Kubernetes, Device Plugins (a container has a device only as it requests its resource), Compose Specification,
  services (`devices`), Mellanox/k8s-rdma-shared-dev-plugin README.md (`rdma/hca_shared_devices_a`)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.model.fabric.hosts import departure, effect_without_reductions, reduces_in_switches

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import Variable
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per job without an RDMA device, and per variable that takes jobs off RDMA or requests SHARP."""
    for host, names in view.host_kinds:
        if host.jobs.lacks_device:
            yield Violation(
                origin=host.at("lacks_rdma_device"),
                message="a job that is set up for RDMA gets no RDMA device: NCCL and UCX use sockets",
                note="a container sees a device of its host only if it requests it",
                help="request the RDMA resource of the cluster's device plugin, or in a Compose file /dev/infiniband",
                elements=names,
                severity="warning",
            )
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
