"""Hosts: a receiver that is slow, the ACKs it sends, what is sent again after a loss, and who sends next."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimDcqcn,
    SimFlow,
    SimGroup,
    SimPort,
    SimQueue,
    SimSwitch,
    SlowHost,
)
from lossless.analysis.simulation.engine.run import Simulation
from tests.analysis.simulation.connected import PLAIN_END, connected
from tests.analysis.simulation.watching import every_start_an_event, frame_starts, known_and_looked_at, steps

if TYPE_CHECKING:
    from collections.abc import Sequence

PAYLOAD, WIRE, OCCUPIED = 4096, 4158, 4178
"""Bytes of a full frame: payload, in memory, and on the wire with preamble and gap."""
FRAME_NS, HOP_NS, ACK_BYTES = OCCUPIED * 0.08, 500, 86
"""At 100 Gb/s; an ACK is 66 B with 20 B of preamble and gap."""
HUB = 9
ENDLESS = 1 << 40
Acks = Literal["apart", "data"]


def hub(flows: Sequence[SimFlow], end: SimPort = PLAIN_END, **others: Any) -> Simulation:
    """Return hosts 0 to 8 around switch 9, 100 Gb/s and 500 ns each."""
    links = [(host, HUB) for host in range(HUB)]
    switches = {HUB: SimSwitch(4_000_000, 3_000_000)}
    return Simulation(connected(links, switches, flows, end, **others))


def flow(source: int, target: int, frames: int = 100, **others: Any) -> SimFlow:
    return SimFlow((source, HUB, target), frames * PAYLOAD, **others)


def done_ns(simulation: Simulation, number: int) -> float:
    """Return when a flow was delivered whole."""
    return int(simulation.state.flows[simulation.index.flow_at[number]]["done_at"]) / 1000


def delivered(simulation: Simulation, number: int) -> int:
    """Return the frames of a flow that have been delivered."""
    return int(simulation.state.flows[simulation.index.flow_at[number]]["expected_psn"]) // PAYLOAD


# --- slow receivers ---


@given(drain_gbps=st.floats(5, 97), xon=st.integers(30_000, 100_000), gap=st.integers(0, 100_000))
def test_in_the_long_run_a_slow_receiver_gets_what_it_drains(drain_gbps: float, xon: int, gap: int) -> None:
    """With 30 kB and more at XON its buffer never runs empty; what it holds differs by 45 kB and the gap at most."""
    slow = SlowHost(1, drain_gbps * 1e9, xon + gap, xon)
    simulation = hub([SimFlow((0, HUB, 1), ENDLESS)], slow_hosts=(slow,))
    simulation.advance(2_000_000)
    before = delivered(simulation, 0)
    simulation.advance(12_000_000)
    wire_bits = (delivered(simulation, 0) - before) * WIRE * 8
    assert wire_bits == pytest.approx(drain_gbps * 10_000_000, abs=(gap + 45_000) * 8)
    assert simulation.outcome().drops == 0


def test_a_slow_receiver_pauses_the_switch_once_it_holds_more_than_xoff() -> None:
    """Each frame adds 4158 B while 2089 B drain at 50 Gb/s: the 24th, of 49,655 + 2089 B, passes 50,000 B."""
    slow = SlowHost(1, 50e9, 50_000, 20_000)
    simulation = hub([SimFlow((0, HUB, 1), ENDLESS)], slow_hosts=(slow,))
    to_host = next(at for at, pair in enumerate(simulation.index.wiring.ends) if pair == (HUB, 1))
    changes = steps(simulation, 30_000, lambda state: int(state.links[to_host]["paused"]))
    arrived = 2 * (FRAME_NS + HOP_NS) + 23 * FRAME_NS
    at_ns, classes = next(changes)
    assert classes == 1
    assert at_ns == pytest.approx(arrived + 84 * 0.08 + HOP_NS, abs=0.1)


def test_it_lets_the_switch_go_on_once_it_has_drained_to_xon() -> None:
    simulation = hub([SimFlow((0, HUB, 1), ENDLESS)], slow_hosts=(SlowHost(1, 50e9, 50_000, 20_000),))
    changes = steps(
        simulation,
        100_000,
        lambda state: (int(state.receivers[0]["paused"]), float(state.receivers[0]["level_bytes"])),
    )
    seen = [value for _, value in changes]
    freed = [level for (before, _), (now, level) in pairwise(seen) if before and not now]
    assert len(freed) > 5
    assert freed == pytest.approx([20_000] * len(freed), abs=1)


def test_its_buffer_holds_xoff_and_what_was_under_way_at_most() -> None:
    """After XOFF: a frame that had begun, a round trip at line rate, and the PFC frame's own time."""
    slow = SlowHost(1, 10e9, 50_000, 20_000)
    simulation = hub([SimFlow((0, HUB, 1), ENDLESS)], slow_hosts=(slow,))
    simulation.advance(5_000_000)
    under_way = WIRE + (2 * HOP_NS + 84 * 0.08) / 0.08
    assert 50_000 < simulation.state.receivers[0]["max_bytes"] <= 50_000 + WIRE + under_way


