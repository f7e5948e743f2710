"""Jobs must not send on one service level where the routing engine gives each path its own.

Severity: error
Subject: subnet

## What it does
With QoS on, checks torus-2QoS, dfsssp, lash and nue with several lanes, which avoid credit loops by the service level
of each path, together with the level that jobs are set to. Routes of torus-2QoS are computed and followed on that one
level: a credit loop is an error. Rings of four have none. The other engines cannot be computed here: except on a fat
tree they are a warning, and `lossless opensm` decides.

## Why it breaks a lossless fabric
Every program that opens a connection has to query the subnet manager for the level of its path and to use it. NCCL
sends no query: all its queue pairs have the level of NCCL_IB_SL. On one level all paths share the lanes of that level,
and the rings of the torus become credit loops. No single level is right there.

## Bad
```yaml intent base=infiniband
topology:
  fat_tree: null
  torus: {sides: [5, 5], links: 2 x NDR, hosts_per_switch: 1, host_links: 1 x NDR}
  hosts: null
subnet_manager:
  hosts: [{on: host1, priority: 10}, {on: host2, priority: 5, standby: true}]
  routing: {engine: torus-2QoS, roots: null}
qos: {vls: 8, levels: {rest: {sl: 0, vl: 0, low: 32}, training: null, storage: null}}
partitions: null
sharp: null
jobs: {level: rest, partition: null, environment: null}   # <- here
```

## Good
```yaml intent base=infiniband
topology:
  fat_tree: null
  torus: {sides: [5, 5], links: 2 x NDR, hosts_per_switch: 1, host_links: 1 x NDR}
  hosts: null
subnet_manager:
  hosts: [{on: host1, priority: 10}, {on: host2, priority: 5, standby: true}]
  routing: {engine: nue, roots: null}
  options: {nue_max_num_vls: 1}
qos: {vls: 8, levels: {rest: {sl: 0, vl: 0, low: 32}, training: null, storage: null}}
partitions: null
sharp: null
jobs: {level: rest, partition: null, environment: null}
```

## Fix
Route by an engine whose paths have no credit loop on one lane, as nue with `nue_max_num_vls 1`; or leave `jobs` out
where all jobs ask for the level of each path, as those do that connect by rdma_cm.

## Sources
- linux-rdma/opensm doc/current-routing.txt @aae42c6 (torus-2QoS: all applications must perform a path record query;
  dfsssp, a.2; nue, b and c)
- NVIDIA/nccl src/transport/net_ib.cc @02aedae (ah_attr.sl = NCCL_IB_SL)
- opensm 3.3.23 on simulated tori, run: tables of torus-2QoS followed on SL 0 have a credit loop with sides of 5 and 6,
  and none with sides of 3 and 4
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.routing.infiniband.engines import (
    Lanes,
    credit_loop,
    hop_texts,
    subnet_graph,
    torus_routes,
)
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import is_on, number, shape
from lossless.checks.rules.locations import beside
from lossless.model.fabric.infiniband.derived_policy import SL_IS_LANE, TORUS_ENGINE
from lossless.model.fabric.infiniband.subnet import job_level

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Severity
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where QoS is on and the paths of jobs, all on one service level, have a credit loop or may."""
    engine, level, topology = subnet.routing.engine, job_level(subnet), shape(subnet)
    one_lane = engine == "nue" and number(subnet, "nue_max_num_vls") == 1
    if level is None or engine not in (TORUS_ENGINE, *SL_IS_LANE) or one_lane or not is_on(subnet, "qos"):
        return
    if engine != TORUS_ENGINE:
        if topology is None or topology.kind != "fat-tree":
            yield _job_ignores_path_level(subnet, level, (), "warning")
        return
    graph = subnet_graph(subnet)
    routed = graph if isinstance(graph, str) else torus_routes(graph, subnet, halfway=False)
    if isinstance(graph, str) or isinstance(routed, str):
        yield MissingInput(f"whether jobs have a credit loop on one level: {routed}")
        return
    routes, lanes = routed
    if loop := credit_loop(graph, routes, Lanes(lambda _hca, _column: level, lanes.lane)):
        yield _job_ignores_path_level(subnet, level, hop_texts(graph, loop))


def _job_ignores_path_level(
    subnet: Subnet, level: int, loop: tuple[str, ...], severity: Severity | None = None
) -> Violation:
    assert subnet.job is not None
    engine, here = subnet.routing.engine, subnet.job.origin
    closes = f": a credit loop of {len(loop)} hops" if loop else ""
    return Violation(
        origin=here,
        message=f"jobs send on SL {level} alone, and {engine} chooses the SL of each path{closes}",
        note="; ".join(loop) if loop else "NCCL asks the manager for no path: its lanes are not kept apart",
        help="route by nue with nue_max_num_vls 1, or leave jobs out where they ask for the SL of each path",
        data={"engine": engine, "sl": level, "loop": list(loop)},
        related=beside(here, (subnet.routing.origin, "the routing engine")),
        severity=severity,
    )
