"""Routing policies as moves between states: the switch of a packet, and the moves still allowed there.

A *channel* is one direction of a pair of switches: packets that arrive by it wait in the same ingress buffers. A *move*
takes a packet over a channel, from one state to another. Routes are the shortest paths from state to state, all of
them, as ECMP and adaptive routing among equal paths use them. Where a policy allows extra hops they are also longer
ones (:mod:`.longer_paths`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lossless.analysis.routing.symmetry import Wires


class PolicyMoves(NamedTuple):
    """Moves by number: from state, to state, over which channel. ``at`` is the switch of each state.

    Packets of a switch begin in the state of its own number. ``channels`` are pairs of switches, from and to; each
    leads to one state, from any state. Where states include the extra hops of a packet,
    ``states`` is the number of states for each number of them, else 0.
    """

    at: Sequence[int]
    tails: Sequence[int]
    heads: Sequence[int]
    over: Sequence[int]
    channels: Sequence[tuple[int, int]]
    states: int = 0

    def place(self, state: int) -> int:
        """Return a state without its extra hops."""
        return state % self.states if self.states else state

    def opposites(self) -> list[int]:
        """Return for each channel the one between the same two switches in the other direction, -1 without one."""
        number = {pair: channel for channel, pair in enumerate(self.channels)}
        return [number.get((far, near), -1) for near, far in self.channels]


def shortest_path(wires: Wires) -> PolicyMoves:
    """Return the moves of a fabric in which packets take any shortest path, up or down."""
    channels = _channels(wires)
    tails, heads = [near for near, _ in channels], [far for _, far in channels]
    return PolicyMoves(range(len(wires.names)), tails, heads, range(len(channels)), channels)


def up_down(wires: Wires) -> PolicyMoves:
    """Return the moves of a fabric in which packets go up first, and never again after they went down.

    Between two switches of one tier a packet may go once, at the top of its path. So a path is three parts, and a
    channel of one part waits for the same part or a later one, higher up in the first and further down in the last: no
    cycle closes. If packets could go so twice, three switches of one tier in a ring would close one by themselves.
    """
    switches, channels = len(wires.names), _channels(wires)
    tails, heads, over = list[int](), list[int](), list[int]()
    for number, (near, far) in enumerate(channels):
        rise = wires.tiers[far] - wires.tiers[near]
        tails.append(near)
        heads.append(far if rise > 0 else far + switches)
        over.append(number)
        if rise < 0:
            tails.append(near + switches)
            heads.append(far + switches)
            over.append(number)
    return PolicyMoves([*range(switches), *range(switches)], tails, heads, over, channels)


def ending(moves: PolicyMoves, switches: Collection[int]) -> PolicyMoves:
    """Return moves by which only the packets of some switches themselves leave them: others end in separate states."""
    at, last = list(moves.at), dict[int, int]()
    for switch in sorted(switches):
        last[switch] = len(at)
        at.append(switch)
    return moves._replace(at=at, heads=[last.get(moves.at[head], head) for head in moves.heads])


def avoiding(moves: PolicyMoves, switch: int) -> PolicyMoves:
    """Return the moves that neither lead to a switch nor begin there; states and channels keep their numbers."""
    kept = [
        (tail, head, over)
        for tail, head, over in zip(moves.tails, moves.heads, moves.over, strict=True)
        if switch not in (moves.at[tail], moves.at[head])
    ]
    tails, heads, over = zip(*kept, strict=True) if kept else ((), (), ())
    return moves._replace(tails=tails, heads=heads, over=over)


def _channels(wires: Wires) -> list[tuple[int, int]]:
    return [(near, far) for near, others in enumerate(wires.links) for far in others]
