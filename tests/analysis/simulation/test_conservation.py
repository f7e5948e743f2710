"""Nothing is lost and nothing invented: every frame is in one place and every byte counted once, at any time.

Networks are small and random. Groups have the headroom floor, and let their peers go on when they are empty or
two frames below their threshold.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.buffers.headroom.formulas import floor_headroom
from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimCable,
    SimDcqcn,
    SimFlow,
    SimGroup,
    SimPort,
    SimQueue,
    SimSwitch,
    SimWred,
)
from lossless.ground.basics.units import LIGHT_IN_FIBRE_M_PER_S
from tests.analysis.simulation.made_networks import chain, ring, run, star
from tests.analysis.simulation.watching import known_and_looked_at

pytestmark = pytest.mark.tools("laws")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.engine.network import SimNetwork
    from lossless.analysis.simulation.engine.run import Simulation
    from lossless.analysis.simulation.engine.state import SimState

OVERHEAD = Physics().overhead_bytes
LAST_NS = 1e9
"""Much later than anything else in these networks, whose transfers take less than a hundredth of it."""


@st.composite
def networks(draw: st.DrawFn, most_hops: int) -> SimNetwork:
    """Return a star, a chain or a ring; rings whose flows pass two hops or more can deadlock."""
    mtu, rate = draw(st.sampled_from([256, 1024, 4096])), draw(st.sampled_from([25, 100, 400])) * 10**9
    metres, reaction_ns, frame = draw(st.integers(0, 300)), draw(st.integers(0, 2000)), mtu + OVERHEAD
    need = floor_headroom(rate, metres, frame, frame, peer_response_bytes=reaction_ns * rate / 8e9)
    reserved, alpha = draw(st.sampled_from([0, frame])), 2.0 ** draw(st.integers(-4, 3))
    wred = draw(st.sampled_from([None, SimWred(5 * frame, 20 * frame, 0.5)]))
    made: SimNetwork = draw(shapes(most_hops))(
        SimPort((SimQueue(wred),), (SimGroup(alpha, need.headroom_bytes, frame, 2 * frame, reserved),)),
        SimSwitch(1 << 30, draw(st.integers(12, 200)) * frame),
        mtu_bytes=mtu,
        size_bytes=mtu * draw(st.integers(1, 60)),
        reaction_ns=reaction_ns,
        rate_bps=rate,
        propagation_ns=metres / LIGHT_IN_FIBRE_M_PER_S * 1e9,
        physics=Physics(acks=draw(st.sampled_from(["data", "apart"]))),
    )
    back = [flow._replace(path=flow.path[::-1]) for flow in made.flows if draw(st.booleans())]
    return made._replace(flows=(*made.flows, *back), holds=draw(st.sampled_from([(), held_up(made)])))


def shapes(most_hops: int) -> st.SearchStrategy[Any]:
    rings = st.builds(partial, st.just(ring), st.integers(3, 5), st.integers(1, most_hops))
    return st.one_of(
        st.builds(partial, st.just(star), st.integers(2, 6)),
        st.builds(partial, st.just(chain), st.integers(1, 4)),
        rings,
    )


def held_up(network: SimNetwork) -> tuple[Hold, ...]:
    """Return a NIC that pauses for a while where the first flow ends."""
    *_, last, receiver = network.flows[0].path
    return (Hold(last, receiver, 1000, 30_000, 9000, 0.7),)


# --- at any time ---


def listed(state: SimState, first: int) -> Iterator[int]:
    """Yield the frames of a list."""
    while first >= 0:
        yield first
        first = int(state.frames["next"][first])


def places(state: SimState) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the frames in queues, on wires, on their way as PFC, and in no use."""
    queued = [number for head in state.queues["head"] for number in listed(state, int(head))]
    flying = [number for head in state.links["wire_head"] for number in listed(state, int(head))]
    telling = [number for head in state.links["pfc_head"] for number in listed(state, int(head))]
    return queued, flying, telling, unused(state)


def unused(state: SimState) -> list[int]:
    """Return the frames in no use: those given back, and those never used."""
    return [
        *listed(state, int(state.clock["free"][0])),
        *range(int(state.clock["fresh"][0]), len(state.frames)),
    ]


@settings(max_examples=60)
@given(network=networks(most_hops=2), cell=st.sampled_from([1, 144]), until_ns=st.floats(0, 100_000))
def test_every_frame_is_in_one_place_at_any_time(network: SimNetwork, cell: int, until_ns: float) -> None:
    state = run(in_cells(network, cell), until_ns).state
    queued, flying, telling, free = places(state)
    assert sorted([*queued, *flying, *telling, *free]) == list(range(len(state.frames)))
    assert len(free) == state.clock["free_frames"][0]
    assert len(queued) + len(flying) == state.clock["in_network"][0]


