"""Bounces: packets that a switch received from a higher tier and sends back up (a valley), and the turns they take.

The switches above forward a bounced packet to its destination by paths that avoid the switch that could not deliver
it. Such a path may contain turns that no other traffic takes, as from one spine of a pod through a super-spine to the
next. Packets for hosts of the bouncing switch itself go to another switch that has them too, as in a pair of ToRs; that
switch is not known here, so it may be any.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from lossless.analysis.routing.flows import flows_of
from lossless.analysis.routing.policies import avoiding
from lossless.analysis.routing.turns import TurnSet, turns
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.routing.channels import Wires
    from lossless.analysis.routing.flows import Flows
    from lossless.analysis.routing.policies import PolicyMoves


class Detour(NamedTuple):
    """Turns of bounced packets: their priority before and after the turn, 0 the first and 1 the second."""

    turns: Sequence[TurnSet]
    before: int
    after: int


class _Bounce(NamedTuple):
    """One switch that bounces: its channels from and to the higher tier, and the priorities before and after."""

    switch: int
    ins: Sequence[int]
    outs: Sequence[int]
    before: int
    after: int


def least_cycle_length(wires: Wires, moves: PolicyMoves) -> int:
    """Return the least number of channels in a cycle: three, or four where all links join neighboring tiers.

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
    """Return the turns that bounces add; ``bouncing`` has for each switch whether it does so in a second priority."""
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
    """Forward the packets that arrive by ``ins``, and record where they arrive."""
    gone = _beyond(wires, moves, traffic, bounce, _all(arrived[bounce.before], ins))
    _add(arrived[bounce.after], gone)
    return [
        Detour([TurnSet(ins, bounce.outs)], bounce.before, bounce.after),
        Detour(list(_turned(gone, bounce)), bounce.after, bounce.after),
    ]


def _all(arrived: Sequence[int], channels: Iterable[int]) -> int:
    """Return the destinations of all packets that arrive by some channels."""
    return reduce(or_, (arrived[channel] for channel in channels), 0)


def _places(wires: Wires, moves: PolicyMoves, bouncing: Mapping[int, bool]) -> Iterator[_Bounce]:
    """Yield the bounces of each switch. Packets in a second priority keep it."""
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
    """Return the moves by which bounced packets travel to some destinations."""
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
    """Add the destinations of carried packets to those of each channel."""
    for over, carried in zip(added.moves.over, added.carried, strict=True):
        arrived[over] |= carried
    return arrived
