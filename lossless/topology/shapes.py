"""Shapes to nodes and bundles of links: who is connected to whom, before any port is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.findings import Origin
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Role = Literal["leaf", "spine", "super-spine", "host"]
LinkTier = Literal["hosts", "uplinks", "spine_uplinks"]
"""Which links: those to hosts, those that go up from a leaf, those that go up from a spine."""


class Node(NamedTuple):
    """A switch or host by name. ``hardware`` names a choice of its own, None for that of its role.

    ``dual_tor``: a leaf that shares its hosts with another, and sends back in a tunnel what it cannot deliver.
    ``outside``: it is configured elsewhere.
    """

    name: str
    role: Role
    hardware: str | None
    origin: Origin
    dual_tor: bool = False
    outside: bool = False


class Bundle(NamedTuple):
    """Parallel links between two nodes. A port is None where it is left to placement.

    Where one end is a host, that end is always ``b``. ``lag`` is what tells the LAG of these links from others
    between the same two switches, None where each link stands alone.
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

    @property
    def to_host(self) -> bool:
        """Whether the end ``b`` is a host."""
        return self.tier == "hosts"


class Plan(NamedTuple):
    """A topology: nodes in order, and bundles in the order their ports are placed."""

    nodes: tuple[Node, ...]
    bundles: tuple[Bundle, ...]


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


class _Kind(NamedTuple):
    """What all bundles of one tier of a shape have in common."""

    tier: LinkTier
    links: tuple[int, int]
    cable_m: int
    origin: Origin
    cable_origin: Origin
    lag: str | None

    def between(self, a: str, b: str) -> Bundle:
        count, speed_bps = self.links
        return Bundle(
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


def leaf_spine(shape: LeafSpineShape) -> Plan:
    """Return the plan of a two-tier Clos: ``leaf1``.., ``spine1``.., ``host1``.. through all leaves."""
    at = shape.origin
    nodes = (
        *_nodes("leaf", shape.leaves, at.at("leaves"), shape.dual_tor),
        *_nodes("spine", shape.spines, at.at("spines")),
        *_nodes("host", shape.leaves * shape.hosts_per_leaf, at.at("hosts_per_leaf")),
    )
    up, spines = _uplinks(shape), range(shape.spines)
    leaves = (_leaf(shape, leaf, up, spines) for leaf in range(shape.leaves))
    return Plan(nodes, tuple(bundle for bundles in leaves for bundle in bundles))


def three_tier(shape: ThreeTierShape) -> Plan:
    """Return the plan of a three-tier Clos; leaves, spines and hosts are counted through all pods."""
    at = shape.origin
    nodes = (
        *_nodes("leaf", shape.pods * shape.leaves_per_pod, at.at("leaves_per_pod"), shape.dual_tor),
        *_nodes("spine", shape.pods * shape.spines_per_pod, at.at("spines_per_pod")),
        *_nodes("super-spine", shape.super_spines, at.at("super_spines")),
        *_nodes("host", shape.pods * shape.leaves_per_pod * shape.hosts_per_leaf, at.at("hosts_per_leaf")),
    )
    pods = (_pod(shape, pod) for pod in range(shape.pods))
    return Plan(nodes, tuple(bundle for bundles in pods for bundle in bundles))


def _pod(shape: ThreeTierShape, pod: int) -> Iterator[Bundle]:
    spines = range(pod * shape.spines_per_pod, (pod + 1) * shape.spines_per_pod)
    uplinks = _uplinks(shape)
    for leaf in range(pod * shape.leaves_per_pod, (pod + 1) * shape.leaves_per_pod):
        yield from _leaf(shape, leaf, uplinks, spines)
    up = _Kind(
        "spine_uplinks",
        shape.spine_uplinks,
        shape.spine_uplink_cable_m,
        shape.origin.at("spine_uplinks"),
        shape.origin.at("cables", "spine_uplink"),
        _lag_of(shape),
    )
    per_plane = shape.spines_per_pod // shape.planes, shape.super_spines // shape.planes
    for number, spine in enumerate(spines):
        plane = number // per_plane[0]
        for super_spine in range(plane * per_plane[1], (plane + 1) * per_plane[1]):
            yield up.between(f"spine{spine + 1}", f"superspine{super_spine + 1}")


def _nodes(role: Role, number: int, origin: Origin, dual_tor: bool = False) -> Iterator[Node]:
    name = role.replace("-", "")
    return (Node(f"{name}{n + 1}", role, None, origin, dual_tor) for n in range(number))


def _leaf(shape: LeafSpineShape | ThreeTierShape, leaf: int, up: _Kind, spines: range) -> Iterator[Bundle]:
    """Yield the links of one leaf: to its hosts, then to its spines."""
    at, per_leaf = shape.origin, shape.hosts_per_leaf
    down = _Kind(
        "hosts", shape.host_links, shape.host_cable_m, at.at("host_links"), at.at("cables", "host"), None
    )
    name = f"leaf{leaf + 1}"
    for host in range(leaf * per_leaf, (leaf + 1) * per_leaf):
        yield down.between(name, f"host{host + 1}")
    for spine in spines:
        yield up.between(name, f"spine{spine + 1}")


def _uplinks(shape: LeafSpineShape | ThreeTierShape) -> _Kind:
    at = shape.origin
    return _Kind(
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