def test_a_receiver_as_fast_as_its_link_never_pauses() -> None:
    simulation = hub([flow(0, 1, 5000)], slow_hosts=(SlowHost(1, 100e9, 5000, 4000),))
    assert simulation.advance(10_000_000)
    assert simulation.outcome().pauses == 0


def test_a_slow_receiver_makes_the_switch_pause_the_sender() -> None:
    end = SimPort((SimQueue(),), (SimGroup(None, 100_000, 40_000, static_bytes=60_000),))
    simulation = hub([SimFlow((0, HUB, 1), ENDLESS)], end, slow_hosts=(SlowHost(1, 20e9, 50_000, 30_000),))
    simulation.advance(3_000_000)
    assert simulation.outcome().first_pause_ns is not None
    assert simulation.outcome().drops == 0
    rate_gbps = delivered(simulation, 0) * WIRE * 8 / 3_000_000
    assert rate_gbps == pytest.approx(20, rel=0.02)


# --- ACKs ---


def acks(simulation: Simulation, number: int) -> tuple[int, int]:
    """Return how many ACKs of a flow were owed by its receiver, and how many have been sent."""
    flows = simulation.state.flows
    answer = flows[flows[simulation.index.flow_at[number]]["acks"]]
    return int(answer["size_bytes"]), int(answer["sent_bytes"])


@pytest.mark.parametrize("kind", ["data", "apart"])
@pytest.mark.parametrize("every", [1, 2, 16])
def test_acks_take_bandwidth_from_data_that_goes_their_way(kind: Acks, every: int) -> None:
    there_and_back = [flow(0, 1, 8000), flow(1, 0, 8000)]
    simulation = hub(there_and_back, physics=Physics(acks=kind, ack_every=every))
    assert simulation.advance(10_000_000)
    per_frame_ns = (OCCUPIED + ACK_BYTES / every) * 0.08
    assert simulation.outcome().ended_ns == pytest.approx(8000 * per_frame_ns, rel=0.001)
    owed, sent = acks(simulation, 0)
    assert owed == 8000 // every
    assert owed - sent < 5


@pytest.mark.parametrize("kind", ["data", "apart"])
def test_without_data_their_way_acks_cost_nothing(kind: Acks) -> None:
    simulation = hub([flow(0, 1, 1000), flow(2, 3, 1000)], physics=Physics(acks=kind))
    assert simulation.advance(10_000_000)
    assert simulation.outcome().ended_ns == pytest.approx(1000 * FRAME_NS + 2 * HOP_NS + FRAME_NS, abs=1000)
    assert len(simulation.state.flows) == 2


@pytest.mark.parametrize("kind", ["data", "apart"])
def test_acks_are_simulated_for_flows_whose_return_path_carries_data(kind: Acks) -> None:
    """The return path of 0 to 1 ends on the link that 2 to 0 takes, and vice versa; 3 to 4 is by itself."""
    simulation = hub([flow(0, 1), flow(2, 0), flow(3, 4)], physics=Physics(acks=kind))
    answered = simulation.state.flows["acks"][list(simulation.index.flow_at)] >= 0
    assert answered.tolist() == [True, True, False]


@pytest.mark.parametrize(("kind", "leave"), [("data", False), ("apart", True)])
def test_only_acks_in_the_class_of_data_are_paused_with_it(kind: Acks, leave: bool) -> None:
    held = Hold(1, HUB, 0, 1e9)
    simulation = hub([flow(0, 1), flow(1, 0)], holds=(held,), physics=Physics(acks=kind))
    simulation.advance(1_000_000)
    owed, sent = acks(simulation, 0)
    assert owed == 100
    assert sent == (100 if leave else 0)


