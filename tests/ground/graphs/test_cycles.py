"""Cycles in directed graphs: found where they are, nowhere else, and as short as they can be."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from lossless.ground.graphs import cycles as graphs
from lossless.ground.graphs.cycles import (
    Graph,
    core,
    cycle,
    from_edges,
    from_lists,
    shortest,
    strong_components,
)

Edges = list[tuple[int, int]]


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[int, Edges]:
    nodes = draw(st.integers(1, 12))
    node = st.integers(0, nodes - 1)
    return nodes, draw(st.lists(st.tuples(node, node), max_size=30))


def graph_of(nodes: int, edges: Edges) -> Graph:
    return from_edges(nodes, [tail for tail, _ in edges], [head for _, head in edges])


def reachable(nodes: int, edges: Edges) -> list[set[int]]:
    """The nodes that are reachable from each node by one edge or more: slow, but simple enough to be right."""
    found = [{head for tail, head in edges if tail == node} for node in range(nodes)]
    for _ in range(nodes):
        found = [near.union(*(found[other] for other in near)) for near in found]
    return found


def girth(nodes: int, edges: Edges) -> int:
    """The length of a shortest cycle, 0 where there is none: by powers of the adjacency relation."""
    paths = {(tail, head) for tail, head in edges}
    for length in range(1, nodes + 1):
        if any(tail == head for tail, head in paths):
            return length
        paths = {(tail, head) for tail, middle in paths for start, head in edges if start == middle}
    return 0


@given(edge_lists())
def test_a_node_is_in_a_strong_component_exactly_where_it_leads_back_to_itself(
    given_edges: tuple[int, Edges],
) -> None:
    nodes, edges = given_edges
    reach = reachable(nodes, edges)
    found = strong_components(graph_of(nodes, edges))
    assert sorted(node for component in found for node in component) == [
        n for n in range(nodes) if n in reach[n]
    ]
    for component in found:
        assert all(other in reach[node] and node in reach[other] for node in component for other in component)


@given(edge_lists())
def test_the_cycle_shown_follows_edges_and_no_other_is_shorter(given_edges: tuple[int, Edges]) -> None:
    nodes, edges = given_edges
    found = cycle(graph_of(nodes, edges))
    assert len(found) == girth(nodes, edges)
    assert all(edge in edges for edge in pairwise([*found, *found[:1]]))
    assert len(set(found)) == len(found)


@given(edge_lists(), st.integers(1, 12))
def test_nodes_that_represent_sets_of_edges_have_no_length(
    given_edges: tuple[int, Edges], counted: int
) -> None:
    nodes, edges = given_edges
    edges = [(tail, head) for tail, head in edges if tail < head or tail < counted or head < counted]
    plain = {(tail, head) for tail, head in edges}
    for _ in range(nodes):
        plain |= {(a, d) for a, b in plain for c, d in plain if b == c and b >= counted}
    written_out = [(tail, head) for tail, head in plain if max(tail, head) < counted]
    found = cycle(graph_of(nodes, edges), counted)
    assert len(found) == girth(nodes, written_out)
    assert all(edge in written_out for edge in pairwise([*found, *found[:1]]))


@given(edge_lists())
def test_with_numpy_and_without_the_answers_are_the_same(given_edges: tuple[int, Edges]) -> None:
    nodes, edges = given_edges
    plain = graph_of(nodes, edges)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphs, "_LARGE", 0)
        patch.setattr("lossless.ground.graphs.cycles._FEW", 2)
        fast = graph_of(nodes, edges)
        assert (list(fast.starts), list(fast.targets)) == (list(plain.starts), list(plain.targets))
        assert core(fast) == core(plain)
    assert from_lists([list(plain.after(node)) for node in range(nodes)]) == plain


@given(edge_lists())
def test_edges_that_lead_upward_only_never_make_a_cycle(given_edges: tuple[int, Edges]) -> None:
    nodes, edges = given_edges
    upward = [(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]]
    assert cycle(graph_of(nodes, upward)) == ()
    assert not any(core(graph_of(nodes, upward)))


def test_a_ring_of_a_hundred_thousand_is_found_without_recursion() -> None:
    count = 100_000
    ring = from_edges(count, range(count), [*range(1, count), 0])
    assert [len(component) for component in strong_components(ring)] == [count]
    assert len(shortest(ring, range(count))) == count


def test_of_two_components_the_one_with_the_shorter_cycle_is_shown() -> None:
    assert cycle(graph_of(7, [(0, 1), (1, 2), (2, 0), (2, 4), (4, 5), (5, 4)])) == (4, 5)
