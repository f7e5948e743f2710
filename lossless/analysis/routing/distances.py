"""Distances of all states from all switches with hosts, computed for all destinations at once, one bit each.

A destination is a switch with hosts. Work is a few passes over all moves, one for each hop of the longest path; in each
pass one operation on numbers of a thousand bits handles a thousand destinations.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lossless.analysis.routing.policies import PolicyMoves


class ShortestPaths(NamedTuple):
    """All shortest paths to all destinations, which are bits in the order of ``destinations``.

    ``layers`` has for each number of hops the destinations at that distance of each state; ``hops`` of each move those
    that it leads nearer to; ``reached`` of each state all that it has a path to. ``own`` is the bit of each switch, 0
    without hosts.
    """

    destinations: Sequence[int]
    own: Sequence[int]
    layers: Sequence[dict[int, int]]
    hops: Sequence[int]
    reached: Sequence[int]


def numbered_destinations(attached: Sequence[bool]) -> tuple[list[int], list[int]]:
    """Return the destinations, and the bit of each switch."""
    destinations = [switch for switch, here in enumerate(attached) if here]
    return destinations, [
        here << before for here, before in zip(attached, accumulate(attached, initial=0), strict=False)
    ]


def shortest_paths(moves: PolicyMoves, attached: Sequence[bool], ends: Collection[int] = ()) -> ShortestPaths:
    """Return the shortest paths between switches with hosts; no path continues from ``ends``."""
    destinations, own = numbered_destinations(attached)
    into: list[list[int]] = [[] for _ in moves.at]
    for move, (tail, head) in enumerate(zip(moves.tails, moves.heads, strict=True)):
        if moves.at[tail] not in ends:
            into[head].append(move)
    reached = [own[switch] for switch in moves.at]
    layers, hops = _layered(moves, into, reached)
    return ShortestPaths(destinations, own, layers, hops, reached)


def _layered(
    moves: PolicyMoves, into: Sequence[Sequence[int]], reached: list[int]
) -> tuple[list[dict[int, int]], list[int]]:
    """Search from all destinations at once; return the destinations of each state by distance, and of each move."""
    tails, hops = moves.tails, [0] * len(moves.tails)
    missing = [~destination_bits for destination_bits in reached]
    layer = {state: destination_bits for state, destination_bits in enumerate(reached) if destination_bits}
    layers = [layer]
    while layer:
        new: dict[int, int] = {}
        for state, destination_bits in layer.items():
            for move in into[state]:
                tail = tails[move]
                if fresh := destination_bits & missing[tail]:
                    # Of long numbers that are the same one is kept: with many destinations memory decides.
                    fresh = destination_bits if fresh == destination_bits else fresh
                    new[tail] = new[tail] | fresh if tail in new else fresh
                    hops[move] = hops[move] | fresh if hops[move] else fresh
        for state, destination_bits in new.items():
            reached[state] |= destination_bits
            missing[state] ^= destination_bits
        layers.append(new)
        layer = new
    return layers, hops
