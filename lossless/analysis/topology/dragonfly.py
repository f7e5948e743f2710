"""Dragonfly and dragonfly+: groups of switches, and links from every group to every other.

In a group of a dragonfly every switch has links to every other; a group of a dragonfly+ is a leaf-spine, whose spines
have the links between groups. Sources, read in their abstracts: J. Kim et al., "Technology-Driven, Highly-Scalable
Dragonfly Topology", 2008 (a group acts as one router of many ports); "Dragonfly+: Low Cost Topology for Scaling
Datacenters", HiPINEB 2017 (the routers of a group are joined like a Clos; all groups to all others). How many links two
groups have, and which switches have them, is the intent's and ours.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from lossless.analysis.topology.adjacency import global_pairs, part
from lossless.analysis.topology.shapes import WiringPlan, nodes_of, within
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.topology.shapes import LinkBundle, LinkKind
    from lossless.ground.basics.findings import Origin


class DragonflyShape(NamedTuple):
    """A dragonfly by its numbers; ``switches`` are those of one group, ``global_links`` those of two groups."""

    groups: int
    switches: int
    hosts_per_switch: int
    host_links: LinkKind
    local_links: LinkKind
    global_links: LinkKind
    origin: Origin


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


def dragonfly(shape: DragonflyShape, room: DragonflyShape | None = None) -> WiringPlan:
    """Return the plan of a dragonfly: ``switch1``.. and ``host1``.. through all groups.

    ``room`` is the shape that it may grow to, of as many switches in a group: names and ports are those of it.
    """
    if room is None:
        return _dragonfly(shape)
    switches = (shape.groups, shape.switches)
    return within(_dragonfly(room), {"switch": switches, "host": (*switches, shape.hosts_per_switch)})


def _dragonfly(shape: DragonflyShape) -> WiringPlan:
    switches, at = (shape.groups, shape.switches), shape.origin
    nodes = (
        *nodes_of("switch", switches, at.at("switches")),
        *nodes_of("host", (*switches, shape.hosts_per_switch), at.at("hosts_per_switch")),
    )
    return WiringPlan(nodes, (*_local(shape), *_global("switch", shape.switches, shape)))


def _local(shape: DragonflyShape) -> Iterator[LinkBundle]:
    """Yield the links of hosts, and those between every two switches of a group."""
    for switch in range(shape.groups * shape.switches):
        for host in part(switch, shape.hosts_per_switch):
            yield shape.host_links.between(f"switch{switch + 1}", f"host{host + 1}")
    for group in range(shape.groups):
        for first, second in combinations(part(group, shape.switches), 2):
            yield shape.local_links.between(f"switch{first + 1}", f"switch{second + 1}")


def dragonfly_plus(shape: DragonflyPlusShape, room: DragonflyPlusShape | None = None) -> WiringPlan:
    """Return the plan of a dragonfly+: ``leaf1``.., ``spine1``.. and ``host1``.. through all groups.

    ``room`` is the shape that it may grow to, of as many spines in a group: names and ports are those of it.
    """
    if room is None:
        return _dragonfly_plus(shape)
    leaves = (shape.groups, shape.leaves)
    sizes = {"leaf": leaves, "spine": (shape.groups, shape.spines), "host": (*leaves, shape.hosts_per_leaf)}
    return within(_dragonfly_plus(room), sizes)


def _dragonfly_plus(shape: DragonflyPlusShape) -> WiringPlan:
    leaves, at = (shape.groups, shape.leaves), shape.origin
    nodes = (
        *nodes_of("leaf", leaves, at.at("leaves")),
        *nodes_of("spine", (shape.groups, shape.spines), at.at("spines")),
        *nodes_of("host", (*leaves, shape.hosts_per_leaf), at.at("hosts_per_leaf")),
    )
    return WiringPlan(nodes, (*_up(shape), *_global("spine", shape.spines, shape)))


def _up(shape: DragonflyPlusShape) -> Iterator[LinkBundle]:
    """Yield the links of hosts, and those of every leaf to every spine of its group."""
    for leaf in range(shape.groups * shape.leaves):
        for host in part(leaf, shape.hosts_per_leaf):
            yield shape.host_links.between(f"leaf{leaf + 1}", f"host{host + 1}")
        for spine in part(leaf // shape.leaves, shape.spines):
            yield shape.uplinks.between(f"leaf{leaf + 1}", f"spine{spine + 1}")


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
