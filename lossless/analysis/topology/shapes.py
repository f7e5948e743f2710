"""Shapes to nodes and bundles of links: who is connected to whom, before any port is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.topology.adjacency import above, grid, part
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.model.fabric.tier import LinkTier, Role


class PlanNode(NamedTuple):
    """A switch or host by name. ``hardware`` names a choice of its own, None for that of its role.

    ``dual_tor``: a leaf that shares its hosts with another, and sends back in a tunnel what it cannot deliver.
    ``outside``: it is configured elsewhere. ``place`` is where it is in its shape, counted from 0: the pod and the
    number in it, the coordinates in a torus; empty where devices are listed.
    """

    name: str
    role: Role
    hardware: str | None
    origin: Origin
    dual_tor: bool = False
    outside: bool = False
    place: tuple[int, ...] = ()


class LinkBundle(NamedTuple):
    """Parallel links between two nodes. A port is None where it is left to placement.

    Where one end is a host, that end is always ``b``. ``lag`` is what tells the LAG of these links from others
    between the same two switches, None where each link stands alone. ``a_kept`` and ``b_kept`` are ports that each
    end keeps free before these links, as numbers of ports and their speeds: room for links that may come.
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
    """A topology: nodes in order, and bundles in the order their ports are placed."""

    nodes: tuple[PlanNode, ...]
    bundles: tuple[LinkBundle, ...]


class LeafSpineShape(NamedTuple):
    """A two-tier Clos by its numbers: every leaf connects to every spine."""

    leaves: int
    spines: int
    hosts_per_leaf: int
    host_links: tuple[int, int]
    uplinks: tuple[int, int]
    host_cable_m: int
    uplink_cable_m: int
    origin: Origin
    lag: bool = False
    dual_tor: bool = False


class ThreeTierShape(NamedTuple):
    """A three-tier Clos by its numbers: pods of leaves and spines, joined by super-spines.

    The n-th part of each pod's spines connects to the n-th part of the super-spines, where there are several
    ``planes``; with one, every spine connects to every super-spine.
    """

    pods: int
    leaves_per_pod: int
    spines_per_pod: int
    super_spines: int
    planes: int
    hosts_per_leaf: int
    host_links: tuple[int, int]
    uplinks: tuple[int, int]
    spine_uplinks: tuple[int, int]
    host_cable_m: int
    uplink_cable_m: int
    spine_uplink_cable_m: int
    origin: Origin
    lag: bool = False
    dual_tor: bool = False


class LinkKind(NamedTuple):
    """What all bundles of one tier of a shape have in common; ``links`` is how many, and their speed in b/s."""

    tier: LinkTier
    links: tuple[int, int]
    cable_m: int
    origin: Origin
    cable_origin: Origin
    lag: str | None = None

    def between(self, a: str, b: str) -> LinkBundle:
        """Return the links between two nodes."""
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


def leaf_spine(shape: LeafSpineShape, room: LeafSpineShape | None = None) -> WiringPlan:
    """Return the plan of a two-tier Clos: ``leaf1``.., ``spine1``.., ``host1``.. through all leaves.

    ``room`` is the shape that it may grow to: names and ports are those they have there.
    """
    if room is None:
        return _leaf_spine(shape)
    sizes = {"leaf": (shape.leaves,), "spine": (shape.spines,), "host": (shape.leaves, shape.hosts_per_leaf)}
    return within(_leaf_spine(room), sizes)


def _leaf_spine(shape: LeafSpineShape) -> WiringPlan:
    at = shape.origin
    nodes = (
        *nodes_of("leaf", (shape.leaves,), at.at("leaves"), shape.dual_tor),
        *nodes_of("spine", (shape.spines,), at.at("spines")),
        *nodes_of("host", (shape.leaves, shape.hosts_per_leaf), at.at("hosts_per_leaf")),
    )
    up, spines = _uplinks(shape), range(shape.spines)
    leaves = (_leaf(shape, leaf, up, spines) for leaf in range(shape.leaves))
    return WiringPlan(nodes, tuple(bundle for bundles in leaves for bundle in bundles))


