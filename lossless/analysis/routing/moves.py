"""Routing policies as moves from state to state, and the traffic of each move for all destinations at once.

A *channel* is one direction of a pair of switches: packets that arrive by it wait in the same ingress buffers. A
*state* is the switch of a packet and the moves still allowed there, and a *move* takes a packet over a channel from
one state to another. Routes are the shortest paths from state to state, all of them, as ECMP and adaptive routing
among equal paths use them.

Distances and traffic are computed for all destinations at once, one bit each; a destination is a switch with hosts.
Work is a few passes over all moves, one for each hop of the longest path; in each pass one operation on numbers of a
thousand bits handles a thousand destinations.

Where a policy allows extra hops, paths are up to so many hops longer than the shortest, and each move uses as many as
it leads farther than a shortest path would. A packet never turns straight back to the switch that it came from, and
never continues from its destination. So its possible moves depend on the channel that it came by and on the remaining
hops: these two are tracked, and not single paths. A packet can leave by a channel if it came by any other one than
the opposite channel. Every path that arrives is counted, also those that visit a switch twice. Work is that of
shortest paths, times the square of one more than the extra hops.

Valleys are paths that go up after they went down. They may cross links of one tier in between, as from one leaf to
its peer. Where a tier is unknown, the direction is undefined, and packets are not followed.
"""

from __future__ import annotations

from collections import defaultdict
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.routing.symmetry import Wires


def carried_with_extra_hops(
    moves: PolicyMoves, paths: ShortestPaths, sent: Mapping[int, int], extra_hops: int
) -> tuple[PolicyMoves, list[int]]:
    """Return moves between states that include the extra hops used so far, and the traffic of each move.

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
    """The union of several sets of destinations, as bits, and the destinations that are in two or more of them."""

    any: int
    two: int

    def without(self, number: int) -> int:
        """Return the union of all sets except that of index ``number``."""
        return self.two | (self.any & ~number)


def _together(numbers: Iterable[int]) -> _Together:
    of_any = of_two = 0
    for number in numbers:
        of_two |= of_any & number
        of_any |= number
    return _Together(of_any, of_two)


class _Arriving:
    """The destinations that moves can reach, as bits, by their detour, and by the remaining extra hops.

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
    """Return the destinations carried, by move, extra hops used before the move, and extra hops that it uses itself.

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
    """Return the switches with hosts, in order, and for each switch a number with its own bit set, 0 without hosts."""
    destinations = [switch for switch, here in enumerate(attached) if here]
    return destinations, [
        here << before for here, before in zip(attached, accumulate(attached, initial=0), strict=False)
    ]


def shortest_paths(moves: PolicyMoves, attached: Sequence[bool], ends: Collection[int] = ()) -> ShortestPaths:
    """Return the shortest paths from every state to switches with hosts; no path continues from ``ends``."""
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
    """Return ``layers`` and ``hops`` of :class:`ShortestPaths`, by a search from all destinations at once.

    The destinations that each state has a path to are added to ``reached``.
    """
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


class PolicyMoves(NamedTuple):
    """Moves by number: from state, to state, over which channel. ``at`` is the switch of each state.

    Packets of a switch begin in the state of its own number. ``channels`` are pairs of switches, from and to; each
    leads to one state, from any state, extra hops aside. Where states include the extra hops of a packet,
    ``states`` is the number of states for each number of them, else 0.
    """

    at: Sequence[int]
    tails: Sequence[int]
    heads: Sequence[int]
    over: Sequence[int]
    channels: Sequence[tuple[int, int]]
    states: int = 0

    def place(self, state: int) -> int:
        """Return the number of a state without its extra hops."""
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

    A packet may cross one link between two switches of one tier, at the top of its path. So a path has three parts, and
    a channel of one part waits for the same part or a later one, higher up in the first and further down in the last:
    no cycle closes. If packets could cross two such links, three switches of one tier in a ring would close a cycle.
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
    """Return moves in which ``switches`` send but do not forward: packets that arrive there end in separate states."""
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


class Flows(NamedTuple):
    """Traffic by move.

    ``carried`` has for each of the ``moves`` the destinations of its packets, as bits; ``lost`` for each switch
    with hosts the destinations without a path.

    With ``extra_hops`` some moves in a row would turn straight back; packets do not take these.
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
    """Return the traffic where each state of ``sent`` sends to the destinations there, as bits; ``lost`` is empty."""
    return _flows(moves, shortest_paths(moves, attached), sent, extra_hops)


