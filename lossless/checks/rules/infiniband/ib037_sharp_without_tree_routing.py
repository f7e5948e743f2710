"""SHARP needs routes that follow a tree.

Severity: warning
Confidence: medium
Subject: subnet

## What it does
Looks for SHARP beside a routing engine that neither routes along a tree nor supports SHARP by itself, as far as known.

## Why it breaks a lossless fabric
The aggregation manager lays its trees along the routes, and finds them where these go up to a root and down again.
Without such routes jobs reduce over the hosts.

## Bad
```yaml intent base=infiniband
flavour: nvidia
subnet_manager:
  routing:
    engine: dfsssp   # <- here
    roots: off
sharp: {manager: sm1}
```

## Good
```yaml intent base=infiniband
flavour: nvidia
subnet_manager: {routing: {engine: updn}}
sharp: {manager: sm1}
```

## Fix
Route by updn or ftree, or by the adaptive engines made of them.

## Sources
- HPC-X, its own check of a deployment of SHARP looks for `routing_engine ... updn` (seen in third-party copies)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import OWN_ENGINE, TREE_ENGINES, active_sharp
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


OWN_SUPPORT = ("dfp", "dfp2", "kdor-hc", "kdor-ghc", "pqft", "chain", "auto", "file")
"""Engines with a support for SHARP of their own, or with unknown support.

sharp_am knows trees, hypercubes and dragonfly+ (TopologyType in agg_types.h of sharp 3.6.0, ssbandjl/doca @cd5c46d).
"""


def check(subnet: Subnet) -> Results:
    """Yield a violation where SHARP is on and the engine neither routes along a tree nor supports it by itself."""
    engine, sharp = subnet.routing.engine, active_sharp(subnet)
    if sharp is None or engine in (*TREE_ENGINES, *OWN_SUPPORT):
        return
    if engine is None and subnet.flavour != "upstream":
        yield OWN_ENGINE
        return
    here = subnet.routing.origin if engine else sharp.origin
    yield Violation(
        origin=here,
        message=f"{engine or 'minhop, which opensm takes by itself,'} knows no tree for SHARP to follow",
        help="route by updn or ftree",
        data={"engine": engine},
        related=() if here.place == sharp.origin.place else (RelatedPlace(sharp.origin, "SHARP"),),
    )
