"""Laws of routing and waiting, against what is found way by way."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from math import inf
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.routing.dependencies import (
    RoutingQuestion,
    RoutingVerdict,
    TurnSet,
    WaitGraph,
    all_rise,
    cycle_through_outside,
    moves_of,
    moves_verdict,
    routing_verdict,
    turns,
)
from lossless.analysis.routing.failures import (
    Failure,
    FailureBudget,
    _drawn,
    after_failure,
    after_failures,
    critical_elements,
)
from lossless.analysis.routing.moves import (
    ending,
    flows,
    lost_up_down,
    shortest_path,
    shortest_paths,
    up_down,
)
from lossless.analysis.routing.symmetry import Orbits, families, without
from lossless.ground.graphs.cycles import cycle
from tests.analysis.routing import naive
from tests.analysis.routing.made import joined, odd_pods, pods, three_tier, tiered, worn_clos

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.routing.dependencies import CycleHop
    from lossless.analysis.routing.failures import VerdictAfterFailures
    from lossless.analysis.routing.symmetry import Wires
    from lossless.model.fabric.cabling import RoutingPolicy
    from tests.analysis.routing.naive import Buffer

POLICIES: st.SearchStrategy[RoutingPolicy] = st.sampled_from(["up-down", "shortest-path"])
TOLERATED = st.sampled_from(
    [FailureBudget(1, 1), FailureBudget(2, 2), FailureBudget(2, 0), FailureBudget(0, 2), FailureBudget(1, 2)]
)


def whole(wires: Wires, question: RoutingQuestion) -> RoutingVerdict:
    """Return the verdict on all switches, none of them left out as another's like."""
    moves = up_down(wires) if question.policy == "up-down" else shortest_path(wires)
    return moves_verdict(wires, moves, question)


@given(tiered())
def test_up_and_down_never_closes_a_cycle(wires: Wires) -> None:
    assert whole(wires, RoutingQuestion("up-down")).cycle == ()


@given(tiered(), st.data())
def test_fewer_links_close_no_cycle_where_packets_go_up_and_down(wires: Wires, data: st.DataObject) -> None:
    pairs = [(a, b) for a, b, _ in wires.pairs()]
    gone = data.draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    assert routing_verdict(without(wires, pairs=gone), RoutingQuestion("up-down")).cycle == ()


def bouncing(data: st.DataObject, wires: Wires, policy: RoutingPolicy) -> RoutingQuestion:
    """Draw which switches bounce, which do so in a second priority, and how many extra hops paths have."""
    some = st.frozensets(st.sampled_from(list(wires.names)), max_size=3)
    again, extra_hops = data.draw(some), data.draw(st.sampled_from([0, 0, 1, 2, 3]))
    return RoutingQuestion(policy, again, data.draw(some) - again, extra_hops)


@settings(max_examples=200)
@given(st.one_of(joined(), tiered(6), worn_clos(4)), POLICIES, st.integers(0, 4))
def test_turns_are_those_of_all_paths_with_so_many_extra_hops(
    wires: Wires, policy: RoutingPolicy, extra_hops: int
) -> None:
    moves = up_down(wires) if policy == "up-down" else shortest_path(wires)
    turned = {
        ((*moves.channels[before], 0), (*moves.channels[following], 0))
        for sets in turns(flows(moves, wires.attached, extra_hops=extra_hops))
        for one in sets
        for before in one.ins
        for following in one.outs
    }
    expected = naive.plain(wires._replace(lossy=frozenset()), policy, extra_hops=extra_hops)
    assert turned == naive.waits(expected)


@given(joined(), POLICIES, st.integers(0, 3))
def test_more_extra_hops_only_add_turns(wires: Wires, policy: RoutingPolicy, extra_hops: int) -> None:
    moves = moves_of(wires, RoutingQuestion(policy))
    fewer, more = (
        {
            pair
            for sets in turns(flows(moves, wires.attached, extra_hops=extra))
            for turn_set in sets
            for pair in product(*turn_set)
        }
        for extra in (extra_hops, extra_hops + 1)
    )
    assert fewer <= more


@given(joined(), st.integers(1, 4))
def test_up_and_down_closes_no_cycle_however_long_paths_are(wires: Wires, extra_hops: int) -> None:
    moves = up_down(wires)
    traffic = flows(moves, wires.attached, extra_hops=extra_hops)
    verdict = moves_verdict(wires, moves, RoutingQuestion("up-down", extra_hops=extra_hops))
    assert (verdict.cycle, verdict.valley) == ((), None)
    assert all_rise(wires, traffic.moves, traffic.carried)


