"""Lossless packets must not go up again after they went down.

Severity: warning

## What it does
Works out which way packets go between all switches with hosts, without what is out of service, and after all other
failures that must be borne (`failures`: any one link or any one switch, where nothing else is stated). With
`policy: shortest-path` it looks for switches that send up again what came to them from above. With `policy: up-down`,
where that is forbidden, it looks for switches that are joined and have no way left. Where that closes a circle of
buffers, TOP005 says so instead. Without `topology.routing` packets go up and then down: nothing is looked for.
Configurations of several switches are not judged: where those above a switch have ASNs of their own, BGP alone does not
keep it from sending up again, and CONFIG_DB does not tell of route maps.

## Why it breaks a lossless fabric
As long as all packets go up first and then down, no two buffers can wait for each other. Every way that leads up again
is a step towards a circle in which each does, and one more failure may close it. It comes unseen: routing finds the
way by itself, and traffic flows, until the queues on it are full.

## Bad
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    leaves: 3
  routing:
    policy: shortest-path   # <- here
failures:
  out_of_service: [[leaf1, spine1], [leaf2, spine2]]
```

## Good
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    leaves: 3
  routing:
    policy: shortest-path
failures:
  out_of_service: [[leaf1, spine1]]
```

## Fix
Keep switches from announcing upwards what they learned from above, and have links enough that none need be.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2 (routes that go up and then down have no
  circle of buffers)
- RFC 4271, section 9.1.2 (a route with one's own ASN in its path is refused)
- S. Hu et al., Deadlocks in Datacenter Networks: Why Do They Form, and How to Avoid Them, HotNets 2016 (routes after
  a failure can close a circle)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.topology.buffer_cycles import once_failed, routing_of
from lossless.checks.rules.topology.deployed_routing import deployed_routing, unlike_above

if TYPE_CHECKING:
    from lossless.analysis.routing.failures import VerdictAfterFailures
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.deployed_devices import DeployedDevices
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation where routes turn up again, or where only such routes are left."""
    fabric_routing, routing = routing_of(view), view.fabric.routing
    if fabric_routing is None or routing is None or fabric_routing.outcome.cycle:
        return
    if fabric_routing.outcome.valley:
        yield _turns(routing.origin.at("policy"), fabric_routing.outcome.valley)
    elif routing.policy == "up-down" and fabric_routing.outcome.lost:
        yield _lost(routing.origin, fabric_routing.outcome.lost)


def across(devices: DeployedDevices) -> Results:
    """Yield a missing input where deployed switches may send up again, unless what is in no file keeps them from it."""
    routing = deployed_routing(devices)
    if routing is None or not routing.joined or routing.tierless:
        return
    names = unlike_above(routing)
    if names:
        many = f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]
        yield MissingInput(
            f"whether {many} send{'s' if len(names) == 1 else ''} up again what came from above: switches above have "
            "ASNs of their own, and route maps are not in CONFIG_DB; an intent with topology.routing says it",
            len(names),
        )


def _turns(origin: Origin, case: VerdictAfterFailures) -> Violation:
    above, at, *between, up = case.verdict.valley or ("", "", "")
    across = f", cross to {' and '.join(between)}" if between else ""
    return Violation(
        origin=origin,
        message=f"{once_failed(case.failed)}packets come down from {above} to {at}{across} and go up again to {up}",
        note="no circle of buffers closes yet; further failures or another such switch can close one",
        help="policy: up-down, and links enough that it leads everywhere",
        elements=(at, *between),
        places=1,
        data={"switches": [above, at, *between, up], "failed": [str(failure) for failure in case.failed]},
    )


def _lost(origin: Origin, case: VerdictAfterFailures) -> Violation:
    near, far = case.verdict.lost or ("", "")
    return Violation(
        origin=origin,
        message=f"{once_failed(case.failed)}no way leads up and then down from {near} to {far}, though links join them",
        note="what is sent between them is dropped, or goes up again after it went down",
        help="more links; or state under `failures` that fewer must be borne",
        elements=(near, far),
        places=1,
        data={"switches": [near, far], "failed": [str(failure) for failure in case.failed]},
    )
