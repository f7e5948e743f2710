"""The failures that could matter: those of switches and links whose paths have too few disjoint alternatives.

Let every two switches with hosts be joined by more shortest paths than there are failures, no two of which share a
switch or a link. Then some of them are left, distances between hosts stay, and every path after the failures
existed before. So no turn is new, and turns that could close no cycle before close none now. Only the failure of a
switch or link on scarcer paths can change that.

Paths that begin and end in the same switches share nothing else if they go through different *parts* of the fabric:
those that are left when all switches with hosts are removed, as the planes of a Clos or the spines of a leaf-spine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.routing.channels import parts
from lossless.analysis.routing.distances import shortest_paths
from lossless.analysis.routing.flows import carried
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.routing.channels import Wires
    from lossless.analysis.routing.distances import ShortestPaths
    from lossless.analysis.routing.policies import PolicyMoves


class CriticalElements(NamedTuple):
    """Elements of paths with too few disjoint alternatives: switches, and pairs of switches, the lower number first."""

    switches: frozenset[int]
    pairs: frozenset[tuple[int, int]]


def critical_elements(wires: Wires, moves: PolicyMoves, failures: int) -> CriticalElements:
    """Return the elements of which one or more must fail for up to ``failures`` failures to change a distance."""
    paths = shortest_paths(moves, wires.attached)
    switches, pairs = set[int](), set[tuple[int, int]]()
    for move, here in enumerate(carried(moves, paths, _with_few(wires, moves, paths, failures))):
        if here:
            near, far = moves.channels[moves.over[move]]
            pairs.add((min(near, far), max(near, far)))
            if here & ~paths.own[far]:
                switches.add(far)
    return CriticalElements(frozenset(switches), frozenset(pairs))


def _with_few(wires: Wires, moves: PolicyMoves, paths: ShortestPaths, failures: int) -> dict[int, int]:
    """Return, by switch with hosts, the destinations that have at most ``failures`` disjoint paths."""
    through = _through(wires, moves, paths)
    scarce = {}
    for switch in paths.destinations:
        more = [-1] + [0] * (failures + 1)
        for reached in through[switch]:
            for count in range(failures, -1, -1):
                more[count + 1] |= more[count] & reached
        scarce[switch] = ~more[-1]
    return scarce


def _through(wires: Wires, moves: PolicyMoves, paths: ShortestPaths) -> dict[int, Sequence[int]]:
    """Return, by switch with hosts, the destinations of shortest paths by each part of the fabric, and each link.

    Links that go straight from one switch with hosts to another fail together, and count as many failures.
    """
    with_hosts = frozenset(paths.destinations)
    paths_beyond, part = shortest_paths(moves, wires.attached, with_hosts), parts(wires, with_hosts)
    by_part: dict[int, dict[int, int]] = {switch: {} for switch in paths.destinations}
    straight: dict[int, list[int]] = {switch: [] for switch in paths.destinations}
    for tail, head in zip(moves.tails, moves.heads, strict=True):
        # Only what a switch sends itself begins here: in the state of its own number.
        if tail not in with_hosts:
            continue
        far = moves.at[head]
        if far in with_hosts:
            straight[tail] += [paths.own[far]] * wires.links[tail][far]
            continue
        reached = by_part[tail].get(part[far], 0)
        for layer, following in zip(paths_beyond.layers, paths.layers[1:], strict=False):
            reached |= layer.get(head, 0) & following.get(tail, 0)
        by_part[tail][part[far]] = reached
    return {switch: [*by_part[switch].values(), *straight[switch]] for switch in paths.destinations}
