"""Variables that the cloud's own software sets are better left to it.

Severity: warning
Confidence: medium
Subject: cloud

## What it does
Names variables under `hosts.environment` that the provider's plugin, library or profile sets by itself: on EFA
FI_EFA_USE_DEVICE_RDMA and its like, and all of RDMAV_*; on Google's machines the variables of its profile, such as the
ToS bytes on A3 Ultra and A4.

## Why it breaks a lossless fabric
These settings belong to a version of the plugin, to a kernel or to the provider's switches. Once recorded, they
outlive all three: a ToS byte names a class that the cloud's switches do not have, a fork setting can break jobs on
the next kernel, a chunk size is refused by the checker of the next plugin.

## Bad
```yaml intent base=none
lossless: v1
fabric: train
transport: efa
hosts:
  environment:
    FI_EFA_USE_DEVICE_RDMA: 1   # <- here
```

```yaml intent base=none
lossless: v1
fabric: train
transport: gcp
machine: a3-ultragpu-8g
hosts:
  environment:
    NCCL_IB_TC: 106   # <- here
```

## Good
```yaml intent base=none
lossless: v1
fabric: train
transport: efa   # lossless: ignore[MGD001] -- known
hosts:
  environment: {FI_EFA_USE_HUGE_PAGE: 0}
```

## Fix
Take it out. Software so old that it needs the variable (aws-ofi-nccl before 1.7, say) is better replaced.

## Sources
- aws/aws-ofi-nccl doc/efa-env-var.md @518f4c6
- google/nccl-plugin-gpudirect-tcpxo tcpxo_scripts/nccl-env-profile.sh @8f816be
- GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpxo/README.md @0a2b482 (guest config checker)
- GoogleCloudPlatform/container-engine-accelerators gpudirect-rdma/nccl-test.yaml @0920249
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.model.fabric.view import View
    from lossless.model.hardware.clouds import CloudNetwork


def check(view: View) -> Results:
    """Yield a violation for each variable that the cloud's software sets by itself."""
    managed = view.fabric.managed
    network = managed.network if managed is not None else None
    if managed is None or network is None:
        return
    for variable in managed.stated:
        why = _why(variable.name, network)
        if why is not None:
            yield Violation(
                origin=variable.origin,
                message=f"{variable.name} is decided by {network.name}'s own software",
                note=why,
                help="take it out",
                data={"variable": variable.name, "network": network.name},
            )


def _why(name: str, network: CloudNetwork) -> str | None:
    for pattern, why in network.decides:
        if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
            return why
    return None
