"""A switch of a tree must not have less bandwidth up than down, unless the intent says so.

Severity: error

## What it does
Adds up, for each leaf of a fat tree or dragonfly+, the rates of the links to compute and storage hosts and of those
to the tier above, each one way, and compares their ratio with the `oversubscription` that the intent accepts (1
where it says nothing). In a tree of three tiers it does so for the tier in the middle too. Links that no product
can have count as declared.

## Why it breaks a lossless fabric
Credits stop every sender whose packets wait for a full uplink, and behind it those that do not even use it.
Collectives across leaves run at the uplinks' share, whatever the adapters can do.

## Bad
```yaml intent base=infiniband
topology:
  fat_tree:
    uplinks: 1 x NDR   # <- here
```

## Good
```yaml intent base=infiniband
topology:
  fat_tree:
    uplinks: 1 x NDR
  oversubscription: 2.5
```

## Fix
Add uplinks until the ratio is 1:1, or state `oversubscription` where the ratio is meant.

## Sources
- arithmetic: the sum of link rates, one way
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import NO_TOPOLOGY, hcas, hosts, links, shape, switches
from lossless.ground.basics.known import Unknown
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_capacity

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import Subnet


class SwitchLoad(NamedTuple):
    """What a switch carries one way, and where its links up are written."""

    down_bps: int
    up_bps: int
    origin: Origin


def check(subnet: Subnet) -> Results:
    """Yield a violation per kind of switch whose oversubscription exceeds what is declared."""
    if isinstance(subnet.links, Unknown):
        yield NO_TOPOLOGY
        return
    topology = shape(subnet)
    if topology is None or topology.kind == "torus":
        return
    for name, load in _loads(subnet).items():
        if load.down_bps > load.up_bps * topology.oversubscription:
            yield _violation(name, load, topology.oversubscription)


def _loads(subnet: Subnet) -> dict[str, SwitchLoad]:
    """Return what each switch that has links up carries."""
    down: dict[str, int] = {}
    up: dict[str, int] = {}
    written: dict[str, Origin] = {}
    tiers = {name: switch.tier for name, switch in switches(subnet).items()}
    loading = _loading(subnet)
    for link in links(subnet):
        rate_bps = link.rate.bits_per_second
        if link.to_hca:
            down[link.a] = down.get(link.a, 0) + (rate_bps if link.b in loading else 0)
            continue
        lower, upper = sorted((link.a, link.b), key=lambda name: tiers[name] or 0)
        if tiers[lower] != tiers[upper]:
            up[lower] = up.get(lower, 0) + rate_bps
            down[upper] = down.get(upper, 0) + rate_bps
            written[lower] = link.origin
    return {name: SwitchLoad(down.get(name, 0), up[name], origin) for name, origin in written.items()}


def _loading(subnet: Subnet) -> set[str]:
    """Return the adapters of hosts that compute or store: managers ask little of links."""
    roles = {name: host.role for name, host in hosts(subnet).items()}
    return {name for name, hca in hcas(subnet).items() if roles[hca.host] != "management"}


def _violation(name: str, load: SwitchLoad, accepted: float) -> Violation:
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
