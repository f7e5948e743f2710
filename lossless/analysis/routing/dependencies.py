"""Cyclic buffer dependencies (CBD): the turns that close them, those of bounced packets, and the graph of both.

A CBD does not mean that a fabric deadlocks: a PFC deadlock needs every queue of the cycle to be full. Without a CBD no
deadlock is possible: a buffer that waits for no other drains, and then those that wait for it. (S. Hu et al., Deadlocks
in Datacenter Networks, HotNets 2016, abstract: the condition is a necessary one, and not sufficient.)

A bounce is a packet that a switch received from a higher tier and sends back up (a valley). The switches above
forward a bounced packet to its destination by paths that avoid the switch that could not deliver it. Such a path may
contain turns that no other traffic takes, as from one spine of a pod through a super-spine to the next. Packets for
hosts of the bouncing switch itself go to another switch that has them too, as in a pair of ToRs; that switch is not
known here, so it may be any.

Turns from incoming to outgoing channels are kept as sets and not one by one. A switch of 64 ports has four thousand
turns, and a fabric a thousand such switches. Where all of some channels turn to all of some others, one node between
them stands for all: as many edges as channels, not as their product. Where each of many turns to all but a few of
many, ranges of channels have nodes of their own, as in a segment tree.
"""

from __future__ import annotations

from array import array
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from lossless.analysis.routing.moves import (
    avoiding,
    ending,
    flows,
    flows_of,
    lost_up_down,
    shortest_path,
    up_down,
    valley,
)
from lossless.analysis.routing.symmetry import folded, parts
from lossless.ground.basics.records import NamedTuple
from lossless.ground.graphs.cycles import NODE, Graph, cycle, from_edges, strong_components

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.routing.moves import Flows, PolicyMoves
    from lossless.analysis.routing.symmetry import Wires
    from lossless.model.fabric.cabling import RoutingPolicy


MEMBERS = 3
"""The number of blocks of a family that show every cycle that more of them can have.

A cycle may pass many blocks of a family; of those with one switch between them some must be different ones, and three
suffice for that, as three colors do for a ring of any length. Paths may begin and end in any of them, as long as
both ends are not in one. Distances are the same while one is left.
"""


class RoutingQuestion(NamedTuple):
    """The routing to examine on wires; switches are named.

    Switches in ``bounces`` send packets from a higher tier back up in the same priority. Those in ``moved`` send them
    back up in a second priority, and do not send packets up that are in the second priority already. Paths may be
    ``extra_hops`` longer than the shortest that the policy allows.
    """

    policy: RoutingPolicy
    bounces: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()
    extra_hops: int = 0


class CycleHop(NamedTuple):
    """One hop of a CBD: packets sent from ``from_port`` and buffered at ``to_port``.

    ``second``: in the second priority, into which bounced packets are moved. ``up_again``: the switch of ``from_port``
    is the bottom of a valley.
    """

    near: str
    far: str
    from_port: str
    to_port: str
    second: bool
    up_again: bool


class RoutingVerdict(NamedTuple):
    """The verdict on routing: a CBD, a valley, and two switches without a path between them.

    ``cycle`` is empty without a CBD. ``valley`` names the switches of a valley that the policy allows, in order.
    ``lost`` are two switches with hosts that links join without a path that the policy allows.
    """

    cycle: tuple[CycleHop, ...] = ()
    valley: tuple[str, ...] | None = None
    lost: tuple[str, str] | None = None


def routing_verdict(wires: Wires, question: RoutingQuestion) -> RoutingVerdict:
    """Return the routing verdict on wires, without further failures."""
    if only_up_down(question) and not wires.outside:
        return RoutingVerdict(lost=_lost(wires, lost_up_down(wires)))
    folded_wires = reduced(wires, question, MEMBERS)
    return moves_verdict(folded_wires, moves_of(folded_wires, question), question)


def moves_of(wires: Wires, question: RoutingQuestion) -> PolicyMoves:
    """Return the moves that the policy of a question allows. Packets end at a switch configured elsewhere."""
    moves = up_down(wires) if question.policy == "up-down" else shortest_path(wires)
    return ending(moves, wires.outside) if wires.outside else moves


