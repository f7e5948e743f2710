"""Routes must have no credit loop.

Severity: error
Subject: subnet

## What it does
Computes the routes of minhop, updn and dor as opensm computes them, all paths that ftree, ar_ftree and ar_updn may
take, and the routes and lanes of torus-2QoS. From them it builds the channel dependency graph and looks for a cycle (a
credit loop); a shortest one is shown hop by hop. The routes of lash, dfsssp, nue and of NVIDIA's other engines cannot
be computed here and are not checked. `lossless opensm` decides on the tables that a real opensm writes.

## Why it breaks a lossless fabric
InfiniBand drops no packet because a buffer is full: it stays in its buffer until the next switch has credits. In a
credit loop every buffer waits for credits of the next. Once all of them are full no packet moves, until packets exceed
`head_of_queue_lifetime` and are discarded; then the loop fills again.

## Bad
```yaml intent base=infiniband
topology:
  fat_tree: null
  torus: {sides: [5, 5], links: 2 x NDR, hosts_per_switch: 1, host_links: 1 x NDR}
  hosts: null
subnet_manager:
  hosts: [{on: host1, priority: 10}, {on: host2, priority: 5, standby: true}]
  routing:
    roots: null
    engine: dor   # <- here
partitions: null
sharp: null
jobs: null
```

## Good
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
jobs: null
```

## Fix
Route a torus by `torus-2QoS` with `qos TRUE` and at least two lanes (eight, `max_op_vls 4`, for all that it can do), a
tree by `updn` or `ftree` with its top switches as roots, anything else by `dfsssp` or `lash` with lanes to spare, or by
`nue`.

## Sources
- W. Dally and C. Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection Networks, IEEE Transactions on
  Computers C-36(5), 1987: no cycle of waiting, no deadlock
- linux-rdma/opensm opensm/osm_ucast_mgr.c @917070c, osm_switch.c @8ae061c, osm_ucast_updn.c @9b50961 (which port an
  address gets)
- opensm 3.3.23 on simulated fabrics, run: the tables computed here are the ones it dumps, entry by entry
- torus-2QoS(8), of opensm 3.3.23
- NVIDIA, InfiniBand Cluster Bring-up Procedure, Adaptive Routing (in trees a packet takes any port of fewest hops)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.routing.infiniband.credit_loops import subnet_verdict
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import NO_TOPOLOGY, shape, switches
from lossless.checks.rules.locations import beside

if TYPE_CHECKING:
    from lossless.analysis.routing.infiniband.credit_loops import CreditLoopVerdict
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where routes have a credit loop without a cause that IB002 or IB004 reports.

    Where a loop is neither found nor excluded, a missing input.
    """
    if not switches(subnet):
        yield NO_TOPOLOGY
        return
    verdict = subnet_verdict(subnet)
    if verdict.state == "unproven":
        yield MissingInput(f"credit loops are neither found nor excluded: {verdict.why}")
    elif verdict.state == "loop" and not _skipped(subnet, verdict):
        yield _credit_loop(subnet, verdict)


def _skipped(subnet: Subnet, verdict: CreditLoopVerdict) -> bool:
    """Return whether another rule reports the cause: opensm skips an engine that the shape or its lanes do not suit.

    IB002 reports shapes with rings, IB004 the lanes of torus-2QoS.
    """
    topology, engine = shape(subnet), subnet.routing.engine
    return (
        engine not in (None, verdict.engine)
        and topology is not None
        and topology.kind in ("torus", "dragonfly-plus")
    )


def _credit_loop(subnet: Subnet, verdict: CreditLoopVerdict) -> Violation:
    here = subnet.routing.origin if subnet.routing.engines else subnet.origin
    topology = shape(subnet)
    return Violation(
        origin=here,
        message=f"{verdict.engine} routes have a credit loop of {len(verdict.loop)} hops",
        note="; ".join((*verdict.loop, verdict.why)),
        help=_help(subnet),
        elements=tuple(hop.partition(" ")[0] for hop in verdict.loop),
        data={"engine": verdict.engine, "loop": list(verdict.loop)},
        related=beside(here, (topology.origin if topology else None, "the topology")),
        # The calculation follows upstream's opensm; NVIDIA's may break ties between ports in another way.
        confidence="high" if subnet.flavour == "upstream" else "medium",
    )


def _help(subnet: Subnet) -> str:
    topology = shape(subnet)
    if topology is not None and topology.kind == "torus":
        return "route by torus-2QoS, with qos TRUE and max_op_vls 4"
    if topology is not None and topology.kind == "fat-tree":
        return "route by updn or ftree, with the switches of the top tier as roots"
    return "route by nue, or by dfsssp or lash with lanes to spare"
