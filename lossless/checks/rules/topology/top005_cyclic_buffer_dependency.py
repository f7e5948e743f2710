"""Routes of lossless traffic must have no cyclic buffer dependency.

Severity: error
Subject: intent, devices

## What it does
Computes the paths between all switches with hosts, and from them the dependencies between ingress buffers of each
priority. Then it looks for a cycle (a cyclic buffer dependency, CBD): with switches that `bounce`, without devices and
links out of service, and after all failures to tolerate (`failures`: any one link or any one switch, by default). It
checks every kind of failure or, where there are too many, 300 random ones. The smallest cycle is shown link by link.
Bounces of dual ToRs count in their second priority.

With `extra_hops` it follows every path of up to so many hops more than the shortest, as non-minimal adaptive routing
may take; no packet turns straight back. Adaptive routing among equal paths takes the paths that a hash may choose for
some flow, so `load_balancing` changes nothing.

Without `topology.routing`, up-down routing and no failures are assumed; where that does not reach every switch, as in a
torus, nothing is checked. Devices that are configured elsewhere (`outside`) send and receive packets; how they forward
is unknown, and where that could close a cycle it is counted as not checked.

Configurations of several switches are checked in the same way: by `DEVICE_NEIGHBOR`, ports in service and the tier of
each switch (by its neighbors, else by its type: ToRRouter, LeafRouter, SpineRouter), with dual ToRs that bounce in the
same priority. Without known neighbors or the tier of a switch, nothing is checked.

## Why it breaks a lossless fabric
A paused switch cannot drain its queue until the next one has room. If the paused links form a cycle and their queues
are full, no link can resume: that is a PFC deadlock. Traffic stops on these links and soon on all that lead there, and
does not resume when the load is gone. Only the watchdog ends it, by dropping lossless packets.

## Bad
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    leaves: 4
  routing:
    bounce:
      - leaf1   # <- here
      - leaf3
```
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    leaves: 4
  routing:
    policy: shortest-path   # <- here
failures:
  out_of_service: [[leaf1, spine1], [leaf2, spine2]]
```
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    leaves: 4
  routing:
    policy: shortest-path
    extra_hops: 2   # <- here
```

## Good
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    leaves: 4
    dual_tor: on
```
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    leaves: 4
  routing:
    policy: up-down
    extra_hops: 2
```

## Fix
Use up-down routing: longer paths that go up and then down close no cycle either. Where packets must bounce, return them
in a separate priority, as dual ToRs do.

## Sources
- S. Hu et al., Deadlocks in Datacenter Networks: Why Do They Form, and How to Avoid Them, HotNets 2016 (a cyclic
  buffer dependency is necessary for a deadlock, and not sufficient)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2 (a deadlock that happened)
- Dally and Seitz, Deadlock-free message routing in multiprocessor interconnection networks, IEEE Transactions on
  Computers, 1987 (routes are free of deadlock if the dependencies of their channels have no cycle)
- sonic-net/SONiC doc/ARS/Local_ARS_HLD.md @98de38f (next hops with the role alternative_path, beside those of equal
  cost)
- draft-agt-rtgwg-dragonfly-routing-01 (IP networks with non-minimal routes)
- sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md @12d907f (two ToRs that bounce, and the second priority)
- arithmetic: where 1 % of all cases close a cycle, 300 random ones show none with probability 0.99^300, 5 %
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.routing.dependencies import routing_verdict
from lossless.analysis.routing.failures import DRAWN
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.topology.buffer_cycles import (
    UNSTATED,
    cycle_violation,
    lossless_priorities,
    once_failed,
    routing_of,
    spelled_hops,
)
from lossless.checks.rules.topology.deployed_routing import (
    UNJOINED,
    deployed_routing,
    no_up_down_path,
    unknown_tiers,
)
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.routing.dependencies import CycleHop
    from lossless.analysis.routing.failures import VerdictAfterFailures
    from lossless.checks.rules.topology.buffer_cycles import FabricRouting
    from lossless.checks.rules.topology.deployed_routing import DeployedRouting
    from lossless.ground.basics.findings import Json
    from lossless.model.fabric.cabling import Routing
    from lossless.model.fabric.deployed_devices import DeployedDevices
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation for the smallest cyclic buffer dependency, after the fewest failures that it needs."""
    fabric_routing, routing = routing_of(view), view.fabric.routing
    if fabric_routing is None:
        return
    if fabric_routing.unknown:
        yield MissingInput(UNSTATED)
    elif fabric_routing.outcome.cycle and routing:
        yield _cyclic_buffer_dependency(view, routing, fabric_routing, fabric_routing.outcome.cycle)
    elif beyond := fabric_routing.beyond:
        yield MissingInput(beyond)
    elif fabric_routing.outcome.drawn:
        yield MissingInput(
            f"too many failures to check each; none of {DRAWN} random ones closes a cycle: with 95 % confidence at "
            f"most {3 * 100 / DRAWN:g} % do"
        )