def only_up_down(question: RoutingQuestion) -> bool:
    """Return whether packets go up, then down, without bounces.

    Each channel on such a path ranks higher than the one before it (:func:`all_rise`), for any links. So no
    cycle can close and no path has a valley, however long paths are; packets can only be lost.
    """
    return question.policy == "up-down" and not (question.bounces or question.moved)


def moves_verdict(wires: Wires, moves: PolicyMoves, question: RoutingQuestion) -> RoutingVerdict:
    """Return the routing verdict on given moves between all switches; the policy of the question is ignored."""
    traffic = flows(moves, wires.attached, wires.outside, question.extra_hops)
    rising, bouncing = all_rise(wires, traffic.moves, traffic.carried), _bouncing(wires, question)
    hops = () if rising and not bouncing else _smallest(wires, moves, traffic, bouncing)
    return RoutingVerdict(hops, None if rising else valley(wires, traffic), _lost(wires, traffic.lost))


def cycle_through_outside(wires: Wires, question: RoutingQuestion) -> tuple[CycleHop, ...]:
    """Return a short CBD if switches configured elsewhere forward from each link to all others, empty without one."""
    folded_wires = reduced(wires, question, MEMBERS)
    moves = moves_of(folded_wires, question)
    traffic = flows(moves, folded_wires.attached, folded_wires.outside, question.extra_hops)
    sets = [*turns(traffic), list(_through(folded_wires, moves))]
    return _shortest_cycle(
        folded_wires, moves, sets, detours(folded_wires, moves, traffic, _bouncing(folded_wires, question))
    )


def _through(wires: Wires, moves: PolicyMoves) -> Iterator[TurnSet]:
    """Yield all turns at switches configured elsewhere, except those straight back."""
    leaving: dict[int, list[int]] = {}
    for over, (at, _) in enumerate(moves.channels):
        if at in wires.outside:
            leaving.setdefault(at, []).append(over)
    for came, (near, here) in enumerate(moves.channels):
        outs = [over for over in leaving.get(here, ()) if moves.channels[over][1] != near]
        if outs:
            yield TurnSet([came], outs)


def reduced(wires: Wires, question: RoutingQuestion, most: int) -> Wires:
    """Return wires with at most ``most`` of each set of identical blocks; bouncing switches differ from others."""
    return folded(told_apart(wires, question), most)


def told_apart(wires: Wires, question: RoutingQuestion) -> Wires:
    """Return wires whose switches have mark 1 if they bounce in the same priority, 2 if in a second one, else 0."""
    marks = [1 if name in question.bounces else 2 * (name in question.moved) for name in wires.names]
    return wires._replace(marks=marks)


def _bouncing(wires: Wires, question: RoutingQuestion) -> dict[int, bool]:
    """Return the numbers of the switches that bounce packets, each with whether it moves them to a second priority."""
    apart = question.bounces | question.moved
    return {number: name not in question.bounces for number, name in enumerate(wires.names) if name in apart}


def _smallest(
    wires: Wires, moves: PolicyMoves, traffic: Flows, bouncing: Mapping[int, bool]
) -> tuple[CycleHop, ...]:
    """Return a short CBD, empty without one. Packets that were moved to a second priority stay in it."""
    if not bouncing:
        traffic = traffic._replace(carried=_coming_back(traffic))
        return _shortest_cycle(wires, moves, list(turns(traffic)), ()) if any(traffic.carried) else ()
    if all(bouncing.values()) and all_rise(wires, moves, [1] * len(moves.over)):
        return ()
    sets = list(turns(traffic))
    hops = _shortest_cycle(wires, moves, sets, first_turns(wires, moves, traffic, bouncing))
    if len(hops) == least_cycle_length(wires, moves):
        return hops
    return _shortest_cycle(wires, moves, sets, detours(wires, moves, traffic, bouncing))


def _shortest_cycle(
    wires: Wires, moves: PolicyMoves, sets: Sequence[Sequence[TurnSet]], bounced: Sequence[Detour]
) -> tuple[CycleHop, ...]:
    """Return a short cycle of waits; channels count once more for packets that were moved to a second priority."""
    channels = len(moves.channels)
    waits = WaitGraph(2 * channels if any(detour.after for detour in bounced) else channels)
    for turn_sets in sets:
        waits.add(list(_paused(wires, moves, turn_sets, 0, 0)))
    for detour in bounced:
        waits.add(
            list(_paused(wires, moves, detour.turns, detour.before * channels, detour.after * channels))
        )
    return _hops(wires, moves, cycle(waits.graph(), waits.channels))


