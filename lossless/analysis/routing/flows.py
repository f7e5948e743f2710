"""The traffic of each move, for all destinations at once, one bit each.

Packets take all shortest paths, or also longer ones (:mod:`.longer_paths`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.routing.longer_paths import (
    carried_with_extra_hops,
    numbered_destinations,
    shortest_paths,
)
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from lossless.analysis.routing.longer_paths import ShortestPaths
    from lossless.analysis.routing.policies import PolicyMoves
    from lossless.analysis.routing.symmetry import Wires


class Flows(NamedTuple):
    """Traffic by move.

    ``carried`` has for each of the ``moves`` the destinations of its packets, as bits; ``lost`` for each switch
    with hosts the destinations without a path.

    With ``extra_hops`` the moves alone would allow packets to turn straight back at some states, which they do not.
    """

    moves: PolicyMoves
    carried: Sequence[int]
    lost: dict[int, int]
    destinations: Sequence[int]
    extra_hops: int = 0


def flows(
    moves: PolicyMoves, attached: Sequence[bool], outside: Collection[int] = (), extra_hops: int = 0
) -> Flows:
    """Return the traffic where all hosts send to all others by all paths of up to a number of extra hops.

    Switches outside do not send to each other: they have paths of their own for that.
    """
    paths = shortest_paths(moves, attached)
    apart = sum(paths.own[switch] for switch in outside)
    sent = {s: ~apart if s in outside else -1 for s in paths.destinations}
    return _flows(moves, paths, sent, extra_hops)._replace(lost=_lost(paths.destinations, paths.reached))


def flows_of(
    moves: PolicyMoves, attached: Sequence[bool], sent: Mapping[int, int], extra_hops: int = 0
) -> Flows:
    """Return the traffic where only some switches send, each to some of the switches with hosts."""
    return _flows(moves, shortest_paths(moves, attached), sent, extra_hops)


def _flows(moves: PolicyMoves, paths: ShortestPaths, sent: Mapping[int, int], extra_hops: int) -> Flows:
    if not extra_hops:
        return Flows(moves, carried(moves, paths, sent), {}, paths.destinations)
    longer = carried_with_extra_hops(moves, paths, sent, extra_hops)
    return Flows(*longer, {}, paths.destinations, extra_hops)


def lost_up_down(wires: Wires) -> dict[int, int]:
    """Return, for switches with hosts, the destinations without a path up, level at most once, and down.

    This question alone needs neither hops nor moves.
    """
    destinations, reached = numbered_destinations(wires.attached)
    links, tiers = wires.links, wires.tiers
    order = sorted(range(len(tiers)), key=tiers.__getitem__)
    for switch in order:
        for other in links[switch]:
            if tiers[other] < tiers[switch]:
                reached[switch] |= reached[other]
    down = reached[:]
    for switch in reversed(order):
        for other in links[switch]:
            if tiers[other] >= tiers[switch]:
                reached[switch] |= down[other] if tiers[other] == tiers[switch] else reached[other]
    return _lost(destinations, reached)


def _lost(destinations: Sequence[int], reached: Sequence[int]) -> dict[int, int]:
    everything = (1 << len(destinations)) - 1
    return {s: missing for s in destinations if (missing := everything & ~reached[s])}


def carried(moves: PolicyMoves, paths: ShortestPaths, sent: Mapping[int, int]) -> list[int]:
    """Return the destinations of the ``sent`` packets that each move carries; those without a path are dropped.

    States are processed from the farthest to the nearest.
    """
    out: list[list[int]] = [[] for _ in moves.at]
    for move, tail in enumerate(moves.tails):
        out[tail].append(move)
    waiting = [sent.get(state, 0) for state in range(len(out))]
    by_move, hops, heads = [0] * len(moves.tails), paths.hops, moves.heads
    for layer in reversed(paths.layers[1:]):
        for state, far in layer.items():
            here = waiting[state] & far
            if not here:
                continue
            for move in out[state]:
                if going := here & hops[move]:
                    going = hops[move] if going == hops[move] else going
                    by_move[move] = by_move[move] | going if by_move[move] else going
                    head = heads[move]
                    waiting[head] = waiting[head] | going if waiting[head] else going
    return by_move
