"""Old and new routes together: what a verdict of them says of every state in which some switches are set."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.routing.infiniband.credit_loops import mixed_verdict, roots_of
from lossless.analysis.routing.infiniband.engines import (
    SubnetGraph,
    SubnetRoutes,
    credit_loop,
    dor,
    minhop,
    subnet_graph,
    updn,
)
from lossless.model.fabric.infiniband.subnet import Subnet
from tests.subnets import fat_tree, fat_tree_of_pods, torus

TREE = ("updn", "ftree", "minhop", "ar_updn", "ar_ftree", None)


def rooted(subnet: Subnet, root: str) -> Subnet:
    return subnet._replace(routing=subnet.routing._replace(roots=(root,)))


def routes_of(graph: SubnetGraph, subnet: Subnet) -> SubnetRoutes:
    if subnet.routing.engine == "updn":
        return updn(graph, roots_of(subnet) or frozenset())
    return dor(graph) if subnet.routing.engine == "dor" else minhop(graph)


def loops_on_way(old: Subnet, new: Subnet) -> set[tuple[bool, ...]]:
    """Return which sets of switches that are set already close a credit loop, each switch with one of its tables."""
    graph = subnet_graph(old)
    assert isinstance(graph, SubnetGraph)
    sides = [routes_of(graph, subnet) for subnet in (old, new)]
    return {
        chosen
        for chosen in product((False, True), repeat=len(graph.switches))
        if credit_loop(
            graph,
            SubnetRoutes(tuple(sides[is_new].tables[n] for n, is_new in enumerate(chosen)), sides[0].owners),
        )
    }


@pytest.mark.parametrize(("old", "new"), [*product(TREE, repeat=2)])
def test_engines_of_trees_follow_each_other_without_a_cycle(old: str | None, new: str | None) -> None:
    assert mixed_verdict(fat_tree(3, 2, 2, old), fat_tree(3, 2, 2, new)).state == "free"
    assert mixed_verdict(fat_tree_of_pods(2, 2, 1, old), fat_tree_of_pods(2, 2, 1, new)).state == "free"


def test_two_roots_of_a_ring_are_free_each_and_deadlock_together() -> None:
    ring = torus((5,), 1, "updn")
    old, new = rooted(ring, "t0"), rooted(ring, "t2")
    both = loops_on_way(old, new)
    assert (False,) * 5 not in both
    assert (True,) * 5 not in both
    assert both
    verdict = mixed_verdict(old, new)
    assert verdict.state == "loop"
    assert len(verdict.loop) >= 3


@given(
    side=st.integers(3, 6),
    roots=st.tuples(st.integers(0, 5), st.integers(0, 5)),
    engines=st.tuples(st.sampled_from(("updn", "minhop", "dor")), st.sampled_from(("updn", "minhop", "dor"))),
)
def test_where_old_and_new_together_are_free_no_set_of_switches_closes_a_loop(
    side: int, roots: tuple[int, int], engines: tuple[str, str]
) -> None:
    old, new = (
        rooted(torus((side,), 1, engine), f"t{root % side}")
        for engine, root in zip(engines, roots, strict=True)
    )
    if mixed_verdict(old, new).state == "free":
        assert not loops_on_way(old, new)


def test_what_cannot_be_computed_is_unproven() -> None:
    tree = fat_tree(2, 2, 1)
    assert mixed_verdict(tree, fat_tree(2, 2, 1, "lash")).state == "unproven"
    assert mixed_verdict(torus((4,), 1, "ftree"), tree).state == "unproven"
