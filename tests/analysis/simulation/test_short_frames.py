"""ACKs, NACKs and credit as frames: they take their turn on the links that data takes the other way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.network import SimSpread, SimWindow
from lossless.analysis.simulation.engine.run import Simulation
from tests.analysis.simulation.clos import (
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
    from lossless.analysis.simulation.engine.network import Choice

TWO = Clos(leaves=2, hosts=4, spines=4)
BASE_RTT_US = 4 * (2 * 0.5 + (FRAME_BYTES + 64) * 8e6 / RATE_BPS)
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
) -> Simulation:
    """Let two hosts send to each other, or one of them alone to the other."""
    pairs = [FAR, FAR[::-1]] if back else [FAR]
    network = clos_network(
        TWO, pairs, SimSpread(choice), frames * MTU_BYTES, end=ROOMY, ahead_frames=0, window=window
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


def test_switches_hash_acks_whatever_they_do_with_data() -> None:
    """Data takes all spines, the ACKs of a flow one."""
    simulation = exchange(256, back=True, choice="adaptive", window=WINDOW)
    leaf, classes = TWO.leaf_of(FAR[1]), simulation.index.classes
    ends = simulation.index.wiring.ends
    short = [
        int(simulation.state.queues[ends.index((leaf, TWO.spine(n))) * classes + classes - 1]["sent_frames"])
        for n in range(4)
    ]
    assert min(sent_frames(simulation, leaf, TWO.spine(n)) for n in range(4)) > 40
    assert sorted(short)[:3] == [0, 0, 0] < sorted(short)[3:]