def assert_waits(wires: Wires, cycle: Sequence[CycleHop], waits: set[tuple[Buffer, Buffer]]) -> None:
    """Check that each hop of a cycle waits for the next, and is a valley where it says so."""
    number = {name: place for place, name in enumerate(wires.names)}
    buffers = [(number[hop.near], number[hop.far], int(hop.second)) for hop in cycle]
    for hop, before, here in zip(cycle, buffers[-1:] + buffers[:-1], buffers, strict=True):
        assert (before, here) in waits
        assert (hop.from_port, hop.to_port) == (f"{hop.near}:to-{hop.far}", f"{hop.far}:to-{hop.near}")
        above, near, far = (wires.tiers[switch] for switch in (before[0], here[0], here[1]))
        assert hop.up_again == (near < min(above, far))


@pytest.mark.tools("laws")
@settings(max_examples=300)
@given(st.one_of(tiered(6), odd_pods(), joined(5)), POLICIES, st.data())
def test_what_is_found_for_all_destinations_at_once_is_what_following_each_packet_finds(
    wires: Wires, policy: RoutingPolicy, data: st.DataObject
) -> None:
    question = bouncing(data, wires, policy)
    expected = naive.plain(wires, policy, question.bounces, question.moved, question.extra_hops)
    found = routing_verdict(wires, question)
    assert len(found.cycle) == naive.shortest_cycle(expected)
    assert_waits(wires, found.cycle, naive.waits(expected))
    assert (found.valley is not None) == naive.has_valley(expected)
    assert (found.lost is not None) == naive.has_lost(expected)


@given(st.one_of(tiered(6), odd_pods()), POLICIES, st.data())
def test_switches_outside_send_and_take_and_never_forward(
    wires: Wires, policy: RoutingPolicy, data: st.DataObject
) -> None:
    outside = data.draw(st.frozensets(st.sampled_from(range(len(wires.names))), max_size=2))
    attached = [here or switch in outside for switch, here in enumerate(wires.attached)]
    with_others = wires._replace(outside=outside, attached=attached)
    question = bouncing(data, wires, policy)
    names = {wires.names[switch] for switch in outside}
    question = question._replace(bounces=question.bounces - names, moved=question.moved - names)
    expected = naive.plain(with_others, policy, question.bounces, question.moved, question.extra_hops)
    found = routing_verdict(with_others, question)
    assert len(found.cycle) == naive.shortest_cycle(expected)
    assert (found.valley is not None) == naive.has_valley(expected)
    assert (found.lost is not None) == naive.has_lost(expected)
    through = cycle_through_outside(with_others, question)
    assert len(through) == naive.shortest_of(naive.through_outside(expected))


@given(tiered(), st.integers(0, 3))
def test_a_channel_leads_to_one_state(wires: Wires, outside: int) -> None:
    for moves in (up_down(wires), shortest_path(wires), ending(up_down(wires), range(outside))):
        heads = {(over, head) for over, head in zip(moves.over, moves.heads, strict=True)}
        assert len(heads) == len(set(moves.over))


@settings(max_examples=40)
@given(st.one_of(tiered(5), worn_clos(4)), POLICIES, TOLERATED, st.data())
def test_what_failures_lead_to_is_what_following_each_packet_finds(
    wires: Wires, policy: RoutingPolicy, tolerated: FailureBudget, data: st.DataObject
) -> None:
    question = bouncing(data, wires, policy)
    found = after_failures(wires, question, tolerated)
    fabric = naive.plain(wires, policy, question.bounces, question.moved, question.extra_hops)
    cases = list(naive.left(fabric, tolerated.links, tolerated.switches))
    assert not found.drawn
    assert (found.cycle is not None) == any(map(naive.shortest_cycle, cases))
    if found.cycle is None:
        assert (found.valley is not None) == any(map(naive.has_valley, cases))
        assert (found.lost is not None) == any(map(naive.has_lost, cases))


@given(tiered(6), POLICIES)
def test_a_valley_is_shown_as_it_is_passed(wires: Wires, policy: RoutingPolicy) -> None:
    found = routing_verdict(wires, RoutingQuestion(policy)).valley
    if found is not None:
        tiers = [wires.tiers[wires.names.index(name)] for name in found]
        assert all(wires.names.index(b) in wires.links[wires.names.index(a)] for a, b in pairwise(found))
        assert tiers[0] > tiers[1] == tiers[-2] < tiers[-1]
        assert len(set(tiers[1:-1])) == 1