def across(devices: DeployedDevices) -> Results:
    """Yield a violation for the smallest cyclic buffer dependency of deployed switches, or the missing input."""
    routing = deployed_routing(devices)
    if routing is None:
        return
    if not routing.joined:
        yield MissingInput(UNJOINED)
    elif routing.tierless:
        yield from map(MissingInput, unknown_tiers(routing))
    else:
        verdict = routing_verdict(routing.wires, routing.question)
        if verdict.cycle:
            yield _deployed_violation(routing, verdict.cycle)
        elif verdict.lost:
            yield MissingInput(no_up_down_path(*verdict.lost))


def _deployed_violation(routing: DeployedRouting, cycle: Sequence[CycleHop]) -> Violation:
    up = list(dict.fromkeys(hop.near for hop in cycle if hop.up_again))
    places = [place for name in up if (place := routing.devices[name].bounce) is not None]
    return cycle_violation(
        places[0],
        f"cyclic buffer dependency of {len(cycle)} links",
        cycle,
        "enable tunnel_qos_remap on both ToRs: priority 3 returns in 2, and 4 in 6",
    )._replace(
        data={"links": _links(cycle), "failed": []},
        related=tuple(RelatedPlace(place, "this switch bounces packets too") for place in places[1:]),
        confidence="medium",
    )


def _cyclic_buffer_dependency(
    view: View, routing: Routing, fabric_routing: FabricRouting, case: VerdictAfterFailures
) -> Violation:
    cycle, extra_hops = case.verdict.cycle, fabric_routing.extra_hops
    up = {hop.near for hop in cycle if hop.up_again}
    bouncing = [bounce for bounce in routing.bounce if bounce.names[0] in up]
    longer = f"over paths with up to {spelled_hops(extra_hops)}, " if extra_hops else ""
    return cycle_violation(
        bouncing[0].origin if bouncing else routing.origin.at("extra_hops" if extra_hops else "policy"),
        f"{once_failed(case.failed)}{longer}cyclic buffer dependency of {len(cycle)} links in "
        f"{lossless_priorities(view)}",
        cycle,
        "return bounced packets in a separate priority, as dual ToRs do, or drop them"
        if bouncing
        else _other_paths(fabric_routing, valley=bool(up)),
    )._replace(
        data={"links": _links(cycle), "failed": [*map(str, case.failed)]},
        related=tuple(
            RelatedPlace(bounce.origin, "this switch bounces packets too") for bounce in bouncing[1:]
        ),
        conclusive=False,
    )


def _other_paths(routing: FabricRouting, *, valley: bool) -> str:
    """Return the help: the routing settings by which paths close no cycle."""
    shortest_do = routing.shortest is not None and not routing.shortest.cycle
    if shortest_do and not valley:
        return "set extra_hops: 0, or keep lossless classes off the longer paths"
    other = "extra_hops: 0" if shortest_do else "keep lossless classes off routes with a valley"
    return f"set policy: up-down, or {other}"


def _links(cycle: Sequence[CycleHop]) -> list[Json]:
    return [f"{hop.from_port} {hop.to_port}" for hop in cycle]
