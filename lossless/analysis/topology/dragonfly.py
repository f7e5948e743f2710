"""Dragonfly and dragonfly+: groups of switches, and links from every group to every other.

In a group of a dragonfly every switch has links to every other; a group of a dragonfly+ is a leaf-spine, whose spines
have the links between groups. Sources, read in their abstracts: J. Kim et al., "Technology-Driven, Highly-Scalable
Dragonfly Topology", 2008 (a group acts as one router of many ports); "Dragonfly+: Low Cost Topology for Scaling
Datacenters", HiPINEB 2017 (the routers of a group are joined like a Clos; all groups to all others). The number of
links between two groups is the intent's, their assignment to switches ours.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from lossless.analysis.topology.adjacency import global_pairs, part
from lossless.analysis.topology.shapes import NodeGrid, leaf_links
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.analysis.topology.shapes import LinkBundle, LinkKind
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.tier import Role


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
        """Return switches and hosts, counted through all groups."""
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
        """Return the nodes of each role, counted through all groups."""
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
