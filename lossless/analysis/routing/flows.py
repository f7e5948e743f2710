"""Which moves carry traffic to which switches: for all destinations at once, one bit each.

A destination is a switch with hosts. Work is a few passes over all moves, one for each hop of the longest path; what
a pass does for a thousand destinations is one operation on numbers of a thousand bits.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from lossless.analysis.routing.channels import Wires
    from lossless.analysis.routing.policies import PolicyMoves


class ShortestPaths(NamedTuple):
    """All shortest paths to all destinations, which are bits in the order of ``destinations``.

    ``layers`` has by hops, of each state, the destinations that are so far away; ``hops`` of each move those that it
    leads nearer to; ``reached`` of each state all that it has a path to. ``own`` is the bit of each switch, 0
    without hosts.
    """

    destinations: Sequence[int]
    own: Sequence[int]
    layers: Sequence[dict[int, int]]
    hops: Sequence[int]
    reached: Sequence[int]


class Flows(NamedTuple):
    """``carried`` has of each move the destinations of what it carries, as bits; ``lost`` of each switch with hosts
    those that no path leads to.
    """

    carried: Sequence[int]
    lost: dict[int, int]
    destinations: Sequence[int]


def flows(moves: PolicyMoves, attached: Sequence[bool], outside: Collection[int] = ()) -> Flows:
    """Return what is carried where all hosts send to all others by all shortest paths.

    Switches outside send to all but each other: they have paths of their own for that.
    """
    paths = shortest_paths(moves, attached)
    apart = sum(paths.own[switch] for switch in outside)
    sent = {s: ~apart if s in outside else -1 for s in paths.destinations}
    return Flows(carried(moves, paths, sent), _lost(paths.destinations, paths.reached), paths.destinations)


def flows_of(moves: PolicyMoves, attached: Sequence[bool], sent: Mapping[int, int]) -> Flows:
    """Return what is carried where some switches alone send, each to some of the switches with hosts."""
    paths = shortest_paths(moves, attached)
    return Flows(carried(moves, paths, sent), {}, paths.destinations)


def lost_up_down(wires: Wires) -> dict[int, int]:
    """Return, of switches with hosts, the destinations that no path up, level at most once, and down leads to.

    Where only that is asked, paths need not be told by their hops, nor by their moves.
    """
    destinations, reached = _bits(wires.attached)
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


def _bits(attached: Sequence[bool]) -> tuple[list[int], list[int]]:
    """Return the destinations, and the bit of each switch."""
    destinations = [switch for switch, here in enumerate(attached) if here]
    return destinations, [
        here << before for here, before in zip(attached, accumulate(attached, initial=0), strict=False)
    ]


def shortest_paths(moves: PolicyMoves, attached: Sequence[bool], ends: Collection[int] = ()) -> ShortestPaths:
    """Return the shortest paths between switches with hosts; nothing goes on from ``ends``."""
    destinations, own = _bits(attached)
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
    """Walk from all destinations at once; return what each state finds at each distance, and by which moves."""
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


def carried(moves: PolicyMoves, paths: ShortestPaths, sent: Mapping[int, int]) -> list[int]:
    """Return what each move carries of what is ``sent`` by switches, to which destinations: those that have a path.

    It goes on from the farthest states first.
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
