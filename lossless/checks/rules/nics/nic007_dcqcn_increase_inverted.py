"""Hyper increase must be no slower than additive increase.

Severity: warning
Subject: intent, hosts

## What it does
Compares `rpg_ai_rate` with `rpg_hai_rate` where either is stated. Their size is a matter of tuning and is not
checked, nor are the NIC's defaults.

## Why it breaks a lossless fabric
Additive increase raises the rate in small steps after congestion, hyper increase then takes bandwidth that became free.
With the two sizes inverted, senders jump up right after a cut, into the same queue, and crawl once it is empty.

## Bad
```yaml intent base=leaf-spine
congestion_control:
  dcqcn:
    rpg_ai_rate: 500M   # <- here
```

## Good
```yaml intent base=leaf-spine
congestion_control:
  dcqcn: {rpg_ai_rate: 80M, rpg_hai_rate: 800M}
```

## Fix
Scale both: defaults are 5 and 50 Mb/s.

## Sources
- IEEE 802.1Qau, 30.2 (R_AI and R_HAI of the reaction point)
- Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015 (additive, then hyper increase)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.nics.dcqcn_parameters import running
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host whose step of additive increase is larger than that of hyper increase."""
    for dcqcn in running(view):
        additive, hyper = (dcqcn.values.get(name) for name in ("rpg_ai_rate", "rpg_hai_rate"))
        if additive is None or hyper is None or additive <= hyper:
            continue
        steps = [format_rate(mbps * 10**6) for mbps in (additive, hyper)]
        yield Violation(
            origin=dcqcn.at("rpg_ai_rate", "rpg_hai_rate"),
            message=f"rpg_ai_rate {steps[0]} is above rpg_hai_rate {steps[1]}: hyper increase is the slower one",
            help=f"make rpg_hai_rate {format_rate(10 * additive * 10**6)}, ten times rpg_ai_rate as by default",
            elements=dcqcn.hosts,
            data={"rpg_ai_rate_mbps": additive, "rpg_hai_rate_mbps": hyper},
        )
