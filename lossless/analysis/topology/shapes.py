"""Shapes to nodes and bundles of links, before ports are assigned: Clos, dragonfly, rails and torus.

Adjacency by number is arithmetic alone, for all transports.

In a group of a dragonfly every switch has links to every other, and every group has links to every other; a group of
a dragonfly+ is a leaf-spine, whose spines have the links between groups. Sources, read in their abstracts:
J. Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology", 2008 (a group acts as one router of many ports);
"Dragonfly+: Low Cost Topology for Scaling Datacenters", HiPINEB 2017 (the routers of a group are joined like a Clos;
all groups to all others). The intent has the number of links between two groups; this module assigns them to switches.

In a rail-optimized fabric adapter n of every host of a scalable unit is at the leaf of rail n, and spines join all
leaves. Traffic between equal adapters of a unit meets one switch; that between rails or units meets a spine. With
several planes an adapter has a port in each: a rail has a leaf in each plane, and no link joins two planes. Sources:
juniper.net, JVD of an AI data center with NVIDIA GPUs, Rail Optimized Fabric (rail N joins GPU N of all servers of a
stripe at leaf N; a stripe is a unit here); Qian et al., Alibaba HPN: A Data Center Network for Large Language Model
Training, SIGCOMM 2024 (each NIC has its two ports at two ToRs, one of each plane; a segment is a unit here).

A torus has switches on a grid that is closed in every direction, with hosts at each.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Protocol

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import LINK_TIERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.model.fabric.model import LinkTier, Role


Place = tuple[int, ...]


def part(number: int, size: int) -> range:
    """Return the numbers of the ``size`` members of one pod, group or leaf; numbering goes on from one to the next."""
    return range(number * size, (number + 1) * size)


def above(spine: int, per_pod: int, tops: int, planes: int) -> range:
    """Return the numbers of the ``tops`` super-spines or cores that a spine connects to: those of its plane."""
    return part(spine % per_pod // (per_pod // planes), tops // planes)


def grid(sides: Sequence[int]) -> tuple[Place, ...]:
    """Return all places of a grid, the last number changing fastest."""
    return tuple(product(*map(range, sides)))


def grid_name(place: Place) -> str:
    """Return the name of the switch at a place of a torus: ``sw-0-0``."""
    return "-".join(map(str, ("sw", *place)))


def cut_orders(places: Mapping[str, Place]) -> tuple[tuple[str, ...], ...]:
    """Return the switches of a torus in the order of the second coordinate, and of the third if there is one.

    ``places`` are the coordinates by switch, listed in the order of the first; empty where a switch has none, as in
    other shapes.
    """
    if not places or not all(places.values()):
        return ()
    return tuple(
        tuple(sorted(places, key=lambda name: (places[name][side], places[name])))
        for side in range(1, min(map(len, places.values())))
    )


def torus_pairs(sides: Sequence[int]) -> Iterator[tuple[Place, Place, int]]:
    """Yield the neighbors in a torus: each place, the next along an axis, and the number of the axis.

    A side of two has one pair, no ring of two.
    """
    for place in grid(sides):
        for axis, side in enumerate(sides):
            if side > 2 or (side == 2 and place[axis] == 0):
                yield place, (*place[:axis], (place[axis] + 1) % side, *place[axis + 1 :]), axis


def global_pairs(groups: int, per_group: int, links: int) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the switches, counted through all groups, at the two ends of each link between groups.

    Each group gives its links to its switches in turn, so that their numbers of links differ by one at most; in
    each group, the links to an added group come after all others.
    """
    turns = [0] * groups
    for pair in combinations(range(groups), 2):
        for _ in range(links):
            first, second = (group * per_group + turns[group] % per_group for group in pair)
            yield first, second
            for group in pair:
                turns[group] += 1


class PlanNode(NamedTuple):
    """A switch or host by name. ``hardware`` names a hardware entry of its own, None for that of its role.

    ``dual_tor``: a leaf that shares its hosts with another, and tunnels packets to it that it cannot deliver.
    ``outside``: it is configured elsewhere. ``place`` is its place in its shape, counted from 0, such as the pod and
    the number in it, or the coordinates in a torus; empty where devices are listed.
    """

    name: str
    role: Role
    hardware: str | None
    origin: Origin
    dual_tor: bool = False
    outside: bool = False
    place: tuple[int, ...] = ()


