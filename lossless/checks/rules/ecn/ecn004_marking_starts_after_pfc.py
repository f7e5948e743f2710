"""ECN must start to mark before PFC starts to pause.

Severity: warning
Subject: buffers

## What it does
Compares Kmin of each marking queue with the bytes at which the priority groups behind it send XOFF. Kmin counts at
egress and XOFF at ingress, so both directions are calculated, with T(m) = alpha B / (1 + alpha m), B the shared pool
without headroom, as it is written or as the switch computes it:

- several ports to one egress: the egress holds N x T(N) at the first XOFF, least with two senders. Kmin at or above
  that of the most senders the switch has is an error, at or above that of two a warning;
- one port to several congested egresses: the group may hold n x Kmin while nothing is marked. Kmin above half
  of T(1), which two egresses reach, is a warning;
- on a switch with two ports that pause, one to the other: Kmin at T(1) or above is a warning.

B is that of one part where the chip divides its buffer, as all senders may come in by ports of one part; for the first
bound, senders are spread over the parts. Where the number of parts is unknown and the result depends on it, the rule is
not checked.

Kmin below all of these is necessary for a quiet fabric and not sufficient, so the rule never calls one safe.

## Why it breaks a lossless fabric
Senders that see no marks do not slow down. PFC is then the only control: pauses propagate hop by hop, and
victim flows wait behind the congestion.

## Bad
```json config_db base=leaf
{
  "BUFFER_POOL": {"ingress_lossless_pool": {
    "size": "3000000"
  }},
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_min_threshold": "819200",   // <- here
    "green_max_threshold": "1200000"
  }}
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    ecn:
      min: 20 MB   # <- here
      max: 25 MB
```

## Good
```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_min_threshold": "819200",
    "green_max_threshold": "1200000"
  }}
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}
```

## Fix
Lower Kmin below T(1) / 2, or give the lossless groups a larger alpha.

## Sources
- Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 4 (fan-out bound)
- Choudhury and Hahne, Dynamic queue length thresholds, 1998 (T of m groups)
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


_FAN_OUT = "a port that feeds two congested egresses"
_ALONE = "a port that has the pool to itself"


def check(view: View) -> Results:
    """Yield a violation per ECN curve that may not begin to mark before PFC pauses."""
    return tightest_curves(view, _ranked)


def _ranked(view: View, ports: PortSet, marking: EcnMarking) -> tuple[tuple[float, ...], Violation] | None:
    """Return the violation of one curve with its rank, None where Kmin is below the bytes held at XOFF in each case."""
    reach = marking.trigger.threshold_bytes(1)
    if marking.fan_in >= 2 and marking.kmin_bytes >= marking.trigger.egress_bytes(2):
        # The egress holds more with more senders: a Kmin too high for all of them is too high for two.
        if marking.kmin_bytes >= marking.trigger.most_egress_bytes(marking.fan_in):
            return (0, reach), _never_first(view, ports, marking)
        return (1, reach), _incast(view, ports, marking)
    if marking.fan_out >= 2 and 2 * marking.kmin_bytes > reach:
        return (2, reach), _at_reach(view, ports, marking, _FAN_OUT)
    if marking.kmin_bytes >= reach:
        return (3, reach), _at_reach(view, ports, marking, _ALONE)
    return None


def _never_first(view: View, ports: PortSet, marking: EcnMarking) -> Violation:
    holds = int(marking.trigger.most_egress_bytes(marking.fan_in))
    violation = _marking_starts_after_pfc(
        view, ports, marking, "no incast on this switch is marked before PFC pauses it"
    )
    note = f"{marking.fan_in} senders pause when the egress holds {format_bytes(holds)}; {violation.note}"
    return violation._replace(note=note, severity="error")


def _incast(view: View, ports: PortSet, marking: EcnMarking) -> Violation:
    holds = int(marking.trigger.egress_bytes(2))
    return _marking_starts_after_pfc(
        view, ports, marking, f"two senders to one port pause at {format_bytes(holds)}, before the first mark"
    )


def _at_reach(view: View, ports: PortSet, marking: EcnMarking, who: str) -> Violation:
    """Return the violation of a port that pauses at the XOFF threshold of a single group, before the first mark."""
    reach = format_bytes(int(marking.trigger.threshold_bytes(1)))
    return _marking_starts_after_pfc(view, ports, marking, f"{who} pauses at {reach}, before the first mark")


def _marking_starts_after_pfc(view: View, ports: PortSet, marking: EcnMarking, what: str) -> Violation:
    reach, pair = marking.trigger.threshold_bytes(1), marking.trigger.egress_bytes(2)
    return Violation(
        origin=threshold_origin(view, marking.wred, "min"),
        message=f"Kmin {format_bytes(marking.kmin_bytes)}: {what}",
        note=f"T(1) = {format_bytes(int(reach))} and 2 x T(2) = {format_bytes(int(pair))} "
        f"in a pool of {shared_pool(marking)}",
        help=f"lower Kmin below {format_bytes(int(reach / 2))}, or {raised_alpha(view, ports)}",
        data={"kmin_bytes": marking.kmin_bytes, **margins(marking, marking.kmin_bytes)},
    ).on_ports(ports)
