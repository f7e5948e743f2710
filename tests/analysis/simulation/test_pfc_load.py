"""What PFC carries: another question than whether frames are lost, and asked of traffic without a standing overload."""

from __future__ import annotations

import pytest

from lossless import api
from lossless.analysis.buffers.verdict import LONGEST_PAUSE_QUANTA, PfcLoad
from lossless.analysis.simulation.question.request import Limits, Question, SimulationRequest
from lossless.analysis.simulation.study.answer import Answer, answer
from lossless.ground.basics.findings import MissingInput
from lossless.model.fabric.view import View
from tests.analysis.simulation.fabrics import PFC_ONLY, Patch, declared, deployed, example
from tests.paths import EXAMPLES


def asked(view: View, **question: object) -> Answer:
    return answer(view, SimulationRequest(Question()._replace(**question), Limits(2)))  # type: ignore[arg-type]


def load_of(found: Answer) -> PfcLoad:
    (load,) = found.pfc_loads
    assert isinstance(load, PfcLoad)
    return load


def oversubscribed(uplinks: str, hosts: int, ratio: float) -> Patch:
    """Return leaves of 100G hosts under uplinks that carry far less."""
    shape = {"hosts_per_leaf": hosts, "host_links": "1 x 100G", "uplinks": uplinks, "oversubscription": ratio}
    hardware = {"leaf": "nvidia-sn3700", "spine": "nvidia-sn3700", "nic": "connectx-6-dx"}
    return {"hardware": hardware, "topology": {"leaf_spine": shape}}


@pytest.mark.tools("runs")
def test_a_fabric_can_be_lossless_and_have_pfc_carry_its_load() -> None:
    found = asked(declared(oversubscribed("1 x 50G", 28, 28)))
    load = load_of(found)
    without = answer(
        declared(oversubscribed("1 x 50G", 28, 28)), SimulationRequest(limits=Limits(2), pfc_load=False)
    )
    assert [run.verdict for run in found.runs] == [run.verdict for run in without.runs] == ["on the edge"]
    assert load.scenario.startswith("permutation among 56 NICs")
    assert load.above
    assert load.verdict == "above limits"


def test_an_incast_that_pauses_most_nics_says_nothing_of_what_pfc_carries() -> None:
    """It is a stress test: of 63 senders to one port most are paused in every fabric."""
    found = asked(example())
    (run,) = found.runs
    paused, among = map(int, run.spread_nics.split(" of "))
    assert paused > among / 2
    assert load_of(found)[2:] == (0.0, 0.0, load_of(found).longest_pause_limit_us, 0.0)


@pytest.mark.parametrize("stress", [{"dead_nic": True}, {"slow_nic_bps": 10 * 10**9}], ids=["dead", "slow"])
def test_nor_does_a_nic_that_is_dead_or_slow(stress: dict[str, object]) -> None:
    load = load_of(asked(declared(), pattern="all-to-all", size_bytes=64 << 10, **stress))
    assert load.scenario.startswith("permutation among 16 NICs, 65,536 B")
    assert load.above == ()


def test_what_is_asked_is_evaluated_itself_where_it_is_no_stress_test() -> None:
    load = load_of(asked(declared(), pattern="all-to-all", size_bytes=64 << 10))
    assert load.scenario.startswith("all-to-all among 16 NICs")


@pytest.mark.parametrize("view", [declared(PFC_ONLY), deployed()], ids=["PFC alone", "unknown NICs"])
def test_where_nothing_slows_senders_down_it_is_not_evaluated(view: View) -> None:
    (load,) = asked(view, size_bytes=64 << 10).pfc_loads
    assert load == MissingInput("no congestion control runs: PFC carries what load there is")


@pytest.mark.tools("runs")
def test_the_longest_pause_is_held_against_what_one_pause_frame_can_ask_for() -> None:
    """65,535 quanta of 512 bit times: 83.9 us at 400G, 335.5 us at 100G."""
    fast, slow = asked(example()), asked(declared(oversubscribed("1 x 50G", 28, 28)))
    assert load_of(fast).longest_pause_limit_us == pytest.approx(LONGEST_PAUSE_QUANTA * 512 / 400e3, rel=1e-3)
    assert load_of(slow).longest_pause_limit_us == pytest.approx(LONGEST_PAUSE_QUANTA * 512 / 100e3, rel=1e-3)


@pytest.mark.parametrize(
    ("load", "many"),
    [
        (PfcLoad("", 3, 0.1, 83.8, 83.9, 0.3), 0),
        (PfcLoad("", 3, 0.11, 83.8, 83.9, 0.3), 1),
        (PfcLoad("", 3, 0.1, 84.0, 83.9, 0.3), 1),
        (PfcLoad("", 3, 0.1, 83.8, 83.9, 0.31), 1),
        (PfcLoad("", 3, 1.0, 100.0, 83.9, 1.0), 3),
    ],
)
def test_each_limit_is_one_of_its_own_and_what_equals_it_is_within(load: PfcLoad, many: int) -> None:
    assert len(load.above) == many


@pytest.mark.parametrize("name", ["roce-256", "thor-64"])
def test_in_the_examples_pfc_stays_in_reserve_and_lint_has_nothing_to_say_of_it(name: str) -> None:
    report = api.lint([EXAMPLES / name / "fabric.yaml"], api.Options(simulate=True))
    assert "SIM003" not in {finding.code for finding in report.findings}