class LinkBundle(NamedTuple):
    """Parallel links between two nodes. A port is None where placement assigns it.

    Where one end is a host, that end is always ``b``. ``lag`` distinguishes the LAG of these links from others
    between the same two switches, None for links without a LAG. ``a_kept`` and ``b_kept`` are ports that each
    end keeps free before these links, as numbers of ports and their speeds: room for later links.
    """

    a: str
    a_port: str | None
    b: str
    b_port: str | None
    links: int
    speed_bps: int
    cable_m: int
    tier: LinkTier
    origin: Origin
    cable_origin: Origin
    lag: str | None = None
    a_kept: tuple[tuple[int, int], ...] = ()
    b_kept: tuple[tuple[int, int], ...] = ()

    @property
    def to_host(self) -> bool:
        """Whether the end ``b`` is a host."""
        return self.tier == "hosts"


class WiringPlan(NamedTuple):
    """The wiring of a topology: nodes and bundles in order; placement assigns ports in the order of bundles."""

    nodes: tuple[PlanNode, ...]
    bundles: tuple[LinkBundle, ...]

    @property
    def link_tiers(self) -> tuple[LinkTier, ...]:
        """The tiers that the links have, those next to hosts first."""
        there = {bundle.tier for bundle in self.bundles}
        return tuple(tier for tier in LINK_TIERS if tier in there)


class LinkKind(NamedTuple):
    """Common properties of all bundles of one tier of a shape; ``links``: links in a bundle, and their b/s."""

    tier: LinkTier
    links: tuple[int, int]
    cable_m: int
    origin: Origin
    cable_origin: Origin
    lag: str | None = None

    def between(self, a: str, b: str) -> LinkBundle:
        """Return the bundle of links between two switches, or a switch and a host ``b``."""
        count, speed_bps = self.links
        return LinkBundle(
            a,
            None,
            b,
            None,
            count,
            speed_bps,
            self.cable_m,
            self.tier,
            self.origin,
            self.cable_origin,
            self.lag,
        )

    def adapters(self, leaf: int, hosts: range, leaves: int) -> Iterator[LinkBundle]:
        """Yield the links of a leaf to hosts that it shares with ``leaves`` - 1 others with consecutive numbers.

        Port p of every host (from 0) goes to the leaf at p modulo ``leaves`` among them.
        """
        ports, speed_bps = self.links
        one = self._replace(links=(1, speed_bps))
        for host in hosts:
            for port in range(leaf % leaves, ports, leaves):
                yield one.between(f"leaf{leaf + 1}", f"host{host + 1}")._replace(b_port=f"port{port + 1}")


class NodeGrid(NamedTuple):
    """The switches or hosts of one role in a shape: ``key`` is their key of the intent, ``sides`` the counts.

    Counts are those of pods and of nodes per pod, for instance. Nodes are named by their number through all sides
    (``leaf1``, ``superspine1``), or by their coordinates.
    """

    key: str
    sides: tuple[int, ...]
    dual_tor: bool = False
    by_coordinates: bool = False

    def nodes(self, role: Role, origin: Origin) -> Iterator[PlanNode]:
        """Yield the planned switches or hosts of a role, the last side counted fastest."""
        at, word = origin.at(self.key), role.replace("-", "")
        for number, place in enumerate(grid(self.sides), 1):
            name = grid_name(place) if self.by_coordinates else f"{word}{number}"
            yield PlanNode(name, role, None, at, self.dual_tor, place=place)


class Shape(Protocol):
    """The declared numbers of a topology, from which its nodes and links follow."""

    @property
    def origin(self) -> Origin:
        """The file and path of its declaration in the intent."""

    def grids(self) -> Mapping[Role, NodeGrid]:
        """Return the grid of the switches or hosts of each role."""

    def bundles(self) -> Iterator[LinkBundle]:
        """Yield the bundles of links, in the order in which their ports are assigned."""


class LeafSpineShape(NamedTuple):
    """A two-tier Clos by its numbers: every leaf connects to every spine."""

    leaves: int
    spines: int
    hosts_per_leaf: int
    host_links: LinkKind
    uplinks: LinkKind
    origin: Origin
    dual_tor: bool = False

    def grids(self) -> Mapping[Role, NodeGrid]:
        """Return the grids of leaves, spines and hosts; hosts are numbered through all leaves."""
        return {
            "leaf": NodeGrid("leaves", (self.leaves,), self.dual_tor),
            "spine": NodeGrid("spines", (self.spines,)),
            "host": NodeGrid("hosts_per_leaf", (self.leaves, self.hosts_per_leaf)),
        }

    def bundles(self) -> Iterator[LinkBundle]:
        """Yield the links leaf by leaf."""
        return leaf_links(self, range(self.leaves), range(self.spines))


