"""An ECN curve needs senders that react to marks; it may drop packets of other senders.

Severity: warning
Confidence: medium
Subject: intent

## What it does
Looks for marking curves on the lossless classes of an intent that states `congestion_control: pfc-only`. ECN001 reports
drop curves, which are enabled without marking.

## Why it breaks a lossless fabric
Marking and dropping use one curve: some chips drop packets that are not ECN-capable at the point where ECN-capable ones
are marked. Where senders do not react to marks, NICs have ECN off and may send such packets; the lossless queue then
drops them. At best the marks have no effect.

## Bad
```yaml intent base=leaf-spine
congestion_control: pfc-only
classes:
  rdma:
    ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}   # <- here
```

## Good
```yaml intent base=leaf-spine
congestion_control: pfc-only
classes:
  rdma:
    ecn: off
```

## Fix
State `ecn: off`, or let the senders react: `congestion_control: dcqcn`.

## Sources
- sonic-buildimage issue 27606 (not-ECT packets on a lossless queue dropped by one chip, not by another)
- opencomputeproject/SAI inc/saiwred.h @0e1fcb6 (one set of thresholds for marks and drops)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.ecn.wred_profiles import in_reach, pfc_only, uses
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from lossless.checks.rules.ecn.wred_profiles import WredUse
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per marking curve of a lossless class under ``pfc-only``, if queues can reach its Kmin."""
    if not pfc_only(view):
        return
    for use in uses(view):
        if use.wred.marks and in_reach(use, use.wred.green):
            yield _curve_for_deaf_senders(use)


def _curve_for_deaf_senders(use: WredUse) -> Violation:
    green = use.wred.green
    return Violation(
        origin=use.wred.origin,
        message="congestion_control is pfc-only, and yet a lossless class has an ECN curve: "
        f"packets without ECT may be dropped from {format_bytes(green.min_bytes or 0)} on",
        note="what cannot be marked is dropped by the same curve on some chips; senders ignore the marks anyway",
        help="state ecn: off for the class, or congestion_control: dcqcn",
        data={"min_bytes": green.min_bytes, "max_bytes": green.max_bytes},
    ).on_ports(*use.sets)
