"""A marking curve must have a probability above zero.

Severity: error
Subject: fabric

## What it does
Looks at the marking probability of WRED profiles on lossless queues: zero with max above min is an error. With min
equal to max the probability has no effect, because above max every packet is marked; profiles that mean "off" are
written that way, beyond any buffer. ECN001 reports a profile that does not mark at all.

## Why it breaks a lossless fabric
Between min and max no packet is marked, and above max every packet is. The queue grows to max before any sender gets a
mark, and then all senders slow down at once; PFC has usually stopped the links by then.

## Bad
```yaml intent base=leaf-spine
classes:
  rdma:
    ecn:
      probability: 0%   # <- here
```

```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_drop_probability": "0"   // <- here
  }}
}
```

## Good
```yaml intent base=leaf-spine
classes:
  rdma:
    ecn:
      probability: 1%
```

```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_drop_probability": "100"
  }}
}
```

## Fix
Set the marking probability at max: stock SONiC has 5 %, NVIDIA's RoCE profile 100 %.

## Sources
- sonic-swss orchagent/qosorch.cpp @e6b0c5b (a missing probability becomes 100)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b
- CumulusNetworks/docs, cumulus-linux-514, RDMA over Converged Ethernet (150,000 B, 1.43 MiB, 100 %)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.ecn.wred_profiles import pfc_only, uses
from lossless.checks.rules.locations import below

if TYPE_CHECKING:
    from lossless.checks.rules.ecn.wred_profiles import WredUse
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per marking curve of a lossless queue whose probability is zero and whose Kmin is not Kmax.

    Nothing is yielded where senders ignore marks.
    """
    if pfc_only(view):
        return
    for use in uses(view):
        green = use.wred.green
        if use.wred.marks and green.probability_percent == 0 and green.min_bytes != green.max_bytes:
            yield _marking_probability_zero(use, view.fabric.declared)


def _marking_probability_zero(use: WredUse, declared: bool) -> Violation:
    green = use.wred.green
    return Violation(
        origin=below(use.wred.origin, "probability" if declared else "green_drop_probability"),
        message=f"marking probability is 0 %: nothing is marked up to {green.max_bytes or 0:,} B",
        note=f"the curve from {green.min_bytes or 0:,} B to {green.max_bytes or 0:,} B is flat at zero; "
        "above it every packet is marked at once",
        help="set a probability of 1 % or more",
        data={"min_bytes": green.min_bytes, "max_bytes": green.max_bytes, "probability_percent": 0},
    ).on_ports(*use.sets)
