"""The PFC watchdog: what trips it, when, what it then does, and when it is over.

Hosts 0 and 1 send to hosts 2 and 3 through switch 4, a frame in 33 us; host 2 is the one whose NIC pauses. Polls are
1 ms apart, so that times read as polls.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.simulation.engine.network import (
    Hold,
    SimFlow,
    SimGroup,
    SimPort,
    SimQueue,
    SimSwitch,
    SimWatchdog,
    SlowHost,
)
from lossless.analysis.simulation.engine.run import RunOutcome, Simulation
from lossless.model.fabric.qos import WatchdogAction
from tests.analysis.simulation.connected import connected
from tests.analysis.simulation.watching import steps

MS = 1e6
FOREVER = 1e6
LINKS = ((0, 4), (1, 4), (2, 4), (3, 4))
TO_PAUSED, TO_FREE, BESIDE = (0, 4, 2), (0, 4, 3), (1, 4, 3)
FRAME_BYTES = 4096
ENDLESS = 1 << 40
DOG = SimWatchdog(poll_ms=1, detection_ms=2, restoration_ms=2, action="drop", vendor="mellanox", classes=(0,))
VENDORS: tuple[Literal["mellanox", "broadcom"], ...] = ("mellanox", "broadcom")


def paused(
    *holds: tuple[float, float],
    flows: tuple[SimFlow, ...] = (SimFlow(TO_PAUSED, ENDLESS),),
    more: tuple[Hold, ...] = (),
    slow: tuple[SlowHost, ...] = (),
    buffer_bytes: int = 2_000_000,
    **dog: Any,
) -> Simulation:
    """Return the network with the egress to host 2 held in some stretches of milliseconds."""
    stretches = tuple(Hold(4, 2, start * MS, end * MS) for start, end in holds)
    switches = {4: SimSwitch(buffer_bytes, buffer_bytes - 400_000, watchdog=DOG._replace(**dog))}
    made = connected(LINKS, switches, flows, rate_bps=1e9, holds=(*stretches, *more), slow_hosts=slow)
    return Simulation(made)


def seen(simulation: Simulation, until_ms: float) -> RunOutcome:
    simulation.advance(until_ms * MS)
    return simulation.outcome()


def storm_ms(simulation: Simulation, until_ms: float = 50) -> float | None:
    """Return when the watchdog first acted."""
    first = seen(simulation, until_ms).first_storm_ns
    return None if first is None else first / MS


# --- what trips it ---


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("start", "detection", "trips"),
    [(0.2, 2, 3), (0.2, 2.5, 4), (0.2, 3, 4), (1.0, 2, 3), (1.5, 2, 4), (1.999, 1.5, 4), (2.02, 2, 5)],
)
def test_a_permanent_pause_trips_after_whole_windows_that_make_up_the_detection_time(
    vendor: str, start: float, detection: float, trips: float
) -> None:
    assert storm_ms(paused((start, FOREVER), detection_ms=detection, vendor=vendor)) == trips


@pytest.mark.parametrize("vendor", VENDORS)
@given(start=st.integers(0, 4000), detection=st.integers(1001, 6000))
def test_it_acts_no_sooner_than_the_detection_time_and_less_than_two_polls_later(
    vendor: str, start: int, detection: int
) -> None:
    """Starts and detection times in microseconds. Mellanox takes 0.99 of a window for a whole one."""
    acted = storm_ms(paused((start / 1000, FOREVER), detection_ms=detection / 1000, vendor=vendor), 14)
    assert acted is not None
    assert detection / 1000 - 0.01 <= acted - start / 1000 < detection / 1000 + 2


@pytest.mark.parametrize("vendor", VENDORS)
@given(period=st.integers(50, 900), duty=st.floats(0.1, 0.95), start=st.integers(0, 1000))
def test_ordinary_pause_and_resume_never_trips_it(vendor: str, period: int, duty: float, start: int) -> None:
    """Periods in microseconds, all shorter than a window, in which something is then sent."""
    ordinary = Hold(4, 2, start * 1e3, FOREVER * MS, period * 1e3, duty)
    assert storm_ms(paused(more=(ordinary,), vendor=vendor, detection_ms=1.5), 12) is None


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_receiver_that_is_slow_for_good_never_trips_it(vendor: str) -> None:
    """A tenth of the rate: the switch is paused nine tenths of the time, again and again."""
    simulation = paused(slow=(SlowHost(2, 100e6, 13_000, 10_000),), vendor=vendor, detection_ms=1)
    outcome = seen(simulation, 30)
    assert 0.5 * MS < outcome.longest_pause_ns < 0.99 * MS
    assert (outcome.pauses > 30, outcome.storms) == (True, 0)


@pytest.mark.parametrize(("vendor", "trips"), [("mellanox", 4), ("broadcom", 5)])
def test_a_pause_for_nearly_all_of_its_first_window_counts_from_there_for_mellanox_alone(
    vendor: str, trips: float
) -> None:
    assert storm_ms(paused((2.004, FOREVER), vendor=vendor)) == trips


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_pause_that_ends_before_the_detection_time_does_not_trip_it(vendor: str) -> None:
    assert storm_ms(paused((0.5, 2.9), vendor=vendor)) is None
    assert storm_ms(paused((0.5, 3.1), vendor=vendor)) == 3


@pytest.mark.parametrize("vendor", VENDORS)
def test_one_good_window_starts_the_detection_time_again(vendor: str) -> None:
    assert storm_ms(paused((0.5, 2.5), (2.7, FOREVER), vendor=vendor)) == 5


@pytest.mark.parametrize("vendor", VENDORS)
def test_paused_at_every_poll_is_no_storm_while_the_pause_is_lifted_in_between(vendor: str) -> None:
    """Paused for 0.9 of every window, the tenth in its middle: at both polls it is paused."""
    between = Hold(4, 2, 0.55 * MS, FOREVER * MS, 1 * MS, 0.9)
    assert storm_ms(paused(more=(between,), vendor=vendor)) is None


@pytest.mark.parametrize(("vendor", "trips"), [("mellanox", None), ("broadcom", 3)])
def test_a_pause_of_an_empty_queue_trips_only_broadcoms(vendor: str, trips: float | None) -> None:
    assert storm_ms(paused((0.5, FOREVER), flows=(SimFlow(BESIDE, ENDLESS),), vendor=vendor), 20) == trips


def starved(*holds: Hold) -> Simulation:
    """Return the network with class 0 toward host 2 starved by the strict class 1 of another sender."""
    group = SimGroup(1.0, 100_000)
    end = SimPort((SimQueue(), SimQueue(strict=True)), (group, group))
    flows = SimFlow(TO_PAUSED, ENDLESS), SimFlow((1, 4, 2), ENDLESS, traffic_class=1)
    switches = {4: SimSwitch(2_000_000, 1_600_000, watchdog=DOG)}
    return Simulation(connected(LINKS, switches, flows, end, rate_bps=1e9, classes=2, holds=holds))


def test_a_queue_that_waits_behind_a_higher_class_is_no_storm() -> None:
    simulation = starved()
    assert storm_ms(simulation) is None
    assert simulation.state.queues["bytes"].max() > 500_000


@pytest.mark.parametrize(("duty", "trips"), [(0.98, None), (0.995, 4)])
def test_an_idle_queue_counts_as_stuck_from_99_in_100_parts_of_a_window(
    duty: float, trips: float | None
) -> None:
    assert storm_ms(starved(Hold(4, 2, 1.5 * MS, FOREVER * MS, 0.1 * MS, duty))) == trips


def test_only_classes_that_it_watches_can_trip_it() -> None:
    assert storm_ms(paused((0.5, FOREVER), classes=())) is None


# --- what it does: drop ---


def test_drop_loses_what_the_queue_holds_and_whatever_comes_after() -> None:
    frames = 300
    simulation = paused((1.5, FOREVER), flows=(SimFlow(TO_PAUSED, frames * FRAME_BYTES),))
    outcome = seen(simulation, 100)
    delivered = outcome.delivered_bytes // FRAME_BYTES
    assert (outcome.storms, outcome.first_drop_ns) == (1, 4 * MS)
    assert delivered == pytest.approx(1.5 * MS / 33_424, abs=2)
    assert outcome.drops == frames - delivered


def test_before_it_acts_nothing_is_dropped() -> None:
    simulation = paused((1.5, FOREVER))
    assert seen(simulation, 3.999).drops == 0
    assert seen(simulation, 4.001).drops > 0


def test_drop_lets_go_a_sender_whose_other_traffic_waited_behind_the_pause() -> None:
    """With 600 kB host 0 is paused within 2 ms, its traffic to host 3 as well; once freed, that is delivered."""
    flows = SimFlow(TO_PAUSED, ENDLESS), SimFlow(TO_FREE, ENDLESS)
    simulation = paused((0.5, FOREVER), flows=flows, buffer_bytes=600_000, detection_ms=5)
    stuck = seen(simulation, 3).delivered_bytes
    assert seen(simulation, 5.9).delivered_bytes == stuck
    freed = seen(simulation, 16).delivered_bytes
    assert freed - stuck == pytest.approx(10 * MS / 33_424 / 2 * FRAME_BYTES, rel=0.02)


def test_drop_leaves_other_queues_alone() -> None:
    beside = SimFlow(BESIDE, 100 * FRAME_BYTES)
    simulation = paused((0.5, FOREVER), flows=(SimFlow(TO_PAUSED, 100 * FRAME_BYTES), beside))
    outcome = seen(simulation, 50)
    assert (outcome.storms, outcome.flows_done) == (1, 1)
    assert outcome.drops + outcome.delivered_bytes // FRAME_BYTES == 200


# --- restoration ---


def stopped_ms(simulation: Simulation, until_ms: float) -> list[tuple[float, bool]]:
    """Return when a queue was stopped and when it was restored."""
    changes = steps(simulation, until_ms * MS, lambda state: bool(state.queues["stormed"].any()))
    return [(at / MS, stopped) for at, stopped in changes]


@pytest.mark.parametrize(
    ("ends", "restoration", "restored"), [(5.3, 2, 8), (5.3, 1, 7), (5.3, 2.5, 9), (6, 2, 8), (9.9, 3, 13)]
)
def test_a_stopped_queue_is_restored_after_whole_windows_without_pause(
    ends: float, restoration: float, restored: float
) -> None:
    simulation = paused((0.5, ends), restoration_ms=restoration)
    assert stopped_ms(simulation, 20) == [(3, True), (restored, False)]


def test_a_pause_within_the_restoration_time_starts_it_again() -> None:
    simulation = paused((0.5, 5.3), (6.9, 7.1), restoration_ms=2)
    assert stopped_ms(simulation, 20) == [(3, True), (10, False)]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_nic_that_keeps_storming_is_never_restored_without_a_fixed_time(vendor: str) -> None:
    """Each poll sees its pauses, which start the time again (pfc_restore.lua)."""
    simulation = paused((0.5, FOREVER), vendor=vendor)
    assert stopped_ms(simulation, 40) == [(3, True)]
    assert simulation.outcome().storms == 1


@pytest.mark.parametrize("vendor", VENDORS)
def test_after_a_fixed_time_a_storming_nic_is_restored_and_stopped_again(vendor: str) -> None:
    """Stopped for four windows, then paused for the two of the detection time, over and over."""
    simulation = paused((0.5, FOREVER), restoration_ms=4, fixed=True, vendor=vendor)
    assert stopped_ms(simulation, 20) == [
        (3, True),
        (7, False),
        (9, True),
        (13, False),
        (15, True),
        (19, False),
    ]
    assert simulation.outcome().storms == 3


def test_a_fixed_time_restores_as_late_where_the_storm_has_ended_before() -> None:
    """A time without pauses begins with the first window that has none."""
    ends = {fixed: paused((0.5, 4.9), restoration_ms=4, fixed=fixed) for fixed in (False, True)}
    restored = {fixed: stopped_ms(simulation, 20) for fixed, simulation in ends.items()}
    assert restored == {False: [(3, True), (9, False)], True: [(3, True), (7, False)]}


def test_without_a_restoration_time_a_queue_stays_stopped() -> None:
    simulation = paused((0.5, 5.3), restoration_ms=None)
    assert stopped_ms(simulation, 60) == [(3, True)]
    before = simulation.outcome()
    after = seen(simulation, 70)
    assert after.delivered_bytes == before.delivered_bytes
    assert after.drops - before.drops == pytest.approx(10 * MS / 33_424, abs=1)


def test_a_restored_queue_delivers_again_and_can_be_stopped_again() -> None:
    simulation = paused(
        (0.5, 5.3), (10.5, FOREVER), flows=(SimFlow(TO_PAUSED, ENDLESS), SimFlow(BESIDE, ENDLESS))
    )
    assert stopped_ms(simulation, 20) == [(3, True), (8, False), (13, True)]
    assert simulation.outcome().storms == 2


# --- what it does: forward, alert ---


def test_forward_sends_in_spite_of_the_pause() -> None:
    simulation = paused((0.5, FOREVER), action="forward")
    stuck = seen(simulation, 3).delivered_bytes
    moved = seen(simulation, 13).delivered_bytes - stuck
    assert moved == pytest.approx(10 * MS / 33_424 * FRAME_BYTES, rel=0.01)
    assert (simulation.outcome().storms, simulation.outcome().drops) == (1, 0)


def test_forward_obeys_pauses_again_once_it_is_restored() -> None:
    """Restored at 8; the pause at 10.5 stops it until the next storm, at 13."""
    simulation = paused((0.5, 5.3), (10.5, FOREVER), action="forward")
    stuck = seen(simulation, 11).delivered_bytes
    assert seen(simulation, 12.9).delivered_bytes == stuck
    assert seen(simulation, 14).delivered_bytes > stuck
    assert simulation.outcome().storms == 2


def test_alert_counts_each_detection_time_of_a_pause_and_changes_nothing() -> None:
    """Detected at 3, 5, 7 and 9; what was stuck stays so, and goes on when the pause ends."""
    flows = (SimFlow(TO_PAUSED, 300 * FRAME_BYTES),)
    simulation = paused((0.5, 9.9), flows=flows, action="alert", restoration_ms=7)
    assert seen(simulation, 9.5).storms == 4
    outcome = seen(simulation, 100)
    assert (outcome.storms, outcome.drops, outcome.flows_done) == (4, 0, 1)


# --- a dead NIC ---


def test_a_dead_nic_costs_few_events_once_everything_stands() -> None:
    simulation = paused((0.5, FOREVER), detection_ms=1e6)
    standing = seen(simulation, 100).events
    assert math.isclose(seen(simulation, 5000).ended_ns, 5000 * MS)
    polls = 4900
    assert simulation.outcome().events - standing == polls * (1 + len(LINKS))


@pytest.mark.parametrize("action", ["drop", "forward", "alert"])
def test_five_seconds_of_a_dead_nic_at_400g_take_few_events(action: WatchdogAction) -> None:
    """100 MB each to the dead NIC and past it, at SONiC's default times, ten polls a second."""
    size = 100_000_000
    dog = DOG._replace(poll_ms=100, detection_ms=400, restoration_ms=400, action=action)
    switches = {4: SimSwitch(64_000_000, 60_000_000, watchdog=dog)}
    flows = SimFlow(TO_PAUSED, size), SimFlow(BESIDE, size)
    made = connected(LINKS, switches, flows, rate_bps=400e9, holds=(Hold(4, 2, 0.1 * MS, FOREVER * MS),))
    simulation = Simulation(made)
    outcome = seen(simulation, 5000)
    sent_frames = 2 * (size // FRAME_BYTES + 1)
    assert outcome.first_storm_ns == 500 * MS
    assert outcome.events < 4 * sent_frames + 50 * (1 + len(LINKS))


# --- a port of its own ---


@pytest.mark.parametrize(
    ("own", "first"),
    [
        ({}, 3),
        ({"detection_ms": 4}, 5),
        ({"classes": ()}, None),
    ],
)
def test_a_port_has_its_own_times(own: dict[str, Any], first: float | None) -> None:
    """The switch triggers after two polls; the port to the host that pauses does when its own watchdog says."""
    made = paused((0.2, FOREVER)).network
    port = made.cables[2].b_end
    assert port is not None
    cables = list(made.cables)
    cables[2] = cables[2]._replace(b_end=port._replace(watchdog=DOG._replace(**own)))
    assert storm_ms(Simulation(made._replace(cables=tuple(cables)))) == first


def test_a_port_is_restored_after_its_own_time_without_pauses() -> None:
    """The pause ends at 9.5 ms: two polls without one are over at 12 ms, and the five of the port later."""
    stopped = []
    for restoration_ms in (2, 5):
        made = paused((0.2, 9.5)).network
        port = made.cables[2].b_end
        assert port is not None
        cables = list(made.cables)
        own = DOG._replace(restoration_ms=restoration_ms)
        cables[2] = cables[2]._replace(b_end=port._replace(watchdog=own))
        simulation = Simulation(made._replace(cables=tuple(cables)))
        simulation.advance(13 * MS)
        stopped.append(simulation.outcome().stopped)
    assert stopped[0] < stopped[1]
