"""ACKs, NACKs and credit as frames: they take their turn on the links that data takes the other way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimCable,
    SimFlow,
    SimGroup,
    SimNetwork,
    SimPort,
    SimQueue,
    SimSpread,
    SimSwitch,
    SimTrim,
    SimWindow,
)
from lossless.analysis.simulation.engine.run import Simulation
from tests.analysis.simulation.clos import (
    BASE_RTT_US,
    FRAME_BYTES,
    MTU_BYTES,
    RATE_BPS,
    Clos,
    clos_network,
    frame_us,
    lossy,
    sent_frames,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.analysis.simulation.engine.network import Choice

TWO = Clos(leaves=2, hosts=4, spines=4)
ROOMY = lossy(10_000 * FRAME_BYTES, trims=True)
FAR = (0, 4)
"""Two hosts at different leaves."""


def exchange(
    frames: int,
    *,
    back: bool,
    choice: Choice = "adaptive",
    window: SimWindow | None = None,
    ack_every: int = 1,
    choices: Mapping[int, Choice] | None = None,
) -> Simulation:
    """Let two hosts send to each other, or one of them alone to the other."""
    pairs = [FAR, FAR[::-1]] if back else [FAR]
    spread = SimSpread(choice)
    network = clos_network(
        TWO,
        pairs,
        spread,
        frames * MTU_BYTES,
        end=ROOMY,
        ahead_frames=0,
        window=window,
        choices=choices,
    )
    network = network._replace(physics=network.physics._replace(ack_every=ack_every))
    simulation = Simulation(network)
    simulation.advance(1e9)
    return simulation


def done_us(simulation: Simulation) -> float:
    return int(simulation.state.flows["done_at"].max()) / 1e6


def acks_sent(simulation: Simulation) -> int:
    flows = simulation.state.flows
    return int(flows["sent_bytes"][flows["counts"] == 0].max())


WINDOW = SimWindow(BASE_RTT_US, bdps=4, control="none")
CREDIT = SimWindow(BASE_RTT_US, bdps=4, control="none", credit_bytes=16_384)


@settings(max_examples=20, deadline=None)
@given(frames=st.integers(100, 600), window=st.sampled_from((None, WINDOW)), ack_every=st.integers(1, 8))
def test_data_waits_for_the_acks_of_what_comes_the_other_way(
    frames: int, window: SimWindow | None, ack_every: int
) -> None:
    """As many as have been sent by then; the last go out when data no longer waits for them."""
    alone, both = (exchange(frames, back=back, window=window, ack_every=ack_every) for back in (False, True))
    late_us = done_us(both) - done_us(alone)
    under_way = 1 + 4 * BASE_RTT_US / frame_us()
    assert late_us <= acks_sent(both) * frame_us(64) + 1e-6
    assert late_us > (acks_sent(both) - under_way) * frame_us(64)
    assert late_us > 0


@pytest.mark.parametrize(
    ("window", "acks"), [(WINDOW, 1 + 256 // 4), (WINDOW._replace(ack_bytes=FRAME_BYTES), 256)]
)
def test_a_receiver_answers_the_first_packet_and_each_16_kib(window: SimWindow, acks: int) -> None:
    """The run ends when all has arrived, and the last ACK is never sent."""
    assert acks - 2 <= acks_sent(exchange(256, back=True, window=window)) <= acks


def test_credit_travels_beside_acks() -> None:
    """A credit for each 16 KiB after the first window, and up to two windows more: asked for at first, and at last."""
    credit, none = (acks_sent(exchange(600, back=True, window=one)) for one in (CREDIT, WINDOW))
    all_bytes, window_bytes = 600 * FRAME_BYTES, 4 * BASE_RTT_US * RATE_BPS / 8e6
    assert all_bytes - window_bytes < 16_384 * (credit - none) < all_bytes + window_bytes + 2 * 16_384


def test_where_no_data_comes_back_nothing_waits_for_acks() -> None:
    simulation = exchange(100, back=False, window=WINDOW)
    assert simulation.index.wiring.acked == ()
    assert done_us(simulation) == pytest.approx(100 * frame_us() + 3 * frame_us() + 4 * 0.5, abs=1e-6)


@pytest.mark.parametrize("by_switch", [False, True])
def test_switches_hash_acks_whatever_they_do_with_data(by_switch: bool) -> None:
    """Data takes all spines, the ACKs of a flow one."""
    leaves: dict[int, Choice] = {TWO.leaf_of(0): "adaptive", TWO.leaf_of(4): "adaptive"}
    choices = leaves if by_switch else None
    simulation = exchange(256, back=True, choice="adaptive", window=WINDOW, choices=choices)
    leaf, classes = TWO.leaf_of(FAR[1]), simulation.index.classes
    ends = simulation.index.wiring.ends
    short = [
        int(simulation.state.queues[ends.index((leaf, TWO.spine(n))) * classes + classes - 1]["sent_frames"])
        for n in range(4)
    ]
    assert min(sent_frames(simulation, leaf, TWO.spine(n)) for n in range(4)) > 40
    assert sorted(short)[:3] == [0, 0, 0] < sorted(short)[3:]


# --- NICs whose next frame is known beforehand ---

LINE_BPS = 100e9
NEVER_FULL = SimPort((SimQueue(),), (SimGroup(None, None, static_bytes=1 << 40),))
FOUR_HOSTS = st.integers(0, 3)
SENT = st.tuples(FOUR_HOSTS, FOUR_HOSTS, st.integers(1, 60), st.integers(0, 3000), st.booleans()).filter(
    lambda flow: flow[0] != flow[1]
)
"""Source, target, frames, start in ns, and whether a window sends it."""


def around_one_switch(flows: Sequence[tuple[int, int, int, int, bool]], propagation_ns: float) -> SimNetwork:
    """Return hosts 0 to 3 at switch 4."""
    window = SimWindow(5, bdps=2, control="none", ack_bytes=1)
    sent = tuple(
        SimFlow(
            (source, 4, target),
            1000 * frames,
            start_ns,
            mtu_bytes=1000 if windowed else 4000,
            window=window if windowed else None,
        )
        for source, target, frames, start_ns, windowed in flows
    )
    cables = tuple(SimCable(host, 4, LINE_BPS, propagation_ns, None, NEVER_FULL) for host in range(4))
    switches = {4: SimSwitch(1 << 40, 1 << 40)}
    return SimNetwork(5, switches, cables, sent, physics=Physics(acks="apart"))


@settings(max_examples=100, deadline=None)
@given(flows=st.lists(SENT, min_size=2, max_size=6), propagation_ns=st.sampled_from((0.0, 100.0, 137.3)))
def test_what_a_nic_knows_beforehand_changes_nothing(
    flows: list[tuple[int, int, int, int, bool]], propagation_ns: float
) -> None:
    """ACKs that wait for a NIC go before the data that it would send next."""
    ends = []
    for foreseen in (True, False):
        simulation = Simulation(around_one_switch(flows, propagation_ns))
        if not foreseen:
            simulation.state.links["foreseen"] = 0
        simulation.advance(1e9)
        ends.append([int(simulation.state.flows[at]["done_at"]) for at in simulation.index.flow_at])
    assert ends[0] == ends[1]


@pytest.mark.parametrize("windowed", [False, True])
def test_senders_of_a_nic_that_is_paused_again_and_again_alternate(windowed: bool) -> None:
    """Two equal flows end within the time of a frame and of a pause."""
    network = around_one_switch([(0, target, 160, 0, windowed) for target in (1, 2)], 100)
    simulation = Simulation(network._replace(holds=(Hold(0, 4, 0, 1e9, 1000, 0.8),)))
    simulation.advance(1e9)
    first, second = (int(simulation.state.flows[at]["done_at"]) / 1e6 for at in simulation.index.flow_at)
    assert abs(first - second) < 1.2
    assert min(first, second) > 50


@pytest.mark.parametrize("ahead_frames", [None, 0, 64])
def test_nics_of_roce_make_nothing_of_trimmed_packets(ahead_frames: int | None) -> None:
    """A trimmed packet is lost to them, with the data left in it, and a timer runs out where none comes after it."""
    port = lossy(5 * FRAME_BYTES, trims=True)
    end = port._replace(queues=(port.queues[0]._replace(trim=SimTrim(256, 1)), port.queues[1]))
    pairs = [(4 + number, 0) for number in range(4)]
    spread = SimSpread("hash")
    network = clos_network(TWO, pairs, spread, 60 * MTU_BYTES, end=end, ahead_frames=ahead_frames)
    simulation = Simulation(network._replace(physics=network.physics._replace(timeout_ms=1)))
    data = simulation.state.flows["counts"] == 1
    until_ns = 0
    while not simulation.advance(until_ns):
        until_ns += 1000
        assert not (simulation.state.flows["expected_psn"][data] % MTU_BYTES).any()
    assert not simulation.stalled
    assert set(simulation.state.flows["expected_psn"][data].tolist()) == {60 * MTU_BYTES}
    assert int(simulation.state.clock["trims"][0]) > 0
