"""Shapes to nodes and bundles of links: who is connected to whom, before any port is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.findings import Origin
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Role = Literal["leaf", "spine", "host"]


class Node(NamedTuple):
    """A switch or host by name. ``hardware`` names a choice of its own, None for that of its role."""

    name: str
    role: Role
    hardware: str | None
    origin: Origin


class Bundle(NamedTuple):
    """Parallel links between two nodes. A port is None where it is left to placement.

    ``tier`` is host where one end is a host; that end is always ``b``.
    """

    a: str
    a_port: str | None
    b: str
    b_port: str | None
    links: int
    speed_bps: int
    cable_m: int
    tier: Literal["host", "switch"]
    origin: Origin
    cable_origin: Origin


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


def leaf_spine(shape: LeafSpineShape) -> Plan:
    """Return the plan of a two-tier Clos: ``leaf1``.., ``spine1``.., ``host1``.. through all leaves."""
    nodes = (
        *(Node(f"leaf{n + 1}", "leaf", None, shape.origin.at("leaves")) for n in range(shape.leaves)),
        *(Node(f"spine{n + 1}", "spine", None, shape.origin.at("spines")) for n in range(shape.spines)),
        *(
            Node(f"host{n + 1}", "host", None, shape.origin.at("hosts_per_leaf"))
            for n in range(shape.leaves * shape.hosts_per_leaf)
        ),
    )
    return Plan(nodes, tuple(_bundles(shape)))


def _bundles(shape: LeafSpineShape) -> Iterator[Bundle]:
    host_links, uplinks = shape.origin.at("host_links"), shape.origin.at("uplinks")
    host_cable, uplink_cable = shape.origin.at("cables", "host"), shape.origin.at("cables", "uplink")
    per_leaf, (down, down_bps), (up, up_bps) = shape.hosts_per_leaf, shape.host_links, shape.uplinks
    for leaf in range(shape.leaves):
        name = f"leaf{leaf + 1}"
        for host in range(leaf * per_leaf, (leaf + 1) * per_leaf):
            yield Bundle(
                name,
                None,
                f"host{host + 1}",
                None,
                down,
                down_bps,
                shape.host_cable_m,
                "host",
                host_links,
                host_cable,
            )
        for spine in range(shape.spines):
            yield Bundle(
                name,
                None,
                f"spine{spine + 1}",
                None,
                up,
                up_bps,
                shape.uplink_cable_m,
                "switch",
                uplinks,
                uplink_cable,
            )
