"""Valleys: paths that go up after they went down.

They may cross links of one tier in between, as from one leaf to its peer. Where a tier is not known nobody can say
what is up, and packets are not followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.routing.channels import Wires
    from lossless.analysis.routing.flows import Flows
    from lossless.analysis.routing.policies import PolicyMoves


def valley(wires: Wires, moves: PolicyMoves, traffic: Flows) -> tuple[str, ...] | None:
    """Return the switches of a valley in order, None where routes have none."""
    slopes = [_slope(wires, near, far) for near, far in moves.channels]
    came = _came_down(moves, traffic, slopes)
    for move, carried in enumerate(traffic.carried):
        low = moves.tails[move]
        if slopes[moves.over[move]] == 1 and (common := carried & came[low]):
            # One destination is enough to show: that of the lowest bit.
            switches = [*_down_to(moves, traffic, slopes, low, common & -common), moves.at[moves.heads[move]]]
            return tuple(wires.names[switch] for switch in switches)
    return None


def _slope(wires: Wires, near: int, far: int) -> int | None:
    """Return 1 for a channel up, -1 for one down, 0 for one between switches of a tier; None where nobody can say."""
    below, above = wires.tiers[near], wires.tiers[far]
    known = below and above and not {near, far} & wires.outside
    return (above > below) - (above < below) if known else None


def _came_down(moves: PolicyMoves, traffic: Flows, slopes: Sequence[int | None]) -> list[int]:
    """Return by state the destinations of packets that came down to it, perhaps by links between peers."""
    came = [0] * len(moves.at)
    level = list[int]()
    for move, carried in enumerate(traffic.carried):
        slope = slopes[moves.over[move]]
        if slope == -1:
            came[moves.heads[move]] |= carried
        elif slope == 0 and carried:
            level.append(move)
    news = True
    while news:
        news = False
        for move in level:
            more = traffic.carried[move] & came[moves.tails[move]] & ~came[moves.heads[move]]
            came[moves.heads[move]] |= more
            news = news or more != 0
    return came


def _down_to(
    moves: PolicyMoves, traffic: Flows, slopes: Sequence[int | None], state: int, bit: int
) -> list[int]:
    """Return the switches by which packets to one destination came down to a state."""
    before: dict[int, int] = {}
    states = [state]
    for here in states:
        for move, carried in enumerate(traffic.carried):
            tail = moves.tails[move]
            if moves.heads[move] != here or not carried & bit:
                continue
            if slopes[moves.over[move]] == -1:
                path = [tail, here]
                while path[-1] != state:
                    path.append(before[path[-1]])
                return [moves.at[state_on_path] for state_on_path in path]
            if slopes[moves.over[move]] == 0 and tail not in before:
                before[tail] = here
                states.append(tail)
    raise AssertionError(state)
