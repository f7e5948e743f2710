"""Laws of routing and waiting, against what is found way by way."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from lossless.graphs.cycles import cycle
from lossless.routing.failures import Strike, after_failures, struck
from lossless.routing.flows import flows
from lossless.routing.judge import Question, Verdict, judge, judge_moves
from lossless.routing.moves import shortest_path, up_down
from lossless.routing.turns import TurnSet, Waits, turns
from lossless.routing.wires import without
from tests.routing import naive
from tests.routing.made import pods, tiered, worn_clos

if TYPE_CHECKING:
    from lossless.routing.judge import Policy
    from lossless.routing.wires import Wires

POLICIES: st.SearchStrategy[Policy] = st.sampled_from(["up-down", "shortest-path"])


def whole(wires: Wires, question: Question) -> Verdict:
    """Return the verdict on all switches, none of them left out as another's like."""
    moves = up_down(wires) if question.policy == "up-down" else shortest_path(wires)
    return judge_moves(wires, moves, question)


@given(tiered())
def test_up_and_down_never_closes_a_circle(wires: Wires) -> None:
    assert whole(wires, Question("up-down")).circle == ()


@given(tiered(), st.data())
def test_fewer_links_close_no_circle_where_packets_go_up_and_down(wires: Wires, data: st.DataObject) -> None:
    pairs = [(a, b) for a, b, _ in wires.pairs()]
    gone = data.draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    assert judge(without(wires, pairs=gone), Question("up-down")).circle == ()


def bouncing(data: st.DataObject, wires: Wires, policy: Policy) -> Question:
    """Draw which switches bounce, and which do so in a second priority."""
    some = st.frozensets(st.sampled_from(list(wires.names)), max_size=3)
    again = data.draw(some)
    return Question(policy, again, data.draw(some) - again)


@given(tiered(6), POLICIES)
def test_turns_are_those_of_all_shortest_ways(wires: Wires, policy: Policy) -> None:
    moves = up_down(wires) if policy == "up-down" else shortest_path(wires)
    found = {
        ((*moves.channels[before], 0), (*moves.channels[following], 0))
        for sets in turns(moves, flows(moves, wires.attached))
        for one in sets
        for before in one.ins
        for following in one.outs
    }
    assert found == naive.waits(naive.plain(wires._replace(lossy=frozenset()), policy))


@settings(max_examples=300)
@given(st.one_of(tiered(6), pods()), POLICIES, st.data())
def test_what_is_found_for_all_destinations_at_once_is_what_following_each_packet_finds(
    wires: Wires, policy: Policy, data: st.DataObject
) -> None:
    question = bouncing(data, wires, policy)
    expected = naive.plain(wires, policy, question.bounces, question.moved)
    found = judge(wires, question)
    assert len(found.circle) == naive.shortest_circle(expected)
    assert (found.valley is not None) == naive.has_valley(expected)
    assert (found.lost is not None) == naive.has_lost(expected)


@given(st.one_of(tiered(6), pods()), POLICIES, st.data())
def test_switches_outside_send_and_take_and_never_forward(
    wires: Wires, policy: Policy, data: st.DataObject
) -> None:
    outside = data.draw(st.frozensets(st.sampled_from(range(len(wires.names))), max_size=2))
    attached = [here or switch in outside for switch, here in enumerate(wires.attached)]
    with_others = wires._replace(outside=outside, attached=attached)
    question = bouncing(data, wires, policy)
    names = {wires.names[switch] for switch in outside}
    question = question._replace(bounces=question.bounces - names, moved=question.moved - names)
    expected = naive.plain(with_others, policy, question.bounces, question.moved)
    found = judge(with_others, question)
    assert len(found.circle) == naive.shortest_circle(expected)
    assert (found.valley is not None) == naive.has_valley(expected)


@settings(max_examples=40)
@given(st.one_of(tiered(5), worn_clos(4)), POLICIES, st.integers(1, 2), st.data())
def test_what_failures_lead_to_is_what_following_each_packet_finds(
    wires: Wires, policy: Policy, survive: int, data: st.DataObject
) -> None:
    question = bouncing(data, wires, policy)
    found = after_failures(wires, question, survive)
    cases = list(naive.left(naive.plain(wires, policy, question.bounces, question.moved), survive))
    assert not found.drawn
    assert (found.circle is not None) == any(map(naive.shortest_circle, cases))
    if found.circle is None:
        assert (found.valley is not None) == any(map(naive.has_valley, cases))
        assert (found.lost is not None) == any(map(naive.has_lost, cases))


@given(tiered(6), POLICIES)
def test_a_valley_is_shown_as_it_is_passed(wires: Wires, policy: Policy) -> None:
    found = judge(wires, Question(policy)).valley
    if found is not None:
        tiers = [wires.tiers[wires.names.index(name)] for name in found]
        assert all(wires.names.index(b) in wires.links[wires.names.index(a)] for a, b in pairwise(found))
        assert tiers[0] > tiers[1] == tiers[-2] < tiers[-1]
        assert len(set(tiers[1:-1])) == 1


@given(worn_clos(), POLICIES, st.data())
def test_few_switches_of_a_kind_show_what_all_show(wires: Wires, policy: Policy, data: st.DataObject) -> None:
    question = bouncing(data, wires, policy)
    few, every = judge(wires, question), whole(wires, question)
    assert len(few.circle) == len(every.circle)
    assert (few.valley is None, few.lost is None) == (every.valley is None, every.lost is None)


@settings(max_examples=40)
@given(worn_clos(), POLICIES, st.integers(1, 2), st.booleans())
def test_one_failure_of_each_kind_shows_what_all_failures_show(
    wires: Wires, policy: Policy, survive: int, bounces: bool
) -> None:
    question = Question(policy, frozenset(wires.names[:1]) if bounces else frozenset())
    found = after_failures(wires, question, survive)
    assert not found.drawn
    verdicts = [whole(wires, question)]
    strikes = [Strike((name,), 1) for name in wires.names]
    strikes += [Strike((wires.names[a], wires.names[b]), n) for a, b, n in wires.pairs()]
    for count in range(1, survive + 1):
        for chosen in combinations(strikes, count):
            left = wires
            for strike in chosen:
                left = struck(left, strike)
            verdicts.append(whole(left, question))
    assert (found.circle is None) == (not any(verdict.circle for verdict in verdicts))
    if found.circle is None:
        assert (found.valley is None) == all(verdict.valley is None for verdict in verdicts)
        assert (found.lost is None) == all(verdict.lost is None for verdict in verdicts)


@given(st.data(), st.integers(20, 40))
def test_ranges_of_channels_wait_as_the_channels_do(data: st.DataObject, channels: int) -> None:
    half = channels // 2
    sets = [
        TurnSet(sorted(data.draw(st.sets(st.integers(0, half - 1), min_size=half - 3))), [half + out])
        for out in range(channels - half)
    ]
    waits = Waits(channels)
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
        waits = Waits(2 * count)
        waits.add(sets)
        assert waits.graph().edges < 3 * count * count.bit_length()
