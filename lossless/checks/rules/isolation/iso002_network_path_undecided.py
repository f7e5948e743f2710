"""Every network of an intent needs a class or switches of its own.

Severity: warning
Subject: intent

## What it does
Checks the `networks` of an intent. One that is `on: fabric` needs a `class`: without one, the DSCP of each packet
decides its class, and unmarked packets are in the class of DSCP 0. Two networks must not claim the same prefix where
they take different paths: one on the fabric and one beside it, or in two classes.

## Why it breaks a lossless fabric
Storage without an assigned class ends up in the class of its packets' DSCP. If that class is lossless, storage pauses
the jobs; if it is best effort, storage starves behind all other traffic. In both cases its load is missing from every
capacity calculation.

## Bad
```yaml intent base=leaf-spine
networks:
  storage:   # <- here
    on: fabric
```

```yaml intent base=leaf-spine
networks:
  storage: {on: fabric, class: default}
  stores:
    on: separate
    prefixes: [10.20.0.0/16]   # <- here
```

## Good
```yaml intent base=leaf-spine
networks:
  storage: {on: fabric, class: default}
```

```yaml intent base=leaf-spine
networks:
  stores: {on: separate, prefixes: [10.21.0.0/16, 10.20.0.0/24]}
```

## Fix
Name the class, or put the network on switches of its own with `on: separate`; give each prefix to one network.

## Sources
- arithmetic: packets without a marking carry DSCP 0
- arithmetic: of two networks with the same prefix only one can be where the intent says
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Network
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per fabric network without a class, and per claim of a prefix that differs from the first."""
    for network in view.fabric.networks:
        if not network.separate and network.class_name is None:
            yield _without_class(view, network)
    yield from _claimed_twice(view)


def _without_class(view: View, network: Network) -> Violation:
    unmarked = view.fabric.classes.of_dscp(0)
    lossless = " lossless" if unmarked is not None and unmarked.lossless else ""
    ends_up = f": unmarked packets of it end up in{lossless} class {unmarked.name}" if unmarked else ""
    return Violation(
        origin=network.origin,
        message=f"network {network.name} shares the fabric and has no class{ends_up}",
        help=f"name one, as in class: {unmarked.name if unmarked else 'default'}; or on: separate",
        data={"network": network.name},
    )


def _claimed_twice(view: View) -> Iterator[Violation]:
    owners: dict[str, tuple[Network, Origin]] = {}
    for network in view.fabric.networks:
        for index, prefix in enumerate(network.prefixes):
            written = network.origin.at("prefixes")
            owner = owners.setdefault(_canonical(prefix), (network, written))
            if owner[0].name != network.name and _path(owner[0]) != _path(network):
                yield _network_path_undecided(
                    network, prefix, written if len(network.prefixes) == 1 else written.at(index), owner
                )


def _canonical(prefix: str) -> str:
    """Return one spelling of an IP prefix; the loader has checked that it is one."""
    from ipaddress import ip_network  # only intents with prefixes pay for it

    return str(ip_network(prefix))


def _path(network: Network) -> tuple[bool, str | None]:
    return network.separate, network.class_name


def _where(network: Network) -> str:
    return (
        "on switches of its own"
        if network.separate
        else f"on the fabric in class {network.class_name or 'none'}"
    )


def _network_path_undecided(
    network: Network, prefix: str, origin: Origin, owner: tuple[Network, Origin]
) -> Violation:
    first, first_origin = owner
    return Violation(
        origin=origin,
        message=f"{prefix} is network {network.name}'s, {_where(network)}, and network {first.name}'s, {_where(first)}",
        help="give the prefix to one of them",
        data={"prefix": prefix, "networks": [first.name, network.name]},
        related=(RelatedPlace(first_origin, f"the same prefix in network {first.name}"),),
    )
