"""Routes of lossless traffic must have no valley.

Severity: warning
Subject: intent, devices

## What it does
Computes the paths between all switches with hosts, without devices and links out of service, and after all failures to
tolerate (`failures`: any one link or any one switch, by default). With `policy: shortest-path` it looks for valleys:
paths that go up again after going down, longer ones with `extra_hops` among them. With `policy: up-down`, which forbids
valleys, it looks for connected switches that have no path left. Where a valley closes a cyclic buffer dependency,
TOP005 reports that instead. Without `topology.routing`, up-down routing is assumed and nothing is reported.
Configurations of several switches are not checked: where the switches above have different ASNs, BGP alone does not
prevent a valley, and route maps are not in CONFIG_DB.

## Why it breaks a lossless fabric
As long as all packets go up first and then down, there is no cyclic buffer dependency (CBD). Every valley adds a
dependency from a down link to an up link, and one more failure may close the cycle. It stays unnoticed: routing finds
the path by itself, and traffic flows until the queues on it are full.

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
Keep switches from announcing upwards the routes that they learned from above, and provide enough links that no valley
is needed.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2 (up-down routes have no
  cyclic buffer dependency)
- RFC 4271, section 9.1.2 (a route with one's own ASN in its path is refused)
- S. Hu et al., Deadlocks in Datacenter Networks: Why Do They Form, and How to Avoid Them, HotNets 2016 (routes after
  a failure can close a cycle)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.topology.buffer_cycles import once_failed, routing_of, spelled_hops
from lossless.checks.rules.topology.deployed_routing import deployed_routing, unlike_above

if TYPE_CHECKING:
    from lossless.analysis.routing.failures import VerdictAfterFailures
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.deployed_devices import DeployedDevices
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation where stated routes have a valley, or no up-down path is left; none where TOP005 fires."""
    fabric_routing, routing = routing_of(view), view.fabric.routing
    if fabric_routing is None or routing is None or fabric_routing.outcome.cycle:
        return
    if fabric_routing.outcome.valley:
        at = routing.origin.at("extra_hops" if fabric_routing.extra_hops else "policy")
        yield _turns(at, fabric_routing.outcome.valley, fabric_routing.extra_hops)
    elif routing.policy == "up-down" and fabric_routing.outcome.lost:
        yield _lost(routing.origin, fabric_routing.outcome.lost)


def across(devices: DeployedDevices) -> Results:
    """Yield a missing input where deployed switches may have valleys: route maps are in no file."""
    routing = deployed_routing(devices)
    if routing is None or not routing.joined or routing.tierless:
        return
    names = unlike_above(routing)
    if names:
        many = f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]
        yield MissingInput(
            f"valleys at {many}: the switches above have different ASNs, and route maps are not in CONFIG_DB; "
            "add an intent with topology.routing",
            len(names),
        )


def _turns(origin: Origin, case: VerdictAfterFailures, extra_hops: int) -> Violation:
    above, at, *between, up = case.verdict.valley or ("", "", "")
    longer = f"with up to {spelled_hops(extra_hops)}, " if extra_hops else ""
    return Violation(
        origin=origin,
        message=f"{once_failed(case.failed)}{longer}routes have a valley: {' -> '.join((above, at, *between, up))}",
        note="no cyclic buffer dependency yet: further failures or another valley can close one",
        help="set policy: up-down, and provide enough links for an up-down path between all leaves",
        elements=(at, *between),
        places=1,
        data={"switches": [above, at, *between, up], "failed": [str(failure) for failure in case.failed]},
    )


def _lost(origin: Origin, case: VerdictAfterFailures) -> Violation:
    near, far = case.verdict.lost or ("", "")
    return Violation(
        origin=origin,
        message=f"{once_failed(case.failed)}there is no up-down path from {near} to {far}, though links connect them",
        note="traffic between them is dropped, or takes a valley",
        help="add links, or state fewer failures to tolerate under `failures`",
        elements=(near, far),
        places=1,
        data={"switches": [near, far], "failed": [str(failure) for failure in case.failed]},
    )
