"""Laws of whole simulations: repeatable, blind to names, deadlocked where a cycle of buffers lets them be."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine import state as arrays
from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimCable,
    SimDcqcn,
    SimFlow,
    SimGroup,
    SimNetwork,
    SimPort,
    SimQueue,
    SimSwitch,
    SimWred,
)
from lossless.analysis.simulation.engine.run import Peak, RunOutcome, Simulation
from tests.analysis.simulation.connected import connected
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKS = SimWred(20_000, 200_000, 0.1)
PACED = SimDcqcn(
    g=1 / 256,
    alpha_us=5,
    decrease_us=4,
    increase_us=30,
    threshold=1,
    ai_bps=50e6,
    hai_bps=500e6,
    min_rate_bps=100e6,
    cnp_gate_us=4,
)


def leaf_spine(
    wred: SimWred | None = MARKS, dcqcn: SimDcqcn | None = PACED, frames: int = 150, acks: Any = "data"
) -> SimNetwork:
    """Return hosts 0 to 7 at leaves 8 and 9 under spines 10 and 11: all of them send to host 0, and it answers.

    Flows start a little apart, and no two cables are equally long, so that nothing happens at one instant.
    """
    end = SimPort((SimQueue(wred),), (SimGroup(0.125, 60_000, 0, 10_000),))
    links = [*((host, 8 + host // 4) for host in range(8)), (8, 10), (8, 11), (9, 10), (9, 11)]
    paths = [(host, 8, 0) if host < 4 else (host, 9, 10 + host % 2, 8, 0) for host in range(1, 8)]
    flows = [
        SimFlow(path, frames * 4096, 1000 + 7.3 * number, dcqcn=dcqcn)
        for number, path in enumerate([*paths, *(path[::-1] for path in paths[-2:])])
    ]
    made = connected(links, dict.fromkeys(range(8, 12), SimSwitch(2_000_000, 1_500_000)), flows, end)
    lengths = [cable._replace(propagation_ns=500 + 17.7 * at) for at, cable in enumerate(made.cables)]
    return made._replace(cables=tuple(lengths), physics=Physics(acks=acks))


def outcome(network: SimNetwork, seed: int = 1, until_ns: float = 3e6) -> RunOutcome:
    simulation = Simulation(network, seed)
    simulation.advance(until_ns)
    return simulation.outcome()


# --- repeatable ---


def test_the_network_of_these_laws_has_everything_in_it() -> None:
    seen = outcome(leaf_spine())
    assert min(seen.pauses, seen.marks, seen.cnps, seen.flows_done) > 0


def in_a_new_process(hash_seed: str) -> str:
    script = "from tests.analysis.simulation.test_whole import *; print(outcome(leaf_spine(), 7))"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT, env=environment
    )
    return done.stdout.strip()


@pytest.mark.tools("runs")
def test_one_seed_gives_one_outcome_in_every_process() -> None:
    here = str(outcome(leaf_spine(), 7))
    assert in_a_new_process("1") == in_a_new_process("4711") == here


@pytest.mark.parametrize("acks", ["data", "apart"])
def test_a_restarted_simulation_is_as_good_as_a_new_one(acks: str) -> None:
    simulation = Simulation(leaf_spine(acks=acks), 1)
    for seed, stopped_at in ((2, 10_000), (3, 100_000), (4, 3e6)):
        simulation.advance(stopped_at)
        simulation.restart(seed)
        simulation.advance(3e6)
        assert simulation.outcome() == outcome(leaf_spine(acks=acks), seed)
        simulation.restart(1)


@given(stops=st.lists(st.floats(0, 3e6), max_size=5).map(sorted))
def test_time_that_passes_in_pieces_passes_as_in_one(stops: list[float]) -> None:
    simulation = Simulation(leaf_spine(frames=60), 1)
    for until_ns in (*stops, 3e6):
        simulation.advance(until_ns)
    assert simulation.outcome() == outcome(leaf_spine(frames=60))


@pytest.mark.parametrize("frames", [64, 65, 100, 1 << 14])
def test_the_memory_it_begins_with_changes_nothing(frames: int) -> None:
    with patch.object(arrays, "_FRAMES", frames):
        found = outcome(leaf_spine())
    assert found == outcome(leaf_spine())


# --- random seeds ---


def test_seeds_differ_where_marks_are_random() -> None:
    assert len({outcome(leaf_spine(), seed) for seed in range(1, 6)}) == 5


@pytest.mark.parametrize(
    "wred",
    [None, SimWred(50_000, 50_000, 0.1), SimWred(20_000, 20_000, 1)],
    ids=["none", "step", "sure step"],
)
def test_seeds_are_identical_where_nothing_is_random(wred: SimWred | None) -> None:
    assert len({outcome(leaf_spine(wred), seed) for seed in range(1, 6)}) == 1


# --- names ---


def renamed(network: SimNetwork, names: Sequence[int]) -> SimNetwork:
    """Return the network with node i called ``names[i]``."""
    return network._replace(
        switches={names[node]: switch for node, switch in network.switches.items()},
        cables=tuple(cable._replace(a=names[cable.a], b=names[cable.b]) for cable in network.cables),
        flows=tuple(flow._replace(path=tuple(names[node] for node in flow.path)) for flow in network.flows),
    )


def nameless(seen: RunOutcome) -> tuple[Any, ...]:
    """Return an outcome without the names of nodes."""
    return tuple(part.bytes if isinstance(part, Peak) else part for part in seen)


@settings(max_examples=25)
@given(names=st.permutations(range(12)), acks=st.sampled_from(["data", "apart"]))
def test_other_names_of_nodes_change_nothing(names: list[int], acks: str) -> None:
    network = leaf_spine(frames=60, acks=acks)
    assert nameless(outcome(renamed(network, names))) == nameless(outcome(network))


def turned(cable: SimCable) -> SimCable:
    """Return the same cable written from its other end."""
    return SimCable(
        cable.b,
        cable.a,
        cable.rate_bps,
        cable.propagation_ns,
        cable.b_end,
        cable.a_end,
        cable.b_reaction_ns,
        cable.a_reaction_ns,
    )


@settings(max_examples=25)
@given(which=st.sets(st.integers(0, 11)), reactions=st.booleans())
def test_a_cable_may_be_written_from_either_end(which: set[int], reactions: bool) -> None:
    network = leaf_spine(frames=60)
    if reactions:
        slow = (one._replace(a_reaction_ns=300, b_reaction_ns=900) for one in network.cables)
        network = network._replace(cables=tuple(slow))
    other = tuple(turned(one) if at in which else one for at, one in enumerate(network.cables))
    assert outcome(network._replace(cables=other)) == outcome(network)


@settings(max_examples=25)
@given(order=st.permutations(range(12)))
def test_the_order_of_cables_changes_nothing(order: list[int]) -> None:
    network = leaf_spine(frames=60)
    assert nameless(outcome(network._replace(cables=tuple(network.cables[at] for at in order)))) == nameless(
        outcome(network)
    )


# --- deadlock ---

RING = ((0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3))
"""Host i at switch i + 3, and the switches in a ring."""
ROUND = ((0, 3, 4, 5, 2), (1, 4, 5, 3, 0), (2, 5, 3, 4, 1))
"""Each flow crosses two sides of the ring the same way round: every buffer waits for the next."""
UP_DOWN = ((0, 3, 4, 5, 2), (1, 4, 3, 0), (2, 5, 4, 1))
"""The same flows without the side between 5 and 3: up-down routing on a line."""
FRAMES = 2000


def ring(paths: Sequence[tuple[int, ...]], *, hold_ns: float = 0) -> Simulation:
    """Return the ring, the egress to host 2 paused at first."""
    switches = dict.fromkeys((3, 4, 5), SimSwitch(600_000, 300_000))
    flows = [SimFlow(path, FRAMES * 4096) for path in paths]
    holds = (Hold(5, 2, 0, hold_ns),) if hold_ns else ()
    return Simulation(connected(RING, switches, flows, holds=holds))


def sides_paused(simulation: Simulation) -> list[bool]:
    """Return for each side of the ring, one way round, whether its transmitter is paused."""
    ends = simulation.index.wiring.ends
    sides = [ends.index(pair) for pair in ((3, 4), (4, 5), (5, 3))]
    return [bool(simulation.state.links[side]["paused"]) for side in sides]


@pytest.mark.parametrize("hold_ns", [0, 100_000])
def test_a_cycle_of_buffers_that_once_fills_never_moves_again(hold_ns: float) -> None:
    simulation = ring(ROUND, hold_ns=hold_ns)
    assert simulation.advance(1e9)
    seen = simulation.outcome()
    assert sides_paused(simulation) == [True, True, True]
    assert (seen.flows_done, seen.drops) == (0, 0)
    assert 0 < seen.delivered_bytes < 3 * FRAMES * 4096 / 20


def test_in_a_deadlock_nothing_is_left_that_could_happen() -> None:
    simulation = ring(ROUND, hold_ns=100_000)
    simulation.advance(200_000)
    before = simulation.outcome()
    simulation.advance(1e9)
    after = simulation.outcome()
    assert (after.events, after.delivered_bytes) == (before.events, before.delivered_bytes)


@pytest.mark.parametrize("hold_ns", [0, 100_000])
def test_the_same_ring_with_up_down_paths_always_moves_on(hold_ns: float) -> None:
    simulation = ring(UP_DOWN, hold_ns=hold_ns)
    assert simulation.advance(1e9)
    seen = simulation.outcome()
    assert (seen.pauses > 0) == (hold_ns > 0)
    assert (seen.flows_done, seen.drops) == (3, 0)
    assert sides_paused(simulation) == [False, False, False]


# --- memory ---


def held_bytes() -> int:
    """Return what the package holds of what was allocated since tracing began."""
    gc.collect()
    ours = tracemalloc.take_snapshot().filter_traces(
        [tracemalloc.Filter(True, "*/lossless/analysis/simulation/*")]
    )
    return sum(found.size for found in ours.statistics("filename"))


def test_restarts_take_no_new_memory() -> None:
    simulation = Simulation(leaf_spine(frames=40))

    def run(seed: int) -> None:
        simulation.restart(seed)
        simulation.advance(3e6)
        simulation.outcome()

    for seed in range(1, 20):
        run(seed)
    sizes = [array.nbytes for array in simulation.state]
    tracemalloc.start()
    try:
        run(20)
        before = held_bytes()
        for seed in range(21, 221):
            run(seed)
        after = held_bytes()
    finally:
        tracemalloc.stop()
    assert [array.nbytes for array in simulation.state] == sizes
    assert after - before < 2_000
