"""Every source of the ToS byte that is set must have a lossless DSCP, not only one of them.

Severity: warning
Fix: unsafe
Subject: intent, hosts

## What it does
Looks at hosts with one lossless source of the ToS byte: the hosts' `traffic_class`, `nccl.ib_tc` (NCCL_IB_TC), the
setting of RDMA-CM or of another library. Each other source that is set to a lossy DSCP is a finding. On a host that was
read it is an error where the source is the driver, which sets all queue pairs, and information where the driver
overrides it. Other rules report hosts without any lossless source (HST001), a DSCP written as a ToS byte (CLS006), and
libraries that bypass the kernel (NIC011).

## Why it breaks a lossless fabric
The driver decides which of two sources counts: that of MLNX_OFED and DOCA puts its traffic class on every queue pair
that the kernel makes, the kernel's own driver has no such setting, and RDMA-CM marks only its own connections. After an
update of the driver, or on the one host with another driver, RDMA leaves on the lossy DSCP.

## Bad
```yaml intent base=leaf-spine
hosts:
  nccl:
    ib_tc: 40   # <- here
```

```yaml intent base=leaf-spine
hosts:
  traffic_class: 0   # <- here
  nccl:
    ib_tc: 106
```

## Good
```yaml intent base=leaf-spine
hosts:
  nccl: {ib_tc: 104}
```

```yaml intent base=leaf-spine
hosts:
  traffic_class: unset
  nccl: {ib_tc: 106}
```

## Fix
Give every source the same DSCP, or leave all but one of them out.

## Sources
- NVIDIA/doroce-linux doRoCE.sh (sets RDMA-CM's byte and the driver's traffic_class, each by itself)
- NVIDIA/nccl src/transport/net_ib/connect.cc @5067397 (NCCL_IB_TC goes into NCCL's own queue pairs)
- NVIDIA/nccl issue 2383 (two sources, and RDMA on the DSCP of the other)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.classification.host_markings import Marking, is_unit_slip, lossless_dscps, markings
from lossless.ground.basics.findings import Edit, RelatedPlace

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Severity
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import View

DRIVER = "traffic_class"
"""The source that the driver puts on every queue pair which the kernel makes, where the driver has it."""
_FORCED = "the driver puts its traffic_class on every queue pair that the kernel makes, whatever else is set"


def check(view: View) -> Results:
    """Yield a violation per kind of host and lossy source of its ToS byte beside a lossless one, but for unit slips."""
    lossless = lossless_dscps(view.fabric.classes)
    for host, names in view.host_kinds:
        sources = (*markings(host), *_connected(host))
        right = [marking for marking in sources if marking.dscp in lossless]
        for marking in sources if right else ():
            if marking.dscp not in lossless and not is_unit_slip(marking.tos, lossless):
                yield _traffic_classes_disagree(host, marking, right[0], names)


def _connected(host: HostQos) -> tuple[Marking, ...]:
    """Return the ToS byte of a host's own files that RDMA-CM sets on its connections, as a source; none for 0."""
    if host.provenance == "deployed" and isinstance(host.cma_tos, int) and host.cma_tos:
        return (Marking("default_roce_tos", host.cma_tos, host.at("cma_tos")),)
    return ()


def _traffic_classes_disagree(
    host: HostQos, wrong: Marking, right: Marking, hosts: tuple[str, ...]
) -> Violation:
    declared = host.provenance == "intent"
    return Violation(
        origin=wrong.origin,
        message=f"{wrong.name} {wrong.tos} puts RDMA on lossy DSCP {wrong.dscp}, "
        f"{right.name} {right.tos} on DSCP {right.dscp}",
        note=_FORCED
        if not declared and DRIVER in (wrong.name, right.name)
        else "which of them a queue pair gets depends on the driver and on who makes it",
        help=f"make {wrong.name} {right.tos} too, or leave it out",
        elements=hosts,
        data={"source": wrong.name, "tos": wrong.tos, "dscp": wrong.dscp, "lossless_dscp": right.dscp},
        related=(RelatedPlace(right.origin, f"{right.name} {right.tos}"),),
        severity=None if declared else _severity(wrong, right),
        fix=(Edit(wrong.origin, "remove"),) if declared else (),
    )


def _severity(wrong: Marking, right: Marking) -> Severity | None:
    """Return the severity on a host that was read: ``error`` for the driver's source, ``info`` beside it, or None."""
    if wrong.name == DRIVER:
        return "error"
    return "info" if right.name == DRIVER else None
