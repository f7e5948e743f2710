"""Whether the paths through a fabric have a cyclic buffer dependency.

A frame that waits for link (v, w) holds memory that was filled over link (u, v), so the one link waits for the other.
Where those waits have no cycle, no traffic can close one (Dally and Seitz, Deadlock-free message routing in
multiprocessor interconnection networks, IEEE Transactions on Computers, 1987).
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.question.routes import distances

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.analysis.simulation.question.nodes import SimTopology

    Near = dict[int, set[int]]
    """Switches by number, and those they have a link to."""


def may_close_cycle(topology: SimTopology, nics: Sequence[int]) -> bool:
    """Return whether shortest paths between the switches of some NICs have a cyclic buffer dependency."""
    near, leaves = _near(topology), {topology.leaf(nic) for nic in nics}
    waits: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for last in leaves:
        _add_waits(waits, near, leaves, last)
    return has_cycle(waits)


def has_cycle(waits: Mapping[Any, Iterable[Any]]) -> bool:
    """Return whether the dependencies between links contain a cycle."""
    try:
        TopologicalSorter(waits).prepare()
    except CycleError:
        return True
    return False


def is_two_tier(topology: SimTopology) -> bool:
    """Return whether all paths go up once and down once, which closes no cycle: quicker than following each path."""
    near, leaves = _near(topology), {topology.leaf(nic) for nic in topology.nics}
    if any((node in leaves) == (other in leaves) for node, others in near.items() for other in others):
        return False
    return all(not near[node].isdisjoint(near[other]) for node, other in combinations(leaves, 2))


def _near(topology: SimTopology) -> Near:
    near: Near = {node: set() for node in topology.switch_of}
    for wire in topology.wires:
        if wire.a in near and wire.b in near:
            near[wire.a].add(wire.b)
            near[wire.b].add(wire.a)
    return near


def _add_waits(
    waits: dict[tuple[int, int], set[tuple[int, int]]], near: Near, leaves: set[int], last: int
) -> None:
    """Add the buffer dependencies of all shortest paths from some switches to one of them."""
    far = distances(last, near.__getitem__)
    reached = [leaf for leaf in leaves if leaf in far]
    seen = set(reached)
    for node in reached:
        for nearer in near[node]:
            if far[nearer] != far[node] - 1:
                continue
            onward = {(nearer, peer) for peer in near[nearer] if far[peer] == far[nearer] - 1}
            waits.setdefault((node, nearer), set()).update(onward)
            if nearer not in seen:
                seen.add(nearer)
                reached.append(nearer)