def test_acks_in_the_class_of_data_take_memory_in_a_switch() -> None:
    """The switch may not send to host 0, so that what host 1 sends there stays: 100 ACKs and one frame."""
    held = Hold(HUB, 0, 0, 1e9)
    simulation = hub([flow(0, 1), flow(1, 0, 1)], holds=(held,))
    simulation.advance(1_000_000)
    assert simulation.outcome().egress.bytes == 66 * 100 + WIRE


def test_acks_that_travel_apart_take_no_memory_in_a_switch() -> None:
    """ACKs and data for host 0 alternate, so that either would wait for the other there."""
    simulation = hub([flow(0, 1), flow(1, 0)], physics=Physics(acks="apart"))
    assert simulation.advance(1e9)
    classes = simulation.index.classes
    assert acks(simulation, 0)[0] == 100
    assert simulation.state.groups["max_bytes"].reshape(-1, classes).max(axis=0).tolist() == [WIRE, 0]


# --- losses ---

TIGHT = SimPort((SimQueue(limit_bytes=WIRE),), (SimGroup(1.0, 100_000),))
"""One frame may wait; the next is lost."""
THREE_AT_ONCE = [flow(0, 8, 1), flow(1, 8, 1), flow(2, 8, 1)]


def test_a_last_frame_that_is_lost_is_never_sent_again_without_a_timeout() -> None:
    simulation = hub(THREE_AT_ONCE, TIGHT)
    assert simulation.advance(1e9)
    outcome = simulation.outcome()
    assert (outcome.drops, outcome.flows_done, outcome.flows) == (1, 2, 3)


def test_a_last_frame_that_is_lost_is_sent_again_after_the_timeout() -> None:
    simulation = hub(THREE_AT_ONCE, TIGHT, physics=Physics(timeout_ms=2))
    assert simulation.advance(1e9)
    outcome = simulation.outcome()
    lost_ns, way_ns = FRAME_NS + HOP_NS, 2 * (FRAME_NS + HOP_NS)
    assert (outcome.drops, outcome.flows_done) == (1, 3)
    assert outcome.first_drop_ns == pytest.approx(lost_ns, abs=0.1)
    assert max(done_ns(simulation, one) for one in range(3)) == pytest.approx(
        lost_ns + 2_000_000 + way_ns, abs=0.1
    )


def test_a_missing_frame_is_nacked_and_the_sender_goes_back_to_it() -> None:
    """The first frame of flow 2 comes 10 ns after two others and is lost; its second waits behind both.

    The NACK, 66 B and 20 B gap, then takes two hops back.
    """
    simulation = hub([flow(0, 8, 1), flow(1, 8, 1), flow(2, 8, 2, start_ns=10)], TIGHT)
    starts = frame_starts(simulation, 2, 1_000_000)
    gap_seen = 2 * (FRAME_NS + HOP_NS) + 2 * FRAME_NS
    nacked = gap_seen + 2 * (ACK_BYTES * 0.08 + HOP_NS)
    assert starts == pytest.approx([10, 10 + FRAME_NS, nacked, nacked + FRAME_NS], abs=0.1)
    assert (simulation.outcome().drops, simulation.outcome().flows_done) == (1, 3)


@given(
    senders=st.integers(2, 6),
    frames=st.integers(1, 120),
    room=st.integers(WIRE, 200_000),
    timeout_ms=st.sampled_from([0.1, 1.0]),
)
def test_with_a_timeout_everything_is_delivered_once_in_the_end(
    senders: int, frames: int, room: int, timeout_ms: float
) -> None:
    end = SimPort((SimQueue(),), (SimGroup(None, None, static_bytes=room),))
    flows = [flow(source, 8, frames, start_ns=source * 10_000) for source in range(senders)]
    simulation = hub(flows, end, physics=Physics(timeout_ms=timeout_ms))
    assert simulation.advance(1e9)
    outcome = simulation.outcome()
    assert (outcome.flows_done, outcome.delivered_bytes) == (senders, senders * frames * PAYLOAD)


def test_an_incast_that_overflows_a_lossy_group_is_delivered_in_the_end() -> None:
    end = SimPort((SimQueue(),), (SimGroup(None, None, static_bytes=50_000),))
    simulation = hub([flow(0, 8, 200), flow(1, 8, 200)], end, physics=Physics(timeout_ms=1))
    assert simulation.advance(1e9)
    outcome = simulation.outcome()
    assert outcome.drops > 50
    assert (outcome.flows_done, outcome.pauses) == (2, 0)


