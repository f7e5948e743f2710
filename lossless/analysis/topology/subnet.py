"""The summary and picture of a fabric or an InfiniBand subnet; a subnet as the wiring and links of a fabric.

The summary of a subnet has its switches, hosts and links, the capacity of switches, and its bisection. A subnet has
credits instead of buffers with thresholds, and no lengths of cables, so these facts are absent.
"""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

from lossless.analysis.topology.bisection import fabric_capacity
from lossless.analysis.topology.folding import folded
from lossless.analysis.topology.shapes import LinkBundle, PlanNode, WiringPlan, cut_orders
from lossless.analysis.topology.summary import (
    FabricSummary,
    HostCount,
    PortCount,
    SwitchGroup,
    SwitchPorts,
    accepted_by_tier,
    link_groups,
    most_accepted,
    named,
    summary,
)
from lossless.ground.basics.findings import Origin, grouped
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.model.fabric.infiniband.qos_policy import RATES
from lossless.model.fabric.model import (
    Capacity,
    ClassSet,
    Fabric,
    Link,
    Switch,
    SwitchQos,
    Tier,
    Uplinks,
    WatchdogPoll,
    link_tier,
)
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from lossless.analysis.topology.summary import Picture
    from lossless.model.fabric.infiniband.subnet import (
        Hca,
        HostRole,
        Subnet,
        SubnetHost,
        SubnetLink,
        SubnetSwitch,
    )
    from lossless.model.fabric.model import LinkTier, Role


LOADING: tuple[HostRole, ...] = ("compute", "storage")
"""Roles of hosts that load links: management hosts need little bandwidth."""
COMPUTE: tuple[HostRole, ...] = ("compute",)
_FULL_LANES = 4
_SHAPES = {"dragonfly-plus": "dragonfly_plus", "torus": "torus"}
_ROLES: dict[int | None, Role] = {None: "switch", 0: "leaf", 1: "spine", 2: "super-spine"}
_TOP_OF_POD = 1
_CLASSES = ClassSet("declared", ())


class SwitchLoad(NamedTuple):
    """The bandwidth below a switch of a subnet, one way, its links up, and the origin of the last of these."""

    down_bps: int
    up: tuple[Uplinks, ...]
    origin: Origin

    @property
    def up_bps(self) -> int:
        """The total rate of all links up."""
        return sum(up.links * up.speed_bps for up in self.up)


class _Wiring(NamedTuple):
    """Switches, hosts, HCAs by name and links of a subnet; all empty where one of these is unknown."""

    switches: tuple[SubnetSwitch, ...]
    hosts: tuple[SubnetHost, ...]
    hcas: Mapping[str, Hca]
    links: tuple[SubnetLink, ...]

    def of_roles(self, roles: Collection[HostRole]) -> set[str]:
        """Return the names of the HCAs of hosts in ``roles``."""
        return {hca for host in self.hosts if host.role in roles for hca in host.hcas}


def _wiring(subnet: Subnet) -> _Wiring:
    switches, hosts, hcas, links = subnet.switches, subnet.hosts, subnet.hcas, subnet.links
    if (
        isinstance(switches, Unknown)
        or isinstance(hosts, Unknown)
        or isinstance(hcas, Unknown)
        or isinstance(links, Unknown)
    ):
        return _Wiring((), (), {}, ())
    return _Wiring(switches, hosts, {hca.name: hca for hca in hcas}, links)


def switch_loads(subnet: Subnet) -> dict[str, SwitchLoad]:
    """Return the load of each switch that has links up, by name; links to management hosts do not count."""
    wiring = _wiring(subnet)
    down: Counter[str] = Counter()
    up: dict[str, list[SubnetLink]] = {}
    tiers = {switch.name: switch.tier for switch in wiring.switches}
    loading = wiring.of_roles(LOADING)
    for link in wiring.links:
        if link.to_hca:
            down[link.a] += link.rate.bits_per_second if link.b in loading else 0
            continue
        lower, upper = sorted((link.a, link.b), key=lambda name: tiers[name] or 0)
        if tiers[lower] != tiers[upper]:
            up.setdefault(lower, []).append(link)
            down[upper] += link.rate.bits_per_second
    return {
        name: SwitchLoad(down[name], tuple(_uplinks(name, links)), links[-1].origin)
        for name, links in up.items()
    }


def _uplinks(name: str, links: Iterable[SubnetLink]) -> Iterable[Uplinks]:
    counted = Counter((link.b if link.a == name else link.a, link.rate.bits_per_second) for link in links)
    return (Uplinks(above, number, speed_bps) for (above, speed_bps), number in counted.items())


