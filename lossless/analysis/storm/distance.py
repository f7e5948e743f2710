"""Distance of the nodes of a fabric from one host, as names for people.

In tiers: ``its leaf``, ``spines of other pods``. Where an intent's shape has groups, by these: ``spines of its group``.
Elsewhere by the number of links between them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from lossless.analysis.storm.tiers import LeafReachability

_NAMES = {1: "leaves", 2: "spines", 3: "super-spines"}


class ShapeGroups(NamedTuple):
    """The groups of a shape: their name, and the group of every switch; switches of no group are left out."""

    name: str
    of: Mapping[str, int]


class RelativeNames:
    """One host and the switches it is connected to; names other nodes relative to them."""

    def __init__(
        self, tiers: LeafReachability, host: str, leaves: Set[str], groups: ShapeGroups | None = None
    ) -> None:
        self._net, self._below, self._groups = tiers.net, tiers.below, groups
        self.host = host
        self.leaves = leaves
        singular, plural = ("leaf", "leaves") if self._net.tiered else ("switch", "switches")
        self.its_leaf = f"its {singular if len(leaves) == 1 else plural}"
        self._named: dict[str, str] = {}

    def who(self, node: str) -> str:
        """Return the name of a node relative to the host: ``its leaf``, ``spines of other pods``."""
        if node not in self._named:
            self._named[node] = self._who(node)
        return self._named[node]

    def _who(self, node: str) -> str:
        rank = self._net.rank[node]
        if node == self.host:
            return node
        if rank == 0:
            return "hosts"
        if node in self.leaves:
            return self.its_leaf
        if self._groups is not None and node in self._groups.of:
            return self._in_group(node, self._groups)
        if not self._net.tiered:
            far = self.links_away[node]
            return f"switches {far} {'link' if far == 1 else 'links'} away"
        if rank == 1:
            return self._leaf(node)
        return "super-spines" if rank == 3 else self._spine(node)

    @cached_property
    def links_away(self) -> dict[str, int]:
        """The number of links between each switch and the nearest of the host's own."""
        far = dict.fromkeys(sorted(self.leaves), 0)
        order = list(far)
        for node in order:
            for at in self._net.out_of[node]:
                other = self._net.channels[at].target
                if self._net.rank[other] and other not in far:
                    far[other] = far[node] + 1
                    order.append(other)
        return dict.fromkeys(self._net.switches, 0) | far

    def _in_group(self, node: str, groups: ShapeGroups) -> str:
        many = _NAMES[self._net.rank[node]] if self._net.tiered else "switches"
        if all(groups.of.get(leaf) != groups.of[node] for leaf in self.leaves):
            return f"{many} of other {groups.name}s"
        identical = any(self._net.rank[leaf] == self._net.rank[node] for leaf in self.leaves)
        return f"{'other ' if identical else ''}{many} of its {groups.name}"

    @cached_property
    def _pod(self) -> frozenset[str]:
        """The leaves that its own leaf reaches by a spine."""
        own = (leaves for node, leaves in self._below.items() if self._net.rank[node] == 2)
        return frozenset(self.leaves).union(*(leaves for leaves in own if not leaves.isdisjoint(self.leaves)))

    @cached_property
    def _pods(self) -> bool:
        """Whether there are leaves that no spine of its own leaf reaches."""
        return any(rank == 1 and node not in self._pod for node, rank in self._net.rank.items())

    def _leaf(self, leaf: str) -> str:
        if not self._pods:
            return "other leaves"
        return "other leaves of its pod" if leaf in self._pod else "leaves of other pods"

    def _spine(self, spine: str) -> str:
        if not self._pods:
            return "spines"
        mine = not self._below[spine].isdisjoint(self._pod)
        return "spines of its pod" if mine else "spines of other pods"
