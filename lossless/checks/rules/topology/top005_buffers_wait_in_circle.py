"""Buffers must not be able to wait for each other in a circle.

Severity: error

## What it does
Works out which way packets go between all switches with hosts, and so which ingress buffer of which priority waits
for which other. Then it looks for a circle: with switches that `bounce`, without what is out of service, and after
all other failures that must be borne (`failures`: any one link or any one switch, where nothing else is stated), of
which it looks at every kind or, where they are too many, at 300 drawn at random. The smallest circle is shown link by
link. Bounces of dual ToRs count in their second priority.
Without `topology.routing` packets go up and then down, and nothing fails; where that leads not everywhere, as in a
torus, nothing is judged. Devices that are configured elsewhere (`outside`) send and take packets; how they forward is
not known, and where that could close a circle it is counted as not judged.

Configurations of several switches are judged in the same way: by `DEVICE_NEIGHBOR`, ports in service and the tier of
each switch (by its neighbors, else by its type: ToRRouter, LeafRouter, SpineRouter), with dual ToRs that bounce in the
same priority. Where who is joined to whom or the tier of a switch is not known, nothing is judged.

## Why it breaks a lossless fabric
A switch that pauses waits until the next one takes what it holds. If those that wait form a circle and their queues
are full, each waits for itself: nothing moves, on these links and soon on all that lead there, and nothing moves again
when the load is gone. Only the watchdog ends it, by dropping what was to be lossless.

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

## Good
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    leaves: 4
    dual_tor: on
```

## Fix
Route up and then down. Where packets must bounce, give them a priority of their own on the way back, as dual ToRs do.

## Sources
- S. Hu et al., Deadlocks in Datacenter Networks: Why Do They Form, and How to Avoid Them, HotNets 2016 (a circle of
  buffers is necessary for a deadlock, and not sufficient)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2 (one that did stand still)
- sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md @12d907f (two ToRs that bounce, and the second priority)
- arithmetic: where 1 % of all cases close a circle, 300 drawn at random show none with probability 0.99^300, 5 %
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.routing.dependencies import routing_verdict
from lossless.analysis.routing.failures import DRAWN
from lossless.checks.rules.base import Gap, Hit, Results
from lossless.checks.rules.topology.buffer_cycles import (
    UNSTATED,
    after,
    buffers,
    circle_in_words,
    ports_in_words,
    priorities,
    routed,
)
from lossless.checks.rules.topology.deployed_routing import UNJOINED, deployed, nowhere, unknown_tiers
from lossless.ground.basics.findings import Related

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.routing.dependencies import CycleHop
    from lossless.analysis.routing.failures import VerdictAfterFailures
    from lossless.checks.rules.topology.deployed_routing import DeployedRouting
    from lossless.model.fabric.deployed_devices import DeployedDevices
    from lossless.model.fabric.routing import FabricElement, Routing
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a hit for the smallest circle, after as few failures as it takes."""
    fabric_routing, routing = routed(view), view.fabric.routing
    if fabric_routing is None:
        return
    if fabric_routing.unknown:
        yield Gap(UNSTATED)
    elif fabric_routing.outcome.cycle and routing:
        yield _hit(view, routing, fabric_routing.outcome.cycle)
    elif beyond := fabric_routing.beyond:
        yield Gap(beyond)
    elif fabric_routing.outcome.drawn:
        yield Gap(
            f"failures are too many to look at each; of {DRAWN} drawn none closes a circle: with 95 % confidence at "
            f"most {3 * 100 / DRAWN:g} in 100 do"
        )


def across(devices: DeployedDevices) -> Results:
    """Yield a hit for the smallest circle between deployed switches; what they do not tell is not judged."""
    routing = deployed(devices)
    if routing is None:
        return
    if not routing.joined:
        yield Gap(UNJOINED)
    elif routing.tierless:
        yield from map(Gap, unknown_tiers(routing))
    else:
        verdict = routing_verdict(routing.wires, routing.question)
        if verdict.cycle:
            yield _deployed_hit(routing, verdict.cycle)
        elif verdict.lost:
            yield Gap(nowhere(*verdict.lost))


def _deployed_hit(routing: DeployedRouting, circle: Sequence[CycleHop]) -> Hit:
    up = list(dict.fromkeys(hop.near for hop in circle if hop.up_again))
    places = [place for name in up if (place := routing.devices[name].bounce) is not None]
    return Hit(
        origin=places[0],
        message=f"buffers wait for each other in a circle of {len(circle)} links: {circle_in_words(circle)}",
        note=ports_in_words(circle),
        help="enable tunnel_qos_remap on both: 3 comes back in 2, and 4 in 6",
        elements=buffers(circle),
        data={"links": [f"{hop.from_port} {hop.to_port}" for hop in circle], "failed": []},
        related=tuple(Related(place, "it bounces too") for place in places[1:]),
        confidence="medium",
    )


def _hit(view: View, routing: Routing, seen: VerdictAfterFailures) -> Hit:
    circle = seen.verdict.cycle
    up = {hop.near for hop in circle if hop.up_again}
    blamed = [one for one in routing.bounce if one.names[0] in up]
    return Hit(
        origin=blamed[0].origin if blamed else routing.origin.at("policy"),
        message=f"{after(seen.failed)}buffers wait for each other in a circle of {len(circle)} links, in "
        f"{priorities(view)}: {circle_in_words(circle)}",
        note=ports_in_words(circle),
        help=_help(blamed),
        elements=buffers(circle),
        data={
            "links": [f"{hop.from_port} {hop.to_port}" for hop in circle],
            "failed": [*map(str, seen.failed)],
        },
        related=tuple(Related(one.origin, "it bounces too") for one in blamed[1:]),
        conclusive=False,
    )


def _help(blamed: list[FabricElement]) -> str:
    if not blamed:
        return "policy: up-down; or keep lossless classes off routes that go up again"
    return "send bounced packets back in a priority of their own, as dual ToRs do, or drop them"
