"""Cyclic buffer dependencies (CBD), and the turns that close them.

A CBD does not mean that a fabric deadlocks: a PFC deadlock needs every queue of the cycle to be full. Without a CBD no
deadlock is possible: a buffer that waits for no other drains, and then those that wait for it. (S. Hu et al., Deadlocks
in Datacenter Networks, HotNets 2016, abstract: the condition is a necessary one, and not sufficient.)
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from lossless.analysis.routing.bounces import detours, first_turns, least_cycle_length
from lossless.analysis.routing.channels import parts
from lossless.analysis.routing.flows import flows, lost_up_down
from lossless.analysis.routing.policies import ending, shortest_path, up_down
from lossless.analysis.routing.symmetry import folded
from lossless.analysis.routing.turns import TurnSet, WaitGraph, turns
from lossless.analysis.routing.valleys import valley
from lossless.ground.basics.records import NamedTuple
from lossless.ground.graphs.cycles import cycle, strong_components
from lossless.ground.graphs.graph import NODE, from_edges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.routing.bounces import Detour
    from lossless.analysis.routing.channels import Wires
    from lossless.analysis.routing.flows import Flows
    from lossless.analysis.routing.policies import PolicyMoves
    from lossless.model.fabric.routing import RoutingPolicy

MEMBERS = 3
"""The number of blocks of a family that show every cycle that more of them can have.

A cycle may pass many blocks of a family; of those with one switch between them some must be different ones, and three
suffice for that, as three colors do for a ring of any length. Paths may begin and end in any of them, as long as
both ends are not in one. Distances are the same while one is left.
"""


class RoutingQuestion(NamedTuple):
    """The routing to examine on wires; switches are named.

    ``bounces`` send packets from a higher tier back up; ``moved`` do so in a second priority, in which no switch
    bounces. Paths may be ``extra_hops`` longer than the shortest that the policy allows.
    """

    policy: RoutingPolicy
    bounces: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()
    extra_hops: int = 0


class CycleHop(NamedTuple):
    """One hop of a CBD: packets sent from ``from_port`` and buffered at ``to_port``.

    ``second``: in the second priority of its class. ``up_again``: the switch of ``from_port`` is the bottom of a
    valley.
    """

    near: str
    far: str
    from_port: str
    to_port: str
    second: bool
    up_again: bool


class RoutingVerdict(NamedTuple):
    """The verdict on routing.

    ``cycle`` is empty without a cycle. ``valley`` names the switches of a valley that the policy allows, in
    order. ``lost`` are two switches with hosts that links join without a path between them.
    """

    cycle: tuple[CycleHop, ...] = ()
    valley: tuple[str, ...] | None = None
    lost: tuple[str, str] | None = None


def routing_verdict(wires: Wires, question: RoutingQuestion) -> RoutingVerdict:
    """Return the verdict on wires as they are."""
    if only_up_down(question) and not wires.outside:
        return RoutingVerdict(lost=_lost(wires, lost_up_down(wires)))
    folded_wires = reduced(wires, question, MEMBERS)
    return moves_verdict(folded_wires, moves_of(folded_wires, question), question)


def moves_of(wires: Wires, question: RoutingQuestion) -> PolicyMoves:
    """Return the moves that the policy of a question allows. Packets that reach a switch outside end there."""
    moves = up_down(wires) if question.policy == "up-down" else shortest_path(wires)
    return ending(moves, wires.outside) if wires.outside else moves


def only_up_down(question: RoutingQuestion) -> bool:
    """Return whether packets go up, then down, without bounces.

    Each channel on such a path ranks higher than the one before it (:func:`all_rise`), for any links. So no
    cycle can close and no path has a valley, however long paths are; packets can only be lost.
    """
    return question.policy == "up-down" and not (question.bounces or question.moved)


def moves_verdict(wires: Wires, moves: PolicyMoves, question: RoutingQuestion) -> RoutingVerdict:
    """Return the verdict on given moves between all switches; the policy of the question is ignored."""
    traffic = flows(moves, wires.attached, wires.outside, question.extra_hops)
    rising, bouncing = all_rise(wires, traffic.moves, traffic.carried), _bouncing(wires, question)
    hops = () if rising and not bouncing else _smallest(wires, moves, traffic, bouncing)
    return RoutingVerdict(hops, None if rising else valley(wires, traffic), _lost(wires, traffic.lost))


def cycle_through_outside(wires: Wires, question: RoutingQuestion) -> tuple[CycleHop, ...]:
    """Return a cycle that closes if outside switches forward from each link to all others."""
    folded_wires = reduced(wires, question, MEMBERS)
    moves = moves_of(folded_wires, question)
    traffic = flows(moves, folded_wires.attached, folded_wires.outside, question.extra_hops)
    sets = [*turns(traffic), list(_through(folded_wires, moves))]
    return _shortest_cycle(
        folded_wires, moves, sets, detours(folded_wires, moves, traffic, _bouncing(folded_wires, question))
    )


def _through(wires: Wires, moves: PolicyMoves) -> Iterator[TurnSet]:
    """Yield all turns at switches outside."""
    leaving: dict[int, list[int]] = {}
    for over, (at, _) in enumerate(moves.channels):
        if at in wires.outside:
            leaving.setdefault(at, []).append(over)
    for came, (near, here) in enumerate(moves.channels):
        outs = [over for over in leaving.get(here, ()) if moves.channels[over][1] != near]
        if outs:
            yield TurnSet([came], outs)


def reduced(wires: Wires, question: RoutingQuestion, most: int) -> Wires:
    """Return wires with at most ``most`` of identical blocks; switches that bounce are distinguished from others."""
    return folded(told_apart(wires, question), most)


def told_apart(wires: Wires, question: RoutingQuestion) -> Wires:
    """Return wires in which switches that bounce have a mark, and those that do so in a second priority another."""
    marks = [1 if name in question.bounces else 2 * (name in question.moved) for name in wires.names]
    return wires._replace(marks=marks)


def _bouncing(wires: Wires, question: RoutingQuestion) -> dict[int, bool]:
    """Return the switches that bounce, and whether in a second priority."""
    apart = question.bounces | question.moved
    return {number: name not in question.bounces for number, name in enumerate(wires.names) if name in apart}


def _smallest(
    wires: Wires, moves: PolicyMoves, traffic: Flows, bouncing: Mapping[int, bool]
) -> tuple[CycleHop, ...]:
    """Return a shortest cycle. No turn goes from the second priority back to the first."""
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
    """Return a shortest cycle of waits, with channels of the second priority numbered after those of the first."""
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
    """Return the traffic of each channel from which another path leads back to its start, 0 for other channels.

    Every cycle of waits consists of these.
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

    Channels down rank highest, and the higher the lower they begin; all others rank as high as they begin. So no path
    has a valley. The traffic of channels is combined by rank, so that this takes a step a move, and not one a turn.
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
    """Yield turns between channels with PFC, their numbers shifted by priority."""
    for ins, outs in sets:
        yield TurnSet(
            [c + before for c in ins if moves.channels[c] not in wires.lossy],
            [c + after for c in outs if moves.channels[c] not in wires.lossy],
        )


def _hops(wires: Wires, moves: PolicyMoves, nodes: Sequence[int]) -> tuple[CycleHop, ...]:
    """Return a cycle of channels as named hops."""
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
    """Return two switches that links join and no path connects.

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
    """Return whether a switch is outside and of a higher tier than those it has links to."""
    below = wires.links[switch]
    return switch in wires.outside and all(0 < wires.tiers[other] < wires.tiers[switch] for other in below)
