"""A recording is of the run that the verdict is of, and says what was where."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

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
from lossless.analysis.simulation.engine.run import Simulation
from lossless.analysis.simulation.question.instance import ScenarioInstance, instantiate
from lossless.analysis.simulation.study.recording import (
    MOST_FLOWS,
    MOST_GROUPS,
    MOST_LINKS,
    SAMPLES,
    Limit,
    NodeNames,
    Recording,
    Series,
    focus,
    probes,
    record,
    record_run,
)
from lossless.ground.basics.errors import ScenarioError
from lossless.output.report.plain import plain
from tests.analysis.simulation.fabrics import example, put
from tests.analysis.simulation.made_networks import chain, made, queue, run, star

PACED = SimDcqcn(
    g=1 / 256,
    alpha_us=5,
    decrease_us=4,
    increase_us=30,
    threshold=1,
    ai_bps=50e6,
    hai_bps=500e6,
    min_rate_bps=100e6,
)
MARKED = SimPort((SimQueue(SimWred(20_000, 200_000, 0.1)),), (SimGroup(0.125, 60_000, 0, 10_000),))
SMALL = SimSwitch(2_000_000, 1_500_000)
FRAME_BYTES, WIRE_BYTES = 4096 + 62, 4096 + 62 + 20
UNTIL_NS = 2_000_000.0


def incast(senders: int = 6, frames: int = 200) -> SimNetwork:
    """Return an incast that marks, pauses and slows down."""
    found = star(senders, MARKED, SMALL, size_bytes=frames * 4096)
    return found._replace(flows=tuple(flow._replace(dcqcn=PACED) for flow in found.flows))


def recorded(network: SimNetwork, until_ns: float = UNTIL_NS, seed: int = 1) -> Recording:
    simulation = Simulation(network, seed)

    def ends(link: int) -> tuple[str, str]:
        sender, receiver = simulation.index.wiring.ends[link]
        return f"n{sender}", f"n{receiver}"

    return record_run(simulation, NodeNames("n{}".format, ends), seed, until_ns, "a test")


def of(recording: Recording, kind: str) -> list[Series]:
    return [series for series in recording.series if series.kind == kind]


def one(recording: Recording, kind: str) -> Series:
    (found,) = of(recording, kind)
    return found


def numbers(series: Series) -> list[float]:
    return [value for value in series.values if value is not None]


def limits(recording: Recording, kind: str) -> list[tuple[str, float]]:
    return [(limit.name, limit.value) for limit in recording.limits if limit.kind == kind]


def every_us(recording: Recording) -> float:
    return recording.times_us[1] - recording.times_us[0]


@pytest.fixture(scope="module")
def busy() -> Recording:
    return recorded(incast())


@pytest.fixture(scope="module")
def staged() -> ScenarioInstance:
    return instantiate(put(example(), nics=24), 1)


@pytest.fixture(scope="module")
def of_fabric(staged: ScenarioInstance) -> Recording:
    return record(staged, 1, UNTIL_NS, "incast")


# --- the same run ---


@pytest.mark.parametrize("seed", [1, 2])
def test_looking_changes_nothing_of_a_run(seed: int) -> None:
    network = incast()
    plain = run(network, UNTIL_NS, seed)
    watched = Simulation(network, seed)
    names = NodeNames(str, lambda link: (f"{link}", f"{link}"))
    looked_at = [(probe.sees, probe.at) for probe in probes(plain, focus(plain), names)]
    watched.record(looked_at, 1000, 500)
    watched.advance(UNTIL_NS)
    looks = int(watched.state.clock["samples"][0])
    assert looks > 100
    assert watched.outcome() == plain.outcome()._replace(events=plain.outcome().events + looks)


def test_a_run_that_has_been_recorded_is_the_run_of_its_seed(
    staged: ScenarioInstance, of_fabric: Recording
) -> None:
    again = record(staged, 1, UNTIL_NS, "incast")
    assert again == of_fabric
    plain = run(staged.network, UNTIL_NS).outcome()
    moments = {moment.name: moment.at_us for moment in of_fabric.moments}
    assert moments["first mark"] == (plain.first_mark_ns or 0) / 1000
    assert one(of_fabric, "egress").peak == plain.egress.bytes


def test_another_seed_is_another_run(busy: Recording) -> None:
    assert recorded(incast(), seed=2).series != busy.series


# --- when ---


def test_every_probe_has_a_value_at_every_time(busy: Recording) -> None:
    assert {len(series.values) for series in busy.series} == {len(busy.times_us)}
    steps = {round(later - earlier, 6) for earlier, later in pairwise(busy.times_us)}
    assert busy.times_us[0] == 0
    assert len(steps) == 1


def test_times_cover_a_run_that_ends_by_itself_up_to_its_end() -> None:
    network = incast()
    ended_us = run(network, 1e9).outcome().ended_ns / 1000
    times = recorded(network, 1e9).times_us
    assert SAMPLES <= len(times) <= SAMPLES + 1
    assert times[-1] == pytest.approx(ended_us, rel=2 / SAMPLES)


def test_times_cover_a_run_that_is_stopped_up_to_the_stop() -> None:
    assert recorded(star(2), 80_000).times_us[-1] == 80


def test_times_cover_a_stalled_run_up_to_the_stop() -> None:
    held = star(2, size_bytes=40_960)._replace(holds=(Hold(3, 2, 0, 1e9),))
    found = recorded(held, 1e6)
    assert found.times_us[-1] == 1000
    assert one(found, "egress").values[-1] == 2 * 10 * FRAME_BYTES


# --- bytes ---


def test_a_queue_that_two_fill_and_one_empties_grows_at_line_rate() -> None:
    found = recorded(star(2), 200_000)
    values = one(found, "egress").values
    grown = (values[600] or 0) - (values[200] or 0)
    per_us = grown / (found.times_us[600] - found.times_us[200])
    assert per_us == pytest.approx(12_500 * FRAME_BYTES / WIRE_BYTES, rel=0.01)


def test_the_hottest_queue_reaches_its_peak_between_the_times_at_most(busy: Recording) -> None:
    simulation = run(incast(), UNTIL_NS)
    egress = one(busy, "egress")
    assert egress.name == "n7 to n6"
    peak = int(queue(simulation, 7, 6)["max_bytes"])
    assert egress.peak == peak
    assert 0.9 * peak < max(numbers(egress)) <= peak


def test_the_memory_is_the_sum_of_what_groups_hold(busy: Recording) -> None:
    groups = zip(*(series.values for series in of(busy, "group")), strict=True)
    assert [sum(value or 0 for value in now) for now in groups] == list(one(busy, "memory").values)


def test_the_xoff_threshold_falls_as_the_pool_fills(busy: Recording) -> None:
    in_headroom = [
        sum(value or 0 for value in now)
        for now in zip(*(s.values for s in of(busy, "headroom")), strict=True)
    ]
    shared = [
        (used or 0) - charged for used, charged in zip(one(busy, "memory").values, in_headroom, strict=True)
    ]
    assert list(one(busy, "threshold").values) == [0.125 * (SMALL.pool_bytes - used) for used in shared]
    assert max(in_headroom) > 0


def test_groups_of_one_pool_with_another_alpha_have_a_threshold_of_their_own() -> None:
    network = star(2)
    other = network.cables[1]
    eager = SimPort((SimQueue(),), (SimGroup(0.25, 100_000),))
    cables = (network.cables[0], other._replace(b_end=eager), *network.cables[2:])
    assert len(of(recorded(network._replace(cables=cables), 50_000), "threshold")) == 2


def test_only_groups_that_feed_the_hottest_queue_are_looked_at() -> None:
    links = [(0, 3), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6)]
    paths = [(0, 3, 4, 5), (1, 3, 4, 5), (2, 3, 4, 6)]
    found = recorded(made(links, {3: SMALL, 4: SMALL}, paths, MARKED, size_bytes=400_000), 1e6)
    assert one(found, "egress").name == "n3 to n4"
    assert {series.name for series in of(found, "group")} == {"n0 to n3", "n1 to n3", "n2 to n3"}
    assert [series.name for series in of(found, "memory")] == ["n3"]


# --- pauses ---


def test_a_pause_shorter_than_the_distance_of_the_times_is_not_missed() -> None:
    held = star(1)._replace(holds=(Hold(0, 2, 10_000, 10_100),))
    found = recorded(held, 1e6)
    assert every_us(found) > 1
    (paused, never) = of(found, "paused")
    assert (paused.name, paused.pauses) == ("n0 to n2", 1)
    assert sum(numbers(paused)) == pytest.approx(0.1)
    assert (never.pauses, set(never.values)) == (0, {0.0})


def test_what_is_paused_stands_in_the_interval_in_which_it_was() -> None:
    held = star(1)._replace(holds=(Hold(0, 2, 100_000, 200_000),))
    found = recorded(held, 400_000)
    paused = of(found, "paused")[0].values
    inside = [value for at, value in zip(found.times_us, paused, strict=True) if 100 < at <= 200]
    assert inside == [pytest.approx(every_us(found))] * len(inside)
    assert sum(value or 0 for value in paused) == pytest.approx(100)


def test_a_link_is_never_paused_for_longer_than_time_passed(busy: Recording) -> None:
    parts = [value / every_us(busy) for series in of(busy, "paused") for value in numbers(series)]
    assert 0 <= min(parts) <= max(parts) <= 1 + 1e-9
    assert max(parts) > 0.5


def test_links_that_are_paused_longest_come_first(of_fabric: Recording) -> None:
    totals = [sum(numbers(series)) for series in of(of_fabric, "paused")]
    assert totals[0] > 0
    assert all(later <= earlier + every_us(of_fabric) for earlier, later in pairwise(totals))


# --- rates ---


def test_what_is_delivered_adds_up_to_the_transfer() -> None:
    found = recorded(chain(1, size_bytes=1 << 20), 1e9)
    delivered_bytes = sum(numbers(one(found, "delivered"))) * every_us(found) / 8e6
    assert (1 << 20) - 2 * 4096 <= delivered_bytes <= (1 << 20) + 1


def test_the_last_frame_of_a_flow_is_delivered_though_others_go_on() -> None:
    first, second = SimFlow((0, 2, 1), 409_600), SimFlow((0, 2, 1), 409_600, start_ns=2e6)
    found = recorded(chain(1, flows=(first, second)), 1e9)
    assert every_us(found) > 2
    assert sum(numbers(of(found, "delivered")[0])) * every_us(found) / 8e6 == pytest.approx(409_600)


def test_no_more_is_delivered_than_the_last_link_carries_whatever_is_sent(busy: Recording) -> None:
    together = [
        sum(rate or 0 for rate in now) for now in zip(*(s.values for s in of(busy, "delivered")), strict=True)
    ]
    assert 0.9 * 100e9 < max(together) <= 100e9 + FRAME_BYTES * 8e6 / every_us(busy)


def test_a_flow_has_rates_from_its_start_to_its_end_only() -> None:
    first, second = (
        SimFlow((0, 2, 1), 409_600, 20_000, dcqcn=PACED),
        SimFlow((0, 2, 1), 409_600, after=(0,), dcqcn=PACED),
    )
    found = recorded(chain(1, MARKED, flows=(first, second)), 1e9)
    early, late = of(found, "rate")
    runs = [
        [at for at, rate in zip(found.times_us, series.values, strict=True) if rate is not None]
        for series in (early, late)
    ]
    assert runs[0][0] == pytest.approx(20, abs=every_us(found))
    assert runs[1][0] == pytest.approx(runs[0][-1], abs=2 * every_us(found))
    assert runs[1][-1] == found.times_us[-1]
    assert set(numbers(early)) == {100e9}


def test_rates_are_those_of_flows_with_dcqcn_and_all_flows_deliver() -> None:
    network = star(3, size_bytes=400_000)
    flows = (network.flows[0]._replace(dcqcn=PACED), *network.flows[1:])
    found = recorded(network._replace(flows=flows), 1e6)
    assert [series.name for series in of(found, "rate")] == ["n0 to n3"]
    assert [series.name for series in of(found, "delivered")] == ["n0 to n3", "n1 to n3", "n2 to n3"]


def test_rates_begin_at_line_rate_and_fall(of_fabric: Recording) -> None:
    rates = of(of_fabric, "rate")
    assert len(rates) == 23
    assert {series.values[0] for series in rates} == {400e9}
    assert all(min(numbers(series)) < 10e9 for series in rates)


# --- what does not move ---


def test_limits_are_those_of_the_network(busy: Recording) -> None:
    assert limits(busy, "egress") == [("Kmin", 20_000), ("Kmax", 200_000)]
    assert limits(busy, "headroom") == [("headroom", 60_000)]
    assert limits(busy, "memory") == [("pool", 1_500_000), ("pool and headroom", 1_500_000 + 7 * 60_000)]
    share = ("1/6 of n7 to n6", round(100e9 / 6))
    assert limits(busy, "rate") == [("line rate of senders", 100e9), share]
    assert limits(busy, "delivered") == [share]


def test_memory_ends_where_the_chip_does() -> None:
    found = recorded(star(2, switch=SimSwitch(1_050_000, 1_000_000)), 50_000)
    assert limits(found, "memory")[1] == ("pool and headroom", 1_050_000)


def test_limits_of_a_fabric_are_those_of_its_intent(of_fabric: Recording) -> None:
    kib = 1024
    assert [limit for limit in limits(of_fabric, "egress") if limit[0].startswith("K")] == [
        ("Kmin", 800 * kib),
        ("Kmax", 3200 * kib),
    ]


def test_headrooms_that_differ_say_how_many_groups_have_each() -> None:
    network = star(3)
    cable = network.cables[0]
    roomy = SimPort((SimQueue(),), (SimGroup(1.0, 150_000),))
    found = recorded(network._replace(cables=(cable._replace(b_end=roomy), *network.cables[1:])), 50_000)
    assert limits(found, "headroom") == [("headroom of 2 groups", 100_000), ("headroom of 1 group", 150_000)]


def test_a_queue_that_drops_says_what_its_limits_do() -> None:
    end = SimPort(
        (SimQueue(SimWred(10_000, 20_000, 1.0, marks=False), limit_bytes=50_000),), (SimGroup(1.0, None),)
    )
    found = recorded(star(2, end), 50_000)
    assert [name for name, _ in limits(found, "egress")] == ["WRED minimum", "WRED maximum", "queue limit"]
    assert (of(found, "headroom"), limits(found, "headroom")) == ([], [])
    assert one(found, "threshold").name == "drop threshold"


def test_a_queue_that_marks_what_has_gone_has_kmin_and_kmax_too() -> None:
    queue_ = SimQueue(SimWred(10_000, 20_000, 1.0), limit_bytes=50_000, until_sent=True)
    found = recorded(star(2, SimPort((queue_,), (SimGroup(1.0, None),))), 50_000)
    assert [name for name, _ in limits(found, "egress")] == ["Kmin", "Kmax", "queue limit"]


def test_an_equal_share_is_that_of_the_tightest_link_not_of_the_hottest() -> None:
    """Two senders share 100G into switch 3 and 50G out of switch 4, so that pauses pile up in both."""
    found = made([(0, 3), (1, 3), (3, 4), (4, 2)], {3: SMALL, 4: SMALL}, [(0, 3, 4, 2), (1, 3, 4, 2)], MARKED)
    slow = found.cables[3]._replace(rate_bps=50e9)
    recording = recorded(found._replace(cables=(*found.cables[:3], slow)), 1e6)
    assert limits(recording, "delivered") == [("1/2 of n4 to n2", 25e9)]


# --- names and numbers ---


def test_moments_are_those_of_the_run() -> None:
    seen = run(incast(), UNTIL_NS).outcome()
    assert seen.first_mark_ns is not None
    assert seen.first_pause_ns is not None
    assert {moment.name: moment.at_us for moment in recorded(incast()).moments} == {
        "first mark": seen.first_mark_ns / 1000,
        "first PAUSE": seen.first_pause_ns / 1000,
        "first drop": None,
        "watchdog triggers": None,
    }


def test_of_many_the_first_are_looked_at_and_all_are_counted() -> None:
    senders = MOST_FLOWS + 2
    found = recorded(star(senders, MARKED, SimSwitch(20_000_000, 15_000_000), size_bytes=8192), 1e6)
    assert [len(of(found, kind)) for kind in ("group", "paused", "delivered")] == [
        MOST_GROUPS,
        MOST_LINKS,
        MOST_FLOWS,
    ]
    counts = found.counts
    assert (counts["groups"], counts["links"], counts["flows"]) == (senders, senders + 1, senders)


def test_flows_through_the_hottest_queue_come_before_others() -> None:
    links = [(0, 4), (1, 4), (2, 4), (3, 4)]
    paths = [(0, 4, 3), (1, 4, 2), (3, 4, 2)]
    found = recorded(made(links, {4: SMALL}, paths, MARKED, size_bytes=400_000), 1e6)
    assert one(found, "egress").name == "n4 to n2"
    assert [series.name for series in of(found, "delivered")] == ["n1 to n2", "n3 to n2", "n0 to n3"]


def test_links_of_a_fabric_are_called_by_their_ports(of_fabric: Recording) -> None:
    assert one(of_fabric, "egress").name == "leaf1:Ethernet0 to host1:port1"
    assert one(of_fabric, "memory").name == "leaf1"
    names = [series.name for series in of(of_fabric, "group")]
    assert len(set(names)) == len(names) == of_fabric.counts["groups"]


@pytest.mark.parametrize(("acks", "classes"), [("data", {""}), ("apart", {", class 0", ", class 1"})])
def test_classes_are_named_where_there_are_several(acks: str, classes: set[str]) -> None:
    both = star(2, MARKED, SMALL, size_bytes=400_000)
    back = SimFlow((2, 3, 0), 400_000)
    network = both._replace(
        flows=(*both.flows, back), physics=Physics(acks="data" if acks == "data" else "apart")
    )
    names = {series.name for series in of(recorded(network, 1e6), "paused")}
    assert {name.removeprefix(name.partition(",")[0]) for name in names} == classes


def test_a_network_without_a_switch_has_no_queue_to_look_at() -> None:
    network = SimNetwork(2, {}, (SimCable(0, 1, 100e9, 500),), (SimFlow((0, 1), 40_960),))
    with pytest.raises(ScenarioError, match="nothing passed a switch: there is no queue to look at"):
        recorded(network)


def test_as_plain_data_it_says_the_same(busy: Recording) -> None:
    data = json.loads(json.dumps(plain(busy)))
    again = Recording(
        title=data["title"],
        seed=data["seed"],
        times_us=tuple(data["times_us"]),
        series=tuple(Series(**series | {"values": tuple(series["values"])}) for series in data["series"]),
        limits=tuple(Limit(**limit) for limit in data["limits"]),
        moments=tuple(type(busy.moments[0])(**moment) for moment in data["moments"]),
        counts=data["counts"],
    )
    assert again == busy


def test_units_are_those_of_their_kinds(busy: Recording) -> None:
    units: dict[str, set[str]] = {}
    for series in busy.series:
        units.setdefault(series.unit, set()).add(series.kind)
    assert units == {
        "B": {"egress", "group", "threshold", "headroom", "memory"},
        "us": {"paused"},
        "b/s": {"rate", "delivered"},
    }
