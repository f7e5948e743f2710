"""Switches that choose the links: each choice does what it is called, and none changes what a link can carry."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.network import Choice, SimLoads, SimSpread
from lossless.analysis.simulation.engine.run import Simulation
from tests.analysis.simulation.clos import (
    DELAY_NS,
    MTU_BYTES,
    RATE_BPS,
    Clos,
    clos_network,
    frame_us,
    sent_frames,
)

CHOICES = get_args(Choice)
SMALL = Clos(leaves=2, hosts=4, spines=4)
WIDE = Clos(leaves=2, hosts=8, spines=4)
ACROSS = [(host, 4 + host) for host in range(4)]
END_NS = 1e9


def done_us(simulation: Simulation) -> float:
    """Let all flows end; return when the last one has."""
    simulation.advance(END_NS)
    assert simulation.ended
    assert not simulation.stalled
    return int(simulation.state.flows["done_at"].max()) / 1e6


def uplinks(simulation: Simulation, clos: Clos, host: int) -> list[int]:
    leaf = clos.leaf_of(host)
    return [sent_frames(simulation, leaf, clos.spine(number)) for number in range(clos.spines)]


@settings(max_examples=20, deadline=None)
@given(
    choice=st.sampled_from(CHOICES),
    senders=st.integers(1, 7),
    frames=st.integers(1, 60),
    seed=st.integers(1, 1000),
)
def test_a_lossless_incast_takes_as_long_as_its_link_whatever_the_choice(
    choice: Choice, senders: int, frames: int, seed: int
) -> None:
    """The link of the receiver carries n * S frames without a gap, once the first has come all its way."""
    pairs = [(1 + number, 0) for number in range(senders)]
    network = clos_network(SMALL, pairs, SimSpread(choice), frames * MTU_BYTES, ahead_frames=0)
    hops = min(SMALL.hops(*pair) for pair in pairs)
    expected_us = senders * frames * frame_us() + hops * DELAY_NS / 1000 + (hops - 1) * frame_us()
    found_us = done_us(Simulation(network, seed))
    assert expected_us - 1e-6 <= found_us <= expected_us + 2 * frame_us()


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_flow_by_hash_keeps_its_path_and_entropy_values_spread_it(seed: int) -> None:
    one = Simulation(clos_network(SMALL, [(0, 4)], SimSpread("hash"), 64 * MTU_BYTES), seed)
    done_us(one)
    assert sorted(uplinks(one, SMALL, 0)) == [0, 0, 0, 64]
    spread = SimSpread("hash", entropies=64)
    many = Simulation(clos_network(SMALL, [(0, 4)], spread, 64 * MTU_BYTES, ahead_frames=0), seed)
    done_us(many)
    assert min(uplinks(many, SMALL, 0)) > 0


def test_another_seed_hashes_flows_otherwise() -> None:
    simulation = Simulation(clos_network(SMALL, [(0, 4)], SimSpread("hash"), MTU_BYTES))
    taken = set()
    for seed in range(1, 20):
        simulation.restart(seed)
        done_us(simulation)
        taken.add(uplinks(simulation, SMALL, 0).index(1))
    assert taken == {0, 1, 2, 3}


def test_in_turn_every_link_carries_as_much() -> None:
    spread = SimSpread("in turn")
    simulation = Simulation(clos_network(SMALL, ACROSS, spread, 101 * MTU_BYTES, ahead_frames=0))
    done_us(simulation)
    assert uplinks(simulation, SMALL, 0) == [101, 101, 101, 101]


def slowed(sender: int, receiver: int) -> Simulation:
    """Return a permutation under adaptive routing with one link at a tenth of the rate, after 20 us."""
    slow = {(min(sender, receiver), max(sender, receiver)): RATE_BPS / 10}
    spread = SimSpread("adaptive")
    simulation = Simulation(
        clos_network(SMALL, ACROSS, spread, 400 * MTU_BYTES, ahead_frames=0, slow_bps=slow)
    )
    simulation.advance(20_000)
    return simulation


def test_adaptive_routing_avoids_a_slow_link_of_its_own_and_sees_one_beyond_by_its_pauses() -> None:
    own = uplinks(slowed(SMALL.leaf_of(0), SMALL.spine(0)), SMALL, 0)
    beyond = uplinks(slowed(SMALL.spine(0), SMALL.leaf_of(4)), SMALL, 0)
    assert own[0] < sum(own) / 8 < beyond[0] < 0.8 * sum(beyond) / 4


def test_a_switch_may_choose_in_its_own_way_and_others_as_flows_say() -> None:
    """Leaf 0 sends a flow one way, though its packets have entropy values; leaf 1 spreads another by these."""
    spread, pairs = SimSpread("hash", entropies=64), [(0, 4), (4, 0)]
    choices: dict[int, Choice] = {SMALL.leaf_of(0): "flow hash"}
    simulation = Simulation(
        clos_network(SMALL, pairs, spread, 64 * MTU_BYTES, ahead_frames=0, choices=choices)
    )
    done_us(simulation)
    assert sorted(uplinks(simulation, SMALL, 0)) == [0, 0, 0, 64]
    far = SMALL.leaf_of(4)
    assert min(sent_frames(simulation, far, SMALL.spine(n)) for n in range(4)) > 0


def by_leaves(choice: Choice, spread: SimSpread) -> list[int]:
    """Return what the uplinks of a leaf carry of 4 x 40 frames, where leaves choose otherwise than flows say."""
    choices = dict.fromkeys((SMALL.leaf_of(0), SMALL.leaf_of(4)), choice)
    simulation = Simulation(
        clos_network(SMALL, ACROSS, spread, 40 * MTU_BYTES, ahead_frames=0, choices=choices)
    )
    done_us(simulation)
    return uplinks(simulation, SMALL, 0)


def test_what_a_switch_chooses_by_holds_whatever_flows_say() -> None:
    one_path, sprayed = SimSpread("hash"), SimSpread("hash", entropies=64)
    assert by_leaves("in turn", one_path) == [40, 40, 40, 40]
    assert max(by_leaves("adaptive", one_path)) < 60
    assert all(sent % 40 == 0 for sent in by_leaves("flowlets", sprayed))
    assert all(sent % 40 == 0 for sent in by_leaves("flow hash", sprayed))
    assert any(sent % 40 for sent in by_leaves("hash", sprayed))


def test_a_failed_link_is_used_by_nobody_nor_its_spine_for_hosts_behind_it() -> None:
    leaf, far, spine = SMALL.leaf_of(0), SMALL.leaf_of(4), SMALL.spine(3)
    both_directions = [*ACROSS, *((target, source) for source, target in ACROSS)]
    spread = SimSpread("in turn")
    simulation = Simulation(
        clos_network(SMALL, both_directions, spread, 30 * MTU_BYTES, ahead_frames=0, without=[(leaf, spine)])
    )
    done_us(simulation)
    assert [sent_frames(simulation, far, SMALL.spine(n)) for n in range(4)] == [40, 40, 40, 0]


def test_a_flowlet_moves_after_a_gap_and_to_a_link_that_is_less_loaded() -> None:
    """Eight flows over four links collide; frames of one are a packet's time or more apart."""
    pairs = [(host, 8 + host) for host in range(8)]
    spread = SimSpread("flowlets")
    moved = []
    for gap_us in (1000.0, 0.1):
        loads = SimLoads((5_000, 10_000, 20_000), 0, gap_us)
        simulation = Simulation(
            clos_network(WIDE, pairs, spread, 200 * MTU_BYTES, ahead_frames=0, loads=loads)
        )
        done_us(simulation)
        moved.append([sent % 200 for sent in uplinks(simulation, WIDE, 0)])
    assert moved[0] == [0, 0, 0, 0]
    assert any(moved[1])


def test_spraying_costs_receivers_in_order_dear_and_those_that_reorder_nothing() -> None:
    pairs = [(number, 0) for number in range(1, 8)]
    spread = SimSpread("in turn")
    in_order = Simulation(clos_network(SMALL, pairs, spread, 60 * MTU_BYTES))
    reordered = Simulation(clos_network(SMALL, pairs, spread, 60 * MTU_BYTES, ahead_frames=64))
    late, soon = done_us(in_order), done_us(reordered)
    assert late > 1.5 * soon
    assert int(in_order.state.clock["resent"][0]) > 0 == int(reordered.state.clock["resent"][0])


def test_a_reorder_window_that_is_too_small_goes_back() -> None:
    pairs = [(number, 0) for number in range(1, 8)]
    resent = {}
    for frames in (1, 4, 0):
        spread = SimSpread("hash", entropies=64)
        simulation = Simulation(clos_network(SMALL, pairs, spread, 60 * MTU_BYTES, ahead_frames=frames))
        done_us(simulation)
        resent[frames] = int(simulation.state.clock["resent"][0])
    assert resent[1] > resent[4] >= resent[0] == 0
