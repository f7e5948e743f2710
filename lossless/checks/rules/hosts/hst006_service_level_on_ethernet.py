"""A service level has no effect on RoCEv2, where the traffic class selects the class of RDMA.

Severity: info
Fix: safe
Subject: intent, hosts

## What it does
Looks for NCCL_IB_SL and UCX_IB_SL, other than 0 and -1, in the environment of jobs, in an intent's `hosts.environment`
or in a file that was read on a host. Where RDMA still leaves on a lossless DSCP, this is information. Where it does
not, HST001 or CLS006 reports the host.

## Why it breaks a lossless fabric
On InfiniBand the service level chooses the virtual lane. On Ethernet it becomes the priority of a VLAN tag, which a
routed packet does not have and a NIC that trusts DSCP does not read. The setting suggests that RDMA is in a class of
its own, but NCCL_IB_TC or the driver's traffic class decides.

## Bad
```yaml intent base=leaf-spine
hosts:
  environment:
    NCCL_IB_SL: 3   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts:
  environment: {NCCL_IB_SL: 0, NCCL_DEBUG: WARN}
```

## Fix
Leave the variable out, and check that NCCL_IB_TC or `hosts.traffic_class` has a lossless DSCP.

## Sources
- NVIDIA/nccl docs/userguide env.rst (NCCL_IB_SL, NCCL_IB_TC)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 3 (why tags do not cross routers)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.classification.host_markings import lossless_dscps, markings
from lossless.checks.rules.fixes import without

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import HostQos, Variable
    from lossless.model.fabric.view import View

VARIABLES = ("NCCL_IB_SL", "UCX_IB_SL")


def check(view: View) -> Results:
    """Yield a violation per kind of host and service level of its jobs, not 0 or -1, where RDMA has a lossless DSCP."""
    lossless = lossless_dscps(view.fabric.classes)
    for host, names in view.host_kinds:
        if {marking.dscp for marking in markings(host)}.isdisjoint(lossless):
            continue
        for name in VARIABLES:
            variable = host.jobs.variable(name)
            if variable is not None and variable.value not in ("0", "-1"):
                yield _service_level_on_ethernet(host, variable, names)


def _service_level_on_ethernet(host: HostQos, variable: Variable, hosts: tuple[str, ...]) -> Violation:
    return Violation(
        origin=variable.origin,
        message=f"{variable.name} {variable.value} has no effect on RoCEv2, where the DSCP sorts RDMA",
        note="a service level becomes the priority of a VLAN tag, which routed packets do not have",
        help=f"leave {variable.name} out: the traffic class of RDMA is right without it",
        elements=hosts,
        data={"variable": variable.name, "value": variable.value},
        fix=without(host, "environment", variable.name),
    )
