"""Which fabrics have a cyclic buffer dependency, found without running anything."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.simulation.question.nodes import PortLink, SimTopology, is_two_tier, may_close_cycle

if TYPE_CHECKING:
    from collections.abc import Iterable

Links = set[tuple[int, int]]


def plant(switches: int, links: Iterable[tuple[int, int]], leaves: Iterable[int]) -> SimTopology:
    """Return switches 0, 1, ... with links, and a NIC at each leaf."""
    nics = {switches + at: leaf for at, leaf in enumerate(leaves)}
    pairs = [*links, *((leaf, nic) for nic, leaf in nics.items())]
    wires = tuple(PortLink(a, b, cast("Any", None), None, 10**9, 1) for a, b in pairs)
    wires_of: dict[int, list[int]] = {}
    for number, pair in enumerate(pairs):
        for node in pair:
            wires_of.setdefault(node, []).append(number)
    return SimTopology(
        names=tuple(map(str, range(switches + len(nics)))),
        switch_of=dict.fromkeys(range(switches), cast("Any", None)),
        host_of=dict.fromkeys(nics),
        wires=wires,
        wires_of=wires_of,
        left_out=0,
        declared=True,
        plane_of=dict.fromkeys(range(switches), 0),
        rail_of={},
    )


def cycles(found: SimTopology) -> bool:
    return may_close_cycle(found, found.nics)


def ring(switches: int) -> SimTopology:
    links = [(number, (number + 1) % switches) for number in range(switches)]
    return plant(switches, links, range(switches))


@pytest.mark.parametrize(("switches", "expected"), [(3, False), (4, True), (5, True), (8, True)])
def test_a_ring_closes_a_cycle_from_four_on(switches: int, expected: bool) -> None:
    """In a ring of three every path is one link long, and waits for none."""
    assert cycles(ring(switches)) is expected


def test_a_ring_of_which_two_neighbors_alone_have_nics_closes_none() -> None:
    links = [(number, (number + 1) % 6) for number in range(6)]
    assert not cycles(plant(6, links, (0, 1)))


@given(st.integers(1, 5), st.integers(1, 5))
def test_leaves_under_spines_close_none_and_are_seen_at_a_glance(leaves: int, spines: int) -> None:
    links = product(range(leaves), range(leaves, leaves + spines))
    found = plant(leaves + spines, links, range(leaves))
    assert is_two_tier(found)
    assert not cycles(found)


def test_leaves_that_reach_each_other_only_through_a_third_are_looked_at_path_by_path() -> None:
    """Leaf 1 is under both spines, the others under one each: its paths have a valley."""
    found = plant(5, [(0, 3), (1, 3), (1, 4), (2, 4)], (0, 1, 2))
    assert not is_two_tier(found)
    assert not cycles(found)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Links, list[int]]:
    """Return a connected graph and which of its switches have a NIC."""
    switches = draw(st.integers(2, 7))
    tree = {(draw(st.integers(0, number - 1)), number) for number in range(1, switches)}
    pairs = [(a, b) for a in range(switches) for b in range(a + 1, switches)]
    more = draw(st.sets(st.sampled_from(pairs), max_size=8))
    leaves = draw(st.sets(st.integers(0, switches - 1), min_size=1))
    return switches, tree | more, sorted(leaves)


def shortest_paths(links: Links, source: int, target: int) -> list[tuple[int, ...]]:
    """Return all shortest paths, by growing every path until one arrives."""
    both = links | {(b, a) for a, b in links}
    paths: list[tuple[int, ...]] = [(source,)]
    while not any(path[-1] == target for path in paths):
        paths = [(*path, b) for path in paths for a, b in both if a == path[-1] and b not in path]
    return [path for path in paths if path[-1] == target]


def closes_a_cycle(links: Links, leaves: list[int]) -> bool:
    """Return whether links that follow each other on shortest paths come back to where they began."""
    waits: Links = set()
    numbers = {link: at for at, link in enumerate(links | {(b, a) for a, b in links})}
    for source, target in product(leaves, leaves):
        for path in shortest_paths(links, source, target):
            waits |= {(numbers[one], numbers[next_one]) for one, next_one in pairwise(pairwise(path))}
    return any(number in reached(waits, number) for number in numbers.values())


def reached(waits: Links, start: int) -> set[int]:
    found: set[int] = set()
    new = {b for a, b in waits if a == start}
    while new - found:
        found |= new
        new = {b for a, b in waits if a in found}
    return found


@given(graphs())
def test_it_says_what_all_shortest_paths_say(graph: tuple[int, Links, list[int]]) -> None:
    switches, links, leaves = graph
    assert cycles(plant(switches, links, leaves)) is closes_a_cycle(links, leaves)


@given(graphs())
def test_what_is_seen_at_a_glance_closes_no_cycle(graph: tuple[int, Links, list[int]]) -> None:
    switches, links, leaves = graph
    assert not (is_two_tier(plant(switches, links, leaves)) and closes_a_cycle(links, leaves))


@pytest.mark.parametrize(
    "links", [{(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)}, {(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)}]
)
def test_a_tree_closes_none(links: Links) -> None:
    assert not cycles(plant(6, links, range(6)))