def three_tier(shape: ThreeTierShape, room: ThreeTierShape | None = None) -> WiringPlan:
    """Return the plan of a three-tier Clos; leaves, spines and hosts are counted through all pods.

    ``room`` is the shape that it may grow to, of as many planes: names and ports are those they have there.
    """
    if room is None:
        return _three_tier(shape)
    spines, above = shape.spines_per_pod // shape.planes, shape.super_spines // shape.planes
    sizes = {
        "leaf": (shape.pods, shape.leaves_per_pod),
        "spine": (shape.pods, shape.planes, spines),
        "super-spine": (shape.planes, above),
        "host": (shape.pods, shape.leaves_per_pod, shape.hosts_per_leaf),
    }
    return within(_three_tier(room), sizes)


def _three_tier(shape: ThreeTierShape) -> WiringPlan:
    at = shape.origin
    leaves, planes = (shape.pods, shape.leaves_per_pod), shape.planes
    spines = (shape.pods, planes, shape.spines_per_pod // planes)
    nodes = (
        *nodes_of("leaf", leaves, at.at("leaves_per_pod"), shape.dual_tor),
        *nodes_of("spine", spines, at.at("spines_per_pod")),
        *nodes_of("super-spine", (planes, shape.super_spines // planes), at.at("super_spines")),
        *nodes_of("host", (*leaves, shape.hosts_per_leaf), at.at("hosts_per_leaf")),
    )
    pods = (_pod(shape, pod) for pod in range(shape.pods))
    return WiringPlan(nodes, tuple(bundle for bundles in pods for bundle in bundles))


def _pod(shape: ThreeTierShape, pod: int) -> Iterator[LinkBundle]:
    spines = part(pod, shape.spines_per_pod)
    uplinks = _uplinks(shape)
    for leaf in part(pod, shape.leaves_per_pod):
        yield from _leaf(shape, leaf, uplinks, spines)
    up = LinkKind(
        "spine_uplinks",
        shape.spine_uplinks,
        shape.spine_uplink_cable_m,
        shape.origin.at("spine_uplinks"),
        shape.origin.at("cables", "spine_uplink"),
        _lag_of(shape),
    )
    for spine in spines:
        for super_spine in above(spine, shape.spines_per_pod, shape.super_spines, shape.planes):
            yield up.between(f"spine{spine + 1}", f"superspine{super_spine + 1}")


def nodes_of(
    role: Role, sides: tuple[int, ...], origin: Origin, dual_tor: bool = False
) -> Iterator[PlanNode]:
    """Yield all nodes of a role, counted from 1 through every side: ``leaf1``, ``superspine1``."""
    name = role.replace("-", "")
    for number, place in enumerate(grid(sides), 1):
        yield PlanNode(f"{name}{number}", role, None, origin, dual_tor, place=place)


def _leaf(
    shape: LeafSpineShape | ThreeTierShape, leaf: int, up: LinkKind, spines: range
) -> Iterator[LinkBundle]:
    """Yield the links of one leaf: to its hosts, then to its spines."""
    at = shape.origin
    down = LinkKind(
        "hosts", shape.host_links, shape.host_cable_m, at.at("host_links"), at.at("cables", "host")
    )
    name = f"leaf{leaf + 1}"
    for host in part(leaf, shape.hosts_per_leaf):
        yield down.between(name, f"host{host + 1}")
    for spine in spines:
        yield up.between(name, f"spine{spine + 1}")


def _uplinks(shape: LeafSpineShape | ThreeTierShape) -> LinkKind:
    at = shape.origin
    return LinkKind(
        "uplinks",
        shape.uplinks,
        shape.uplink_cable_m,
        at.at("uplinks"),
        at.at("cables", "uplink"),
        _lag_of(shape),
    )


def _lag_of(shape: LeafSpineShape | ThreeTierShape) -> str | None:
    """Return the name of the one LAG between two switches: every pair has its own."""
    return "lag" if shape.lag else None


def within(room: WiringPlan, sizes: Mapping[str, tuple[int, ...]]) -> WiringPlan:
    """Return the part of a plan that is there: the nodes whose place is below the ``sizes`` of their role.

    Ports of links to nodes that are not there yet are kept free, so that none moves when they come.
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
