"""Laws of routing and waiting, against what is found way by way."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from lossless.graphs.cycles import cycle
from lossless.routing.failures import Borne, Strike, after_failures, struck
from lossless.routing.flows import flows
from lossless.routing.judge import Question, Verdict, judge, judge_moves
from lossless.routing.moves import shortest_path, up_down
from lossless.routing.turns import TurnSet, Waits, turns
from lossless.routing.wires import without
from tests.routing.made import shortest_circle, tiered, turns_of_all_ways, worn_clos

if TYPE_CHECKING:
    from lossless.routing.judge import Policy
    from lossless.routing.wires import Wires
    from tests.routing.made import Turn

POLICIES: st.SearchStrategy[Policy] = st.sampled_from(["up-down", "shortest-path"])


def whole(wires: Wires, question: Question) -> Verdict:
    """Return the verdict on all switches, none of them left out as another's like."""
    moves = up_down(wires) if question.policy == "up-down" else shortest_path(wires)
    return judge_moves(wires, moves, question)


def bounced(wires: Wires, turns: set[Turn], switches: set[str]) -> set[Turn]:
    """Return turns with those that bounces add: between channels that anything goes by."""
    used = {channel for turn in turns for channel in turn} | _single_hops(wires)
    more = {
        ((above, here), (here, beyond))
        for above, here in used
        if wires.names[here] in switches and wires.tiers[above] > wires.tiers[here]
        for start, beyond in used
        if start == here and wires.tiers[beyond] > wires.tiers[here]
    }
    return turns | more


def _single_hops(wires: Wires) -> set[tuple[int, int]]:
    return {
        (a, b) for a, far in enumerate(wires.links) for b in far if wires.attached[a] and wires.attached[b]
    }


@given(tiered())
def test_up_and_down_never_closes_a_circle(wires: Wires) -> None:
    assert whole(wires, Question("up-down")).circle == ()


@given(tiered(), st.data())
def test_fewer_links_close_no_circle_where_packets_go_up_and_down(wires: Wires, data: st.DataObject) -> None:
    pairs = [(a, b) for a, b, _ in wires.pairs()]
    gone = data.draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    assert judge(without(wires, pairs=gone), Question("up-down")).circle == ()


@given(tiered(6), POLICIES)
def test_turns_are_those_of_all_shortest_ways(wires: Wires, policy: Policy) -> None:
    moves = up_down(wires) if policy == "up-down" else shortest_path(wires)
    found = {
        (moves.channels[before], moves.channels[following])
        for sets in turns(moves, flows(moves, wires.attached))
        for one in sets
        for before in one.ins
        for following in one.outs
    }
    assert found == turns_of_all_ways(wires, up_down=policy == "up-down")


@given(tiered(6), POLICIES, st.sets(st.sampled_from(["s0", "s1", "s2", "s3"]), max_size=3))
def test_the_circle_is_as_short_as_any_that_is_found_by_trying(
    wires: Wires, policy: Policy, bounce: set[str]
) -> None:
    expected = bounced(wires, turns_of_all_ways(wires, up_down=policy == "up-down"), bounce)
    found = whole(wires, Question(policy, frozenset(bounce)))
    assert len(found.circle) == shortest_circle(expected)


@given(worn_clos(), POLICIES, st.data())
def test_few_switches_of_a_kind_show_what_all_show(wires: Wires, policy: Policy, data: st.DataObject) -> None:
    bounce = frozenset(data.draw(st.sets(st.sampled_from(list(wires.names)), max_size=2)))
    question = Question(policy, bounce)
    few, every = judge(wires, question), whole(wires, question)
    assert len(few.circle) == len(every.circle)
    assert (few.valley is None, few.lost is None) == (every.valley is None, every.lost is None)


@settings(max_examples=40)
@given(worn_clos(), POLICIES, st.builds(Borne, st.integers(0, 2), st.integers(0, 2)), st.booleans())
def test_one_failure_of_each_kind_shows_what_all_failures_show(
    wires: Wires, policy: Policy, borne: Borne, bounces: bool
) -> None:
    question = Question(policy, frozenset(wires.names[:1]) if bounces else frozenset())
    found = after_failures(wires, question, borne)
    assert not found.drawn
    verdicts = [whole(wires, question)]
    switches = [Strike((name,), 1) for name in wires.names]
    links = [Strike((wires.names[a], wires.names[b]), n) for a, b, n in wires.pairs()]
    for strikes, most in ((switches, borne.switches), (links, borne.links)):
        for chosen in (chosen for count in range(1, most + 1) for chosen in combinations(strikes, count)):
            if sum(strike.links for strike in chosen) > most:
                continue
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
