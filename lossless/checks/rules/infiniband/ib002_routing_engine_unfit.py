"""The routing engine must fit the topology.

Severity: error
Subject: subnet

## What it does
Compares the engine with the declared shape. It is an error where opensm is known to fall back to minhop (ftree on a
torus, updn without roots on any shape but a tree, torus-2QoS on any shape but a torus), or where shortest paths on a
ring of five or more close a cycle; otherwise a warning, and information where a fat tree is routed by plain shortest
paths. A torus whose shortest paths are computed and have no credit loop, as those of dor on rings of three, is healthy.

## Why it breaks a lossless fabric
On a torus, shortest paths in one direction of a ring form a credit loop: once its buffers are full no packet moves
until some are discarded. An engine that cannot route the topology is skipped, with a line in the log, and minhop takes
its place.

## Bad
```yaml intent base=infiniband
topology:
  fat_tree: null
  dragonfly_plus:
    groups: 3
    leaves: 2
    spines: 2
    hosts_per_leaf: 2
    host_links: 1 x NDR
    uplinks: 2 x NDR
    global_links: 4 x NDR
  hosts:
    sm1: {at: leaf1, links: 1 x NDR, role: management}
    sm2: {at: leaf2, links: 1 x NDR, role: management}
    storage1: {at: leaf3, links: 1 x NDR, role: storage}
subnet_manager:
  routing:
    roots: off
    engine: updn   # <- here
```

```yaml intent base=infiniband
subnet_manager:
  routing:
    engine: minhop   # <- here
    roots: off
sharp: off
```

## Good
```yaml intent base=infiniband
topology:
  fat_tree: null
  torus:
    sides: [5, 5]
    links: 3 x NDR
    hosts_per_switch: 2
    host_links: 1 x NDR
  hosts:
    sm1: {at: sw-1-1, links: 1 x NDR, role: management}
    sm2: {at: sw-1-2, links: 1 x NDR, role: management}
    storage1: {at: sw-1-3, links: 1 x NDR, role: storage}
sharp: off
qos: {vls: 8}
subnet_manager:
  routing:
    roots: off
    engine: torus-2QoS
jobs: null
```

## Fix
Route fat trees by ftree or updn, tori by torus-2QoS, and dragonflies by dfsssp, nue or an adaptive engine of
NVIDIA's.

## Sources
- opensm 3.3.23 on a simulated fabric, run: on a torus `ERR AB2B: Found more than one root` (ftree) and `disabling
  UPDN algorithm, no root nodes were found`, on a dragonfly+ the latter; then `minhop tables configured on all
  switches`
- the same, run on all tori of two dimensions with sides of 2 to 6: dor has a credit loop where a side is 4 or more,
  and none on sides of 2 and 3
- opensm(8), of opensm 3.3.23, ROUTING
- torus-2QoS(8), of opensm 3.3.23
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.routing.infiniband.credit_loops import subnet_verdict
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import NO_TOPOLOGY, OWN_ENGINE, shape
from lossless.checks.rules.locations import beside
from lossless.ground.basics.records import Unknown

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Severity
    from lossless.model.fabric.infiniband.subnet import Subnet, SubnetShape


SHORTEST_PATHS = ("minhop", "sssp", "dor")
"""Engines that do not prevent credit loops; dor has none on meshes, but on rings: opensm(8)."""
ANYWHERE = ("lash", "dfsssp", "nue", "dnup")
"""Engines that route any topology: opensm(8)."""
_NO_RELAY = 3
CYCLE = 5
"""The shortest ring on which shortest paths always close a cycle: each switch then sends two hops one way."""


def check(subnet: Subnet) -> Results:
    """Yield a violation where the routing engine does not fit the topology of the subnet."""
    if isinstance(subnet.shape, Unknown):
        yield NO_TOPOLOGY
        return
    topology = shape(subnet)
    if not subnet.routing.engines and subnet.flavour != "upstream":
        yield OWN_ENGINE
        return
    engine = subnet.routing.engine or "minhop"
    if topology is None or engine in ANYWHERE:
        return
    if engine == "file":
        yield MissingInput("routes that are read from a file")
        return
    verdict = {"fat-tree": _tree, "torus": _torus, "dragonfly-plus": _dragonfly}[topology.kind](
        subnet, topology, engine
    )
    if verdict is not None:
        yield _routing_engine_unfit(subnet, topology, engine, verdict)


def _routing_engine_unfit(
    subnet: Subnet, topology: SubnetShape, engine: str, verdict: tuple[Severity, str, str]
) -> Violation:
    severity, problem, instead = verdict
    here = subnet.routing.origin if subnet.routing.engines else subnet.origin
    return Violation(
        origin=here,
        message=f"{engine if subnet.routing.engines else 'minhop, which opensm takes by itself,'} {problem}",
        help=f"route by {instead}",
        data={"engine": engine, "shape": topology.kind},
        related=beside(here, (topology.origin, "the topology")),
        severity=severity,
    )


def _tree(_subnet: Subnet, _topology: SubnetShape, engine: str) -> tuple[Severity, str, str] | None:
    if engine == "torus-2QoS":
        return "error", "finds no torus in a fat tree: opensm takes minhop instead", "ftree or updn"
    if engine in SHORTEST_PATHS:
        problem = (
            "has nothing that keeps a fat tree free of cycles once links fail, and spreads paths less evenly"
        )
        return "info", problem, "ftree or updn"
    return None


def _torus(subnet: Subnet, topology: SubnetShape, engine: str) -> tuple[Severity, str, str] | None:
    severity: Severity
    if engine == "ftree":
        return "error", "cannot route a torus: opensm takes minhop instead", "torus-2QoS"
    if engine == "updn" and subnet.routing.roots is None:
        return "error", "finds no roots in a torus: opensm takes minhop instead", "torus-2QoS"
    if engine in SHORTEST_PATHS:
        ring, verdict = max(topology.sides), subnet_verdict(subnet).state
        # On a ring of three each switch is next to the others, so that dor never takes two hops along one side.
        if verdict == "free" or (verdict == "unproven" and engine == "dor" and ring <= _NO_RELAY):
            return None
        severity, verb = ("error", "has") if ring >= CYCLE else ("warning", "can have")
        return severity, f"{verb} credit loops on a torus with sides of {ring}", "torus-2QoS"
    return None


def _dragonfly(subnet: Subnet, _topology: SubnetShape, engine: str) -> tuple[Severity, str, str] | None:
    if engine == "torus-2QoS":
        return "error", "finds no torus in a dragonfly+: opensm takes minhop instead", "dfsssp or nue"
    if engine == "updn" and subnet.routing.roots is None:
        return "error", "finds no roots in a dragonfly+: opensm takes minhop instead", "dfsssp or nue"
    if engine in SHORTEST_PATHS:
        return "warning", "has nothing that keeps a dragonfly+ free of cycles", "dfsssp or nue"
    return None
