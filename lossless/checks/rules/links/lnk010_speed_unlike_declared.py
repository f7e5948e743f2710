"""Links must have the speed that the intent declares.

Severity: error
Subject: cabling

## What it does
Where an intent is compared with files of cables (`lossless topology INTENT --from FILE`), compares the declared speed
with the speed of a cable in a sheet, or the configured speed of an interface in an export of NetBox. The fastest speed
of an interface type is not a configured speed.

## Why it breaks a lossless fabric
A cable or module for another speed does not come up, or comes up slower: the rest of the tier is oversubscribed, and
headroom is that of another speed.

## Bad
```csv cabling beside=leaf-spine.yaml
a device,a port,b device,b port,speed
leaf1,Ethernet32,spine1,Ethernet0,800G
leaf1,Ethernet40,spine1,Ethernet8,400G   # <- here
```

## Good
```csv cabling beside=leaf-spine.yaml
a device,a port,b device,b port,speed
leaf1,Ethernet32,spine1,Ethernet0,800G
leaf1,Ethernet40,spine1,Ethernet8,800GbE
```

## Fix
Declare the speed that the links have, or change the cables.

## Sources
- IEEE 802.3, clause 73: without auto-negotiation both ends must be set to the same rate
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.links.cabling import named, related
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.topology.cabling_comparison import CablePair
    from lossless.checks.rules.subjects import FabricCabling


def check(cabling: FabricCabling) -> Results:
    """Yield a violation per declared link speed and other speed that was found for its cables."""
    by_speed = grouped(
        ((pair.planned.origin, found_bps), pair)
        for pair in cabling.comparison.pairs
        if (found_bps := pair.actual.speed_bps) is not None and found_bps != pair.planned.speed_bps
    )
    for (_, found_bps), pairs in by_speed.items():
        yield _speed_unlike_declared(found_bps, pairs)


def _speed_unlike_declared(found_bps: int, pairs: Sequence[CablePair]) -> Violation:
    planned, actual = pairs[0]
    there, wanted = format_rate(found_bps), format_rate(planned.speed_bps)
    what = f"{len(pairs):,} links have" if len(pairs) > 1 else f"{planned.name} has"
    return Violation(
        origin=actual.origin,
        message=f"{what} {there}, not {wanted}",
        help=f"declare {there}, or change what is plugged",
        elements=named([pair.planned for pair in pairs]),
        data={"found_bps": found_bps, "declared_bps": planned.speed_bps},
        related=related(planned.origin, f"{wanted} is declared"),
    )
