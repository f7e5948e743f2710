"""Turns from incoming to outgoing channels, as sets and not one by one.

A switch of 64 ports has four thousand turns, and a fabric a thousand such switches. Where all of some channels turn
to all of some others, one node between them stands for all: as many edges as channels, not as their product. Where
each of many turns to all but a few of many, ranges of channels have nodes of their own, as in a segment tree.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.ground.graphs.graph import NODE, Graph, from_edges

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.analysis.routing.flows import Flows

_FEW = 16
"""Sets below this many edges per channel are written out; ranges would cost as much."""


class TurnSet(NamedTuple):
    """All of ``ins`` turn to all of ``outs``; both are channels, or other nodes of a graph."""

    ins: Sequence[int]
    outs: Sequence[int]


def turns(traffic: Flows) -> Iterator[list[TurnSet]]:
    """Yield the turns of each state, from the channel by which packets come to the channels by which they may leave."""
    moves = traffic.moves
    ins, outs = _by_state(moves.heads, traffic), _by_state(moves.tails, traffic)
    opposites = moves.opposites() if traffic.extra_hops else ()
    for state, coming in ins.items():
        leaving = outs.get(state)
        if leaving:
            sets = _sets(coming, leaving)
            yield list(_onward(sets, opposites) if opposites else sets)


def _by_state(at: Sequence[int], traffic: Flows) -> dict[int, dict[int, list[int]]]:
    """Return the channels of moves with traffic, by state and by the destinations of the traffic."""
    by_state: dict[int, dict[int, list[int]]] = {}
    for move, carried in enumerate(traffic.carried):
        if carried:
            by_state.setdefault(at[move], {}).setdefault(carried, []).append(traffic.moves.over[move])
    return by_state


def _onward(sets: Iterable[TurnSet], opposites: Sequence[int]) -> Iterator[TurnSet]:
    """Yield turns without those that lead straight back."""
    for ins, outs in sets:
        coming = frozenset(ins)
        back = [out for out in outs if opposites[out] in coming]
        onward = outs if not back else [out for out in outs if opposites[out] not in coming]
        if onward:
            yield TurnSet(ins, onward)
        if len(ins) > 1:
            yield from (TurnSet([came for came in ins if came != opposites[out]], [out]) for out in back)


def _sets(coming: dict[int, list[int]], leaving: dict[int, list[int]]) -> Iterator[TurnSet]:
    """Yield one set for all outgoing channels that have the same incoming channels."""
    joined: dict[tuple[int, ...], list[int]] = {}
    order = list(coming)
    for carried, outs in leaving.items():
        groups = tuple([place for place, mask in enumerate(order) if mask & carried])
        if groups:
            joined.setdefault(groups, []).extend(outs)
    for groups, outs in joined.items():
        ins = (channel for place in groups for channel in coming[order[place]])
        # Two moves may go over one channel, from different states.
        yield TurnSet(list(dict.fromkeys(ins)), list(dict.fromkeys(outs)))


class WaitGraph:
    """The graph of waits under construction: first the channels, then nodes that stand for sets."""

    def __init__(self, channels: int) -> None:
        self.channels = channels
        self._nodes = channels
        self._tails, self._heads = array(NODE), array(NODE)

    def add(self, sets: Sequence[TurnSet]) -> None:
        """Add the turns of one switch, written out or by ranges, whichever has fewer edges."""
        channels = {channel for turn_set in sets for channel in turn_set.ins}
        if sum(len(turn_set.ins) for turn_set in sets) <= _FEW * len(channels):
            for turn_set in sets:
                self._join(turn_set.ins, turn_set.outs)
            return
        ranges = _Ranges(sorted(channels), self)
        for turn_set in sets:
            self._join(ranges.of(turn_set.ins), turn_set.outs)

    def node(self) -> int:
        """Return a new node."""
        self._nodes += 1
        return self._nodes - 1

    def edge(self, tail: int, head: int) -> None:
        """Add the wait of one node for another."""
        self._tails.append(tail)
        self._heads.append(head)

    def graph(self) -> Graph:
        """Return the graph."""
        return from_edges(self._nodes, self._tails, self._heads)

    def _join(self, tails: Iterable[int], heads: Iterable[int]) -> None:
        middle = self.node()
        # Tails and heads are two columns of edges: whichever side is longer now is made up with the middle.
        self._tails.extend(tails)
        self._heads.extend([middle] * (len(self._tails) - len(self._heads)))
        self._heads.extend(heads)
        self._tails.extend([middle] * (len(self._heads) - len(self._tails)))


class _Ranges:
    """A tree over channels: the node of each requested range, with edges from all channels in it."""

    def __init__(self, channels: Sequence[int], waits: WaitGraph) -> None:
        self._channels, self._waits = channels, waits
        self._place = {channel: place for place, channel in enumerate(channels)}
        self._made: dict[tuple[int, int], int] = {}

    def of(self, channels: Sequence[int]) -> list[int]:
        """Return nodes that stand for these channels, and no others."""
        places = sorted(self._place[channel] for channel in channels)
        nodes, start = list[int](), 0
        for index in range(1, len(places) + 1):
            if index == len(places) or places[index] != places[index - 1] + 1:
                nodes += self._cover(0, len(self._channels), places[start], places[index - 1] + 1)
                start = index
        return nodes

    def _cover(self, low: int, high: int, start: int, end: int) -> list[int]:
        """Return the nodes of repeated halves of ``low`` to ``high`` that make up ``start`` to ``end``."""
        if start >= high or end <= low:
            return []
        if start <= low and high <= end:
            return [self._node(low, high)]
        middle = (low + high) // 2
        return self._cover(low, middle, start, end) + self._cover(middle, high, start, end)

    def _node(self, low: int, high: int) -> int:
        if high - low == 1:
            return self._channels[low]
        if (low, high) not in self._made:
            node = self._made[low, high] = self._waits.node()
            middle = (low + high) // 2
            self._waits.edge(self._node(low, middle), node)
            self._waits.edge(self._node(middle, high), node)
        return self._made[low, high]