class ThreeTierShape(NamedTuple):
    """A three-tier Clos by its numbers: pods of leaves and spines, joined by super-spines.

    The n-th part of each pod's spines connects to the n-th part of the super-spines, where there are several
    ``planes``; with one, every spine connects to every super-spine. With ``rails``, that number of consecutive leaves
    of a pod share their hosts: adapter n of each is at the leaf of rail n.
    """

    pods: int
    leaves_per_pod: int
    spines_per_pod: int
    super_spines: int
    planes: int
    hosts_per_leaf: int
    host_links: LinkKind
    uplinks: LinkKind
    spine_uplinks: LinkKind
    origin: Origin
    dual_tor: bool = False
    rails: int = 1

    def grids(self) -> Mapping[Role, NodeGrid]:
        """Return the grids of leaves, spines, super-spines and hosts; those of pods are numbered through all pods."""
        planes, hosts = self.planes, (self.leaves_per_pod // self.rails, self.hosts_per_leaf)
        return {
            "leaf": NodeGrid("leaves_per_pod", (self.pods, self.leaves_per_pod), self.dual_tor),
            "spine": NodeGrid("spines_per_pod", (self.pods, planes, self.spines_per_pod // planes)),
            "super-spine": NodeGrid("super_spines", (planes, self.super_spines // planes)),
            "host": NodeGrid("hosts_per_leaf", (self.pods, *hosts)),
        }

    def bundles(self) -> Iterator[LinkBundle]:
        """Yield the links pod by pod."""
        for pod in range(self.pods):
            spines = part(pod, self.spines_per_pod)
            yield from leaf_links(self, part(pod, self.leaves_per_pod), spines, self.rails)
            for spine in spines:
                for super_spine in above(spine, self.spines_per_pod, self.super_spines, self.planes):
                    yield self.spine_uplinks.between(f"spine{spine + 1}", f"superspine{super_spine + 1}")


class _Clos(Protocol):
    """The fields of a shape with leaves that :func:`leaf_links` needs."""

    @property
    def hosts_per_leaf(self) -> int: ...

    @property
    def host_links(self) -> LinkKind: ...

    @property
    def uplinks(self) -> LinkKind: ...


def leaf_links(shape: _Clos, leaves: range, spines: range, rails: int = 1) -> Iterator[LinkBundle]:
    """Yield the links of each leaf: to its hosts, shared by as many leaves as there are rails, then to all spines."""
    for leaf in leaves:
        hosts = part(leaf // rails, shape.hosts_per_leaf)
        if rails > 1:
            yield from shape.host_links.adapters(leaf, hosts, rails)
        else:
            yield from (shape.host_links.between(f"leaf{leaf + 1}", f"host{host + 1}") for host in hosts)
        for spine in spines:
            yield shape.uplinks.between(f"leaf{leaf + 1}", f"spine{spine + 1}")


def wiring_plan(shape: Shape, room: Shape | None = None) -> WiringPlan:
    """Return the wiring plan of a shape.

    ``room`` is the shape that it may grow to, of as many planes, rails or sides: nodes have the names and ports that
    they have in that shape.
    """
    whole = shape if room is None else room
    grids = whole.grids().items()
    nodes = tuple(node for role, of_role in grids for node in of_role.nodes(role, whole.origin))
    plan = WiringPlan(nodes, tuple(whole.bundles()))
    return (
        plan
        if room is None
        else _within(plan, {role: of_role.sides for role, of_role in shape.grids().items()})
    )


def _within(room: WiringPlan, sizes: Mapping[str, tuple[int, ...]]) -> WiringPlan:
    """Return the existing part of a plan: the nodes whose place is below the ``sizes`` of their role.

    Ports of links to later nodes are kept free, so that no port changes when they are added.
    """
    nodes = tuple(
        node
        for node in room.nodes
        if all(at < size for at, size in zip(node.place, sizes[node.role], strict=True))
    )
    there = {node.name for node in nodes}
    kept: dict[str, list[tuple[int, int]]] = {}
    bundles = []
    for bundle in room.bundles:
        ends = there.intersection((bundle.a, bundle.b))
        if len(ends) == 2:
            a_kept, b_kept = (tuple(kept.pop(name, ())) for name in (bundle.a, bundle.b))
            bundles.append(bundle._replace(a_kept=a_kept, b_kept=b_kept) if a_kept or b_kept else bundle)
            continue
        for name in ends:
            kept.setdefault(name, []).append((bundle.links, bundle.speed_bps))
    return WiringPlan(nodes, tuple(bundles))


class DragonflyShape(NamedTuple):
    """A dragonfly by its numbers; ``switches`` are those of one group, ``global_links`` those of two groups."""

    groups: int
    switches: int
    hosts_per_switch: int
    host_links: LinkKind
    local_links: LinkKind
    global_links: LinkKind
    origin: Origin

    def grids(self) -> Mapping[Role, NodeGrid]:
        """Return the grids of switches and hosts, both numbered through all groups."""
        switches = (self.groups, self.switches)
        return {
            "switch": NodeGrid("switches", switches),
            "host": NodeGrid("hosts_per_switch", (*switches, self.hosts_per_switch)),
        }

    def bundles(self) -> Iterator[LinkBundle]:
        """Yield the links of hosts, those between every two switches of a group, and those between groups."""
        for switch in range(self.groups * self.switches):
            for host in part(switch, self.hosts_per_switch):
                yield self.host_links.between(f"switch{switch + 1}", f"host{host + 1}")
        for group in range(self.groups):
            for first, second in combinations(part(group, self.switches), 2):
                yield self.local_links.between(f"switch{first + 1}", f"switch{second + 1}")
        yield from _global("switch", self.switches, self)


class DragonflyPlusShape(NamedTuple):
    """A dragonfly+ by its numbers; ``leaves`` and ``spines`` are those of one group."""

    groups: int
    leaves: int
    spines: int
    hosts_per_leaf: int
    host_links: LinkKind
    uplinks: LinkKind
    global_links: LinkKind
    origin: Origin

    def grids(self) -> Mapping[Role, NodeGrid]:
        """Return the grids of leaves, spines and hosts, each numbered through all groups."""
        leaves = (self.groups, self.leaves)
        return {
            "leaf": NodeGrid("leaves", leaves),
            "spine": NodeGrid("spines", (self.groups, self.spines)),
            "host": NodeGrid("hosts_per_leaf", (*leaves, self.hosts_per_leaf)),
        }

    def bundles(self) -> Iterator[LinkBundle]:
        """Yield the links of each group, then those between groups."""
        for group in range(self.groups):
            yield from leaf_links(self, part(group, self.leaves), part(group, self.spines))
        yield from _global("spine", self.spines, self)


def _global(name: str, per_group: int, shape: DragonflyShape | DragonflyPlusShape) -> Iterator[LinkBundle]:
    """Yield the links between groups: parallel ones between the same two switches are one bundle."""
    kind = shape.global_links
    count, speed_bps = kind.links
    together: dict[tuple[int, int], int] = {}
    for pair in global_pairs(shape.groups, per_group, count):
        together[pair] = together.get(pair, 0) + 1
    for (first, second), links in together.items():
        own = kind._replace(links=(links, speed_bps))
        yield own.between(f"{name}{first + 1}", f"{name}{second + 1}")


class RailShape(NamedTuple):
    """A rail-optimized fabric by its numbers; a unit has one leaf for each rail of each plane.

    ``host_links`` are all links of a host: the ports of an adapter, one in each plane, follow each other. ``spines``
    are shared out among the planes.
    """

    units: int
    rails: int
    spines: int
    hosts_per_unit: int
    host_links: LinkKind
    uplinks: LinkKind
    origin: Origin
    planes: int = 1

    def grids(self) -> Mapping[Role, NodeGrid]:
        """Return the grids of leaves, spines and hosts; leaves are numbered by plane first, then rail, then unit."""
        return {
            "leaf": NodeGrid("rails", (self.units, self.rails, self.planes)),
            "spine": NodeGrid("spines", (self.planes, self.spines // self.planes)),
            "host": NodeGrid("hosts_per_unit", (self.units, self.hosts_per_unit)),
        }

    def bundles(self) -> Iterator[LinkBundle]:
        """Yield the links leaf by leaf: to the hosts of its unit, then to the spines of its plane."""
        leaves = self.rails * self.planes
        for leaf in range(self.units * leaves):
            yield from self.host_links.adapters(leaf, part(leaf // leaves, self.hosts_per_unit), leaves)
            for spine in part(leaf % self.planes, self.spines // self.planes):
                yield self.uplinks.between(f"leaf{leaf + 1}", f"spine{spine + 1}")


class TorusShape(NamedTuple):
    """A torus by its sides, two or three of them."""

    sides: tuple[int, ...]
    links: LinkKind
    hosts_per_switch: int
    host_links: LinkKind
    origin: Origin

    def grids(self) -> Mapping[Role, NodeGrid]:
        """Return the grids of switches, named by coordinates (``sw-0-0``), and of hosts, numbered through them."""
        return {
            "switch": NodeGrid("sides", self.sides, by_coordinates=True),
            "host": NodeGrid("hosts_per_switch", (*self.sides, self.hosts_per_switch)),
        }

    def bundles(self) -> Iterator[LinkBundle]:
        """Yield the links between switches, then those of hosts.

        Links between switches have the first ports, whose number depends on the sides alone; hosts, whose number may
        grow, come last.
        """
        for first, second, _ in torus_pairs(self.sides):
            yield self.links.between(grid_name(first), grid_name(second))
        for number, place in enumerate(grid((*self.sides, self.hosts_per_switch)), 1):
            yield self.host_links.between(grid_name(place[:-1]), f"host{number}")
