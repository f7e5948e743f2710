"""Shortest paths through a fabric, one of equal ones at random, as switches choose by hash (ECMP)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import ScenarioError

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Sequence

    from lossless.analysis.simulation.question.nodes import SimTopology


class EcmpRoutes:
    """Paths between NIC ports of a network; how far each switch is from a target is computed once for its switch."""

    def __init__(self, topology: SimTopology) -> None:
        self._topology = topology
        self._far: dict[int, dict[int, int]] = {}
        self._pairs: dict[tuple[int, int], set[frozenset[int]]] = {}
        self._nearer: dict[tuple[int, int], list[int]] = {}

    def path(self, source: int, target: int, rng: random.Random) -> tuple[int, ...]:
        """Return the nodes from a NIC port to another; each parallel link has its share of the choices.

        Raises:
            ScenarioError: no link leads from one to the other.
        """
        first, last = self._topology.leaf(source), self._topology.leaf(target)
        far = self._distances(last)
        if first not in far:
            names = self._topology.names
            raise ScenarioError(f"no path leads from {names[source]} to {names[target]}")
        nodes = [source, first]
        while nodes[-1] != last:
            nodes.append(rng.choice(self._nearer_to(last, nodes[-1])))
        return (*nodes, target)

    def _nearer_to(self, last: int, node: int) -> list[int]:
        """Return the peers of a switch that are nearer to another, one entry for each link."""
        if (last, node) not in self._nearer:
            far = self._distances(last)
            nearer = [peer for peer in self._peers(node) if far.get(peer) == far[node] - 1]
            self._nearer[last, node] = nearer
        return self._nearer[last, node]

    def reaches(self, nic: int, target: int) -> bool:
        """Return whether a path leads from one NIC port to another."""
        return self._topology.leaf(nic) in self._distances(self._topology.leaf(target))

    def pairs(self, paths: Iterable[Sequence[int]], *, equal: bool) -> set[frozenset[int]]:
        """Return the nodes that follow each other on some path, or on any ``equal`` one, that is as short."""
        if not equal:
            return {frozenset(pair) for path in paths for pair in pairwise(path)}
        paths = list(paths)
        ends = {frozenset(pair) for path in paths for pair in (path[:2], path[-2:])}
        return ends.union(*(self._between(path[1], path[-2]) for path in paths))

    def _between(self, first: int, last: int) -> set[frozenset[int]]:
        """Return the pairs of switches on all shortest paths between two."""
        if (first, last) not in self._pairs:
            far, pairs, reached = self._distances(last), set(), [first]
            for node in reached:
                for peer in dict.fromkeys(self._peers(node)):
                    if far.get(peer) == far[node] - 1:
                        pairs.add(frozenset((node, peer)))
                        reached += [peer] if peer not in reached else []
            self._pairs[first, last] = pairs
        return self._pairs[first, last]

    def wires(self, pairs: set[frozenset[int]]) -> list[int]:
        """Return the links that lie between the nodes of each pair, parallel ones included."""
        wires = self._topology.wires
        near = {wire for pair in pairs for wire in self._topology.wires_of[min(pair, key=self._degree)]}
        return sorted(wire for wire in near if frozenset((wires[wire].a, wires[wire].b)) in pairs)

    def _degree(self, node: int) -> int:
        return len(self._topology.wires_of[node])

    def _peers(self, node: int) -> list[int]:
        """Return the switches at the other ends of a switch's links, one entry for each link."""
        wires = (self._topology.wires[at] for at in self._topology.wires_of[node])
        ends = (wire.b if wire.a == node else wire.a for wire in wires)
        return [end for end in ends if end in self._topology.switch_of]

    def _distances(self, last: int) -> dict[int, int]:
        if last not in self._far:
            self._far[last] = distances(last, self._peers)
        return self._far[last]


def distances(last: int, peers: Callable[[int], Iterable[int]]) -> dict[int, int]:
    """Return how many links each switch that reaches a switch is from it."""
    far, reached = {last: 0}, [last]
    for node in reached:
        for peer in peers(node):
            if peer not in far:
                far[peer] = far[node] + 1
                reached.append(peer)
    return far
