"""Answers that are known from elsewhere, all by the one algorithm: it is given links and a policy, and no shape."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

from lossless.analysis.routing.dependencies import (
    RoutingQuestion,
    cycle_through_outside,
    moves_of,
    moves_verdict,
    routing_verdict,
    told_apart,
)
from lossless.analysis.routing.failures import FailureBudget, after_failures, critical_elements
from lossless.analysis.routing.symmetry import folded, without
from tests.analysis.routing.made import dimension_order, leaf_spine, ring, three_tier, torus, wires

if TYPE_CHECKING:
    from lossless.analysis.routing.symmetry import Wires
    from lossless.model.fabric.cabling import RoutingPolicy

UP_DOWN, SHORTEST = RoutingQuestion("up-down"), RoutingQuestion("shortest-path")


def bouncing(*switches: str) -> RoutingQuestion:
    """Return an up-down question in which some switches bounce."""
    return RoutingQuestion("up-down", frozenset(switches))


@pytest.mark.parametrize("clos", [leaf_spine(4, 2), leaf_spine(9, 5), three_tier(3, 4, 3, 2)])
@pytest.mark.parametrize("question", [UP_DOWN, SHORTEST])
def test_a_clos_has_no_cycle(clos: Wires, question: RoutingQuestion) -> None:
    found = routing_verdict(clos, question)
    assert (found.cycle, found.valley, found.lost) == ((), None, None)


def test_one_bouncing_leaf_closes_no_cycle_and_two_do() -> None:
    clos = leaf_spine(6, 4)
    assert routing_verdict(clos, bouncing("leaf1")).cycle == ()
    cycle = routing_verdict(clos, bouncing("leaf1", "leaf4")).cycle
    assert [hop.near for hop in cycle] == ["leaf1", "spine0", "leaf4", "spine0"]
    assert [hop.near for hop in cycle if hop.up_again] == ["leaf1", "leaf4"]
    assert (cycle[0].from_port, cycle[0].to_port) == ("leaf1:to-spine0", "spine0:to-leaf1")


def test_bounces_in_a_second_priority_close_no_cycle() -> None:
    clos = leaf_spine(6, 4)
    moved = RoutingQuestion("up-down", frozenset(), frozenset(clos.names[:6]))
    assert routing_verdict(clos, moved).cycle == ()
    assert routing_verdict(clos, moved._replace(bounces=frozenset(["leaf1"]))).cycle == ()
    assert routing_verdict(clos, moved._replace(bounces=frozenset(["leaf1", "leaf2"]))).cycle


def test_switches_that_bounce_and_those_that_do_so_in_a_second_priority_are_told_apart() -> None:
    question = RoutingQuestion("up-down", frozenset(["leaf1", "leaf3"]), frozenset(["leaf2"]))
    marks = told_apart(leaf_spine(5, 1), question).marks
    assert [marks.index(mark) for mark in marks] == [0, 1, 2, 1, 0, 0]


@pytest.mark.parametrize("switches", [4, 5, 6])
def test_a_ring_that_one_switch_outside_could_close_is_shown_through_it(switches: int) -> None:
    others = ring(switches)._replace(outside=frozenset({1}))
    assert routing_verdict(others, SHORTEST).cycle == ()
    cycle = cycle_through_outside(others, SHORTEST)
    assert {hop.near for hop in cycle} == set(others.names)
    line = without(others, pairs=[(2, 3)])
    assert cycle_through_outside(line, SHORTEST) == ()


def test_bounces_count_beside_any_number_of_switches_that_bounce_in_a_second_priority() -> None:
    clos = leaf_spine(8, 2)
    moved = frozenset(clos.names[:5])
    assert routing_verdict(clos, RoutingQuestion("up-down", frozenset(["leaf6", "leaf7"]), moved)).cycle


def test_of_a_regular_clos_three_pods_and_planes_are_left() -> None:
    clos = three_tier(pods=16, leaves=8, spines=8, supers=8)
    few = folded(clos, 3)
    assert [few.tiers.count(tier) for tier in (1, 2, 3)] == [9, 9, 9]
    # Where no tier is known, distances from hosts tell the same.
    assert folded(clos._replace(tiers=[0] * len(clos.names)), 3).names == few.names


@pytest.mark.parametrize("policy", ["up-down", "shortest-path"])
@pytest.mark.parametrize("survive", [1, 2])
def test_a_clos_of_1_024_hosts_with_enough_paths_tolerates_every_failure(
    policy: RoutingPolicy, survive: int
) -> None:
    clos = three_tier(pods=16, leaves=8, spines=8, supers=8)
    found = after_failures(clos, RoutingQuestion(policy), FailureBudget(survive, survive))
    assert (found.cycle, found.valley, found.lost, found.drawn) == (None, None, None, False)


def test_one_leaf_that_bounces_and_one_failure_close_a_cycle_only_where_paths_may_have_valleys() -> None:
    """What is bounced into a plane must stay there, whatever has failed in it; hosts choose another."""
    clos = three_tier(pods=16, leaves=8, spines=8, supers=8)
    assert after_failures(clos, bouncing("leaf3-2"), FailureBudget(1, 1)).cycle is None
    for budget in (FailureBudget(1, 1), FailureBudget(1, 0)):
        cycle = after_failures(clos, SHORTEST._replace(bounces=frozenset(["leaf3-2"])), budget).cycle
        assert cycle is not None
        assert [strike.links for strike in cycle.failed] == [1]


def test_a_clos_of_two_planes_needs_few_cases_for_every_two_failures() -> None:
    clos = three_tier(pods=16, leaves=8, spines=2, supers=8)
    found = after_failures(clos, SHORTEST, FailureBudget(2, 2))
    assert found.cycle is not None
    assert not found.drawn
    assert found.cases < 100


def test_plain_bounces_are_not_taken_for_those_in_a_second_priority_beside_them() -> None:
    mixed = RoutingQuestion("up-down", frozenset(["leaf1", "leaf3"]), frozenset(["leaf0", "leaf2"]))
    assert len(routing_verdict(leaf_spine(4, 1), mixed).cycle) == 4


def test_two_spines_of_one_pod_that_bounce_close_a_cycle_through_super_spines() -> None:
    """What one sends up comes down to the other, a path that only bounced traffic takes."""
    names = ["leaf1", "leaf2", "spine1", "spine2", "super1", "super2", "spine3", "leaf3"]
    pairs = [("leaf1", "spine1"), ("leaf1", "spine2"), ("leaf2", "spine1"), ("leaf2", "spine2")]
    pairs += [(spine, top) for spine in ("spine1", "spine2", "spine3") for top in ("super1", "super2")]
    whole = wires(names, [1, 1, 2, 2, 3, 3, 2, 1], [*pairs, ("leaf3", "spine3")])
    cycle = routing_verdict(whole, bouncing("spine1", "spine2")).cycle
    assert {hop.near for hop in cycle if hop.up_again} == {"spine1", "spine2"}
    assert len(cycle) == 4
    assert routing_verdict(whole, bouncing("spine1")).cycle == ()
    planes = three_tier(pods=2, leaves=2, spines=2, supers=2)
    assert routing_verdict(planes, bouncing("spine0-0", "spine0-1")).cycle == (), (
        "nothing joins the planes up there"
    )
    assert routing_verdict(planes, bouncing("spine0-0", "spine1-0")).cycle


def test_bounces_among_neighbors_close_a_cycle_of_three_beside_one_of_four() -> None:
    names = ["leaf", "spine1", "super1", "spine2", "super2"]
    pairs = [("leaf", "spine1"), ("leaf", "super1"), ("spine1", "super1")]
    pairs += [("spine2", "super1"), ("leaf", "super2"), ("spine2", "super2")]
    joined = wires(names, [1, 2, 3, 2, 3], pairs, [True] * 5)
    again = RoutingQuestion("shortest-path", frozenset(["leaf", "spine1"]))
    assert sorted(hop.near for hop in routing_verdict(joined, again).cycle) == ["leaf", "spine1", "super1"]


@pytest.mark.parametrize("leaves", [1, 2, 3, 4])
def test_a_valley_may_cross_from_one_leaf_to_its_peers(leaves: int) -> None:
    names = ["spine1", *(f"leaf{n}" for n in range(leaves)), "spine2"]
    chain = wires(names, [2, *[1] * leaves, 2], pairwise(names), [True, *[False] * leaves, True])
    assert routing_verdict(chain, SHORTEST).valley == tuple(reversed(names))


def test_a_valley_at_a_spine_is_found_beside_what_goes_up_and_down_there() -> None:
    names = ["leaf1", "spine1", "super1", "spine2", "super2", "spine3", "leaf3", "leaf2"]
    chain = wires(names, [1, 2, 3, 2, 3, 2, 1, 1], [*pairwise(names[:7]), ("leaf2", "spine2")])
    found = routing_verdict(chain, SHORTEST)
    assert (found.cycle, found.valley, found.lost) == ((), ("super2", "spine2", "super1"), None)
    assert routing_verdict(chain, UP_DOWN).lost == ("leaf1", "leaf3")


@pytest.mark.parametrize("seed", range(5))
def test_two_bounces_planted_among_65_536_hosts_are_found(seed: int) -> None:
    clos = three_tier(pods=16, leaves=64, spines=64, supers=4)
    one, other = Random(seed).sample([name for name in clos.names if name.startswith("leaf")], 2)
    cycle = routing_verdict(clos, bouncing(one, other)).cycle
    assert {hop.near for hop in cycle if hop.up_again} == {one, other}
    same_pod = one.partition("-")[0] == other.partition("-")[0]
    assert len(cycle) == (4 if same_pod else 8)
    assert routing_verdict(clos, bouncing(one)).cycle == ()


@pytest.mark.parametrize(("switches", "length"), [(3, 0), (4, 4), (5, 5), (6, 6), (9, 9)])
def test_rings_of_three_have_no_cycle_and_longer_ones_do(switches: int, length: int) -> None:
    assert len(routing_verdict(ring(switches), SHORTEST).cycle) == length


@pytest.mark.parametrize("sides", [(5,), (6,), (5, 5), (3, 7), (3, 3, 5)])
def test_a_torus_in_dimension_order_has_a_cycle_on_one_lane_and_none_with_datelines(
    sides: tuple[int, ...],
) -> None:
    assert moves_verdict(torus(sides), dimension_order(sides, datelines=False), SHORTEST).cycle
    assert moves_verdict(torus(sides), dimension_order(sides, datelines=True), SHORTEST).cycle == ()


@pytest.mark.parametrize("sides", [(3,), (3, 3), (3, 3, 3)])
def test_a_torus_of_rings_of_three_has_no_cycle_in_dimension_order(sides: tuple[int, ...]) -> None:
    assert moves_verdict(torus(sides), dimension_order(sides, datelines=False), SHORTEST).cycle == ()


def test_turning_freely_closes_a_cycle_even_in_a_torus_of_rings_of_three() -> None:
    assert routing_verdict(torus((3, 3)), SHORTEST).cycle


def test_shortest_paths_of_a_leaf_spine_bear_one_failure_and_not_two() -> None:
    clos = leaf_spine(6, 2)
    assert after_failures(clos, SHORTEST, FailureBudget(1, 1)).cycle is None
    found = after_failures(clos, SHORTEST, FailureBudget(2, 2)).cycle
    assert found is not None
    assert sorted(map(str, found.failed)) == ["leaf0 - spine0", "leaf1 - spine1"]
    assert len(found.verdict.cycle) == 4


def test_what_comes_down_and_goes_on_level_is_no_valley() -> None:
    square = ring(4)._replace(tiers=[2, 1, 1, 2])
    cycle = routing_verdict(square, SHORTEST).cycle
    assert len(cycle) == 4
    assert not any(hop.up_again for hop in cycle)


@pytest.mark.parametrize(
    ("tiers", "links", "lost"),
    [
        # One switch outside above both, or one above each: packets may be sent around by it.
        ((2, 2), [("leaf1", "far1"), ("leaf2", "far1")], None),
        ((2, 2), [("leaf1", "far1"), ("leaf2", "far2")], None),
        ((2, 2), [("leaf1", "far1")], ("leaf1", "leaf2")),
        ((2, 2), [("leaf2", "far1")], ("leaf1", "leaf2")),
        # What it has links to does not all stand below it.
        ((2, 2), [("leaf1", "far1"), ("leaf2", "far1"), ("far1", "far2")], ("leaf1", "leaf2")),
        # Its tier is unknown, or not a higher one.
        ((0, 2), [("leaf1", "far1"), ("leaf2", "far1")], ("leaf1", "leaf2")),
        ((1, 2), [("leaf1", "far1"), ("leaf2", "far1")], ("leaf1", "leaf2")),
        ((2, 1), [("leaf1", "far1"), ("leaf2", "far2")], ("leaf1", "leaf2")),
    ],
)
def test_paths_that_may_lead_around_outside_are_not_lost(
    tiers: tuple[int, int], links: list[tuple[str, str]], lost: tuple[str, str] | None
) -> None:
    """Two leaves are joined by way of a third one, and no packet may go level twice."""
    names = ["border", "leaf1", "leaf2", "far1", "far2"]
    pairs = [("leaf1", "border"), ("border", "leaf2"), *links]
    for count in (4, 5) if "far2" not in {end for link in links for end in link} else (5,):
        hosts, outside = [False, *[True] * (count - 1)], frozenset(range(3, count))
        found = wires(names[:count], [1, 1, 1, *tiers][:count], pairs, hosts)._replace(outside=outside)
        assert routing_verdict(found, UP_DOWN).lost == lost


def test_nothing_is_looked_for_after_the_worst_that_can_be_seen() -> None:
    """A cycle is the worst; where packets go up and then down there is none, and a lost path is."""
    clos, two = leaf_spine(6, 2), FailureBudget(2, 2)
    assert after_failures(clos, SHORTEST, two).cases <= 5
    lost = after_failures(clos, UP_DOWN, two)
    assert lost.lost is not None
    assert lost.cases <= 5


def test_two_links_beside_each_other_fail_as_two() -> None:
    clos = leaf_spine(6, 2)
    pairs = clos._replace(links=[dict.fromkeys(others, 2) for others in clos.links])
    assert after_failures(pairs, SHORTEST, FailureBudget(3, 0)).cycle is None
    found = after_failures(pairs, SHORTEST, FailureBudget(4, 0)).cycle
    assert found is not None
    assert [strike.links for strike in found.failed] == [2, 2]


def test_three_leaves_after_two_failures_have_a_valley_and_no_cycle() -> None:
    left = without(leaf_spine(3, 2), pairs=[(0, 3), (1, 4)])
    found = routing_verdict(left, SHORTEST)
    assert (found.cycle, found.valley) == ((), ("spine1", "leaf2", "spine0"))


def test_up_and_down_leads_nowhere_where_only_a_valley_is_left() -> None:
    left = without(leaf_spine(3, 2), pairs=[(0, 3), (1, 4)])
    assert routing_verdict(left, UP_DOWN).lost == ("leaf0", "leaf1")
    assert routing_verdict(without(leaf_spine(3, 1), switches=[3]), UP_DOWN).lost is None, (
        "what nothing joins is not lost"
    )


def test_links_without_pfc_wait_for_nothing() -> None:
    clos = leaf_spine(6, 4)
    both = bouncing("leaf1", "leaf4")
    lossy = frozenset((a, b) for one, other, _ in clos.pairs() for a, b in ((one, other), (other, one)))
    assert routing_verdict(clos._replace(lossy=lossy), both).cycle == ()
    down_to_leaf1 = frozenset((spine, 1) for spine in range(6, 10))
    assert routing_verdict(clos._replace(lossy=down_to_leaf1), both).cycle == ()
    assert routing_verdict(clos._replace(lossy=frozenset({(6, 1)})), both).cycle


def test_where_cases_are_too_many_they_are_drawn_and_the_same_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lossless.analysis.routing.failures.MOST_WORK", 0)
    clos = leaf_spine(6, 2)
    first, again = (
        after_failures(clos, SHORTEST, FailureBudget(2, 2)),
        after_failures(clos, SHORTEST, FailureBudget(2, 2)),
    )
    assert first == again
    assert (first.drawn, first.cycle is None) == (True, False)
    safe = after_failures(leaf_spine(2, 2), SHORTEST, FailureBudget(2, 2))
    assert (safe.drawn, safe.cycle, safe.cases) == (True, None, 601)


def test_links_and_switches_fail_each_by_themselves() -> None:
    clos = leaf_spine(6, 2)
    assert after_failures(clos, SHORTEST, FailureBudget(links=2, switches=0)).cycle is not None
    assert after_failures(clos, SHORTEST, FailureBudget(links=1, switches=2)).cycle is None
    # Each two of three leaves have one spine in common; without it they meet at the third leaf.
    sparse = without(leaf_spine(3, 3), pairs=[(0, 5), (1, 3), (2, 4)])
    assert after_failures(sparse, SHORTEST, FailureBudget(links=0, switches=0)).valley is None
    found = after_failures(sparse, SHORTEST, FailureBudget(links=0, switches=1)).valley
    assert found is not None
    assert [strike.links for strike in found.failed] == [1]
    assert [name[:5] for strike in found.failed for name in strike.ends] == ["spine"]
    # Where two links lead to each spine its failure is one, and that of a pair two.
    pairs = sparse._replace(links=[dict.fromkeys(others, 2) for others in sparse.links])
    found = after_failures(pairs, SHORTEST, FailureBudget(links=2, switches=1)).valley
    assert found is not None
    assert [len(strike.ends) for strike in found.failed] == [1]


def test_where_no_so_few_links_join_two_switches_drawing_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lossless.analysis.routing.failures.MOST_WORK", 0)
    clos = leaf_spine(6, 2)
    pairs = clos._replace(links=[dict.fromkeys(others, 2) for others in clos.links])
    assert after_failures(pairs, SHORTEST, FailureBudget(3, 0)).cycle is None
    assert after_failures(pairs, SHORTEST, FailureBudget(4, 0)).cycle is not None


def critical(
    wires: Wires, failures: int, policy: RoutingPolicy = "up-down"
) -> tuple[set[str], set[tuple[str, str]]]:
    """Return by name the switches and pairs whose failure could change how far hosts are from each other."""
    found = critical_elements(wires, moves_of(wires, RoutingQuestion(policy)), failures)
    names = wires.names
    return {names[switch] for switch in found.switches}, {(names[a], names[b]) for a, b in found.pairs}


@pytest.mark.parametrize("policy", ["up-down", "shortest-path"])
def test_as_many_failures_as_there_are_disjoint_paths_are_critical_and_fewer_are_not(
    policy: RoutingPolicy,
) -> None:
    clos = leaf_spine(4, 3)
    pairs = {(clos.names[a], clos.names[b]) for a, b, _ in clos.pairs()}
    assert critical(clos, 2, policy) == (set(), set())
    assert critical(clos, 3, policy) == ({"spine0", "spine1", "spine2"}, pairs)
    # Without one of its links a leaf has two paths to each other, and these have three.
    worn = without(clos, pairs=[(0, 4)])
    found = critical(worn, 2, policy)
    assert found == ({"spine1", "spine2"}, {pair for pair in pairs if pair[1] != "spine0"})
    # So it is in whatever order switches are numbered.
    turned = wires(clos.names[::-1], clos.tiers[::-1], pairs - {("leaf0", "spine0")})
    assert critical(turned, 1, policy) == (set(), set())
    assert critical(turned, 2, policy) == (found[0], {(spine, leaf) for leaf, spine in found[1]})


def test_planes_of_three_tiers_are_disjoint_and_paths_in_a_pod_are_as_many_as_its_spines() -> None:
    clos = three_tier(pods=2, leaves=2, spines=2, supers=3)
    assert critical(clos, 1) == (set(), set())
    switches, pairs = critical(clos, 2)
    assert switches == {name for name in clos.names if not name.startswith("leaf")}
    assert len(pairs) == len(list(clos.pairs()))


def test_links_from_one_switch_with_hosts_to_another_are_disjoint_paths_each() -> None:
    names = ["leaf1", "leaf2", "leaf3"]
    twice = wires(names, [1, 1, 1], [("leaf1", "leaf2"), ("leaf1", "leaf2"), ("leaf2", "leaf3")])
    assert critical(twice, 1, "shortest-path") == ({"leaf2"}, {("leaf1", "leaf2"), ("leaf2", "leaf3")})
    pair = without(twice, switches=[2])
    assert critical(pair, 1, "shortest-path") == (set(), set())
    assert critical(pair, 2, "shortest-path") == (set(), {("leaf1", "leaf2")})