@given(st.one_of(tiered(), odd_pods()), POLICIES)
def test_turns_rise_where_all_go_up_then_level_once_then_down(wires: Wires, policy: RoutingPolicy) -> None:
    moves = moves_of(wires, RoutingQuestion(policy))
    traffic = flows(moves, wires.attached)
    climbs = [wires.tiers[far] - wires.tiers[near] for near, far in moves.channels]
    pairs = [pair for sets in turns(traffic) for turn_set in sets for pair in product(*turn_set)]
    rising = all_rise(wires, moves, traffic.carried)
    if all(climbs[before] > 0 or climbs[after] < 0 for before, after in pairs):
        assert rising
    if rising:
        assert all(climbs[before] > 0 or climbs[after] <= 0 for before, after in pairs)
        assert whole(wires, RoutingQuestion(policy)).cycle == ()


@given(tiered())
def test_what_no_up_down_path_leads_to_is_found_with_and_without_moves(wires: Wires) -> None:
    assert lost_up_down(wires) == flows(up_down(wires), wires.attached).lost


@given(st.one_of(worn_clos(), pods()), POLICIES, st.data())
def test_few_of_what_is_identical_show_what_all_show(
    wires: Wires, policy: RoutingPolicy, data: st.DataObject
) -> None:
    question = bouncing(data, wires, policy)
    few, every = routing_verdict(wires, question), whole(wires, question)
    assert len(few.cycle) == len(every.cycle)
    assert (few.valley is None, few.lost is None) == (every.valley is None, every.lost is None)


def all_cases(wires: Wires, tolerated: FailureBudget) -> Iterator[tuple[int, Wires]]:
    """Yield what is left after each set of failures of links, and each of switches, and how many they are."""
    yield 0, wires
    switches = [Failure((name,), 1) for name in wires.names]
    links = [Failure((wires.names[a], wires.names[b]), n) for a, b, n in wires.pairs()]
    for strikes, most in ((switches, tolerated.switches), (links, tolerated.links)):
        for chosen in (c for count in range(1, most + 1) for c in combinations(strikes, count)):
            left, cost = wires, sum(strike.links for strike in chosen)
            for strike in chosen if cost <= most else ():
                left = after_failure(left, strike)
            if cost <= most:
                yield cost, left


def fewest(seen: VerdictAfterFailures | None) -> float:
    """Return how many failures it takes to see something."""
    return inf if seen is None else sum(strike.links for strike in seen.failed)


def held_against_every_case(wires: Wires, question: RoutingQuestion, tolerated: FailureBudget) -> None:
    """Check that an outcome is that of all cases, with as few failures.

    Raises:
        AssertionError: it is not.
    """
    found = after_failures(wires, question, tolerated)
    verdicts = [(cost, whole(left, question)) for cost, left in all_cases(wires, tolerated)]
    cycle, valley, lost = (
        min((cost for cost, verdict in verdicts if verdict[place]), default=inf) for place in range(3)
    )
    assert not found.drawn
    assert fewest(found.cycle) == cycle
    if found.cycle is None:
        assert (fewest(found.valley), fewest(found.lost)) == (valley, lost)


@pytest.mark.tools("laws")
@settings(max_examples=60)
@given(st.one_of(worn_clos(), pods()), POLICIES, st.data())
def test_cases_of_one_failure_that_are_looked_at_show_what_all_show(
    wires: Wires, policy: RoutingPolicy, data: st.DataObject
) -> None:
    held_against_every_case(wires, bouncing(data, wires, policy), FailureBudget(1, 1))


@pytest.mark.tools("laws")
@settings(max_examples=30)
@given(st.one_of(worn_clos(), pods(4), tiered()), POLICIES, st.data())
def test_cases_of_two_failures_that_are_looked_at_show_what_all_show(
    wires: Wires, policy: RoutingPolicy, data: st.DataObject
) -> None:
    held_against_every_case(wires, bouncing(data, wires, policy), data.draw(TOLERATED))


