"""Adjacency in shapes, by number: the arithmetic alone, for all transports."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Place = tuple[int, ...]


def part(number: int, size: int) -> range:
    """Return the numbers that belong to a pod, group or leaf, counted through all of them: each has ``size``."""
    return range(number * size, (number + 1) * size)


def above(spine: int, per_pod: int, tops: int, planes: int) -> range:
    """Return the ``tops`` that a spine connects to: those of its plane, of which each pod has as many spines."""
    return part(spine % per_pod // (per_pod // planes), tops // planes)


def grid(sides: Sequence[int]) -> tuple[Place, ...]:
    """Return all places of a grid, the last number changing fastest."""
    return tuple(product(*map(range, sides)))


def grid_name(place: Place) -> str:
    """Return the name of the switch at a place of a torus: ``sw-0-0``."""
    return "-".join(map(str, ("sw", *place)))


def torus_pairs(sides: Sequence[int]) -> Iterator[tuple[Place, Place, int]]:
    """Yield neighbors: each place, the next along an axis, and the number of the axis.

    A side of two has one pair, no ring of two.
    """
    for place in grid(sides):
        for axis, side in enumerate(sides):
            if side > 2 or (side == 2 and place[axis] == 0):
                yield place, (*place[:axis], (place[axis] + 1) % side, *place[axis + 1 :]), axis


def global_pairs(groups: int, per_group: int, links: int) -> Iterator[tuple[int, int]]:
    """Yield the switches, counted through all groups, at the two ends of each link between groups.

    Each group gives its links to its switches in turn, so that their numbers of links differ by one at most; the links
    to an added group come after all others.
    """
    turns = [0] * groups
    for pair in combinations(range(groups), 2):
        for _ in range(links):
            first, second = (group * per_group + turns[group] % per_group for group in pair)
            yield first, second
            for group in pair:
                turns[group] += 1
