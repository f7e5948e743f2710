"""A switch of a tree must not have less bandwidth up than down, nor a half of a subnet, unless the intent declares it.

Severity: error
Subject: subnet

## What it does
Adds up, for each leaf of a fat tree or dragonfly+, the rates of the links to compute and storage hosts and of those to
the tier above, each one way, and compares their ratio with the `oversubscription` that the intent accepts (1 where none
is stated). In a tree of three tiers it does so for the tier in the middle too. Links that no product can have count as
declared. Where all tiers pass, the bandwidth between one half of these hosts and the other is compared too, computed as
by `lossless topology`, and for switches that are listed too: a dragonfly+ with too few global links, uplinks that add
up but lead to different spines, or a torus whose hosts send more than passes the middle of a side, are a warning that
names the halves. Of switches that are listed, so is one whose hosts send more than its own links to the others carry,
which a half with spare links can hide.

## Why it breaks a lossless fabric
Credits stop every sender whose packets wait for a full uplink, and behind it those that do not even use it. Collectives
across leaves run at the uplinks' share, below the rate of the adapters.

## Bad
```yaml intent base=infiniband
topology:
  fat_tree:
    uplinks: 1 x NDR   # <- here
```

```yaml intent base=infiniband
topology:
  fat_tree: null
  dragonfly_plus:   # <- here
    groups: 4
    leaves: 2
    spines: 2
    hosts_per_leaf: 4
    host_links: 1 x NDR
    uplinks: 2 x NDR
    global_links: 1 x NDR
  hosts: {storage1: null}
subnet_manager: {routing: {engine: dfsssp, roots: null}}
partitions: {storage: null}
jobs: null
```

```yaml intent base=infiniband
topology:
  fat_tree: null
  torus:   # <- here
    sides: [4, 4]
    links: 1 x NDR
    hosts_per_switch: 4
    host_links: 1 x NDR
  hosts: {sm1: {at: sw-0-0}, sm2: {at: sw-2-2}, storage1: null}
subnet_manager: {routing: {engine: dfsssp, roots: null}}
partitions: {storage: null}
jobs: null
```

## Good
```yaml intent base=infiniband
topology:
  fat_tree:
    uplinks: 1 x NDR
  oversubscription: 2.5
```

```yaml intent base=infiniband
topology:
  fat_tree: null
  torus:
    sides: [4, 4]
    links: 2 x NDR
    hosts_per_switch: 2
    host_links: 1 x NDR
  hosts: {sm1: {at: sw-0-0}, sm2: {at: sw-2-2}, storage1: null}
subnet_manager: {routing: {engine: dfsssp, roots: null}}
partitions: {storage: null}
jobs: null
```

## Fix
Add uplinks until the ratio is 1:1, or state `oversubscription` where the ratio is meant.

## Sources
- arithmetic: the sum of link rates, one way; the maximum flow between two halves of the hosts
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from lossless.analysis.topology.bisection import Bisection, bisection
from lossless.analysis.topology.shapes import grid_name
from lossless.analysis.topology.subnet import LOADING, subnet_fabric, switch_loads
from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import NO_TOPOLOGY, hcas, hosts, links, shape, switches
from lossless.ground.basics.records import Unknown
from lossless.ground.basics.units import format_capacity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.analysis.topology.subnet import SwitchLoad
    from lossless.model.fabric.infiniband.subnet import Subnet, SubnetShape


def check(subnet: Subnet) -> Results:
    """Yield a violation per switch whose oversubscription exceeds the declared ratio, else one for two halves of hosts.

    Of tori, and of topologies that are listed link by link, the tiers are left out.
    """
    if isinstance(subnet.links, Unknown):
        yield NO_TOPOLOGY
        return
    if isinstance(subnet.shape, Unknown):
        return
    accepted = subnet.shape.oversubscription
    over = {
        name: load
        for name, load in switch_loads(subnet).items()
        if shape(subnet) is not None and load.down_bps > load.up_bps * accepted
    }
    for name, load in over.items():
        yield _leaf_oversubscribed(name, load, accepted)
    fabric = subnet_fabric(subnet)
    across = bisection(fabric.links, fabric.cut_orders) if not over else None
    cuts = _cut_off(subnet, accepted) if subnet.shape.kind == "explicit" else []
    worst = max((_ratio(cut) for cut in cuts), default=0.0)
    if across is not None and _ratio(across) > accepted and _ratio(across) >= worst:
        placed = {name: switch.coordinates for name, switch in switches(subnet).items()}
        yield _halves_apart(subnet.shape, across, [_named(half, placed) for half in (across.a, across.b)])
        return
    for cut in cuts:
        yield _halves_apart(subnet.shape, cut, [cut.a[0], "the other switches"])._replace(
            note="all links of the switch to other switches", elements=cut.a
        )


def _ratio(across: Bisection) -> float:
    return across.host_bps / across.bps if across.bps else math.inf if across.host_bps else 0.0


def _cut_off(subnet: Subnet, accepted: float) -> list[Bisection]:
    """Return a cut for each switch whose hosts send more to the others than its links to other switches carry."""
    below, out = Counter[str](), Counter[str]()
    loading = {hca.name for hca in hcas(subnet).values() if hosts(subnet)[hca.host].role in LOADING}
    for link in links(subnet):
        if not link.to_hca:
            out.update({link.a: link.rate.bits_per_second, link.b: link.rate.bits_per_second})
        elif link.b in loading:
            below[link.a] += link.rate.bits_per_second
    cuts = [
        Bisection(
            out[name],
            min(bps, below.total() - bps),
            (name,),
            tuple(other for other in below if other != name),
            least=False,
        )
        for name, bps in below.items()
    ]
    return [cut for cut in cuts if _ratio(cut) > accepted]


def _named(half: Sequence[str], placed: Mapping[str, tuple[int, ...]]) -> str:
    """Return the name of a half: of a torus the switches with one coordinate in common, as ``sw-*-0 .. sw-*-3``."""
    if not all(name == grid_name(placed.get(name, ())) for name in half):
        return f"{half[0]} .. {half[-1]}" if len(half) > 1 else half[0]
    inside = {placed[name] for name in half}
    for side in range(len(placed[half[0]])):
        cut = {at[side] for at in inside}
        whole = {at for at in placed.values() if at and at[side] in cut}
        if whole == inside and len(cut) < len({at[side] for at in placed.values() if at}):
            stars = ["*"] * len(placed[half[0]])
            ends = [
                "-".join(["sw", *stars[:side], str(at), *stars[side + 1 :]]) for at in (min(cut), max(cut))
            ]
            return ends[0] if len(cut) == 1 else f"{ends[0]} .. {ends[1]}"
    return f"{half[0]} .. {half[-1]} ({len(half)} switches)"


def _halves_apart(topology: SubnetShape, across: Bisection, names: Sequence[str]) -> Violation:
    accepted, ratio = topology.oversubscription, _ratio(across)
    declared = f", {accepted:g}:1 is declared" if accepted > 1 else ""
    return Violation(
        origin=topology.origin,
        message=f"{format_capacity(across.bps)} lead from {names[0]} to {names[1]} for "
        f"{format_capacity(across.host_bps)} of hosts, {ratio:.3g}:1{declared}",
        note="the most that any routing can carry between these halves",
        help="add links between the halves"
        + (f"; to accept it, state oversubscription: {math.ceil(ratio * 100) / 100:g}" if across.bps else ""),
        data={"bps": across.bps, "host_bps": across.host_bps, "a": [*across.a], "b": [*across.b]},
        severity="warning",
    )


def _leaf_oversubscribed(name: str, load: SwitchLoad, accepted: float) -> Violation:
    ratio = load.down_bps / load.up_bps
    declared = f", {accepted:g}:1 is declared" if accepted > 1 else ""
    return Violation(
        origin=load.origin,
        message=f"links up carry {format_capacity(load.up_bps)} for {format_capacity(load.down_bps)} from below, "
        f"{ratio:g}:1{declared}",
        help=f"add links until they carry {format_capacity(load.down_bps)}; "
        f"to accept it, state oversubscription: {math.ceil(ratio * 100) / 100:g}",
        elements=(name,),
        data={"ratio": round(ratio, 3), "down_bps": load.down_bps, "up_bps": load.up_bps},
    )
