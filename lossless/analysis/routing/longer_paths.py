"""Paths that are up to a number of hops longer than the shortest, and the traffic of each move on them.

A packet has a number of extra hops, and each move uses as many as it leads farther than a shortest path would. A packet
never turns straight back to the switch that it came from, and never continues from its destination. So its possible
moves depend on the channel that it came by and on the remaining hops: these two are tracked, for all
destinations at once, and not single paths. A packet can leave by a channel if it came by any other one than the
opposite channel.

Every path that arrives is counted, also those that visit a switch twice. Work is that of shortest paths, times the
square of one more than the extra hops.

Distances of all states from all switches with hosts, computed for all destinations at once, one bit each.

A destination is a switch with hosts. Work is a few passes over all moves, one for each hop of the longest path; in each
pass one operation on numbers of a thousand bits handles a thousand destinations.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

from lossless.analysis.routing.policies import PolicyMoves
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence


def carried_with_extra_hops(
    moves: PolicyMoves, paths: ShortestPaths, sent: Mapping[int, int], extra_hops: int
) -> tuple[PolicyMoves, list[int]]:
    """Return moves between states that include the extra hops used so far, and the traffic of each.

    States without extra hops keep their numbers; after them come those with one, and so on. Moves without traffic
    are left out.
    """
    states, by_move = len(moves.at), _carried(_Arriving(moves, paths, extra_hops), sent)
    tails = [moves.tails[move] + spent * states for move, spent, _ in by_move]
    heads = [moves.heads[move] + (spent + extra) * states for move, spent, extra in by_move]
    over = [moves.over[move] for move, _, _ in by_move]
    at = [*moves.at] * (extra_hops + 1)
    return PolicyMoves(at, tails, heads, over, moves.channels, states), list(by_move.values())


class _Together(NamedTuple):
    """The bits of several numbers: those in any, and those in two or more."""

    any: int
    two: int

    def without(self, number: int) -> int:
        """Return the bits of the other numbers."""
        return self.two | (self.any & ~number)


def _together(numbers: Iterable[int]) -> _Together:
    of_any = of_two = 0
    for number in numbers:
        of_two |= of_any & number
        of_any |= number
    return _Together(of_any, of_two)


class _Arriving:
    """The destinations that moves can reach, by their detour, and by the remaining extra hops.

    ``farther[extra][move]`` has the destinations to which a move takes a number of hops more than a shortest path.
    ``by[left][channel]`` has those that are reached over a channel with a number of extra hops left after it.
    """

    def __init__(self, moves: PolicyMoves, paths: ShortestPaths, extra_hops: int) -> None:
        self.moves, self.paths, self.most, self.back = moves, paths, extra_hops, moves.opposites()
        self.out: list[list[int]] = [[] for _ in moves.at]
        for move, tail in enumerate(moves.tails):
            self.out[tail].append(move)
        self.into: list[list[int]] = [[] for _ in moves.at]
        self.heads = dict(zip(moves.over, moves.heads, strict=True))
        for channel, head in self.heads.items():
            self.into[head].append(channel)
        self.farther = [paths.hops, *map(self._farther, range(1, extra_hops + 1))]
        self.by: list[list[int]] = []
        for left in range(extra_hops + 1):
            self.by.append([paths.own[far] for _, far in moves.channels])
            self._go_back(left)

    def _farther(self, extra: int) -> list[int]:
        by_move = [0] * len(self.moves.tails)
        for near, far in zip(self.paths.layers[1:], self.paths.layers[extra:], strict=False):
            for state, bits in near.items():
                for move in self.out[state]:
                    by_move[move] |= bits & far.get(self.moves.heads[move], 0)
        return by_move

    def _go_back(self, left: int) -> None:
        """Add to each channel, nearest to the destination first, the destinations of channels that it may turn to."""
        for layer in self.paths.layers[1:]:
            for state, bits in layer.items():
                onward = {self.moves.over[move]: self._onward(move, left) & bits for move in self.out[state]}
                together = _together(onward.values())
                for channel in self.into[state]:
                    self.by[left][channel] |= together.without(onward.get(self.back[channel], 0))

    def _onward(self, move: int, left: int) -> int:
        """Return the destinations reached by a move with a number of extra hops left before it."""
        over, bits = self.moves.over[move], 0
        for extra in range(left + 1):
            bits |= self.farther[extra][move] & self.by[left - extra][over]
        return bits


def _carried(arriving: _Arriving, sent: Mapping[int, int]) -> dict[tuple[int, int, int], int]:
    """Return the traffic by move, extra hops used before it, and extra hops that it uses itself.

    States are processed by extra hops used, fewest first, and of these the farthest first.
    """
    by_move = defaultdict[tuple[int, int, int], int](int)
    over, most = arriving.moves.over, arriving.most
    came = [[0] * len(arriving.moves.channels) for _ in range(most + 1)]
    for spent in range(most + 1):
        for layer in reversed(arriving.paths.layers[1:]):
            for state, bits in layer.items():
                own = 0 if spent else sent.get(state, 0)
                together = _together([own, *(came[spent][channel] for channel in arriving.into[state])])
                for move in arriving.out[state] if together.any & bits else ():
                    back = arriving.back[over[move]]
                    returning = came[spent][back] if arriving.heads.get(back) == state else 0
                    here = together.without(returning) & bits
                    for extra in range(most - spent + 1):
                        going = here & arriving.farther[extra][move]
                        going &= arriving.by[most - spent - extra][over[move]]
                        if going:
                            by_move[move, spent, extra] |= going
                            came[spent + extra][over[move]] |= going
    return by_move


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
