"""How near the nodes of a fabric are to one host, in the words of a person."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set

    from lossless.spread.channels import Tiers


class Near:
    """One host and the leaves it is connected to: what others are, seen from there."""

    def __init__(self, found: Tiers, host: str, leaves: Set[str]) -> None:
        self._tiers = found
        self.host = host
        self.leaves = leaves
        self.its_leaf = "its leaf" if len(leaves) == 1 else "its leaves"

    def who(self, node: str) -> str:
        """Return what a node is: ``its leaf``, ``spines of other pods``."""
        rank = self._tiers.rank[node]
        if node == self.host:
            return node
        if rank == 0:
            return "hosts"
        if rank == 1:
            return self._leaf(node)
        return "super-spines" if rank == 3 else self._spine(node)

    @cached_property
    def _pod(self) -> frozenset[str]:
        """The leaves that its own leaf reaches by a spine."""
        own = (leaves for node, leaves in self._tiers.below.items() if self._tiers.rank[node] == 2)
        return frozenset(self.leaves).union(*(leaves for leaves in own if not leaves.isdisjoint(self.leaves)))

    @cached_property
    def _pods(self) -> bool:
        """Whether there are leaves that no spine of its own reaches."""
        return any(rank == 1 and node not in self._pod for node, rank in self._tiers.rank.items())

    def _leaf(self, leaf: str) -> str:
        if leaf in self.leaves:
            return self.its_leaf
        if not self._pods:
            return "other leaves"
        return "other leaves of its pod" if leaf in self._pod else "leaves of other pods"

    def _spine(self, spine: str) -> str:
        if not self._pods:
            return "spines"
        mine = not self._tiers.below[spine].isdisjoint(self._pod)
        return "spines of its pod" if mine else "spines of other pods"
