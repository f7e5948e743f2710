"""Subnets that one host is in, or that routers join, must have prefixes of their own.

Severity: warning
Subject: subnets

## What it does
Compares the prefixes of all subnets of intents that are checked together; a subnet without one has the default.

## Why it breaks a lossless fabric
The prefix is the upper half of every address. Addresses do not distinguish two subnets with the same one: a host with
an adapter in each tries paths that do not exist, libraries warn or choose the wrong rail, and a router cannot join them
at all.

## Bad
```yaml intent base=infiniband beside=infiniband
fabric: rail2
subnet_manager:   # <- here
  options: {sweep_interval: 10}
```

## Good
```yaml intent base=infiniband beside=infiniband
subnet_manager:
  prefix: "0xfe80000000000001"
```

## Fix
State a prefix of its own for each subnet; `0xfe80000000000000` may stay for one.

## Sources
- InfiniBand specification 1.2.1, 4.1.1 (a GID is the prefix of the subnet and the GUID of the port)
- opensm 3.3.23, run: without a statement the prefix is 0xfe80000000000000
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import RelatedPlace, grouped
from lossless.ground.basics.units import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import Subnet


DEFAULT_PREFIX = 0xFE80_0000_0000_0000
"""The prefix of a subnet whose manager has no configured one (opensm 3.3.23, run)."""


def check(subnets: Sequence[Subnet]) -> Results:
    """Yield a violation per prefix that several declared subnets have.

    Files of managers are left out: two of them may be of one subnet, its master and its standby.
    """
    declared = (subnet for subnet in subnets if subnet.provenance == "intent")
    by_prefix = grouped(
        ((DEFAULT_PREFIX if subnet.subnet_prefix is None else subnet.subnet_prefix), subnet)
        for subnet in declared
    )
    yield from (
        _subnet_prefix_shared(prefix, sharing) for prefix, sharing in by_prefix.items() if len(sharing) > 1
    )


def _subnet_prefix_shared(prefix: int, subnets: list[Subnet]) -> Violation:
    first, *others = subnets
    return Violation(
        origin=_stated(first),
        message=f"{joined((subnet.name for subnet in subnets), 4)} all have the prefix {prefix:#018x}",
        note="hosts and routers cannot tell them apart",
        help="state a prefix of its own for each",
        elements=tuple(subnet.name for subnet in subnets),
        data={"prefix": prefix},
        related=tuple(RelatedPlace(_stated(other), f"that of {other.name}") for other in others),
    )


def _stated(subnet: Subnet) -> Origin:
    return subnet.origin if subnet.subnet_prefix is None else subnet.origin.at("prefix")
