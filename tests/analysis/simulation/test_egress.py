"""The egress of a switch: store and forward, what a frame takes on the wire, who sends next, ECN and WRED."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimFlow,
    SimGroup,
    SimPort,
    SimQueue,
    SimWred,
)
from lossless.analysis.simulation.engine.run import Simulation
from tests.analysis.simulation.connected import PLAIN_END
from tests.analysis.simulation.made_networks import ENDLESS_BYTES, chain, flow, queue, queue_number, run, star
from tests.analysis.simulation.watching import steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.simulation.engine.network import SimNetwork

ROOMY = 1 << 40
NEVER_PAUSES = SimGroup(None, ROOMY, static_bytes=ROOMY)
BARE = Physics(overhead_bytes=0, gap_bytes=0)
FRAME, FRAME_NS, PROPAGATION_NS = 1000, 80, 500
"""A frame without header or gap at 100 Gb/s, and a cable."""


# --- store and forward ---


@given(
    switches=st.integers(1, 6),
    payload=st.integers(1, 9000),
    gap=st.integers(0, 40),
    gbps=st.lists(st.sampled_from([10, 25, 40, 50, 100, 200, 400, 800]), min_size=7, max_size=7),
    cable_ns=st.lists(st.integers(0, 5000), min_size=7, max_size=7),
)
def test_a_frame_is_received_whole_at_every_switch_before_it_goes_on(
    switches: int, payload: int, gap: int, gbps: list[int], cable_ns: list[int]
) -> None:
    """All 62 B of header, preamble and gap are paid on every link, at its own rate, to the picosecond."""
    made = chain(switches, size_bytes=payload, mtu_bytes=9000, physics=Physics(gap_bytes=gap))
    cables = tuple(
        one._replace(rate_bps=rate * 1e9, propagation_ns=length)
        for one, rate, length in zip(made.cables, gbps, cable_ns, strict=False)
    )
    simulation = run(made._replace(cables=cables), 1e9)
    links = zip(gbps[: switches + 1], cable_ns, strict=False)
    expected = sum((payload + 62 + gap) * 8000 // rate + 1000 * length for rate, length in links)
    assert flow(simulation, 0)["done_at"] == expected


@given(frames=st.integers(1, 50), switches=st.integers(1, 4))
def test_frames_of_one_flow_follow_each_other_without_a_break(frames: int, switches: int) -> None:
    simulation = run(chain(switches, size_bytes=frames * 4096), 1e9)
    assert flow(simulation, 0)["done_at"] == (frames + switches) * 4178 * 80 + (switches + 1) * 500_000


@pytest.mark.parametrize(("gap", "goodput"), [(0, 4096 / 4158), (20, 4096 / 4178)])
def test_preamble_and_gap_take_time_and_no_memory(gap: int, goodput: float) -> None:
    simulation = run(chain(1, PLAIN_END, physics=Physics(gap_bytes=gap), holds=(Hold(2, 1, 0, 1e6),)), 1e6)
    held = queue(simulation, 2, 1)["bytes"]
    assert held % 4158 == 0
    assert held / 4158 * 4096 * 8 / 100 == pytest.approx(goodput * 1e6, rel=0.002)


# --- who sends next ---


def sharing(queues: Sequence[SimQueue], payloads: Sequence[int], hold: tuple[Hold, ...] = ()) -> SimNetwork:
    """Return one sender of each class at line rate, all to one receiver: from the first frames on all wait."""
    senders = len(queues)
    flows = [
        SimFlow((one, senders + 1, senders), ENDLESS_BYTES, traffic_class=one, mtu_bytes=payload)
        for one, payload in enumerate(payloads)
    ]
    end = SimPort(tuple(queues), (NEVER_PAUSES,) * senders)
    return star(senders, end, flows=flows, classes=senders, holds=hold)


def sent_bytes(simulation: Simulation, classes: int) -> list[int]:
    return [int(queue(simulation, classes + 1, classes, one)["sent_bytes"]) for one in range(classes)]


SHARES = st.lists(st.tuples(st.integers(1, 8), st.integers(64, 9000)), min_size=2, max_size=4)
"""Weight and payload of some classes."""


@settings(max_examples=60)
@given(shares=SHARES, from_us=st.integers(60, 90), for_us=st.integers(1, 120))
def test_dwrr_shares_follow_weights_to_within_a_round_and_a_frame(
    shares: list[tuple[int, int]], from_us: int, for_us: int
) -> None:
    """A round gives each class its weight in largest frames; so in any stretch, whatever sizes frames have.

    All classes wait for good within two rounds, of 56 us at most.
    """
    weights, payloads = zip(*shares, strict=True)
    simulation = run(sharing([SimQueue(weight=one) for one in weights], payloads), from_us * 1000)
    before = sent_bytes(simulation, len(weights))
    simulation.advance((from_us + for_us) * 1000)
    sent = [now - then for now, then in zip(sent_bytes(simulation, len(weights)), before, strict=True)]
    largest = max(payloads) + 62
    rounds = [size / weight / largest for size, weight in zip(sent, weights, strict=True)]
    for one, weight in zip(rounds, weights, strict=True):
        for other, other_weight in zip(rounds, weights, strict=True):
            assert abs(one - other) <= 1 + 1 / weight + 1 / other_weight


@pytest.mark.parametrize(
    ("weights", "payloads"), [((1, 1), (100, 9000)), ((1, 3), (4096, 4096)), ((5, 25, 70), (9000, 1024, 256))]
)
def test_in_the_long_run_dwrr_gives_bytes_by_weight(
    weights: tuple[int, ...], payloads: tuple[int, ...]
) -> None:
    simulation = run(sharing([SimQueue(weight=one) for one in weights], payloads), 5e6)
    sent = sent_bytes(simulation, len(weights))
    shares = [size / sum(sent) for size in sent]
    assert shares == pytest.approx([one / sum(weights) for one in weights], abs=0.01)


def test_a_class_that_has_nothing_to_send_leaves_its_share_to_the_others() -> None:
    network = sharing([SimQueue(weight=9), SimQueue(weight=1)], (4096, 4096))
    simulation = run(network._replace(flows=network.flows[1:]), 1e6)
    assert sent_bytes(simulation, 2)[1] == pytest.approx(1e6 * 100 / 8 * 4158 / 4178, rel=0.01)


def test_a_class_that_was_paused_has_saved_nothing_up() -> None:
    """Class 1 may not send for 200 us; in the next 100 us it gets its half and no more."""
    simulation = run(
        sharing([SimQueue(), SimQueue()], (4096, 4096), (Hold(3, 2, 0, 200_000, classes=(1,)),)), 200_000
    )
    before = sent_bytes(simulation, 2)
    assert before[1] == 0
    simulation.advance(300_000)
    sent = [now - then for now, then in zip(sent_bytes(simulation, 2), before, strict=True)]
    assert sent[1] == pytest.approx(sent[0], abs=2 * 4158)


def test_a_class_that_has_sent_all_keeps_no_claim_to_the_rest_of_its_turn() -> None:
    """Class 1 has a turn of ten frames and one frame to send."""
    network = sharing([SimQueue(), SimQueue(weight=10)], (4096, 4096))
    once = network.flows[1]._replace(size_bytes=4096, start_ns=10_000)
    simulation = run(network._replace(flows=(network.flows[0], once)), 50_000)
    assert queue(simulation, 3, 2, 1)["sent_frames"] == 1
    assert queue(simulation, 3, 2, 1)["deficit"] == 0


def test_strict_classes_go_first_the_highest_before_the_others() -> None:
    """Classes 1 and 3 are strict; only what they leave goes to the others, by weight."""
    queues = (SimQueue(weight=3), SimQueue(strict=True), SimQueue(weight=1), SimQueue(strict=True))
    network = sharing(queues, (1000,) * 4)
    alone = run(network, 200_000)
    assert [size > 50_000 for size in sent_bytes(alone, 4)] == [False, False, False, True]
    without_three = run(network._replace(flows=network.flows[:3]), 200_000)
    assert [size > 50_000 for size in sent_bytes(without_three, 4)] == [False, True, False, False]
    neither = run(network._replace(flows=(network.flows[0], network.flows[2])), 200_000)
    first, _, third, _ = sent_bytes(neither, 4)
    assert first / third == pytest.approx(3, rel=0.02)


def test_a_strict_frame_waits_for_the_frame_that_is_being_sent_and_no_longer() -> None:
    """It comes 100 ns after a frame of the other class has begun, and begins when that has been sent."""
    flows = [
        SimFlow((0, 3, 2), ENDLESS_BYTES),
        SimFlow((1, 3, 2), 4096, 3 * 334.24 + 100, traffic_class=1),
    ]
    network = star(
        2, SimPort((SimQueue(), SimQueue(strict=True)), (NEVER_PAUSES,) * 2), flows=flows, classes=2
    )
    simulation = Simulation(network)
    at = queue_number(simulation, 3, 2, 1)
    ((began, _),) = steps(simulation, 10_000, lambda state: int(state.queues[at]["sent_frames"]))
    assert began == (5 * 334_240 + 500_000) / 1000


def test_a_strict_class_that_is_paused_lets_the_others_send() -> None:
    network = sharing((SimQueue(), SimQueue(strict=True)), (4096, 4096), (Hold(3, 2, 0, 1e9, classes=(1,)),))
    sent = sent_bytes(run(network, 1e6), 2)
    assert sent == [pytest.approx(1e6 * 100 / 8 * 4158 / 4178, rel=0.01), 0]


# --- ECN ---


def standing_queue(wred: SimWred, frames: int) -> Simulation:
    """Return a run in which every frame of a flow leaves as many behind in the queue, once it may begin.

    The switch may not send until so many wait and one more; from then on frames leave as fast as they come.
    """
    held_until = PROPAGATION_NS + (frames + 1.5) * FRAME_NS
    end = SimPort((SimQueue(wred),), (NEVER_PAUSES,))
    network = chain(1, end, mtu_bytes=FRAME, physics=BARE, holds=(Hold(2, 1, 0, held_until),))
    return run(network, held_until + 4000 * FRAME_NS)


def marked(simulation: Simulation) -> tuple[int, int]:
    record = queue(simulation, 2, 1)
    return int(record["marks"]), int(record["sent_frames"])


def is_unlikely(found: int, tries: int, probability: float) -> bool:
    """Return whether a count is more than five standard deviations from what is expected of it."""
    return abs(found - tries * probability) > 5 * math.sqrt(tries * probability * (1 - probability)) + 1e-9


@given(
    frames=st.integers(0, 30), kmin=st.integers(0, 30_000), width=st.integers(0, 30_000), pmax=st.floats(0, 1)
)
def test_frames_are_marked_by_what_they_leave_behind(frames: int, kmin: int, width: int, pmax: float) -> None:
    """Never at or below Kmin, always above Kmax, and with a probability that rises to Pmax from one to the other."""
    simulation = standing_queue(SimWred(kmin, kmin + width, pmax), frames)
    marks, sent = marked(simulation)
    left = frames * FRAME
    assert queue(simulation, 2, 1)["bytes"] in (left, left + FRAME)
    assert sent > 3990
    if left <= kmin:
        assert marks == 0
    elif left > kmin + width:
        assert marks == sent
    else:
        assert not is_unlikely(marks, sent, pmax * (left - kmin) / width)


@pytest.mark.parametrize(
    ("left", "probability"),
    [(10, 0), (11, 0.02), (15, 0.1), (20, 0.2), (21, 1)],
)
def test_the_probability_of_a_mark_at_kmin_between_at_kmax_and_above(left: int, probability: float) -> None:
    """Kmin 10,000 B, Kmax 20,000 B, Pmax 20 %."""
    marks, sent = marked(standing_queue(SimWred(10_000, 20_000, 0.2), left))
    assert not is_unlikely(marks, sent, probability)


def test_the_first_mark_is_told_with_its_time() -> None:
    simulation = standing_queue(SimWred(5000, 5000, 1), 10)
    assert simulation.outcome().first_mark_ns == PROPAGATION_NS + 11.5 * FRAME_NS
    assert simulation.outcome().marks == marked(simulation)[0]


@pytest.mark.parametrize("before", [False, True])
def test_a_frame_is_marked_once_however_many_queues_it_meets(before: bool) -> None:
    """Every frame that leaves switch 3 leaves others behind there; where all are marked before, none is there."""
    holds = (Hold(3, 1, 0, 200_000), Hold(2, 3, 0, 100_000 if before else 1))
    end = SimPort((SimQueue(SimWred(0, 0, 1)),), (NEVER_PAUSES,))
    simulation = run(chain(2, end, holds=holds), 300_000)
    assert queue(simulation, 3, 1)["sent_frames"] > 250
    at_first, at_last = (queue(simulation, *link) for link in ((2, 3), (3, 1)))
    assert at_first["marks"] == (at_first["sent_frames"] if before else 0)
    assert at_last["marks"] == (0 if before else at_last["sent_frames"])


# --- WRED that drops ---


@pytest.mark.parametrize("level", [0, 7, 12])
def test_wred_without_ecn_drops_above_kmax_and_marks_nothing(level: int) -> None:
    """What comes to a queue that already holds more than Kmax is lost; so it holds a frame more at most."""
    wred = SimWred(level * FRAME, level * FRAME, 0.5, marks=False)
    network = chain(
        1, SimPort((SimQueue(wred),), (SimGroup(None, None, static_bytes=ROOMY),)), mtu_bytes=FRAME, physics=BARE,
        holds=(Hold(2, 1, 0, 1e6),),
    )  # fmt: skip
    simulation = run(network, PROPAGATION_NS + 30 * FRAME_NS + 1)
    assert queue(simulation, 2, 1)["max_bytes"] == (level + 1) * FRAME
    assert (queue(simulation, 2, 1)["drops"], simulation.outcome().marks) == (30 - level - 1, 0)


@settings(max_examples=12)
@given(kmin=st.integers(0, 9_999), width=st.integers(5_000, 40_000), pmax=st.floats(0, 1))
def test_wred_drops_by_the_probability_that_ecn_would_mark_by(kmin: int, width: int, pmax: float) -> None:
    """Frames come one by one to a queue that may not send; the last is the first to find more than Kmin there."""
    quiet = kmin // FRAME + 1
    wred = SimWred(kmin, kmin + width, pmax, marks=False)
    network = chain(
        1, SimPort((SimQueue(wred),), (SimGroup(None, None, static_bytes=ROOMY),)), mtu_bytes=FRAME, physics=BARE,
        holds=(Hold(2, 1, 0, 1e6),), size_bytes=(quiet + 1) * FRAME,
    )  # fmt: skip
    left = quiet * FRAME
    probability = 1.0 if left > kmin + width else pmax * (left - kmin) / width
    simulation, drops = Simulation(network), 0
    for seed in range(800):
        simulation.restart(seed)
        simulation.advance(10_000)
        drops += int(queue(simulation, 2, 1)["drops"])
    assert not is_unlikely(drops, 800, probability)