def _coming_back(traffic: Flows) -> list[int]:
    """Return the traffic of each move, 0 where no path leads from the end of its channel back to the start.

    Every cycle of waits consists of channels with traffic left.
    """
    moves = traffic.moves
    tails, heads = array(NODE, map(moves.place, moves.tails)), array(NODE, map(moves.place, moves.heads))
    used = [move for move, carried in enumerate(traffic.carried) if carried]
    edges = (array(NODE, [ends[move] for move in used]) for ends in (tails, heads))
    components = enumerate(strong_components(from_edges(len(moves.at), *edges)))
    part = {node: number for number, component in components for node in component}
    back = {
        over
        for tail, head, over in zip(tails, heads, moves.over, strict=True)
        if tail in part and part[tail] == part.get(head)
    }
    return [carried if over in back else 0 for carried, over in zip(traffic.carried, moves.over, strict=True)]


def all_rise(wires: Wires, moves: PolicyMoves, carried: Sequence[int]) -> bool:
    """Return whether every turn leads to a channel of a higher rank, which is impossible along a cycle.

    Channels down rank above all others, and higher the lower the tier that they begin in; the others rank by the tier
    that they begin in. So no path has a valley. The traffic of channels is combined by rank: the work grows with the
    number of moves, not of turns.
    """
    tiers = wires.tiers
    ranks = [
        (down := tiers[far] < tiers[near], -tiers[near] if down else tiers[near])
        for near, far in moves.channels
    ]
    coming: dict[int, dict[tuple[bool, int], int]] = {}
    leaving: dict[int, dict[tuple[bool, int], int]] = {}
    for tail, head, over, here in zip(moves.tails, moves.heads, moves.over, carried, strict=True):
        if here:
            for by_rank in (coming.setdefault(head, {}), leaving.setdefault(tail, {})):
                by_rank[ranks[over]] = by_rank[ranks[over]] | here if ranks[over] in by_rank else here
    return not any(
        rank >= other and here & there
        for state in coming.keys() & leaving.keys()
        for rank, here in coming[state].items()
        for other, there in leaving[state].items()
    )


def _paused(
    wires: Wires, moves: PolicyMoves, sets: Sequence[TurnSet], before: int, after: int
) -> Iterator[TurnSet]:
    """Yield turns between channels with PFC alone, the numbers of channels shifted by ``before`` and ``after``."""
    for ins, outs in sets:
        yield TurnSet(
            [c + before for c in ins if moves.channels[c] not in wires.lossy],
            [c + after for c in outs if moves.channels[c] not in wires.lossy],
        )