@given(st.one_of(worn_clos(), pods(), tiered()), POLICIES, st.integers(1, 2))
def test_without_a_failure_of_what_is_needed_hosts_stay_as_far_apart(
    wires: Wires, policy: RoutingPolicy, failures: int
) -> None:
    question = RoutingQuestion(policy)
    switches, pairs = critical_elements(wires, moves_of(wires, question), failures)
    before = distances(wires, policy)
    spare = [Failure((name,), 1) for n, name in enumerate(wires.names) if n not in switches]
    spare += [
        Failure((wires.names[a], wires.names[b]), n) for a, b, n in wires.pairs() if (a, b) not in pairs
    ]
    for chosen in combinations(spare, failures):
        if sum(strike.links for strike in chosen) > failures:
            continue
        left = wires
        for strike in chosen:
            left = after_failure(left, strike)
        after = distances(left, policy)
        assert after == {ends: hops for ends, hops in before.items() if ends in after}
        gone = {strike.ends[0] for strike in chosen if len(strike.ends) == 1}
        assert {ends for ends in before if not gone & set(ends)} == set(after)


def distances(wires: Wires, policy: RoutingPolicy) -> dict[tuple[str, str], int]:
    """Return how far switches with hosts are from each other."""
    found = shortest_paths(moves_of(wires, RoutingQuestion(policy)), wires.attached)
    return {
        (wires.names[start], wires.names[end]): hops
        for hops, layer in enumerate(found.layers)
        for start in found.destinations
        for end, bit in enumerate(found.own)
        if layer.get(start, 0) & bit
    }


@given(st.one_of(worn_clos(), pods()))
def test_what_can_change_places_is_linked_identical(wires: Wires) -> None:
    for family in families(wires):
        for one, other in pairwise(family):
            moved = {**dict(zip(one, other, strict=True)), **dict(zip(other, one, strict=True))}
            place = [moved.get(switch, switch) for switch in range(len(wires.names))]
            for switch, links in enumerate(wires.links):
                assert {place[far]: count for far, count in links.items()} == wires.links[place[switch]]
                assert wires.tiers[switch] == wires.tiers[place[switch]]
                assert wires.attached[switch] == wires.attached[place[switch]]
            assert {(place[near], place[far]) for near, far in wires.lossy} == wires.lossy


@given(st.one_of(worn_clos(), pods()))
def test_ends_that_represent_others_are_linked_as_those(wires: Wires) -> None:
    orbits = Orbits(wires)
    for near, far, count in wires.pairs():
        one, other = orbits.of((near, far))
        assert wires.links[one].get(other) == count
        tiers = sorted((wires.tiers[near], wires.tiers[far]))
        assert tiers == sorted((wires.tiers[one], wires.tiers[other]))


@pytest.mark.parametrize("sides", [(5, 4, 3, 2), (2, 2, 2, 2)])
def test_all_that_can_fail_in_a_regular_clos_is_of_five_kinds(sides: tuple[int, int, int, int]) -> None:
    clos = three_tier(*sides)
    orbits = Orbits(clos)
    switches = {orbits.of((switch,)) for switch in range(len(clos.names))}
    pairs = {orbits.of((near, far)) for near, far, _ in clos.pairs()}
    assert (len(switches), len(pairs)) == (3, 2)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=8), st.integers(1, 5), st.integers(0, 9))
def test_failures_are_drawn_until_no_other_fits(links: list[int], most: int, seed: int) -> None:
    possible = [Failure((str(place),), count) for place, count in enumerate(links)]
    drawn = _drawn(Random(seed), possible, most)
    left = most - sum(failure.links for failure in drawn)
    assert len(set(drawn)) == len(drawn)
    assert left >= 0
    assert all(failure in drawn or failure.links > left for failure in possible)


@given(st.data(), st.integers(20, 40))
def test_ranges_of_channels_wait_as_the_channels_do(data: st.DataObject, channels: int) -> None:
    half = channels // 2
    sets = [
        TurnSet(sorted(data.draw(st.sets(st.integers(0, half - 1), min_size=half - 3))), [half + out])
        for out in range(channels - half)
    ]
    waits = WaitGraph(channels)
    waits.add(sets)
    graph = waits.graph()
    assert cycle(graph) == ()
    for channel in range(half):
        reached, waiting = set(), [channel]
        while waiting:
            following = [n for n in graph.after(waiting.pop()) if n not in reached]
            reached.update(following)
            waiting += following
        expected = {one.outs[0] for one in sets if channel in one.ins}
        assert {node for node in reached if node < channels} == expected


def test_turns_of_many_channels_take_edges_by_the_channel_and_not_by_the_turn() -> None:
    for count in (64, 128, 256):
        sets = [TurnSet([n for n in range(count) if n != out], [count + out]) for out in range(count)]
        waits = WaitGraph(2 * count)
        waits.add(sets)
        assert waits.graph().edges < 3 * count * count.bit_length()
