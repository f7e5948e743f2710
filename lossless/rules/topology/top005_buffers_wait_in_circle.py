"""Buffers must not be able to wait for each other in a circle.

## What it does
Works out which way packets go between all switches with hosts, and so which ingress buffer of which priority waits
for which other. Then it looks for a circle: with what is out of service (`failed`), with switches that `bounce`, and
after up to `survive` more failures of links and switches, of which it looks at every kind or, where they are too many,
at 300 drawn at random. The smallest circle is shown link by link. Bounces of dual ToRs count in their second priority.
Without `topology.routing` packets go up and then down, and nothing fails; where that leads not everywhere, as in a
torus, nothing is judged. Devices that are configured elsewhere (`outside`) send and take packets; how they forward is
not known, and where that could close a circle it is counted as not judged.

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
    failed: [[leaf1, spine1], [leaf2, spine2]]
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
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2
- sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md @12d907f (two ToRs that bounce, and the second priority)
- J. A. Hanley and A. Lippman-Hand, JAMA 249(13), 1983 (none of n: at most 3/n, with 95 % confidence)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.findings import Related
from lossless.routing.failures import DRAWN
from lossless.rules.base import Gap, Hit, Rule
from lossless.rules.topology.waiting import (
    UNSTATED,
    after,
    buffers,
    circle_in_words,
    ports_in_words,
    priorities,
    routed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.fabric.routing import Named, Routing
    from lossless.fabric.view import View
    from lossless.routing.failures import Seen

RULE = Rule(
    code="TOP005",
    name="buffers-wait-in-circle",
    severity="error",
    summary="Buffers must not be able to wait for each other in a circle",
    sources=(
        "S. Hu et al., Deadlocks in Datacenter Networks, HotNets 2016",
        "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2",
        "sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md @12d907f",
    ),
)


def check(view: View) -> Iterator[Hit | Gap]:
    """Yield a hit for the smallest circle, after as few failures as it takes."""
    found, routing = routed(view), view.fabric.routing
    if found is None:
        return
    if found.unknown:
        yield Gap(UNSTATED)
    elif found.outcome.circle and routing:
        yield _hit(view, routing, found.outcome.circle)
    elif beyond := found.beyond:
        yield Gap(beyond)
    elif found.outcome.drawn:
        yield Gap(
            f"failures are too many to look at each; of {DRAWN} drawn none closes a circle: with 95 % confidence at "
            f"most {3 * 100 / DRAWN:g} in 100 do"
        )


def _hit(view: View, routing: Routing, seen: Seen) -> Hit:
    circle = seen.verdict.circle
    up = {hop.near for hop in circle if hop.up_again}
    blamed = [one for one in routing.bounce if one.names[0] in up]
    return Hit(
        origin=blamed[0].origin if blamed else routing.origin.at("policy"),
        message=f"{after(seen.failed)}buffers wait for each other in a circle of {len(circle)} links, in "
        f"{priorities(view)}: {circle_in_words(circle)}",
        note=ports_in_words(circle),
        help=_help(blamed),
        elements=buffers(circle),
        places=len(circle),
        data={
            "links": [f"{hop.from_port} {hop.to_port}" for hop in circle],
            "failed": [*map(str, seen.failed)],
        },
        related=tuple(Related(one.origin, "it bounces too") for one in blamed[1:]),
    )


def _help(blamed: list[Named]) -> str:
    if not blamed:
        return "policy: up-down; or keep lossless classes off routes that go up again"
    return "send bounced packets back in a priority of their own, as dual ToRs do, or drop them"
