"""Whether buffers can wait for each other in a circle, and which turns let them.

That there is a circle does not say that a fabric stands still: it takes queues that are full all the way round. That
there is none says that it cannot (S. Hu et al., Deadlocks in Datacenter Networks, HotNets 2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.graphs.cycles import cycle
from lossless.records import NamedTuple
from lossless.routing.bounces import detours, first_turns, smallest
from lossless.routing.flows import flows
from lossless.routing.moves import ending, shortest_path, up_down
from lossless.routing.turns import TurnSet, Waits, meetings, turns
from lossless.routing.valleys import valley
from lossless.routing.wires import few_of, kinds, marked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.routing.bounces import Detour
    from lossless.routing.flows import Flows
    from lossless.routing.moves import Moves
    from lossless.routing.wires import Wires

Policy = Literal["up-down", "shortest-path"]
MEMBERS = 3
"""How many switches of a kind show all that any number of them can do.

A way passes a kind at most once, but may begin in the kind that it ends in, so one member more than the end must be
left. A circle may pass a kind many times; of switches that stand two hops apart in it some must be different ones, and
three members suffice for that, as three colours do for a ring of any length. Distances are the same while one is left.
"""


class Question(NamedTuple):
    """What is asked of wires; switches are named.

    ``bounces`` send up again what came to them from above; ``moved`` do so in a second priority, in which nothing is
    sent up again.
    """

    policy: Policy
    bounces: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()


class Hop(NamedTuple):
    """One wait of a circle: what has come from ``from_port`` and is buffered at ``to_port``.

    ``second``: in the second priority of its class. ``up_again``: the switch of ``from_port`` had it from above and
    sends it up.
    """

    near: str
    far: str
    from_port: str
    to_port: str
    second: bool
    up_again: bool


class Verdict(NamedTuple):
    """``circle`` is empty where there is none. ``valley`` names switches that packets pass by the policy alone: down
    from the first, and up again to the last. ``lost`` are two switches with hosts that are joined and have no way
    between them.
    """

    circle: tuple[Hop, ...] = ()
    valley: tuple[str, ...] | None = None
    lost: tuple[str, str] | None = None


def judge(wires: Wires, question: Question) -> Verdict:
    """Return what can be said of wires as they are."""
    few = reduced(wires, question, MEMBERS)
    return judge_moves(few, _moves(few, question), question)


def judge_moves(wires: Wires, moves: Moves, question: Question) -> Verdict:
    """Return what can be said of moves between all switches there are; the policy of the question is not asked."""
    found = flows(moves, wires.attached, wires.outside)
    sets = list(turns(moves, found))
    circle = _smallest(wires, moves, found, sets, _bouncing(wires, question))
    return Verdict(circle, valley(wires, moves, found), _lost(wires, found))


def circle_beyond(wires: Wires, question: Question) -> tuple[Hop, ...]:
    """Return a circle that closes where switches outside forward all to all, but nothing back to where it came from."""
    few = reduced(wires, question, MEMBERS)
    moves = _moves(few, question)
    found = flows(moves, few.attached, few.outside)
    sets = [*turns(moves, found), list(_through(few, moves))]
    return _circle(few, moves, sets, detours(few, moves, found, _bouncing(few, question)))


def _through(wires: Wires, moves: Moves) -> Iterator[TurnSet]:
    """Yield all turns at switches outside."""
    for came, (near, here) in enumerate(moves.channels):
        if here in wires.outside:
            outs = [over for over, (at, far) in enumerate(moves.channels) if at == here and far != near]
            if outs:
                yield TurnSet([came], outs)


def _moves(wires: Wires, question: Question) -> Moves:
    """Return the moves that a policy allows. What comes to a switch outside ends there."""
    moves = up_down(wires) if question.policy == "up-down" else shortest_path(wires)
    return ending(moves, wires.outside) if wires.outside else moves


def reduced(wires: Wires, question: Question, most: int) -> Wires:
    """Return wires with at most ``most`` switches of each kind; those that bounce are of kinds of their own."""
    apart = told_apart(wires, question)
    return few_of(apart, kinds(apart), most)


def told_apart(wires: Wires, question: Question) -> Wires:
    """Return wires in which switches that bounce have a mark, by how they do."""
    return marked(wires, {switch: 1 + second for switch, second in _bouncing(wires, question).items()})


def _bouncing(wires: Wires, question: Question) -> dict[int, bool]:
    """Return the switches that bounce, and whether in a second priority."""
    apart = question.bounces | question.moved
    return {number: name not in question.bounces for number, name in enumerate(wires.names) if name in apart}


def _smallest(
    wires: Wires, moves: Moves, found: Flows, sets: Sequence[Sequence[TurnSet]], bouncing: Mapping[int, bool]
) -> tuple[Hop, ...]:
    """Return a shortest circle. What leads from the first priority to the second never leads back."""
    if all(bouncing.values()) and _all_rise(wires, moves, [meetings(moves)]):
        return ()
    circle = _circle(wires, moves, sets, first_turns(wires, moves, found, bouncing))
    if bouncing and len(circle) != smallest(wires, moves):
        circle = _circle(wires, moves, sets, detours(wires, moves, found, bouncing))
    return circle


def _circle(
    wires: Wires, moves: Moves, sets: Sequence[Sequence[TurnSet]], bounced: Sequence[Detour]
) -> tuple[Hop, ...]:
    """Return a shortest circle of waits, channels of the second priority numbered after those of the first."""
    if not bounced and _all_rise(wires, moves, sets):
        return ()
    channels = len(moves.channels)
    waits = Waits(2 * channels if any(detour.after for detour in bounced) else channels)
    for one in sets:
        waits.add(list(_paused(wires, moves, one, 0, 0)))
    for detour in bounced:
        waits.add(
            list(_paused(wires, moves, detour.turns, detour.before * channels, detour.after * channels))
        )
    found = [node for node in cycle(waits.graph()) if node < waits.channels]
    return tuple(
        _hop(wires, moves, before, node) for before, node in zip(found[-1:] + found, found, strict=False)
    )


def _all_rise(wires: Wires, moves: Moves, sets: Sequence[Sequence[TurnSet]]) -> bool:
    """Return whether every turn leads to a channel of a higher rank, which no circle could do all the way round.

    Ranks are highest for channels down, and the higher the lower they begin; those up rank as high as they begin.
    """
    tiers, top = wires.tiers, 2 * max(wires.tiers, default=0) + 2
    ranks = [
        tiers[near] if tiers[far] > tiers[near] else top - tiers[near] - (tiers[far] == tiers[near])
        for near, far in moves.channels
    ]
    of = ranks.__getitem__
    return all(max(map(of, ins)) < min(map(of, outs)) for turns_there in sets for ins, outs in turns_there)


def _paused(
    wires: Wires, moves: Moves, sets: Sequence[TurnSet], before: int, after: int
) -> Iterator[TurnSet]:
    """Yield turns between channels that are paused, their numbers shifted by priority."""
    for ins, outs in sets:
        yield TurnSet(
            [c + before for c in ins if moves.channels[c] not in wires.lossy],
            [c + after for c in outs if moves.channels[c] not in wires.lossy],
        )


def _hop(wires: Wires, moves: Moves, before: int, node: int) -> Hop:
    channels, tiers = moves.channels, wires.tiers
    (above, _), (near, far) = channels[before % len(channels)], channels[node % len(channels)]
    from_port, to_port = wires.ports[near, far]
    up_again = tiers[above] > tiers[near] < tiers[far]
    return Hop(wires.names[near], wires.names[far], from_port, to_port, node >= len(channels), up_again)


def _lost(wires: Wires, found: Flows) -> tuple[str, str] | None:
    """Return two switches that links join, and that no way leads between.

    Where one can send to a switch outside that stands above, and such a one to the other, there may be a way.
    """
    if not found.lost:
        return None
    part = _parts(wires)
    tops = {end: place for place, end in enumerate(found.destinations) if _tops(wires, end)}
    bits = sum(1 << place for place in tops.values())
    for near, missing in found.lost.items():
        around = set(tops) if bits & ~missing else set()
        for place, far in enumerate(found.destinations):
            reached = any(not found.lost.get(top, 0) >> place & 1 for top in around)
            if missing >> place & 1 and part[near] == part[far] and not reached:
                return wires.names[near], wires.names[far]
    return None


def _tops(wires: Wires, switch: int) -> bool:
    """Return whether a switch is outside and stands above those it has links to."""
    below = wires.links[switch]
    return switch in wires.outside and all(0 < wires.tiers[other] < wires.tiers[switch] for other in below)


def _parts(wires: Wires) -> list[int]:
    """Return of each switch a number that it shares with all that links join it to, none of them to the outside."""
    part = [-1] * len(wires.names)
    for root in range(len(part)):
        waiting = [root] if part[root] < 0 else []
        while waiting:
            switch = waiting.pop()
            if part[switch] < 0:
                part[switch] = root
                waiting += _inside(wires, switch)
    return part


def _inside(wires: Wires, switch: int) -> list[int]:
    """Return the switches that links join to one, none where it or they are outside."""
    if switch in wires.outside:
        return []
    return [other for other in wires.links[switch] if other not in wires.outside]