def subnet_fabric(subnet: Subnet, roles: Collection[HostRole] = LOADING) -> Fabric:
    """Return a subnet as a fabric of bare switches, links and capacities; of links to hosts those to ``roles`` alone.

    The ports of a host are its HCAs. The fabric lists no hosts and no traffic classes, and has no QoS or switch ports.
    """
    wiring = _wiring(subnet)
    taking_part = wiring.of_roles(roles)
    return Fabric(
        name=subnet.name,
        provenance="intent",
        classes=_CLASSES,
        congestion=None,
        switches=tuple(map(_bare_switch, wiring.switches)),
        hosts=(),
        links=tuple(
            _link(link, wiring.hcas) for link in wiring.links if not link.to_hca or link.b in taking_part
        ),
        networks=(),
        capacities=tuple(_capacities(subnet, wiring)),
        sources=subnet.files,
        cluster=subnet.cluster,
        cut_orders=cut_orders({switch.name: switch.coordinates for switch in wiring.switches}),
    )


def _link(link: SubnetLink, hcas: Mapping[str, Hca]) -> Link:
    far, far_port = (hcas[link.b].host, hcas[link.b].device) if link.to_hca else (link.b, str(link.b_port))
    return Link(link.a, str(link.a_port), far, far_port, link.rate.bits_per_second, link.to_hca)


def _bare_switch(switch: SubnetSwitch) -> Switch:
    qos = SwitchQos(
        "traditional",
        (),
        WatchdogPoll(None, switch.origin),
        (),
        None,
        None,
        None,
        False,
        False,
        switch.origin,
    )
    return Switch(switch.name, _tier(switch), None, None, None, _CLASSES, (), (), qos, switch.origin)


def _tier(switch: SubnetSwitch) -> Tier | None:
    return None if switch.tier is None else Tier(switch.tier + Tier.LEAF)


def _capacities(subnet: Subnet, wiring: _Wiring) -> Iterable[Capacity]:
    """Yield the capacity of switches with links up, one for all switches of equal tier and bandwidth."""
    accepted = 1.0 if isinstance(subnet.shape, Unknown) else subnet.shape.oversubscription
    loads = switch_loads(subnet)
    identical = grouped(
        ((_tier(switch), loads[switch.name].down_bps, loads[switch.name].up_bps), switch.name)
        for switch in wiring.switches
        if switch.name in loads
    )
    for (tier, down_bps, up_bps), names in identical.items():
        load = loads[names[0]]
        yield Capacity(
            names[0], down_bps, up_bps, "", accepted, load.origin, tuple(names), tier or Tier.LEAF, load.up
        )


def subnet_summary(subnet: Subnet) -> FabricSummary:
    """Return the summary of a subnet: switches, hosts and links by kind, ports, and capacity."""
    wiring, fabric = _wiring(subnet), subnet_fabric(subnet)
    hosts = Counter(wiring.hcas[host.hcas[0]].profile.name for host in wiring.hosts if host.hcas)
    groups = [
        group._replace(between=(_own_word(group.between[0]), _own_word(group.between[1])))
        for group in link_groups(subnet_plan(subnet))
    ]
    return FabricSummary(
        fabric=subnet.name,
        switches=_switch_groups(wiring),
        hosts=tuple(HostCount(nic, number) for nic, number in hosts.items()),
        outside=(),
        links=tuple(groups),
        accepted_oversubscription=most_accepted(fabric),
        accepted_by_tier=accepted_by_tier(fabric),
        capacity=fabric_capacity(fabric)._replace(
            per_gpu=fabric_capacity(subnet_fabric(subnet, COMPUTE)).per_gpu if subnet.cluster else None
        ),
    )


def _own_word(role: str) -> str:
    return "core" if role == "super-spine" else role


def _switch_groups(wiring: _Wiring) -> tuple[SwitchGroup, ...]:
    ends: dict[str, list[tuple[int | None, int, int]]] = {switch.name: [] for switch in wiring.switches}
    for link in wiring.links:
        rate = (link.rate.bits_per_second, link.rate.lanes)
        ends[link.a].append((link.a_port, *rate))
        if not link.to_hca:
            ends[link.b].append((link.b_port, *rate))
    identical = grouped(
        (
            SwitchGroup(switch.role, switch.profile.name, "", 0, "", "", _ports(switch, ends[switch.name])),
            switch.name,
        )
        for switch in wiring.switches
    )
    return tuple(named(group, names) for group, names in identical.items())


def _ports(switch: SubnetSwitch, ends: Iterable[tuple[int | None, int, int]]) -> SwitchPorts:
    """Return the ports of a switch that links use, the free ones, and those that links lack, by speed.

    On a switch with split ports a whole port takes two of its ports, and free ones are counted as whole ports.
    """
    placed = [(bps, lanes) for port, bps, lanes in ends if port is not None]
    lacking = Counter(bps for port, bps, _ in ends if port is None)
    split = any(lanes < _FULL_LANES for _, lanes in placed)
    taken = sum(2 if split and lanes == _FULL_LANES else 1 for _, lanes in placed)
    whole = (switch.ports - taken) // (2 if split else 1)
    fastest = max(
        RATES[name].bits_per_second for name in switch.profile.ports if RATES[name].lanes == _FULL_LANES
    )
    free = (PortCount(whole, fastest),) if whole > 0 else ()
    return SwitchPorts(_counts(Counter(bps for bps, _ in placed)), free, _counts(lacking))


