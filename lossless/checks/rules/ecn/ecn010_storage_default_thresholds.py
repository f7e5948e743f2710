"""The ECN thresholds of stock SONiC are for storage networks, not for fast links.

Severity: warning
Confidence: medium
Subject: fabric

## What it does
Looks for the thresholds that stock SONiC ships, 1 MiB, 2 MiB and 5 %, on lossless queues of links of 200G and faster,
and reports their queuing delay there. Slower links are not checked.

## Why it breaks a lossless fabric
A threshold in bytes is another delay at every speed: 0.2 ms of queue at 40G are 21 us at 400G. The published experiment
with these values has two senders of 40G, one of them 1.77 ms away. Whether they mark early enough before PFC stops a
faster link, and late enough not to slow a collective down, depends on the fabric. Published thresholds
differ: NVIDIA's RoCE profile has 150,000 B, 1.43 MiB and 100 %, and no source says that one choice is right for
every fabric.

## Bad
```yaml intent base=leaf-spine
classes:
  rdma:
    ecn: {min: 1 MiB, max: 2 MiB, probability: 5%}   # <- here
```

```json config_db base=leaf
{
  "WRED_PROFILE": {
    "AZURE_LOSSLESS": {   // <- here
      "green_min_threshold": "1048576",
      "green_max_threshold": "2097152",
      "green_drop_probability": "5"
    }
  }
}
```

## Good
```yaml intent base=leaf-spine
classes:
  rdma:
    ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}
```

```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_min_threshold": "819200",
    "green_max_threshold": "3276800",
    "green_drop_probability": "20"
  }}
}
```

## Fix
Choose the thresholds for these links: `lossless tune` searches them for the workloads of the intent, and
`lossless simulate` shows what those in use do. Those of the example above are what examples/roce-256 has.

## Sources
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (the values)
- Bai et al., Empowering Azure Storage with RDMA, NSDI 2023, appendix B (1 MB, 2 MB and 5 %, the experiment)
- CumulusNetworks/docs, cumulus-linux-514, RDMA over Converged Ethernet (150,000 B, 1.43 MiB, 100 %)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.ecn.wred_profiles import pfc_only, uses
from lossless.checks.rules.locations import places
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from lossless.checks.rules.ecn.wred_profiles import WredUse
    from lossless.model.fabric.view import PortSet, View

_KMIN_BYTES, _KMAX_BYTES, _PMAX_PERCENT = 1024**2, 2 * 1024**2, 5
"""Kmin, Kmax and marking probability of stock SONiC."""
_FROM_BPS = 200 * 10**9
_TESTED_BPS = 40 * 10**9


def check(view: View) -> Results:
    """Yield a violation per WRED profile of lossless queues with the stock thresholds on links of 200G and faster.

    None where the intent states ``pfc-only``.
    """
    if pfc_only(view):
        return
    for use in uses(view):
        if not use.wred.marks or use.wred.green.thresholds != (_KMIN_BYTES, _KMAX_BYTES, _PMAX_PERCENT):
            continue
        unknown = [ports for ports in use.sets if ports.speed_bps is None]
        if unknown:
            yield MissingInput("the port's speed is not known", places(unknown))
        fast = [ports for ports in use.sets if ports.speed_bps and ports.speed_bps >= _FROM_BPS]
        if fast:
            yield _storage_default_thresholds(use, fast)


def _storage_default_thresholds(use: WredUse, fast: list[PortSet]) -> Violation:
    speeds = sorted({ports.speed_bps for ports in fast if ports.speed_bps})
    spans = ", ".join(f"{_span(speed_bps)} at {format_rate(speed_bps)}" for speed_bps in speeds)
    return Violation(
        origin=use.wred.origin,
        message=f"ECN marks from 1 MiB to 2 MiB with 5 %, stock SONiC's storage default: a queue of {spans}",
        note=f"the published experiment with them has senders of 40G, where they are {_span(_TESTED_BPS)}",
        help="choose them for this fabric: lossless tune searches thresholds for the workloads of an intent",
        data={
            "min_bytes": _KMIN_BYTES,
            "max_bytes": _KMAX_BYTES,
            "probability_percent": _PMAX_PERCENT,
            "min_us": {format_rate(s): _microseconds(_KMIN_BYTES, s) for s in speeds},
            "max_us": {format_rate(s): _microseconds(_KMAX_BYTES, s) for s in speeds},
        },
    ).on_ports(*fast)


def _span(speed_bps: int) -> str:
    low, high = (_microseconds(size, speed_bps) for size in (_KMIN_BYTES, _KMAX_BYTES))
    return f"{low:.0f} to {high:.0f} us"


def _microseconds(size_bytes: int, speed_bps: int) -> float:
    return round(size_bytes * 8 * 10**6 / speed_bps, 1)
