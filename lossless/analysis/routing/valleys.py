"""Valleys: paths that go up after they went down.

They may cross links of one tier in between, as from one leaf to its peer. Where a tier is unknown, the direction is
undefined, and packets are not followed.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.routing.flows import Flows
    from lossless.analysis.routing.symmetry import Wires


def valley(wires: Wires, traffic: Flows) -> tuple[str, ...] | None:
    """Return the switches of a valley in order, None for routes without one."""
    walked = _Walked(wires, traffic)
    for move, carried in enumerate(traffic.carried):
        if walked.may_rise(move) and (common := carried & walked.before(move)):
            # One destination is enough to show: that of the lowest bit.
            switches = [*walked.down_to(move, common & -common), walked.far(move)]
            return tuple(wires.names[switch] for switch in switches)
    return None


def _slope(wires: Wires, near: int, far: int) -> int | None:
    """Return 1 for a channel up, -1 for one down, 0 for one between switches of a tier; None for an unknown tier."""
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
        """Return the destinations of packets that came down to the start of a move and may take it, not back."""
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
        """Yield the moves that bring packets to the start of a move, except from the switch that it leads to."""
        back = self._opposites[self._moves.over[move]]
        for before in self._into.get(self._moves.tails[move], ()):
            if self._moves.over[before] != back:
                yield before