@settings(max_examples=60)
@given(network=networks(most_hops=2), cell=st.sampled_from([1, 144]), until_ns=st.floats(0, 100_000))
def test_what_queues_groups_and_switches_hold_are_the_same_frames(
    network: SimNetwork, cell: int, until_ns: float
) -> None:
    simulation = run(in_cells(network, cell), until_ns)
    state, classes = simulation.state, simulation.index.classes
    in_queues, in_groups = np.zeros(len(state.queues), np.int64), np.zeros(len(state.groups), np.int64)
    for number, head in enumerate(state.queues["head"]):
        frames = state.frames[list(listed(state, int(head)))]
        in_queues[number] = frames["held_bytes"].sum()
        np.add.at(in_groups, frames["via"] * classes + frames["priority"], frames["held_bytes"])
    assert state.queues["bytes"].tolist() == in_queues.tolist()
    assert state.groups["bytes"].tolist() == in_groups.tolist()
    own = np.minimum(state.groups["bytes"], state.groups["reserved_bytes"])
    for name, of_groups in (
        ("used", state.groups["bytes"]),
        ("headroom_used", state.groups["headroom_used"]),
        ("reserved_used", own),
    ):
        in_switches = state.groups["unit"] >= 0
        sums = np.bincount(state.groups["unit"][in_switches], of_groups[in_switches], len(state.units))
        assert state.units[name].tolist() == sums.tolist()


def in_cells(network: SimNetwork, cell_bytes: int) -> SimNetwork:
    switches = {node: one._replace(cell_bytes=cell_bytes) for node, one in network.switches.items()}
    return network._replace(switches=switches)


# --- in the end ---


def with_a_late_flow(network: SimNetwork) -> SimNetwork:
    """Return the network and two hosts beside it, so that it runs on until ACKs and PFC have arrived as well."""
    here, there = network.nodes, network.nodes + 1
    return network._replace(
        nodes=network.nodes + 2,
        cables=(*network.cables, SimCable(here, there, 100e9, 0)),
        flows=(*network.flows, SimFlow((here, there), 1, LAST_NS, mtu_bytes=1)),
    )


def finished(network: SimNetwork) -> Simulation:
    simulation = run(with_a_late_flow(network), 2 * LAST_NS)
    assert simulation.ended
    return simulation


@given(network=networks(most_hops=1))
def test_with_the_headroom_floor_everything_is_delivered_and_nothing_dropped(network: SimNetwork) -> None:
    seen = finished(network).outcome()
    assert (seen.drops, seen.flows_done, seen.delivered_bytes) == (0, seen.flows, seen.size_bytes)


@given(network=networks(most_hops=1))
def test_when_all_is_delivered_nothing_is_held_and_nobody_paused(network: SimNetwork) -> None:
    state = finished(network).state
    for records, names in (
        (state.units, ("used", "headroom_used", "reserved_used")),
        (state.groups, ("bytes", "headroom_used", "paused")),
        (state.queues, ("bytes", "deficit")),
        (state.links, ("paused", "held", "backlog")),
    ):
        assert {name: int(np.abs(records[name]).sum()) for name in names} == dict.fromkeys(names, 0)
    assert sorted(unused(state)) == list(range(len(state.frames)))


def test_these_networks_pause_and_mark() -> None:
    """What the laws above are held against is not always quiet."""
    seen = []

    @settings(max_examples=100)
    @given(network=networks(most_hops=2))
    def look(network: SimNetwork) -> None:
        seen.append(run(network, 1e6).outcome())

    look()
    # Hypothesis draws constants of the program too, so how many there are changes with it: 14 to 30 pauses were seen.
    assert sum(one.pauses > 0 for one in seen) >= 10
    assert sum(one.marks > 0 for one in seen) > len(seen) // 20


# --- looking ahead ---


PACED = SimDcqcn(1 / 256, 1, 4, 50, 1, 5e6, 50e6, 100e6)


@settings(max_examples=100)
@given(network=networks(most_hops=1), paced=st.sampled_from([None, PACED, PACED._replace(byte_reset=5000)]))
def test_a_nic_that_knows_its_next_frame_sends_as_one_that_looks_each_time(
    network: SimNetwork, paced: SimDcqcn | None
) -> None:
    network = network._replace(flows=tuple(flow._replace(dcqcn=paced) for flow in network.flows))
    known, looked_at = known_and_looked_at(network, 2 * LAST_NS)
    assert known == looked_at
