"""Which failures could matter: those of what ways need that have too few others beside them.

Let every two switches with hosts be joined by more shortest ways than there are failures, no two of which share a
switch or a link. Then some of them are left, distances between hosts stay, and whatever way is taken after the failures
was one before. So no turn is new, and what no circle could be made of before makes none now. Only what shorter supply
of ways goes through can change that by failing.

Ways that begin and end in the same switches share nothing else if they go through different *parts* of the fabric:
those that are left when all switches with hosts are taken away, as the planes of a Clos or the spines of a leaf-spine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.routing.channels import parts
from lossless.analysis.routing.flows import carried, ways
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.routing.channels import Wires
    from lossless.analysis.routing.flows import Ways
    from lossless.analysis.routing.moves import Moves


class Needed(NamedTuple):
    """What ways with too few beside them go through: switches, and pairs of switches, the lower number first."""

    switches: frozenset[int]
    pairs: frozenset[tuple[int, int]]


def needed(wires: Wires, moves: Moves, failures: int) -> Needed:
    """Return what must fail, or some of it, for up to so many failures to change a distance between hosts."""
    found = ways(moves, wires.attached)
    few = _with_few(wires, moves, found, failures)
    if not few:
        return Needed(frozenset(), frozenset())
    switches, pairs = set[int](), set[tuple[int, int]]()
    for move, here in enumerate(carried(moves, found, few)):
        if here:
            near, far = moves.channels[moves.over[move]]
            pairs.add((min(near, far), max(near, far)))
            if here & ~found.own.get(far, 0):
                switches.add(far)
    return Needed(frozenset(switches), frozenset(pairs))


def _with_few(wires: Wires, moves: Moves, found: Ways, failures: int) -> dict[int, int]:
    """Return, by switch with hosts, the destinations that at most ``failures`` ways apart from each other lead to."""
    through = _through(wires, moves, found)
    few = {}
    for switch in found.destinations:
        more = [found.others(switch)] + [0] * (failures + 1)
        for reached in through[switch]:
            for count in range(failures, -1, -1):
                more[count + 1] |= more[count] & reached
        if left := more[0] & ~more[-1]:
            few[switch] = left
    return few


def _through(wires: Wires, moves: Moves, found: Ways) -> dict[int, Sequence[int]]:
    """Return, by switch with hosts, what shortest ways lead to through each part of the fabric, and by each link.

    Links that go straight from one switch with hosts to another fail together, and count as many failures.
    """
    with_hosts = frozenset(found.destinations)
    beyond, part = ways(moves, wires.attached, with_hosts), parts(wires, with_hosts)
    by_part: dict[int, dict[int, int]] = {switch: {} for switch in found.destinations}
    straight: dict[int, list[int]] = {switch: [] for switch in found.destinations}
    for tail, head in zip(moves.tails, moves.heads, strict=True):
        # Only what a switch sends itself begins here: in the state of its own number.
        if tail not in with_hosts:
            continue
        far = moves.at[head]
        if far in with_hosts:
            straight[tail] += [found.own[far]] * wires.links[tail][far]
            continue
        reached = by_part[tail].get(part[far], 0)
        for layer, following in zip(beyond.layers, found.layers[1:], strict=False):
            reached |= layer.get(head, 0) & following.get(tail, 0)
        by_part[tail][part[far]] = reached
    return {switch: [*by_part[switch].values(), *straight[switch]] for switch in found.destinations}
