"""Which moves carry traffic to which switches: for all destinations at once, one bit each.

A destination is a switch with hosts. Work is a few passes over all moves, one for each hop of the longest way; what
a pass does for a thousand destinations is one operation on numbers of a thousand bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from lossless.routing.moves import Moves


class Flows(NamedTuple):
    """``carried`` has of each move the destinations of what it carries, as bits; ``lost`` of each switch with hosts
    those that no way leads to.
    """

    carried: Sequence[int]
    lost: dict[int, int]
    destinations: Sequence[int]


def flows(moves: Moves, attached: Sequence[bool], outside: Collection[int] = ()) -> Flows:
    """Return what is carried where all hosts send to all others by all shortest ways.

    Switches outside send to all but each other: they have ways of their own for that.
    """
    ends = [switch for switch, here in enumerate(attached) if here]
    own = {switch: 1 << place for place, switch in enumerate(ends)}
    layers, hops, reached = _ways(moves, [own.get(switch, 0) for switch in moves.at])
    everything = (1 << len(ends)) - 1
    apart = sum(own[switch] for switch in outside if switch in own)
    waiting = [0] * len(moves.at)
    lost = {}
    for switch in ends:
        waiting[switch] = reached[switch] & ~(apart if switch in outside else own[switch])
        missing = everything & ~reached[switch]
        if missing:
            lost[switch] = missing
    return Flows(_carried(moves, layers, hops, waiting), lost, ends)


def flows_of(moves: Moves, destinations: Sequence[int], sent: Mapping[int, int]) -> Flows:
    """Return what is carried where some switches alone send, each to some of the destinations."""
    own = {switch: 1 << place for place, switch in enumerate(destinations)}
    layers, hops, reached = _ways(moves, [own.get(switch, 0) for switch in moves.at])
    waiting = [0] * len(moves.at)
    for switch, wanted in sent.items():
        waiting[switch] = wanted & reached[switch] & ~own.get(switch, 0)
    return Flows(_carried(moves, layers, hops, waiting), {}, destinations)


def _ways(moves: Moves, reached: list[int]) -> tuple[list[dict[int, int]], list[int], list[int]]:
    """Return the destinations of each state by how many hops they are away, and by each move those it leads to."""
    into: list[list[int]] = [[] for _ in moves.at]
    for move, head in enumerate(moves.heads):
        into[head].append(move)
    tails, hops = moves.tails, [0] * len(moves.tails)
    layer = {state: found for state, found in enumerate(reached) if found}
    layers = [layer]
    while layer:
        new: dict[int, int] = {}
        for state, found in layer.items():
            for move in into[state]:
                tail = tails[move]
                if fresh := found & ~reached[tail]:
                    new[tail] = new.get(tail, 0) | fresh
                    hops[move] |= fresh
        for state, found in new.items():
            reached[state] |= found
        layers.append(new)
        layer = new
    return layers, hops, reached


def _carried(
    moves: Moves, layers: Sequence[dict[int, int]], hops: Sequence[int], waiting: list[int]
) -> list[int]:
    """Send what waits on its way, from the farthest states on; return what each move carries."""
    out: list[list[int]] = [[] for _ in moves.at]
    for move, tail in enumerate(moves.tails):
        out[tail].append(move)
    carried = [0] * len(hops)
    for layer in reversed(layers[1:]):
        for state, far in layer.items():
            here = waiting[state] & far
            if not here:
                continue
            for move in out[state]:
                if sent := here & hops[move]:
                    carried[move] |= sent
                    waiting[moves.heads[move]] |= sent
    return carried
