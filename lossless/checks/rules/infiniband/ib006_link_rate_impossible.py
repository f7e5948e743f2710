"""Both ends of an InfiniBand link must have its rate, and a switch as many ports as its links need.

Severity: error
Subject: subnet

## What it does
Compares the rate of every link with the rates of the adapter and of the switch at its ends, split ports (HDR100,
NDR200) included, and the ports that links need of a switch with those it has. A port is a logical one: an OSFP cage has
two. Slower generations than those of a product's profile are counted as not checked: no public source states them.

## Why it breaks a lossless fabric
A link runs at the fastest rate that both ends have: half of the planned rate, or less. The fabric is then
oversubscribed without a declaration, and credits stop the senders behind its slow links. A link without a port does not
exist.

## Bad
```yaml intent base=infiniband
hardware: {hca: connectx-6}
topology:
  hosts: null
  fat_tree:
    host_links: 1 x NDR   # <- here
subnet_manager: {hosts: [{on: host1, priority: 10}, {on: host8, priority: 5, standby: true}]}
partitions: {storage: null}
sharp: off
```

```yaml intent base=infiniband
hardware: {switch: nvidia-qm8700, hca: connectx-6}
topology:
  hosts: null
  fat_tree:
    hosts_per_leaf: 40
    host_links: 1 x HDR
    uplinks: 2 x HDR   # <- here
  oversubscription: 10
subnet_manager: {hosts: [{on: host1, priority: 10}, {on: host80, priority: 5, standby: true}]}
partitions: {storage: null}
sharp: off
```

## Good
```yaml intent base=infiniband
hardware: {switch: nvidia-qm8700, hca: connectx-6}
topology:
  hosts: null
  fat_tree:
    hosts_per_leaf: 20
    host_links: 1 x HDR100
    uplinks: 2 x HDR
  oversubscription: 2.5
subnet_manager: {hosts: [{on: host1, priority: 10}, {on: host40, priority: 5, standby: true}]}
partitions: {storage: null}
sharp: off
```

## Fix
Use adapters and switches of one generation, or state the rate that both have; spread the hosts over more leaves.

## Sources
- the products' manuals, by way of their profiles
- GPU Cluster Networking: InfiniBand, RoCE, RDMA (an article on cloud architecture): HDR adapters and a QM8790 at
  400 Gb/s
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import NO_TOPOLOGY, hcas, links, switches
from lossless.checks.rules.locations import beside
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.qos_policy import RATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.qos_policy import Rate
    from lossless.model.fabric.infiniband.subnet import Subnet, SubnetLink, SubnetPortDemand, SubnetSwitch


def check(subnet: Subnet) -> Results:
    """Yield violations on links with a rate that an end cannot have, and on switches with too few ports."""
    if isinstance(subnet.links, Unknown):
        yield NO_TOPOLOGY
        return
    nodes = switches(subnet)
    lacking = grouped(
        ((name, link.origin), link)
        for link in links(subnet)
        for name in (link.a, link.b)
        if name in nodes and link.rate.name not in nodes[name].profile.ports
    )
    for (name, _), of_place in lacking.items():
        profile, origin = nodes[name].profile, nodes[name].hardware_origin
        yield _lacking(of_place[0], name, profile.product, tuple(profile.ports), origin)
    yield from _adapters(subnet)
    impossible = {name for name, _ in lacking}
    for name, demand in grouped((demand.switch, demand) for demand in subnet.demand).items():
        if name not in impossible:
            yield from _ports(nodes[name], demand)


def _adapters(subnet: Subnet) -> Iterator[Violation | MissingInput]:
    adapters = hcas(subnet)
    for link in links(subnet):
        hca = adapters.get(link.b)
        if hca is not None and link.rate.name not in hca.profile.rates:
            yield _lacking(link, hca.name, hca.profile.product, hca.profile.rates, hca.hardware_origin)


def _lacking(
    link: SubnetLink, name: str, product: str, rates: tuple[str, ...], hardware: Origin
) -> Violation | MissingInput:
    """Return the violation of a rate with faster lanes than a product has; a missing input for any other rate."""
    if _lane_bps(link.rate) > max(_lane_bps(RATES[rate]) for rate in rates):
        return _link_rate_impossible(link, name, product, rates, hardware)
    return MissingInput(
        f"whether {_a(product)} has ports of {link.rate.name}, and how many: no public figure"
    )


def _lane_bps(rate: Rate) -> int:
    return rate.bits_per_second // rate.lanes


def _link_rate_impossible(
    link: SubnetLink, name: str, product: str, rates: tuple[str, ...], hardware: Origin
) -> Violation:
    return Violation(
        origin=link.origin,
        message=f"{_a(product)} has no port of {link.rate.name}; it has {', '.join(rates)}",
        help=f"use links of a rate it has, or a product with {link.rate.name}",
        elements=(name,),
        data={"rate": link.rate.name, "product": product, "rates": list(rates)},
        related=beside(link.origin, (hardware, f"what chooses the {product}")),
    )


def _a(product: str) -> str:
    return f"the {product}" if product[:1].isupper() and any(map(str.isdigit, product)) else product


def _ports(switch: SubnetSwitch, demand: list[SubnetPortDemand]) -> Iterator[Violation]:
    """Yield a violation where the links of all rates together need more ports than a switch of this kind has."""
    ports: dict[str, int] = {}
    for asked in demand:
        ports[asked.rate.name] = ports.get(asked.rate.name, 0) + asked.ports
    capacity = switch.profile.ports
    if sum(n / capacity[rate] for rate, n in ports.items()) <= 1:
        return
    needed = " and ".join(f"{count} of {rate}" for rate, count in ports.items())
    have = " or ".join(f"{capacity[rate]} of {rate}" for rate in ports)
    asked_at = {asked.origin: f"{asked.ports} {asked.purpose}" for asked in demand[:-1]}
    yield Violation(
        origin=demand[-1].origin,
        message=f"{switch.role} switches need ports for {needed}; {_a(switch.profile.product)} has {have}",
        note=", ".join(dict.fromkeys(f"{asked.ports} {asked.purpose}" for asked in demand)),
        help="use fewer links a switch, or a switch with more ports",
        elements=(switch.name,),
        data={
            "asked": dict(ports),
            "have": {rate: capacity[rate] for rate in ports},
            "product": switch.profile.product,
        },
        related=beside(demand[-1].origin, *asked_at.items()),
    )
