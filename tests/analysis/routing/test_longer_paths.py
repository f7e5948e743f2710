"""Cycles that longer paths close, and those that they do not: cases small enough to follow by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.analysis.routing.dependencies import (
    RoutingQuestion,
    cycle_through_outside,
    moves_of,
    routing_verdict,
    turns,
)
from lossless.analysis.routing.moves import flows
from tests.analysis.routing.made import leaf_spine, three_tier, torus, wires

if TYPE_CHECKING:
    from lossless.analysis.routing.symmetry import Wires


def longer(extra_hops: int, *bounces: str, policy: str = "shortest-path") -> RoutingQuestion:
    """Return the question of paths with so many extra hops."""
    stated = RoutingQuestion("up-down", frozenset(bounces), extra_hops=extra_hops)
    return stated if policy == "up-down" else stated._replace(policy="shortest-path")


@pytest.mark.parametrize("clos", [leaf_spine(6, 4), three_tier(3, 4, 3, 2)])
def test_two_extra_hops_lead_through_a_third_leaf_and_close_a_cycle(clos: Wires) -> None:
    cycle = routing_verdict(clos, longer(2)).cycle
    assert len(cycle) == 4
    assert sum(hop.up_again for hop in cycle) == 2
    assert {hop.near[:4] for hop in cycle if hop.up_again} == {"leaf"}


@pytest.mark.parametrize("clos", [leaf_spine(6, 4), three_tier(3, 4, 3, 2)])
def test_one_extra_hop_is_none_where_all_links_join_tiers_next_to_each_other(clos: Wires) -> None:
    found = routing_verdict(clos, longer(1))
    assert (found.cycle, found.valley) == ((), None)


@pytest.mark.parametrize("extra_hops", [1, 2, 4])
def test_longer_paths_that_go_up_and_then_down_close_no_cycle(extra_hops: int) -> None:
    for clos in (leaf_spine(6, 4), three_tier(3, 4, 3, 2)):
        found = routing_verdict(clos, longer(extra_hops, policy="up-down"))
        assert (found.cycle, found.valley, found.lost) == ((), None, None)


@pytest.mark.parametrize("clos", [leaf_spine(6, 1), leaf_spine(2, 4)])
def test_where_no_packet_can_pass_a_third_leaf_without_turning_back_there_is_no_valley(clos: Wires) -> None:
    found = routing_verdict(clos, longer(2))
    assert (found.cycle, found.valley) == ((), None)


def test_two_extra_hops_lead_the_other_way_round_a_ring_of_three_leaves() -> None:
    ends = [
        ("leaf1", "ab"),
        ("leaf2", "ab"),
        ("leaf2", "bc"),
        ("leaf3", "bc"),
        ("leaf3", "ca"),
        ("leaf1", "ca"),
    ]
    ringed = wires(["leaf1", "leaf2", "leaf3", "ab", "bc", "ca"], [1, 1, 1, 2, 2, 2], ends)
    assert routing_verdict(ringed, longer(0)).cycle == ()
    assert len(routing_verdict(ringed, longer(2)).cycle) == 6


def test_a_cycle_may_need_packets_with_different_hops_left() -> None:
    """A triangle and a stub: packets pass some of its links only on a detour, and others with one behind them."""
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "stub")]
    triangle = wires(["a", "b", "c", "stub"], [0] * 4, pairs, [True, False, True, True])
    assert routing_verdict(triangle, longer(0)).cycle == ()
    assert sorted(hop.near for hop in routing_verdict(triangle, longer(3)).cycle) == ["a", "b", "c"]


def test_what_came_down_to_a_switch_does_not_keep_others_from_going_up_there() -> None:
    """From leaf a to leaf b by spine p, or over the super-spine: where packets from the other pod come down."""
    pairs = [("a", "p"), ("b", "p"), ("b", "q"), ("p", "x"), ("q", "x"), ("r", "x"), ("c", "r")]
    clos = wires(["a", "b", "c", "p", "q", "r", "x"], [1, 1, 1, 2, 2, 2, 3], pairs)
    moves = moves_of(clos, longer(2, policy="up-down"))
    turned = {
        tuple(clos.names[switch] for switch in (*moves.channels[before], moves.channels[after][1]))
        for sets in turns(flows(moves, clos.attached, extra_hops=2))
        for turn_set in sets
        for before in turn_set.ins
        for after in turn_set.outs
    }
    assert {("a", "p", "b"), ("r", "x", "p"), ("x", "p", "b"), ("p", "x", "q"), ("x", "q", "b")} <= turned
    assert ("x", "p", "x") not in turned


def test_what_came_down_a_link_is_not_what_goes_up_it() -> None:
    """Packets for one switch come down from the top to s2, and others for it go up from s2: none does both."""
    pairs = [("s0", "s1"), ("s1", "s2"), ("s2", "top"), ("s0", "top")]
    square = wires(["s0", "s1", "s2", "top"], [1, 1, 1, 3], pairs, [False, True, True, True])
    assert routing_verdict(square, longer(2)).valley is None


def test_longer_paths_count_where_a_switch_outside_may_close_a_cycle() -> None:
    pairs = [("a", "border"), ("border", "b"), ("border", "c"), ("a", "c")]
    known = wires(["a", "border", "b", "c"], [0] * 4, pairs, [True, True, False, True])
    around = known._replace(outside=frozenset([1]))
    assert cycle_through_outside(around, longer(0)) == ()
    assert len(cycle_through_outside(around, longer(1))) == 3


@pytest.mark.parametrize("sides", [(3, 3), (4, 4)])
def test_a_torus_has_its_cycle_with_longer_paths_as_without(sides: tuple[int, int]) -> None:
    shortest, detoured = (routing_verdict(torus(sides), longer(extra)).cycle for extra in (0, 2))
    assert 3 <= len(detoured) <= len(shortest)