def _counts(ports: Counter[int]) -> tuple[PortCount, ...]:
    return tuple(PortCount(ports[bps], bps) for bps in sorted(ports, reverse=True))


def subnet_plan(subnet: Subnet) -> WiringPlan:
    """Return the wiring of a subnet; cables have length 0, and cores are super-spines."""
    wiring = _wiring(subnet)
    roles = {switch.name: _ROLES[switch.tier] for switch in wiring.switches}
    place = _places(wiring)
    nodes = [
        PlanNode(switch.name, roles[switch.name], None, switch.origin, place=place.get(switch.name, ()))
        for switch in wiring.switches
    ]
    nodes += [PlanNode(host.name, "host", None, host.origin) for host in wiring.hosts]
    parallel = Counter(
        (link.a, wiring.hcas[link.b].host if link.to_hca else link.b, link.rate.bits_per_second, link.origin)
        for link in wiring.links
    )
    bundles = [
        LinkBundle(a, None, b, None, links, speed_bps, 0, _link_tier(roles, a, b), origin, origin)
        for (a, b, speed_bps, origin), links in parallel.items()
    ]
    return WiringPlan(tuple(nodes), tuple(bundles))


def _link_tier(roles: Mapping[str, Role], a: str, b: str) -> LinkTier:
    if roles[a] == roles.get(b) == "spine":
        return "global_links"
    return link_tier({roles[a], roles.get(b, "host")})


def picture_shape(subnet: Subnet) -> str | None:
    """Return the key of the fabric shape that a subnet is drawn as, None where its switches are drawn in plain rows."""
    if isinstance(subnet.shape, Unknown):
        return None
    if subnet.shape.kind == "fat-tree":
        return (
            "three_tier"
            if any(_ROLES[switch.tier] == "super-spine" for switch in _wiring(subnet).switches)
            else None
        )
    return _SHAPES.get(subnet.shape.kind)


def _places(wiring: _Wiring) -> dict[str, tuple[int, ...]]:
    """Return the place of each switch: torus coordinates, or its group (else pod) and its number of its tier there."""
    groups = _joined(wiring)
    placed: dict[str, tuple[int, ...]] = {}
    numbers: Counter[tuple[int, int | None]] = Counter()
    for switch in wiring.switches:
        group = groups[switch.name] if switch.group is None else switch.group
        placed[switch.name] = switch.coordinates or (group, numbers[group, switch.tier])
        numbers[group, switch.tier] += 1
    return placed


def _joined(wiring: _Wiring) -> dict[str, int]:
    """Return the pod of each switch: leaves and spines that links join without a core."""
    near: dict[str, set[str]] = {switch.name: set() for switch in wiring.switches}
    tiers = {switch.name: switch.tier or 0 for switch in wiring.switches}
    for link in wiring.links:
        if not link.to_hca and max(tiers[link.a], tiers[link.b]) <= _TOP_OF_POD:
            near[link.a].add(link.b)
            near[link.b].add(link.a)
    pods: dict[str, int] = {}
    numbers = count()
    for first in near:
        if first in pods:
            continue
        pods[first] = number = next(numbers)
        waiting = [first]
        while waiting:
            joined = [name for name in near[waiting.pop()] if name not in pods]
            pods.update(dict.fromkeys(joined, number))
            waiting += joined
    return pods


class Topology(NamedTuple):
    """The summary of a fabric or subnet, and its picture, in which many like devices are folded."""

    summary: FabricSummary
    picture: Picture


def topology_of(fabric: Fabric, plan: WiringPlan, shape: str | None) -> Topology:
    """Return the summary and the picture of a fabric; ``shape`` is the key of its shape, None for listed devices."""
    return Topology(summary(plan, fabric), fabric_picture(fabric, plan, shape))


def fabric_picture(
    fabric: Fabric, plan: WiringPlan, shape: str | None, marks: Mapping[str, str] | None = None
) -> Picture:
    """Return the picture of a fabric, with marks of devices as :func:`folded` takes them."""
    return folded(plan, fabric.name, shape, View(fabric).rail_of, marks)


def topology_of_subnet(subnet: Subnet) -> Topology:
    """Return the summary and the picture of a subnet."""
    return Topology(subnet_summary(subnet), subnet_picture(subnet))


def subnet_picture(subnet: Subnet, marks: Mapping[str, str] | None = None) -> Picture:
    """Return the picture of a subnet, with marks of devices as :func:`folded` takes them."""
    rail_of = View(subnet_fabric(subnet, COMPUTE)).rail_of
    return folded(subnet_plan(subnet), subnet.name, picture_shape(subnet), rail_of, marks)
