"""Senders with a window over queues that trim or drop: nothing is lost for good, and loss stays rare by the window."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.kernel.agenda import ACK, LOST
from lossless.analysis.simulation.engine.network import Choice, SimDcqcn, SimSpread, SimWindow, SimWred
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
)

SMALL = Clos(leaves=2, hosts=8, spines=4)
BDP_BYTES = RATE_BPS / 8 * BASE_RTT_US / 1e6
WRED = SimWred(0.2 * BDP_BYTES, 0.8 * BDP_BYTES, 1.0)
SPRAY = SimSpread("hash", entropies=64)
INCAST = [(8 + number, 0) for number in range(8)]
QUEUE_FRAMES = 20


def window(**how: Any) -> SimWindow:
    return SimWindow(BASE_RTT_US, timeout_us=100, **how)


def run(
    pairs: list[tuple[int, int]],
    frames: int,
    sender: SimWindow,
    *,
    trims: bool = True,
    spread: SimSpread = SPRAY,
    limit_frames: int = QUEUE_FRAMES,
    slow_bps: dict[tuple[int, int], float] | None = None,
    seed: int = 1,
) -> Simulation:
    end = lossy(limit_frames * FRAME_BYTES, trims=trims, wred=WRED)
    network = clos_network(
        SMALL, pairs, spread, frames * MTU_BYTES, end=end, window=sender, slow_bps=slow_bps
    )
    simulation = Simulation(network, seed)
    simulation.advance(1e9)
    return simulation


def count(simulation: Simulation, name: str) -> int:
    return int(simulation.state.clock[name][0])


def longest_us(simulation: Simulation) -> float:
    return int(simulation.state.flows["done_at"].max()) / 1e6


def received_bytes(state: Any) -> set[int]:
    return set(state.flows["expected_psn"][state.flows["counts"] == 1].tolist())


def acks_on_the_way(state: Any) -> int:
    """Return how many ACKs have left their NICs and not come yet."""
    acks = state.flows[state.flows["counts"] == 0]
    return int(state.news["travels"].sum() - (acks["size_bytes"] - acks["sent_bytes"]).sum())


def answered_bytes(state: Any, sender: Any) -> int:
    """Return what is in flight once all has arrived: what the sender has yet to learn, less what it took for lost."""
    flow = state.flows[sender["flow"]]
    own = state.packets[flow["first_packet"] : flow["first_packet"] + flow["size_bytes"] // MTU_BYTES]
    ring = [
        state.news[sender["first_news"] + (sender["head"] + n) % sender["depth"]]
        for n in range(sender["waiting"])
    ]
    behind = sender["first_news"] + sender["depth"]
    ring += [news for news in state.news[behind : behind + sender["depth"]] if news["travels"]]
    to_come = sum(int(news["bytes"]) for news in ring if news["kind"] == ACK)
    return to_come + int(sender["unacked"]) - FRAME_BYTES * int(((own & LOST) > 0).sum())


HOST_PAIRS = st.tuples(st.integers(0, 15), st.integers(0, 15)).filter(lambda pair: pair[0] != pair[1])


@settings(max_examples=25, deadline=None)
@given(
    pairs=st.lists(HOST_PAIRS, min_size=1, max_size=20),
    frames=st.integers(1, 40),
    choice=st.sampled_from(get_args(Choice)),
    trims=st.booleans(),
    control=st.sampled_from(("none", "nscc")),
    credit_bytes=st.sampled_from((0, 16_384)),
    limit_frames=st.integers(2, 30),
    seed=st.integers(1, 10_000),
)
def test_everything_is_delivered_and_nothing_stays_behind(
    pairs: list[tuple[int, int]],
    frames: int,
    choice: Choice,
    trims: bool,
    control: Any,
    credit_bytes: int,
    limit_frames: int,
    seed: int,
) -> None:
    spread = SimSpread(choice, entropies=16 if choice == "hash" else 1)
    sender = window(control=control, credit_bytes=credit_bytes)
    simulation = run(pairs, frames, sender, trims=trims, spread=spread, limit_frames=limit_frames, seed=seed)
    state = simulation.state
    assert not simulation.stalled
    assert received_bytes(state) == {frames * MTU_BYTES}
    assert (count(simulation, "in_network"), count(simulation, "lost_news")) == (acks_on_the_way(state), 0)
    assert state.units["used"].sum() == state.queues["bytes"].sum() == 0
    assert trims or count(simulation, "trims") == 0
    assert count(simulation, "resent") <= count(simulation, "trims") + count(simulation, "timeouts")
    assert state.senders["in_flight"].tolist() == [answered_bytes(state, sender) for sender in state.senders]


@pytest.mark.parametrize("control", ["none", "nscc"])
def test_a_flow_alone_is_neither_trimmed_nor_slowed(control: Any) -> None:
    simulation = run([(8, 0)], 256, window(control=control))
    assert (count(simulation, "trims"), count(simulation, "marks")) == (0, 0)
    assert longest_us(simulation) == pytest.approx(256 * frame_us() + 4 * 0.5 + 3 * frame_us(), abs=1e-3)


@pytest.mark.parametrize("senders", [4, 8])
def test_what_is_trimmed_first_is_what_the_first_windows_have_too_much(senders: int) -> None:
    """So many windows less one, which the link carries meanwhile, meet a queue; what it has no room for is trimmed."""
    pairs = [(8 + number, 0) for number in range(senders)]
    simulation = run(pairs, 400, window(bdps=1.5))
    first = (senders - 1) * 1.5 * BDP_BYTES / FRAME_BYTES - QUEUE_FRAMES
    assert 0.7 * first <= count(simulation, "trims") <= 1.6 * first


def test_a_window_that_goes_by_delay_and_marks_trims_far_less_than_one_that_stays() -> None:
    kept, cut = run(INCAST, 200, window(control="none")), run(INCAST, 200, window())
    assert count(kept, "trims") > 5 * count(cut, "trims") > 0


def test_a_window_holds_the_queue_of_an_incast_near_its_target() -> None:
    """Nothing is ever trimmed here: marks and delay alone keep the queue where it is aimed at."""
    end = lossy(2000 * FRAME_BYTES, trims=True, wred=WRED)
    network = clos_network(SMALL, INCAST, SPRAY, 4000 * MTU_BYTES, end=end, window=window())
    simulation = Simulation(network)
    last = simulation.index.wiring.ends.index((SMALL.leaf_of(0), 0))
    waiting = []
    for at_us in range(2000, 6000, 100):
        simulation.advance(at_us * 1000)
        waiting.append(int(simulation.state.queues[2 * last]["bytes"]))
    target_bytes = 0.75 * BASE_RTT_US * RATE_BPS / 8e6
    assert count(simulation, "trims") == 0
    assert 0.3 * target_bytes < sum(waiting) / len(waiting) < 1.5 * target_bytes


def test_credit_of_the_receiver_keeps_its_link_busy_and_trims_few() -> None:
    simulation = run(INCAST, 200, window(control="none", credit_bytes=16_384))
    line_us = 8 * 200 * frame_us()
    assert line_us < longest_us(simulation) < 1.03 * line_us
    assert count(simulation, "trims") < count(run(INCAST, 200, window(control="none")), "trims") / 5


def test_what_is_dropped_waits_for_a_timer_and_what_is_trimmed_does_not() -> None:
    trimmed, dropped = run(INCAST, 16, window()), run(INCAST, 16, window(), trims=False)
    assert count(trimmed, "timeouts") == 0 < count(dropped, "timeouts")
    assert longest_us(dropped) > longest_us(trimmed) + 30
    # What was received without an ACK is sent again too.
    assert count(dropped, "resent") >= count(dropped, "drops")


def test_without_a_timer_what_is_dropped_never_comes() -> None:
    simulation = run(INCAST, 60, SimWindow(BASE_RTT_US), trims=False)
    assert simulation.stalled
    assert count(simulation, "drops") > 0 == count(simulation, "resent")


def test_a_trimmed_packet_goes_before_data_in_a_class_of_its_own() -> None:
    simulation = run(INCAST, 60, window(control="none"))
    last = simulation.index.wiring.ends.index((SMALL.leaf_of(0), 0))
    data, short = simulation.state.queues.reshape(-1, 2)[last]
    assert int(short["sent_frames"]) == count(simulation, "trims") > 0
    assert int(short["sent_bytes"]) == 64 * int(short["sent_frames"])
    assert int(data["max_bytes"]) <= QUEUE_FRAMES * FRAME_BYTES
    assert int(short["max_bytes"]) < 10 * FRAME_BYTES


def test_spraying_removes_the_marks_of_permutations_and_not_the_trims_of_incasts() -> None:
    permutation = [(host, 8 + host) for host in range(4)]
    marks = [
        sum(
            count(run(permutation, 256, window(), spread=SimSpread(choice), seed=seed), "marks")
            for seed in range(1, 9)
        )
        for choice in ("hash", "in turn")
    ]
    assert marks[0] > 0 == marks[1]
    trims = [
        count(run(INCAST, 60, window(), spread=SimSpread(choice)), "trims") for choice in ("hash", "in turn")
    ]
    assert 0 < max(trims) < 1.5 * min(trims)


def test_adaptive_routing_sees_no_slow_link_beyond_its_own_where_nothing_pauses() -> None:
    """What a spine trims because its link down is slow, no leaf knows of."""
    pairs = [(host, 8 + host) for host in range(4)]
    own, beyond = (
        run(
            pairs,
            400,
            window(),
            spread=SimSpread("adaptive"),
            slow_bps={(leaf, SMALL.spine(0)): RATE_BPS / 10},
        )
        for leaf in (SMALL.leaf_of(0), SMALL.leaf_of(8))
    )
    assert count(own, "trims") == 0 < count(beyond, "trims")


def test_entropy_values_of_unmarked_packets_are_used_again() -> None:
    """One slow link: a sender that recycles values leaves it, one that walks through them all does not."""
    pairs = [(host, 8 + host) for host in range(4)]
    slow = {(SMALL.leaf_of(0), SMALL.spine(0)): RATE_BPS / 10}
    walked, recycled = (
        longest_us(run(pairs, 400, window(), spread=SimSpread("hash", 64, recycles=recycles), slow_bps=slow))
        for recycles in (False, True)
    )
    assert recycled < 0.9 * walked


def test_runs_repeat_exactly() -> None:
    names = ("trims", "marks", "resent", "events", "now")
    first, second = ([count(run(INCAST, 60, window(), seed=7), name) for name in names] for _ in range(2))
    assert first == second


# --- receivers that ask for what did not come ---

ASKING = SimWindow(BASE_RTT_US, bdps=1024, control="none", ack_bytes=1, timeout_us=10_000, nacks=True)
PACED = SimDcqcn(1 / 256, 1, 4, 50, 1, 5e6, 50e6, 100e6)
CONTROLS = st.sampled_from((None, PACED, PACED._replace(pacing_lock=False)))
ONE_WAY = st.tuples(st.integers(8, 15), st.integers(0, 7))
"""From one leaf to the other: no ACK shares a link with data."""


def asking(
    pairs: list[tuple[int, int]], frames: int, limit_frames: int, dcqcn: SimDcqcn | None, *, asks: bool
) -> Simulation:
    """Run flows on single paths whose receivers ask for single packets, or reject what does not come in order."""
    end = lossy(limit_frames * FRAME_BYTES, trims=False, wred=WRED)
    network = clos_network(SMALL, pairs, SPRAY, frames * MTU_BYTES, end=end, window=ASKING)
    flows = tuple(
        flow._replace(spread=None, dcqcn=dcqcn, window=ASKING if asks else None) for flow in network.flows
    )
    simulation = Simulation(network._replace(flows=flows, physics=network.physics._replace(timeout_ms=10)), 1)
    simulation.advance(1e9)
    return simulation


@settings(max_examples=25, deadline=None)
@given(
    pairs=st.lists(HOST_PAIRS, min_size=1, max_size=20),
    frames=st.integers(1, 40),
    limit_frames=st.integers(1, 30),
    dcqcn=CONTROLS,
)
def test_each_packet_that_is_lost_is_sent_again_once(
    pairs: list[tuple[int, int]], frames: int, limit_frames: int, dcqcn: SimDcqcn | None
) -> None:
    simulation = asking(pairs, frames, limit_frames, dcqcn, asks=True)
    assert not simulation.stalled
    assert received_bytes(simulation.state) == {frames * MTU_BYTES}
    assert count(simulation, "lost_news") == 0
    assert count(simulation, "resent") == count(simulation, "drops")


@settings(max_examples=25, deadline=None)
@given(
    pairs=st.lists(ONE_WAY, min_size=1, max_size=8),
    frames=st.integers(1, 200),
    dcqcn=CONTROLS,
)
def test_where_nothing_is_lost_it_does_not_matter_what_would_be_sent_again(
    pairs: list[tuple[int, int]], frames: int, dcqcn: SimDcqcn | None
) -> None:
    """Both are marked and slowed down identically, to the picosecond."""
    runs = [asking(pairs, frames, 2000, dcqcn, asks=asks) for asks in (True, False)]
    assert [count(run, "drops") for run in runs] == [0, 0]
    done = [run.state.flows["done_at"][run.state.flows["counts"] == 1].tolist() for run in runs]
    assert done[0] == done[1]


def test_senders_that_go_back_send_more_again_than_was_lost() -> None:
    asked_for, back = (asking(INCAST, 640, QUEUE_FRAMES, PACED, asks=asks) for asks in (True, False))
    assert count(asked_for, "resent") == count(asked_for, "drops") > 100
    assert count(asked_for, "timeouts") == 0
    assert count(back, "resent") > 2 * count(back, "drops")
    assert longest_us(asked_for) < longest_us(back)