def _flows(moves: PolicyMoves, paths: ShortestPaths, sent: Mapping[int, int], extra_hops: int) -> Flows:
    if not extra_hops:
        return Flows(moves, carried(moves, paths, sent), {}, paths.destinations)
    longer = carried_with_extra_hops(moves, paths, sent, extra_hops)
    return Flows(*longer, {}, paths.destinations, extra_hops)


def lost_up_down(wires: Wires) -> dict[int, int]:
    """Return, for switches with hosts, the destinations without a path up, level at most once, and down.

    Each is a bit set. Neither hops nor moves are computed for it.
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


def valley(wires: Wires, traffic: Flows) -> tuple[str, ...] | None:
    """Return the names of the switches along one valley, in the order of the path; None for routes without a valley."""
    walked = _Walked(wires, traffic)
    for move, carried in enumerate(traffic.carried):
        if walked.may_rise(move) and (common := carried & walked.before(move)):
            # One destination is enough to show: that of the lowest bit.
            switches = [*walked.down_to(move, common & -common), walked.far(move)]
            return tuple(wires.names[switch] for switch in switches)
    return None


def _slope(wires: Wires, near: int, far: int) -> int | None:
    """Return 1 for a channel up, -1 for one down, 0 for one between switches of a tier.

    None where a tier is unknown, or a switch is outside.
    """
    below, above = wires.tiers[near], wires.tiers[far]
    known = below and above and not {near, far} & wires.outside
    return (above > below) - (above < below) if known else None


class _Walked:
    """The traffic of each move that came down, and since then only crossed links of one tier."""

    def __init__(self, wires: Wires, traffic: Flows) -> None:
        self._moves, self._carried = traffic.moves, traffic.carried
        self._slopes = [_slope(wires, near, far) for near, far in self._moves.channels]
        self._opposites = self._moves.opposites()
        self._came = [0] * len(self._carried)
        self._into: dict[int, list[int]] = {}
        level = list[int]()
        for move, carried in enumerate(self._carried):
            slope = self._slopes[self._moves.over[move]]
            if carried and slope in (0, -1):
                self._into.setdefault(self._moves.heads[move], []).append(move)
                self._came[move] = carried if slope else 0
                level += [] if slope else [move]
        self._cross(level)
        # What turns back is among this, so that few moves need a look at each that comes before them.
        self._here = {
            state: reduce(or_, map(self._came.__getitem__, moves)) for state, moves in self._into.items()
        }

    def _cross(self, level: Sequence[int]) -> None:
        news = bool(level)
        while news:
            news = False
            for move in level:
                more = self._carried[move] & self.before(move) & ~self._came[move]
                self._came[move] |= more
                news = news or more != 0

    def may_rise(self, move: int) -> bool:
        """Return whether a move goes up with packets that came down before it."""
        up = self._slopes[self._moves.over[move]] == 1
        return up and self._carried[move] & self._here.get(self._moves.tails[move], 0) != 0

    def before(self, move: int) -> int:
        """Return the destinations of packets that came down to the start of a move and would not turn straight back."""
        return reduce(or_, (self._came[other] for other in self._followed_by(move)), 0)

    def far(self, move: int) -> int:
        """Return the switch that a move leads to."""
        return self._moves.at[self._moves.heads[move]]

    def down_to(self, move: int, bit: int) -> list[int]:
        """Return the switches by which packets to one destination came down to the start of a move."""
        after, moves = {move: move}, [move]
        for following in moves:
            for before in self._followed_by(following):
                if self._came[before] & bit and before not in after:
                    after[before] = following
                    moves.append(before)
                    if self._slopes[self._moves.over[before]] == -1:
                        return self._path(after, before)
        raise AssertionError(move)

    def _path(self, after: Mapping[int, int], first: int) -> list[int]:
        path, move = [self._moves.at[self._moves.tails[first]]], first
        while after[move] != move:
            path.append(self.far(move))
            move = after[move]
        return path

    def _followed_by(self, move: int) -> Iterator[int]:
        """Yield moves down, or within a tier, that bring packets to the start of a move, not from where it leads to."""
        back = self._opposites[self._moves.over[move]]
        for before in self._into.get(self._moves.tails[move], ()):
            if self._moves.over[before] != back:
                yield before
