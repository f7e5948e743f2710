"""Libraries that make queue pairs without the kernel need a lossless traffic class of their own.

Severity: error
Subject: intent, hosts

## What it does
Checks the libraries of jobs, declared in an intent or found in files of a host, whose queue pairs bypass the kernel:
NCCL's GPU-initiated networking (`nccl.gin`, or a stated `nccl.gin_ib_tc`) and MORI (`mori`). Each must have a ToS byte
of a lossless DSCP of its own; NCCL's falls back to `nccl.ib_tc`. The hosts' `traffic_class` does not reach them.

## Why it breaks a lossless fabric
The driver's traffic class is written into queue pairs as the kernel makes them. Those made through DEVX bypass it and
keep DSCP 0: nearly all RDMA is lossless, but the traffic that GPUs send themselves is not. Under load it is dropped,
which shows only as a hang of the device-side kernel.

## Bad
```yaml intent base=leaf-spine
hosts:
  nccl:
    gin: true   # <- here
```

```yaml intent base=leaf-spine
hosts:
  mori:
    traffic_class: 0   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts:
  nccl: {ib_tc: 106, gin: true}
  mori: {traffic_class: 104}
```

## Fix
Set `nccl.gin_ib_tc` (or `nccl.ib_tc`) and `mori.traffic_class` to the DSCP shifted by two: 106 for DSCP 26.

## Sources
- NVIDIA/nccl issue 2383 (GPU-initiated RDMA on DSCP 0 beside host RDMA on the lossless one)
- NVIDIA/nccl src/transport/net_ib/gin.cc (NCCL_GIN_IB_TC, default NCCL_IB_TC)
- ROCm/mori pull request 362 (DEVX queue pairs take their DSCP from MORI_RDMA_TC)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.classification.host_markings import ECT0, is_unit_slip, lossless_dscps, markings
from lossless.ground.basics.units import number_ranges

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import HostQos, Library
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host and library whose queue pairs bypass the kernel onto a lossy DSCP.

    Left out is an NCCL_IB_TC that HST001 or CLS006 reports.
    """
    lossless = lossless_dscps(view.fabric.classes)
    if not lossless:
        return
    for host, names in view.host_kinds:
        for library in host.jobs.libraries:
            tos = library.tos or 0
            if library.bypasses and tos >> 2 not in lossless and not _is_reported(host, library, lossless):
                yield _bypassing_library_lossy(library, tos, lossless, names)


def _is_reported(host: HostQos, library: Library, lossless: tuple[int, ...]) -> bool:
    """Return whether a rule reports the NCCL_IB_TC of a library: HST001 if no source is lossless, CLS006 unit slips."""
    if library.variable != "NCCL_IB_TC":
        return False
    slip = library.tos is not None and is_unit_slip(library.tos, lossless)
    return slip or {marking.dscp for marking in markings(host)}.isdisjoint(lossless)


def _bypassing_library_lossy(
    library: Library, tos: int, lossless: tuple[int, ...], hosts: tuple[str, ...]
) -> Violation:
    wanted = lossless[0] << 2 | ECT0
    now = f"{library.variable} is not set" if library.tos is None else f"{library.variable} {tos}"
    variable = "NCCL_GIN_IB_TC or NCCL_IB_TC" if library.name == "NCCL GIN" else library.variable
    return Violation(
        origin=library.origin,
        message=f"{library.name} sends on lossy DSCP {tos >> 2} ({now}); lossless is DSCP {number_ranges(lossless)}",
        note="its queue pairs are made without the kernel, whose traffic_class has no effect on them",
        help=f"set {variable} to {wanted} (DSCP {lossless[0]})",
        elements=hosts,
        data={"library": library.name, "tos": tos, "lossless_dscps": list(lossless)},
    )