def _hops(wires: Wires, moves: PolicyMoves, nodes: Sequence[int]) -> tuple[CycleHop, ...]:
    """Return a cycle of channels as hops with names of switches and ports, empty without a cycle."""
    if not nodes:
        return ()
    names, tiers = wires.names, wires.tiers
    channels = [moves.channels[node % len(moves.channels)] for node in nodes]
    priorities = [node // len(moves.channels) for node in nodes]
    ports = wires.ports((names[near], names[far]) for near, far in channels)
    return tuple(
        CycleHop(
            names[near],
            names[far],
            *ports[names[near], names[far]],
            second=bool(priority),
            up_again=tiers[above] > tiers[near] < tiers[far],
        )
        for priority, (near, far), (above, _) in zip(
            priorities, channels, channels[-1:] + channels[:-1], strict=True
        )
    )


def _lost(wires: Wires, lost: Mapping[int, int]) -> tuple[str, str] | None:
    """Return two switches with hosts that links join and no path connects, None without such a pair.

    Where one can send to an outside switch of a higher tier, and such a switch to the other, there may be a path.
    """
    if not lost:
        return None
    part, destinations = parts(wires, wires.outside), [s for s, here in enumerate(wires.attached) if here]
    joined: dict[int, int] = {}
    for place, switch in enumerate(destinations):
        if part[switch] >= 0:
            joined[part[switch]] = joined.get(part[switch], 0) | 1 << place
    tops, around = 0, 0
    for place, switch in enumerate(destinations):
        if _tops(wires, switch):
            tops |= 1 << place
            around |= ~lost.get(switch, 0)
    for near, missing in lost.items():
        unjoined = missing & joined.get(part[near], 0) & ~(around if tops & ~missing else 0)
        if unjoined:
            # The lowest bit that is set is the first of the destinations.
            return wires.names[near], wires.names[destinations[(unjoined & -unjoined).bit_length() - 1]]
    return None


def _tops(wires: Wires, switch: int) -> bool:
    """Return whether a switch is outside and of a higher tier than all linked switches, whose tiers are known."""
    below = wires.links[switch]
    return switch in wires.outside and all(0 < wires.tiers[other] < wires.tiers[switch] for other in below)


_FEW = 16
"""Turn sets with up to this many edges per incoming channel are written out; ranges would cost as much."""


class TurnSet(NamedTuple):
    """A set of turns: packets may turn from each of ``ins`` to each of ``outs``, which are numbers of channels."""

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
    """Yield the turns of a state, one set for all outgoing channels that have the same incoming channels."""
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
        """Add sets of turns: written out if each incoming channel is in few of them on average, else by ranges."""
        channels = {channel for turn_set in sets for channel in turn_set.ins}
        if sum(len(turn_set.ins) for turn_set in sets) <= _FEW * len(channels):
            for turn_set in sets:
                self._join(turn_set.ins, turn_set.outs)
            return
        ranges = _Ranges(sorted(channels), self)
        for turn_set in sets:
            self._join(ranges.of(turn_set.ins), turn_set.outs)

    def node(self) -> int:
        """Add a node for a set of channels, and return its number."""
        self._nodes += 1
        return self._nodes - 1

    def edge(self, tail: int, head: int) -> None:
        """Add the wait of one node for another."""
        self._tails.append(tail)
        self._heads.append(head)

    def graph(self) -> Graph:
        """Return the graph of all waits added so far."""
        return from_edges(self._nodes, self._tails, self._heads)

    def _join(self, tails: Iterable[int], heads: Iterable[int]) -> None:
        middle = self.node()
        # Tails and heads are two columns of edges: whichever side is longer now is made up with the middle.
        self._tails.extend(tails)
        self._heads.extend([middle] * (len(self._tails) - len(self._heads)))
        self._heads.extend(heads)
        self._tails.extend([middle] * (len(self._heads) - len(self._tails)))


class _Ranges:
    """A segment tree over sorted channels: nodes for ranges, each with edges from the nodes of its two halves."""

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


class Detour(NamedTuple):
    """Turns of bounced packets, and their priority before and after the turn: 0 their own, 1 a second one."""

    turns: Sequence[TurnSet]
    before: int
    after: int


class _Bounce(NamedTuple):
    """One switch that bounces packets: its channels from and to higher tiers, and the priority before and after."""

    switch: int
    ins: Sequence[int]
    outs: Sequence[int]
    before: int
    after: int


def least_cycle_length(wires: Wires, moves: PolicyMoves) -> int:
    """Return the least number of channels in a cycle: four where the tiers of all links differ by an odd number, or 3.

    In a cycle of two, a packet would turn straight back.
    """
    return 4 if all((wires.tiers[near] ^ wires.tiers[far]) & 1 for near, far in moves.channels) else 3


def first_turns(
    wires: Wires, moves: PolicyMoves, traffic: Flows, bouncing: Mapping[int, bool]
) -> list[Detour]:
    """Return the turns of packets on their first bounce, at the switches that bounce: a quick first answer."""
    arrived = _add([0] * len(moves.channels), traffic) if bouncing else []
    bounces = (bounce for bounce in _places(wires, moves, bouncing) if not bounce.before)
    return [
        Detour([TurnSet(ins, bounce.outs)], 0, bounce.after)
        for bounce in bounces
        if (ins := [channel for channel in bounce.ins if arrived[channel]])
    ]


def detours(wires: Wires, moves: PolicyMoves, traffic: Flows, bouncing: Mapping[int, bool]) -> list[Detour]:
    """Return the turns that bounces add.

    ``bouncing`` has, for each switch that bounces packets, whether it uses a second priority.
    """
    nothing = [0] * len(moves.channels)
    arrived = [_add(list(nothing), traffic), nothing]
    by_bounce: dict[_Bounce, tuple[int, Sequence[int], list[Detour]]] = {}
    bounces, news = list(_places(wires, moves, bouncing)), True
    while news:  # packets that one switch has bounced may be bounced by the next
        news = False
        for bounce in bounces:
            destinations_by = arrived[bounce.before]
            ins = [channel for channel in bounce.ins if destinations_by[channel]]
            wanted = _all(destinations_by, ins)
            if ins and (bounce not in by_bounce or by_bounce[bounce][:2] != (wanted, ins)):
                by_bounce[bounce], news = (
                    (wanted, ins, _detour(wires, moves, traffic, bounce, ins, arrived)),
                    True,
                )
    return [detour for _, _, both in by_bounce.values() for detour in both]


def _detour(
    wires: Wires,
    moves: PolicyMoves,
    traffic: Flows,
    bounce: _Bounce,
    ins: Sequence[int],
    arrived: Sequence[list[int]],
) -> list[Detour]:
    """Return the turns of packets that arrive by ``ins`` and are bounced, and add their destinations to ``arrived``."""
    gone = _beyond(wires, moves, traffic, bounce, _all(arrived[bounce.before], ins))
    _add(arrived[bounce.after], gone)
    return [
        Detour([TurnSet(ins, bounce.outs)], bounce.before, bounce.after),
        Detour(list(_turned(gone, bounce)), bounce.after, bounce.after),
    ]


def _all(arrived: Sequence[int], channels: Iterable[int]) -> int:
    """Return the destinations, as bits, of all packets that arrive by ``channels``."""
    return reduce(or_, (arrived[channel] for channel in channels), 0)


def _places(wires: Wires, moves: PolicyMoves, bouncing: Mapping[int, bool]) -> Iterator[_Bounce]:
    """Yield the bounces of each switch, for packets in their own priority.

    A switch that bounces packets in the same priority has another bounce for packets that were moved to a second
    priority, if any switch moves packets.
    """
    ins, outs = dict[int, list[int]](), dict[int, list[int]]()
    for channel, (near, far) in enumerate(moves.channels):
        if far in bouncing and wires.tiers[near] > wires.tiers[far]:
            ins.setdefault(far, []).append(channel)
        if near in bouncing and wires.tiers[far] > wires.tiers[near]:
            outs.setdefault(near, []).append(channel)
    for switch in sorted(ins):
        yield _Bounce(switch, tuple(ins[switch]), tuple(outs[switch]), 0, int(bouncing[switch]))
        if not bouncing[switch] and any(bouncing.values()):
            yield _Bounce(switch, tuple(ins[switch]), tuple(outs[switch]), 1, 1)


def _beyond(wires: Wires, moves: PolicyMoves, traffic: Flows, bounce: _Bounce, wanted: int) -> Flows:
    """Return the traffic of bounced packets from the switches above to the destinations ``wanted``.

    Switches outside send none. Packets for the bouncing switch itself may go to any other destination.
    """
    own = sum(1 << number for number, end in enumerate(traffic.destinations) if end == bounce.switch)
    goals = (-1 if wanted & own else wanted) & ~own
    goes_by = avoiding(moves, bounce.switch)
    tops = (moves.channels[channel][1] for channel in bounce.outs)
    above = {top: goals for top in tops if top not in wires.outside}
    return flows_of(goes_by, wires.attached, above, traffic.extra_hops)


def _turned(gone: Flows, bounce: _Bounce) -> Iterator[TurnSet]:
    """Yield the turns of bounced packets, beginning with those at the switches above."""
    moves = gone.moves
    outs: dict[int, list[int]] = {moves.channels[channel][1]: [] for channel in bounce.outs}
    for tail, over, carried in zip(moves.tails, moves.over, gone.carried, strict=True):
        if carried and tail in outs:
            outs[tail].append(over)
    for channel in bounce.outs:
        yield TurnSet([channel], outs[moves.channels[channel][1]])
    for sets in turns(gone):
        yield from sets


def _add(arrived: list[int], added: Flows) -> list[int]:
    """Add the destinations that each channel carries in ``added`` to ``arrived``, and return it."""
    for over, carried in zip(added.moves.over, added.carried, strict=True):
        arrived[over] |= carried
    return arrived
