"""A queue must be able to hold a packet without being fully marked.

Severity: warning
Subject: fabric

## What it does
Looks for marking curves on lossless queues whose Kmax is at most 4,096 bytes, the payload of one RDMA packet of the
largest path MTU, and for a Kmin of zero. Kmax that small is a warning, zero an error; Kmin of zero alone is
information. A threshold that a WRED_PROFILE of SONiC does not state is zero. Other low thresholds are not checked: the
right value depends on round-trip times, which are neither in an intent nor in a switch configuration.

## Why it breaks a lossless fabric
Every packet that waits behind another one is marked, with or without congestion, and senders stay at their lowest rate.
Such numbers are usually kilobytes in place of bytes. Zero is worse: SAI's thresholds begin at 1 and its zero stands for
the whole buffer, so that one switch may mark every packet and another none.

## Bad
```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_min_threshold": "800",
    "green_max_threshold": "3200"   // <- here
  }}
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    ecn:
      min: 0 B
      max: 0 B   # <- here
```

## Good
```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_min_threshold": "150000",
    "green_max_threshold": "1500000"
  }}
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    ecn:
      min: 5 kB
      max: 200 kB
```

## Fix
Thresholds are bytes: 800 KiB is 819,200.

## Sources
- opencomputeproject/SAI inc/saiwred.h @0e1fcb6 (thresholds from 1, 0 stands for the maximum buffer size)
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-wred-profile.yang @086b03b (units bytes)
- IBTA InfiniBand Architecture volume 1 (path MTU of 256 to 4,096 bytes)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.ecn.thresholds import ONE_PACKET_BYTES, threshold_origin
from lossless.checks.rules.ecn.wred_profiles import marking_uses
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from lossless.checks.rules.ecn.wred_profiles import WredUse
    from lossless.model.fabric.view import View

_THRESHOLDS = "green_min_threshold and green_max_threshold in bytes"
_ZERO = (
    "SAI counts thresholds from 1 and takes 0 for the whole buffer; chips may also mark everything from 0 on"
)


def check(view: View) -> Results:
    """Yield a violation per marking curve of lossless queues with a Kmax of at most one packet, or a Kmin of zero."""
    for use in marking_uses(view):
        green, default = use.wred.green, 0 if use.wred.origin.path[0] == "WRED_PROFILE" else None
        max_bytes = default if green.max_bytes is None else green.max_bytes
        min_bytes = default if green.min_bytes is None else green.min_bytes
        if max_bytes is None:
            continue
        if max_bytes <= ONE_PACKET_BYTES:
            yield _full(view, use, max_bytes)
        elif min_bytes == 0:
            yield _from_zero(view, use)


def _full(view: View, use: WredUse, kmax_bytes: int) -> Violation:
    zero = kmax_bytes == 0
    states = "Kmax is 0" if use.wred.green.max_bytes == 0 else "Kmax is not set, which is 0"
    return Violation(
        origin=threshold_origin(view, use.wred, "max"),
        message=f"{states}: every packet is marked, or none at all"
        if zero
        else f"Kmax is {format_bytes(kmax_bytes)}: one packet in the queue is enough to mark all others",
        note=_ZERO
        if zero
        else f"an RDMA packet of the largest path MTU has {ONE_PACKET_BYTES:,} B of payload",
        help="raise max" if view.fabric.declared else f"set {_THRESHOLDS}: 800 KiB is 819200",
        data={"min_bytes": use.wred.green.min_bytes, "max_bytes": kmax_bytes},
        severity="error" if zero else None,
    ).on_ports(*use.sets)


def _from_zero(view: View, use: WredUse) -> Violation:
    return Violation(
        origin=threshold_origin(view, use.wred, "min"),
        message="Kmin is 0, which not all chips take for a threshold",
        note=_ZERO,
        help="set the bytes from which on packets are to be marked",
        data={"min_bytes": 0, "max_bytes": use.wred.green.max_bytes},
        severity="info",
        confidence="medium",
    ).on_ports(*use.sets)
