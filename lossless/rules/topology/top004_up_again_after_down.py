"""Lossless packets must not go up again after they went down.

## What it does
Works out which way packets go between all switches with hosts, with what is out of service (`failed`) and after up to
`survive` more failures of links and switches. With `policy: shortest-path` it looks for switches that send up again
what came to them from above. With `policy: up-down`, where that is forbidden, it looks for switches that are joined
and have no way left. Where that closes a circle of buffers, TOP005 says so instead. Without `topology.routing` packets
go up and then down, and there is nothing to look for.

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
    failed: [[leaf1, spine1], [leaf2, spine2]]
```

## Good
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    leaves: 3
  routing:
    policy: shortest-path
    failed: [[leaf1, spine1]]
```

## Fix
Keep switches from announcing upwards what they learned from above, and have links enough that none need be.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2 (routes that go up and then down have no
  circle of buffers)
- S. Hu et al., Tagger: Practical PFC Deadlock Prevention in Data Center Networks, CoNEXT 2017 (packets that are
  rerouted around failures go up again)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.rules.base import Gap, Hit, Rule
from lossless.rules.topology.waiting import after, routed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.fabric.view import View
    from lossless.findings import Origin
    from lossless.routing.failures import Seen

RULE = Rule(
    code="TOP004",
    name="up-again-after-down",
    severity="warning",
    summary="Lossless packets must not go up again after they went down",
    sources=(
        "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2",
        "S. Hu et al., Tagger, CoNEXT 2017",
    ),
)


def check(view: View) -> Iterator[Hit | Gap]:
    """Yield a hit where routes turn up again, or where only such routes are left."""
    found, routing = routed(view), view.fabric.routing
    if found is None or routing is None or found.outcome.circle:
        return
    if found.outcome.valley:
        yield _turns(routing.origin.at("policy"), found.outcome.valley)
    elif routing.policy == "up-down" and found.outcome.lost:
        yield _lost(routing.origin, found.outcome.lost)


def _turns(origin: Origin, seen: Seen) -> Hit:
    above, at, *between, up = seen.verdict.valley or ("", "", "")
    across = f", cross to {' and '.join(between)}" if between else ""
    return Hit(
        origin=origin,
        message=f"{after(seen.failed)}packets come down from {above} to {at}{across} and go up again to {up}",
        note="no circle of buffers closes yet; further failures or another such switch can close one",
        help="policy: up-down, and links enough that it leads everywhere",
        elements=(at, *between),
        data={"switches": [above, at, *between, up], "failed": [str(strike) for strike in seen.failed]},
    )


def _lost(origin: Origin, seen: Seen) -> Hit:
    near, far = seen.verdict.lost or ("", "")
    return Hit(
        origin=origin,
        message=f"{after(seen.failed)}no way leads up and then down from {near} to {far}, though links join them",
        note="what is sent between them is dropped, or goes up again after it went down",
        help="more links, or fewer failures to survive",
        elements=(near, far),
        data={"switches": [near, far], "failed": [str(strike) for strike in seen.failed]},
    )
