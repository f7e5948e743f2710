"""Every switch on the way must have the generation of SHARP that jobs need.

Severity: error
Subject: subnet

## What it does
Compares the generation that the jobs need with that of each kind of switch.

## Why it breaks a lossless fabric
A tree is as capable as its oldest switch. One of the second generation reduces large messages for a single job;
where jobs count on more, they fall back to the hosts.

## Bad
```yaml intent base=infiniband
flavour: nvidia
sharp:
  manager: sm1
  needs: 4   # <- here
```

## Good
```yaml intent base=infiniband
flavour: nvidia
sharp: {manager: sm1, needs: 3}
```

## Fix
Use switches of the generation (QM8700: 2, QM9700: 3, Q3400: 4), or request the generation that they have.

## Sources
- the release notes and product pages of the switches, by way of their profiles
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import active_sharp, switches
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per switch whose generation of SHARP is older than the jobs need."""
    sharp = active_sharp(subnet)
    if sharp is None or sharp.needs is None:
        return
    for switch in switches(subnet).values():
        if switch.profile.sharp < sharp.needs:
            yield Violation(
                origin=sharp.origin.at("needs"),
                message=f"jobs need SHARP v{sharp.needs}, and the {switch.profile.product} has v{switch.profile.sharp}",
                help="use newer switches, or ask for what these have",
                elements=(switch.name,),
                data={"needs": sharp.needs, "has": switch.profile.sharp, "product": switch.profile.product},
                related=(RelatedPlace(switch.hardware_origin, f"what chooses the {switch.profile.product}"),),
            )
