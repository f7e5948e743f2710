"""No cable should be there that the intent does not declare.

Severity: warning
Subject: cabling

## What it does
Where an intent is compared with files of cables (`lossless topology INTENT --from FILE`), looks for cables at ports of
declared switches that the intent leaves free. Cables between devices that the intent does not have are not checked, and
neither are those at ports for management.

## Why it breaks a lossless fabric
The traffic of such a link is in no calculation. It can bring load that no port below was sized for, have no headroom
for its length, or create a valley.

## Bad
```csv cabling beside=leaf-spine.yaml
leaf1,Ethernet256,leaf2,Ethernet256   # <- here
```

## Good
```csv cabling beside=leaf-spine.yaml
leaf1,mgmt0,oob-switch,1/0/17
```

## Fix
Declare the cable, or pull it.

## Sources
- S. Hu et al., Deadlocks in Datacenter Networks: Why Do They Form, and How to Avoid Them, HotNets 2016 (links that
  routing did not plan for)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.links.cabling import devices_of, named, related
from lossless.ground.basics.findings import Origin, grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.subjects import FabricCabling
    from lossless.model.fabric.cabling import ReportedCable


def check(cabling: FabricCabling) -> Results:
    """Yield a violation per pair of devices with undeclared cables between them."""
    for cables in grouped((devices_of(cable), cable) for cable in cabling.comparison.strange).values():
        yield _cable_not_declared(cabling, cables)


def _cable_not_declared(cabling: FabricCabling, cables: Sequence[ReportedCable]) -> Violation:
    fabric = cabling.view.fabric
    first, second = devices_of(cables[0])
    return Violation(
        origin=cables[0].origin,
        message=f"{len(cables):,} cables between {first} and {second} are not declared"
        if len(cables) > 1
        else f"{cables[0].name} is not declared",
        help="declare it under topology, or pull it; --exclude leaves a device out of the comparison",
        elements=named(cables),
        data={"cables": list(named(cables))},
        related=related(Origin(fabric.sources[0], ("topology",), "key"), "what is declared"),
    )
