"""A ToS byte is not a DSCP: 26 in a traffic class field means DSCP 6.

Severity: error
Subject: intent, hosts

## What it does
Looks at the sources of the ToS byte of RDMA packets: the hosts' `traffic_class`, `nccl.ib_tc`, and the traffic class of
UCX. A value that is itself a lossless DSCP, but whose upper six bits are not one, is reported as a confusion of units.
It is an error unless another source puts RDMA on a lossless DSCP. HST001 does not report such a value again.

## Why it breaks a lossless fabric
The DSCP is the upper six bits of the byte: 26 is DSCP 6, and the switches serve it best effort. DSCP 26 is
104, or 106 with the ECN-capable codepoint ECT(0); both are right.

## Bad
```yaml intent base=leaf-spine
hosts:
  traffic_class: 26   # <- here
```

```yaml intent base=leaf-spine
hosts:
  traffic_class: unset
  nccl:
    ib_tc: 26   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts: {traffic_class: 104}
```

```yaml intent base=leaf-spine
hosts:
  traffic_class: unset
  nccl: {ib_tc: 106}
```

## Fix
Write the DSCP shifted by two: `26 << 2` is 104, with ECT(0) 106.

## Sources
- RFC 2474, section 3 (the DSCP in the upper six bits of the byte); RFC 3168, section 5 (ECN in the lower
  two)
- dmf-mxl/mxl pull request 603 (104 or 106 for DSCP 26)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.classification.host_markings import ECT0, is_unit_slip, lossless_dscps, markings

if TYPE_CHECKING:
    from lossless.checks.rules.classification.host_markings import Marking
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host and ToS byte that is itself a lossless DSCP, while its upper bits are not."""
    lossless = lossless_dscps(view.fabric.classes)
    for host, names in view.host_kinds:
        sources = markings(host)
        rescued = any(marking.dscp in lossless for marking in sources)
        for marking in sources:
            if is_unit_slip(marking.tos, lossless):
                yield _tos_dscp_unit_slip(marking, names, rescued)


def _tos_dscp_unit_slip(marking: Marking, hosts: tuple[str, ...], rescued: bool) -> Violation:
    wanted = marking.tos << 2
    return Violation(
        origin=marking.origin,
        message=(
            f"{marking.name} {marking.tos} is a ToS byte and puts RDMA on DSCP {marking.dscp}; "
            f"DSCP {marking.tos} is {wanted}, or {wanted | ECT0} with ECT(0)"
        ),
        note=f"the DSCP is the upper six bits of the byte: {marking.tos} >> 2 = {marking.dscp}",
        help=f"write {wanted | ECT0}",
        elements=hosts,
        data={"tos": marking.tos, "dscp": marking.dscp, "meant_dscp": marking.tos, "meant_tos": wanted},
        severity="warning" if rescued else None,
    )
