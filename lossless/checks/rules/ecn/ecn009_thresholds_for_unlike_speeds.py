"""Links of very different speed need ECN thresholds of their own.

Severity: info
Confidence: medium
Subject: fabric

## What it does
Looks for one marking curve on lossless queues of ports whose speeds differ by more than a factor of two, and reports
the queuing delay at Kmin on the slowest and the fastest.

## Why it breaks a lossless fabric
The same bytes are four times the delay at 25G that they are at 100G. Thresholds that mark in time on the fast links
allow long queues on the slow ones; thresholds for the slow links make senders on the fast links slow down for a queue
that is gone in microseconds.

## Bad
```json config_db base=leaf
{
  "PORT": {"Ethernet0": {"speed": "100000"}},
  "BUFFER_PROFILE": {"pg_lossless_100000_5m_profile": {
    "pool": "ingress_lossless_pool", "size": "133120", "xon": "19456", "xoff": "113664", "dynamic_th": "0"
  }},
  "BUFFER_PG": {"Ethernet0|3": {"profile": "pg_lossless_100000_5m_profile"}},
  "WRED_PROFILE": {
    "AZURE_LOSSLESS": {   // <- here
      "ecn": "ecn_all"
    }
  }
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    ecn:   # <- here
      min: 400 KiB
topology:
  leaf_spine:
    host_links: 2 x 200G
```

## Good
```yaml intent base=leaf-spine
classes:
  rdma:
    ecn:
      by_speed:
        200G: {min: 200 KiB, max: 800 KiB, probability: 20%}
topology:
  leaf_spine:
    host_links: 2 x 200G
```

## Fix
Give each speed a curve: `by_speed` in an intent, a WRED profile per speed on a switch.

## Sources
- alibaba-edu/High-Precision-Congestion-Control simulation/run.py @9f4be2a (Kmin and Kmax grow with the rate)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.ecn.wred_profiles import in_reach, marking_uses
from lossless.checks.rules.locations import places
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from lossless.checks.rules.ecn.wred_profiles import WredUse
    from lossless.model.fabric.view import View

_IDENTICAL = 2
"""The largest ratio of speeds that may share a curve."""


def check(view: View) -> Results:
    """Yield a violation per marking curve, with a Kmin that queues can reach, on ports whose speeds differ over 2:1."""
    for use in marking_uses(view):
        speeds = {ports.speed_bps for ports in use.sets}
        if len(speeds) < 2 or not in_reach(use, use.wred.green):
            continue
        known_bps = sorted(speed for speed in speeds if speed)
        if len(known_bps) < len(speeds):
            yield MissingInput(
                "the port's speed is not known", places([ports for ports in use.sets if not ports.speed_bps])
            )
        if known_bps and known_bps[-1] > _IDENTICAL * known_bps[0] and use.wred.green.min_bytes:
            yield _thresholds_for_unlike_speeds(view, use, use.wred.green.min_bytes, known_bps)


def _thresholds_for_unlike_speeds(view: View, use: WredUse, kmin_bytes: int, speeds: list[int]) -> Violation:
    slow, fast = (kmin_bytes * 8e6 / speed for speed in (speeds[0], speeds[-1]))
    names = [format_rate(speed) for speed in speeds]
    return Violation(
        origin=use.wred.origin,
        message=f"one ECN curve serves {' and '.join([', '.join(names[:-1]), names[-1]])}: "
        f"Kmin {kmin_bytes:,} B is {slow:.0f} us of queue at {names[0]}, {fast:.0f} us at {names[-1]}",
        note="thresholds that work at one speed are published in proportion to it",
        help="state by_speed under ecn"
        if view.fabric.declared
        else "bind a WRED profile of its own per speed",
        data={"min_bytes": kmin_bytes, "speeds_bps": list(speeds)},
    ).on_ports(*use.sets)
