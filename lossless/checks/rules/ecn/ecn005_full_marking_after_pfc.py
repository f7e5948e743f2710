"""Full marking must be reached before PFC starts to pause.

Severity: warning
Subject: buffers

## What it does
Compares Kmax of each marking queue with T(1) = alpha B / (1 + alpha), the bytes at which a single loaded priority group
sends XOFF; B is the shared pool without headroom, as it is written or as the switch computes it. Kmax above that means
that a queue which one port fills, behind a slow receiver or a pause, is never fully marked. With more senders the
egress holds more at the first XOFF, so T(1) is the tightest case. Where even Kmin is above T(1), ECN004 alone reports
it.

A port fills one part of a buffer that the chip divides, so B is that of one part: a quarter of the pool on Tomahawk 2.
A curve that fits the undivided buffer and not one part is information: vendors ship such curves (2 MB and 10 MB with
alpha 1 on Tomahawk 2, whose groups pause at 4.2 MB), and several ports that share the load hold more at egress. Where
the number of parts is unknown and the result depends on it, the rule is not checked.

## Why it breaks a lossless fabric
Between Kmin and Kmax a share of the packets is marked that grows from none to Pmax: 5 % on stock SONiC, 100 % in the
preset `nvidia`. Above Kmax every packet is. When PFC starts first, senders do not get the strong signal of the upper
curve, and the pauses that ECN should have prevented propagate upstream.

## Bad
```json config_db base=leaf
{
  "BUFFER_POOL": {"ingress_lossless_pool": {
    "size": "6000000"
  }},
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_max_threshold": "3276800"   // <- here
  }}
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    ecn:
      max: 50 MB   # <- here
```

## Good
```json config_db base=leaf
{
  "BUFFER_POOL": {"ingress_lossless_pool": {
    "size": "6000000"
  }},
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_max_threshold": "2400000"
  }}
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}
```

## Fix
Lower Kmax below T(1), or give the lossless groups a larger alpha.

## Sources
- Choudhury and Hahne, Dynamic queue length thresholds, 1998 (T of one group)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (1 MiB and 2 MiB, a curve tuned for storage)
- sonic-mgmt tests/qos/files/qos_params.th2.yaml @b4ba9de (19,994 packets of 208 B at XOFF: alpha 1 of one part)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.ecn.thresholds import (
    margins,
    raised_alpha,
    shared_pool,
    threshold_origin,
    tightest_curves,
)
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from lossless.analysis.buffers.ecn_marking import EcnMarking
    from lossless.model.fabric.view import PortSet, View


def check(view: View) -> Results:
    """Yield a violation per ECN curve with Kmax above the XOFF threshold of a single group, and Kmin not above it."""
    return tightest_curves(view, _ranked)


def _ranked(view: View, ports: PortSet, marking: EcnMarking) -> tuple[tuple[float, ...], Violation] | None:
    """Return the violation of one curve with its rank, None where Kmax is within T(1) or even Kmin is above."""
    reach = marking.trigger.threshold_bytes(1)
    if marking.kmin_bytes <= reach < marking.kmax_bytes:
        return (reach,), _full_marking_after_pfc(view, ports, marking)
    return None


def _full_marking_after_pfc(view: View, ports: PortSet, marking: EcnMarking) -> Violation:
    reach, pair = marking.trigger.threshold_bytes(1), marking.trigger.egress_bytes(2)
    incast = "before" if pair <= marking.kmax_bytes else "after"
    return Violation(
        origin=threshold_origin(view, marking.wred, "max"),
        message=f"Kmax {format_bytes(marking.kmax_bytes)} is above the {format_bytes(int(reach))} at which one "
        "loaded port pauses",
        note=f"two senders to one port pause at {format_bytes(int(pair))}, {incast} full marking; "
        f"the pool shares {shared_pool(marking)}",
        help=f"lower Kmax below {format_bytes(int(reach))}, or {raised_alpha(view, ports)}",
        data={"kmax_bytes": marking.kmax_bytes, **margins(marking, marking.kmax_bytes)},
        severity="info" if marking.kmax_bytes <= marking.trigger.undivided.threshold_bytes(1) else None,
    ).on_ports(ports)
