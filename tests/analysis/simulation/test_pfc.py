"""PFC to the picosecond: when a pause is sent, when it is obeyed, whom it stops, how it travels, how long it lasts.

A full frame is 4158 B and takes 4178 B of time with preamble and gap, a PFC frame 84 B. Thresholds do not move, and
where a switch may not send, the n-th frame of a sender is held n frames and one cable after the sender began.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.buffers.ecn_marking import group_threshold_bytes
from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimFlow,
    SimGroup,
    SimPort,
    SimQueue,
    SimSwitch,
)
from lossless.analysis.simulation.engine.run import Simulation
from tests.analysis.buffers.closed_forms import first_pfc_ns
from tests.analysis.simulation.made_networks import (
    ENDLESS_BYTES,
    chain,
    flow,
    group,
    link_number,
    queue,
    queue_number,
    run,
    star,
)
from tests.analysis.simulation.watching import steps

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.network import SimNetwork

PAYLOAD, WIRE, OCCUPIED, PFC = 4096, 4158, 4178, 84
FRAME_PS, PFC_PS, CABLE_PS = OCCUPIED * 80, PFC * 80, 500_000
"""At 100 Gb/s, 500 ns of cable."""
FOREVER_NS = 1e9
ROOMY = 1 << 30
NO_ACKS = 1 << 20
"""An ACK for so many frames: none in these runs."""


def pausing(frames: int, xon_offset_frames: int = 0, classes: int = 1) -> SimPort:
    """Return a port whose groups pause with the frame after so many."""
    kind = SimGroup(None, ROOMY, 0, xon_offset_frames * WIRE, static_bytes=frames * WIRE)
    return SimPort((SimQueue(),) * classes, (kind,) * classes)


def pauses_of(
    simulation: Simulation, sender: int, receiver: int, until_ns: float, field: str = "paused"
) -> list[tuple[float, int]]:
    """Return when the classes that a transmitter may not send changed, and to which (as bits)."""
    at = link_number(simulation, sender, receiver)
    return list(steps(simulation, until_ns, lambda state: int(state.links[at][field])))


def frames_sent(simulation: Simulation, number: int = 0) -> int:
    return int(flow(simulation, number)["sent_bytes"]) // PAYLOAD


# --- when it is sent, when it is obeyed ---


@given(
    frames=st.integers(1, 30),
    rate_gbps=st.sampled_from([25, 40, 100, 200, 400, 800]),
    propagation_ns=st.integers(0, 10_000),
    reaction_ns=st.integers(0, 5_000),
)
def test_a_pause_is_obeyed_after_the_pfc_frame_the_cable_and_the_reaction(
    frames: int, rate_gbps: int, propagation_ns: int, reaction_ns: int
) -> None:
    """It is sent when the frame that passes the threshold is whole; whatever began before it is obeyed comes whole."""
    network = star(
        1,
        pausing(frames),
        rate_bps=rate_gbps * 1e9,
        propagation_ns=propagation_ns,
        reaction_ns=reaction_ns,
        holds=(Hold(2, 1, 0, FOREVER_NS),),
    )
    simulation = Simulation(network)
    frame_ps, pfc_ps = OCCUPIED * 8000 // rate_gbps, PFC * 8000 // rate_gbps
    sent_ps = (frames + 1) * frame_ps + 1000 * propagation_ns
    obeyed_ps = sent_ps + pfc_ps + 1000 * (propagation_ns + reaction_ns)
    assert pauses_of(simulation, 0, 2, 1e6) == [(obeyed_ps / 1000, 1)]
    assert simulation.outcome().first_pause_ns == sent_ps / 1000
    began = -(-obeyed_ps // frame_ps)
    assert frames_sent(simulation) == began
    assert group(simulation, 0, 2)["bytes"] == began * WIRE


@pytest.mark.parametrize(("at_host", "at_switch", "counts_ns"), [(700, 0, 700), (0, 700, 0), (300, 900, 300)])
def test_the_reaction_that_counts_is_that_of_the_paused_transmitter(
    at_host: int, at_switch: int, counts_ns: int
) -> None:
    network = star(1, pausing(5), holds=(Hold(2, 1, 0, FOREVER_NS),))
    cables = (one._replace(a_reaction_ns=at_host, b_reaction_ns=at_switch) for one in network.cables)
    found = pauses_of(Simulation(network._replace(cables=tuple(cables))), 0, 2, 10_000)
    assert found == [((6 * FRAME_PS + 2 * CABLE_PS + PFC_PS) / 1000 + counts_ns, 1)]


def with_reverse(rest_ns: int, reverse_payload: int = PAYLOAD) -> Simulation:
    """Return host 0 whose frames stay in switch 3, and host 1 that sends to host 0 and began a little later."""
    flows = [
        SimFlow((0, 3, 2), ENDLESS_BYTES),
        SimFlow((1, 3, 0), ENDLESS_BYTES, rest_ns, mtu_bytes=reverse_payload),
    ]
    physics = Physics(ack_every=NO_ACKS)
    return Simulation(star(2, pausing(10), flows=flows, physics=physics, holds=(Hold(3, 2, 0, FOREVER_NS),)))


@given(rest_ns=st.integers(1, FRAME_PS // 1000))
def test_a_pause_waits_for_the_rest_of_the_frame_that_is_being_sent_its_way(rest_ns: int) -> None:
    """A reverse flow that began so much later has so much of each frame left whenever one of host 0 is whole."""
    assert pauses_of(with_reverse(rest_ns), 0, 3, 20_000) == [
        ((11 * FRAME_PS + 2 * CABLE_PS + PFC_PS) / 1000 + rest_ns, 1)
    ]


def test_a_pause_goes_before_data_that_waits_and_delays_it_by_its_own_time() -> None:
    simulation = with_reverse(100)
    at = queue_number(simulation, 3, 0)
    starts = [at_ns for at_ns, _ in steps(simulation, 10_000, lambda s: int(s.queues[at]["sent_frames"]))]
    first_ps = FRAME_PS + CABLE_PS + 100_000
    late = [PFC_PS if number >= 10 else 0 for number in range(len(starts))]
    assert starts == [(first_ps + n * FRAME_PS + more) / 1000 for n, more in enumerate(late)]
    assert len(starts) > 20


def test_pauses_that_wait_for_the_same_frame_go_one_after_the_other() -> None:
    """While one frame of 9062 B is sent to host 0, two classes of 1062 B pass their thresholds."""
    end = SimPort((SimQueue(),) * 2, (SimGroup(None, ROOMY, static_bytes=10_000),) * 2)
    small = [SimFlow((0, 3, 2), ENDLESS_BYTES, traffic_class=one, mtu_bytes=1000) for one in (0, 1)]
    large = SimFlow((1, 3, 0), ENDLESS_BYTES, 500, mtu_bytes=9000)
    network = star(
        2,
        end,
        flows=[*small, large],
        classes=2,
        physics=Physics(ack_every=NO_ACKS),
        holds=(Hold(3, 2, 0, FOREVER_NS, classes=(0, 1)),),
    )
    (first_ns, one), (second_ns, both) = pauses_of(Simulation(network), 0, 3, 20_000)
    assert (one, both) == (1, 3)
    assert second_ns - first_ns == pytest.approx(PFC_PS / 1000, abs=1e-9)


def test_a_pause_is_lifted_as_late_as_it_was_set() -> None:
    """Threshold 10 frames, XON 3 below: at the departure that leaves 7, and the PFC frame and a cable later."""
    network = star(1, pausing(10, 3), reaction_ns=250, holds=(Hold(2, 1, 0, 20_000),))
    simulation = Simulation(network)
    (paused_ns, _), (resumed_ns, classes), *_ = pauses_of(simulation, 0, 2, 30_000)
    obeyed_ps = 11 * FRAME_PS + 2 * CABLE_PS + PFC_PS + 250_000
    held = -(-obeyed_ps // FRAME_PS)
    last_ps = 20_000_000 + (held - 7 - 1) * FRAME_PS
    assert (paused_ns, classes) == (obeyed_ps / 1000, 0)
    assert resumed_ns == (last_ps + PFC_PS + CABLE_PS + 250_000) / 1000


# --- whom it stops ---


@pytest.mark.parametrize("switches", [1, 3])
def test_a_pause_stops_one_class_and_leaves_the_line_to_the_others(switches: int) -> None:
    last, path = switches + 1, (0, *range(2, switches + 2), 1)
    flows = [SimFlow(path, ENDLESS_BYTES, traffic_class=one) for one in (0, 1)]
    network = chain(
        switches, pausing(10, classes=2), flows=flows, classes=2, holds=(Hold(last, 1, 0, FOREVER_NS),)
    )
    simulation = run(network, 50_000 * switches)
    stopped, before = frames_sent(simulation, 0), frames_sent(simulation, 1)
    began_ns = int(simulation.state.clock["now"][0]) / 1000
    simulation.advance(began_ns + 1000 * FRAME_PS / 1000)
    assert simulation.state.links["paused"][link_number(simulation, 0, 2)] == 1
    assert (frames_sent(simulation, 0), frames_sent(simulation, 1)) == (stopped, before + 1000)


# --- how it travels ---


def paused_one_by_one(switches: int, frames: int, cable_ps: int, reaction_ps: int) -> tuple[list[int], int]:
    """Return by hand when the switches of a chain send their first pause, and how many frames the sender sends.

    Frame n is whole at switch i after n + i - 1 frame times and i cables; it leaves at once as long as no pause is
    obeyed there, and a switch pauses once it holds ``frames`` + 1 that could not leave.
    """
    sent, left = [0] * switches, 0
    for i in range(switches, 0, -1):
        sent[i - 1] = (left + frames + 1 + i - 1) * FRAME_PS + i * cable_ps
        obeyed = sent[i - 1] + PFC_PS + cable_ps + reaction_ps
        may_begin = obeyed - (i - 1) * cable_ps - (i - 2) * FRAME_PS
        left = -(-may_begin // FRAME_PS) - 1
    return sent, left


@settings(max_examples=60)
@given(
    switches=st.integers(1, 6),
    frames=st.integers(1, 12),
    cable_ns=st.integers(0, 3000),
    reaction_ns=st.integers(0, 2000),
)
def test_pauses_travel_link_by_link_each_once_a_switch_has_filled(
    switches: int, frames: int, cable_ns: int, reaction_ns: int
) -> None:
    network = chain(
        switches,
        pausing(frames),
        propagation_ns=cable_ns,
        reaction_ns=reaction_ns,
        holds=(Hold(switches + 1, 1, 0, FOREVER_NS),),
    )
    simulation = run(network, 1e6)
    path = (0, *range(2, switches + 2))
    sent_ps = [int(group(simulation, a, b)["first_pause_at"]) for a, b in pairwise(path)]
    assert (sent_ps, frames_sent(simulation)) == paused_one_by_one(
        switches, frames, 1000 * cable_ns, 1000 * reaction_ns
    )
    assert sent_ps == sorted(sent_ps, reverse=True)


# --- the closed form ---


@given(
    senders=st.integers(2, 16),
    dynamic_th=st.integers(-4, 3),
    pool=st.integers(1_000_000, 20_000_000),
    gap=st.sampled_from([0, 20]),
)
def test_the_first_pause_of_an_incast_is_where_the_closed_form_has_it(
    senders: int, dynamic_th: int, pool: int, gap: int
) -> None:
    """To within the time in which a group grows by one frame; with a gap, memory fills that much slower."""
    alpha = 2.0**dynamic_th
    end = SimPort((SimQueue(),), (SimGroup(alpha, ROOMY),))
    network = star(senders, end, SimSwitch(ROOMY, pool), physics=Physics(gap_bytes=gap), size_bytes=1 << 30)
    simulation = Simulation(network)
    rate_bps = round(100e9 * WIRE / (WIRE + gap))
    threshold = group_threshold_bytes(alpha, pool, senders)
    expected = first_pfc_ns(threshold, rate_bps, senders, first_arrival_ns=CABLE_PS / 1000)
    simulation.advance(2 * expected + 10_000)
    found = simulation.outcome().first_pause_ns
    assert found is not None
    assert abs(found - expected) < first_pfc_ns(WIRE, rate_bps, senders)


# --- a NIC that pauses ---


def starts_of(network: SimNetwork, sender: int, receiver: int, until_ns: float) -> list[float]:
    """Return when a transmitter began to send each frame."""
    simulation = Simulation(network)
    at = queue_number(simulation, sender, receiver)
    return [at_ns for at_ns, _ in steps(simulation, until_ns, lambda s: int(s.queues[at]["sent_frames"]))]


def test_while_a_nic_pauses_no_frame_begins_and_the_one_under_way_is_finished() -> None:
    """Held from 2 to 5 us: the frame that began before 2 us is whole later, the next begins at 5 us."""
    network = chain(1, pausing(100), size_bytes=30 * PAYLOAD)
    freely = starts_of(network, 2, 1, 1e6)
    held = starts_of(network._replace(holds=(Hold(2, 1, 2000, 5000),)), 2, 1, 1e6)
    before = [at_ns for at_ns in freely if at_ns < 2000]
    assert held == [*before, *((5_000_000 + n * FRAME_PS) / 1000 for n in range(30 - len(before)))]
    assert before[-1] + FRAME_PS / 1000 > 2000


@given(
    start=st.integers(0, 5_000),
    lasts=st.integers(1, 40_000),
    period=st.integers(100, 9000),
    part=st.integers(1, 9),
)
def test_a_nic_that_pauses_by_periods_does_so_for_its_part_of_each(
    start: int, lasts: int, period: int, part: int
) -> None:
    """Times in nanoseconds, parts in tenths; the last is cut off at the end."""
    end = start + lasts
    on_off = [
        (edge / 10, int(edge == 10 * begun))
        for begun in range(start, end, period)
        for edge in (10 * begun, min(10 * begun + period * part, 10 * end))
    ]
    simulation = Simulation(chain(1, holds=(Hold(2, 1, start, end, period, part / 10),)))
    found = pauses_of(simulation, 2, 1, 60_000, "held")
    assert found == on_off
    paused_ps = sum(off - on for (on, _), (off, _) in zip(on_off[::2], on_off[1::2], strict=True)) * 1000
    record = queue(simulation, 2, 1)
    assert (record["paused_ps"], record["pauses"]) == (pytest.approx(paused_ps, abs=1), len(on_off) // 2)


@pytest.mark.parametrize("duty", [0.25, 0.5, 0.8])
def test_a_link_whose_nic_pauses_by_periods_carries_the_rest(duty: float) -> None:
    network = chain(1, pausing(40, 20), holds=(Hold(2, 1, 0, FOREVER_NS, 50_000, duty),))
    delivered = run(network, 10e6).outcome().delivered_bytes / PAYLOAD
    assert delivered == pytest.approx((1 - duty) * 10e9 / FRAME_PS, rel=0.02)


def test_a_nic_that_pauses_one_class_leaves_the_other_alone() -> None:
    flows = [SimFlow((0, 2, 1), ENDLESS_BYTES, traffic_class=one) for one in (0, 1)]
    network = chain(
        1, pausing(10, classes=2), flows=flows, classes=2, holds=(Hold(2, 1, 0, FOREVER_NS, classes=(1,)),)
    )
    simulation = run(network, 1e6)
    assert flow(simulation, 1)["expected_psn"] == 0
    assert flow(simulation, 0)["expected_psn"] / PAYLOAD == pytest.approx(1e9 / FRAME_PS, rel=0.01)


# --- how long it lasted ---


def durations(simulation: Simulation, sender: int, receiver: int) -> tuple[Any, ...]:
    record = queue(simulation, sender, receiver)
    return tuple(int(record[name]) for name in ("pauses", "resumes", "paused_ps", "longest_pause_ps"))


def test_pauses_are_counted_and_added_up_by_the_transmitter_that_obeys() -> None:
    network = chain(1, pausing(10, 3), holds=(Hold(2, 1, 0, FOREVER_NS, 30_000, 0.6),))
    simulation = Simulation(network)
    changes = pauses_of(simulation, 0, 2, 500_000)
    lasted = [round(1000 * (b - a)) for (a, _), (b, _) in zip(changes[::2], changes[1::2], strict=False)]
    assert len(lasted) > 10
    assert durations(simulation, 0, 2) == (-(-len(changes) // 2), len(lasted), sum(lasted), max(lasted))


def test_of_two_pauses_the_longer_is_told_whichever_came_first() -> None:
    for first, second in (((1000, 21_000), (30_000, 35_000)), ((1000, 6000), (30_000, 50_000))):
        simulation = run(chain(1, holds=(Hold(2, 1, *first), Hold(2, 1, *second))), 60_000)
        assert durations(simulation, 2, 1) == (2, 2, 25_000_000, 20_000_000)
        assert simulation.outcome().longest_pause_ns == 20_000


def test_a_pause_that_still_stands_counts_as_long_as_it_has_stood() -> None:
    simulation = run(chain(1, holds=(Hold(2, 1, 3000, FOREVER_NS),)), 123_000)
    assert simulation.outcome().longest_pause_ns == 120_000
    assert durations(simulation, 2, 1) == (1, 0, 0, 0)


def test_a_transmitter_that_is_paused_for_two_reasons_is_paused_once() -> None:
    """Switch 3 pauses switch 2; its NIC holds it, too, from the middle of that to 5 us after it."""
    network = chain(2, pausing(10, 3), size_bytes=40 * PAYLOAD, holds=(Hold(3, 1, 0, 20_000),))
    (begun, _), (ended, _) = pauses_of(Simulation(network), 2, 3, 1e6)[:2]
    both = network._replace(holds=(*network.holds, Hold(2, 3, (begun + ended) / 2, ended + 5000)))
    simulation = run(both, ended + 5001)
    lasted_ps = round(1000 * (ended + 5000 - begun))
    assert durations(simulation, 2, 3) == (1, 1, lasted_ps, lasted_ps)
