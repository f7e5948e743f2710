"""A recording is of the run that the verdict is of, and says what was where."""

from __future__ import annotations

import pytest

from lossless import api
from lossless.fabric.view import View
from lossless.simulation.engine import Simulation
from lossless.simulation.recording import SAMPLES, Recording, Series, record
from lossless.simulation.request import Question
from lossless.simulation.scenario import Scenario, scenario
from lossless.simulation.stage import Stage, stage

UNTIL_NS = 2_000_000.0


@pytest.fixture(scope="module")
def staged() -> Stage:
    documents, _ = api._documents("examples/roce-256")
    found = scenario(View(api.load_fabrics(documents).fabrics[0]), Question(nics=24))
    assert isinstance(found, Scenario)
    return stage(found, 1)


@pytest.fixture(scope="module")
def recording(staged: Stage) -> Recording:
    return record(staged, 1, UNTIL_NS, "incast")


def of(recording: Recording, kind: str) -> list[Series]:
    return [series for series in recording.series if series.kind == kind]


def test_looking_changes_nothing(staged: Stage) -> None:
    plain, watched = Simulation(staged.network, 1), Simulation(staged.network, 1)
    watched.record([(0, 0)], UNTIL_NS / 100, 100)
    plain.advance(UNTIL_NS)
    watched.advance(UNTIL_NS)
    looks = int(watched.state.clock["samples"][0])
    assert watched.outcome() == plain.outcome()._replace(events=plain.outcome().events + looks)


def test_every_probe_has_a_value_at_every_time(recording: Recording) -> None:
    assert len(recording.times_us) == SAMPLES
    assert {len(series.values) for series in recording.series} == {SAMPLES}
    assert recording.times_us[-1] == pytest.approx(UNTIL_NS / 1000, rel=0.01)


def test_the_hottest_queue_is_looked_at_and_reaches_its_peak(staged: Stage, recording: Recording) -> None:
    simulation = Simulation(staged.network, 1)
    simulation.advance(UNTIL_NS)
    (egress,) = of(recording, "egress")
    assert egress.name == "egress leaf1:Ethernet0"
    assert 0.9 < max(egress.values) / simulation.outcome().egress.bytes <= 1


def test_groups_are_told_apart_also_on_parallel_links(recording: Recording) -> None:
    names = [series.name for series in of(recording, "group")]
    assert len(set(names)) == len(names) == 6


def test_the_limits_are_those_of_the_intent(recording: Recording) -> None:
    assert recording.limits == (("Kmin", 800 * 1024), ("Kmax", 3200 * 1024))


def test_what_is_paused_is_a_part_of_the_time(recording: Recording) -> None:
    parts = [value for series in of(recording, "paused") for value in series.values]
    assert 0 <= min(parts) <= max(parts) <= 1
    assert max(parts) > 0.5


def test_rates_begin_at_line_rate_and_fall(recording: Recording) -> None:
    rates = of(recording, "rate")
    assert {series.values[0] for series in rates} == {400e9}
    assert all(min(series.values) < 10e9 for series in rates)


def test_as_plain_data_it_says_the_same(recording: Recording) -> None:
    data = recording.to_data()
    assert data["limits"] == [{"name": "Kmin", "bytes": 819200.0}, {"name": "Kmax", "bytes": 3276800.0}]
    assert isinstance(data["series"], list)
    assert len(data["series"]) == len(recording.series)