@given(
    flows=st.lists(
        st.builds(
            flow, st.integers(0, 3), st.integers(4, 6), st.integers(1, 60), start_ns=st.integers(0, 5000)
        ),
        min_size=2,
        max_size=12,
    ),
    waiting=st.integers(1, 20),
    acks=st.sampled_from(["data", "apart"]),
)
def test_where_frames_are_lost_a_nic_that_knows_its_next_goes_back_as_one_that_looks_each_time(
    flows: list[SimFlow], waiting: int, acks: Literal["apart", "data"]
) -> None:
    end = SimPort((SimQueue(limit_bytes=waiting * WIRE),), (SimGroup(1.0, 100_000),))
    network = hub(flows, end, physics=Physics(acks=acks, timeout_ms=1)).network
    known, looked_at = known_and_looked_at(network, 1e9)
    assert known == looked_at


# --- the NIC ---


@given(many=st.integers(2, 8), until_frames=st.integers(1, 200))
def test_flows_of_one_nic_share_its_link_frame_by_frame(many: int, until_frames: int) -> None:
    simulation = hub([SimFlow((0, HUB, target), ENDLESS) for target in range(1, many + 1)])
    every_start_an_event(simulation)
    simulation.advance((until_frames - 0.5) * FRAME_NS)
    sent = simulation.state.flows["sent_bytes"] // PAYLOAD
    assert sent.sum() == until_frames
    assert sent.max() - sent.min() <= 1


def test_a_flow_that_is_done_leaves_its_turns_to_the_others() -> None:
    simulation = hub([flow(0, 1, 10), flow(0, 2, 1000)])
    assert simulation.advance(1e9)
    assert simulation.outcome().ended_ns == pytest.approx(1010 * FRAME_NS, rel=0.01)


PACED = SimDcqcn(
    g=1 / 256,
    alpha_us=55,
    decrease_us=50,
    increase_us=1e6,
    threshold=5,
    ai_bps=0,
    hai_bps=0,
    min_rate_bps=1e9,
)


def test_a_flow_that_is_slowed_down_leaves_its_time_to_the_others() -> None:
    """One flow at 1 Gb/s of payload and headers, the other has the rest of the wire."""
    simulation = hub([flow(0, 1, 2000, dcqcn=PACED), flow(0, 2, 2000)])
    place = simulation.index.flow_at[0]
    for name in ("rate_bps", "target_bps"):
        simulation.state.points[name][place] = 1e9
    simulation.advance(500_000)
    slowed, other = (delivered(simulation, number) for number in (0, 1))
    assert slowed == pytest.approx(500_000 / (WIRE * 8), abs=2)
    assert (slowed + other) * FRAME_NS == pytest.approx(500_000, rel=0.01)


# --- flows after flows ---


def started_ns(simulation: Simulation, number: int) -> float:
    return int(simulation.state.flows[simulation.index.flow_at[number]]["started_at"]) / 1000


def test_a_flow_starts_when_all_that_it_waits_for_are_done() -> None:
    flows = [flow(0, 1, 50), flow(2, 3, 200), flow(4, 5, 10, after=(0, 1)), flow(4, 6, 10, after=(2,))]
    simulation = hub(flows)
    assert simulation.advance(1e9)
    assert started_ns(simulation, 2) == done_ns(simulation, 1) > done_ns(simulation, 0)
    assert started_ns(simulation, 3) == done_ns(simulation, 2)
    assert done_ns(simulation, 2) - started_ns(simulation, 2) == pytest.approx(
        11 * FRAME_NS + 2 * HOP_NS, abs=0.1
    )


def test_many_flows_may_wait_for_one() -> None:
    simulation = hub([flow(0, 1, 50), *(flow(source, 8, 5, after=(0,)) for source in range(2, 7))])
    assert simulation.advance(1e9)
    assert {started_ns(simulation, number) for number in range(1, 6)} == {done_ns(simulation, 0)}


def test_before_what_it_waits_for_is_done_a_flow_sends_nothing() -> None:
    simulation = hub([SimFlow((0, HUB, 1), ENDLESS), flow(2, 3, 5, after=(0,))])
    simulation.advance(1_000_000)
    assert delivered(simulation, 1) == 0
