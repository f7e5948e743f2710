"""Goodput at full load by calculation, where the packet-level model has no run of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless import api
from lossless.analysis.simulation.question.request import Limits, Question, SimulationRequest
from lossless.analysis.simulation.study.answer import answer
from lossless.analysis.simulation.study.calculated_load import CalculatedLoad, calculated_load, subnet_load
from lossless.ground.basics.findings import MissingInput
from lossless.output.report.simulation.data import verdict_data
from lossless.output.report.simulation.verdict_text import verdict_text
from tests.analysis.simulation.fabrics import declared, example
from tests.formats.intent.subnet_texts import subnet_of
from tests.paths import ROOT

if TYPE_CHECKING:
    from lossless.analysis.simulation.study.answer import SimulationResult
    from lossless.model.fabric.view import View

EXAMPLES = ROOT / "examples"
PERMUTATION = Question(pattern="permutation", whole_leaves=True)
TREE = """\
lossless: v1
fabric: tree
transport: infiniband
flavour: FLAVOUR
hardware: {switch: nvidia-qm9700, hca: connectx-7}
topology:
  fat_tree: {leaves: 4, spines: 2, hosts_per_leaf: 8, host_links: 1 x NDR, uplinks: UPLINKS x NDR}
  hosts: {sm1: {at: leaf1, links: 1 x NDR, role: management}}
subnet_manager: {manager: opensm, hosts: [{on: sm1, priority: 14}], routing: {engine: ENGINE, roots: top}}
"""


def calculated(view: View, question: Question = PERMUTATION) -> CalculatedLoad:
    found = calculated_load(view, question, "no run")
    assert isinstance(found, CalculatedLoad)
    return found


def of_subnet(engine: str, uplinks: int = 4, flavour: str = "nvidia") -> CalculatedLoad:
    text = TREE.replace("ENGINE", engine).replace("UPLINKS", str(uplinks)).replace("FLAVOUR", flavour)
    found = subnet_load(subnet_of(text), "no run")
    assert isinstance(found, CalculatedLoad)
    return found


def simulated(name: str) -> SimulationResult:
    (result,) = api.simulate(EXAMPLES / name, ask=SimulationRequest(limits=Limits(seeds=1)))
    return result


def test_hashing_gives_by_calculation_what_a_run_is_expected_to_give() -> None:
    (load,) = answer(example(), SimulationRequest(limits=Limits(seeds=1))).loads
    assert not isinstance(load, MissingInput)
    assert not isinstance(load, CalculatedLoad)
    assert load.expected is not None
    hashed = calculated(example()).runs[-1]
    assert hashed.name == "ECMP"
    assert hashed.mean == pytest.approx(load.expected.mean, abs=0.01)
    assert hashed.slowest_tenth == pytest.approx(load.expected.slowest_tenth, abs=0.01)


@pytest.mark.parametrize(
    ("choice", "carried"), [("spray", True), ("adaptive", True), ("dlb", False), ("ecmp", False)]
)
def test_switches_that_choose_by_packet_carry_a_load_and_flowlets_without_gaps_do_not(
    choice: str, carried: bool
) -> None:
    found = calculated(example(), PERMUTATION._replace(load_balancing=choice))  # type: ignore[arg-type]
    mean, slowest = found.runs[-1].mean.median, found.runs[-1].slowest_tenth.median
    assert (mean, slowest) == pytest.approx((1, 1)) if carried else slowest < 0.7
    assert found.verdict == f"{'carried' if carried else 'not carried'}, by calculation"


def test_one_tier_that_hashes_below_one_that_spreads_slows_some_flows_down() -> None:
    of_leaf, of_both = (
        calculated(example(), PERMUTATION._replace(load_balancing="spray", by_tier=by_tier)).runs[-1]
        for by_tier in ((("leaf", "ecmp"),), ())
    )
    assert of_leaf.slowest_tenth.median < 0.8
    assert of_both.slowest_tenth.median == pytest.approx(1)


def test_oversubscription_is_in_what_the_topology_carries_and_not_in_the_shares() -> None:
    found = calculated(declared({"topology": {"leaf_spine": {"uplinks": "1 x 400G", "oversubscription": 4}}}))
    assert 0.4 < found.of_line_rate < 0.8
    assert found.runs[0].mean.median == 1


@pytest.mark.parametrize("engine", ["minhop", "updn", "ftree"])
def test_static_routes_of_a_subnet_are_where_permutations_meet(engine: str) -> None:
    found = of_subnet(engine)
    assert found.of_line_rate == pytest.approx(1)
    assert found.runs[-1].name == f"routes of {engine}"
    assert found.runs[-1].slowest_tenth.median < 0.8
    assert found.verdict == "not carried, by calculation"
    assert any("minhop's routes stand" in text for text in found.assumed) == (engine == "ftree")


def test_with_an_uplink_for_each_address_static_routes_of_two_leaves_meet_nowhere() -> None:
    """16 uplinks and 8 hosts of a leaf: minhop gives each address of a far leaf a link of its own."""
    found = of_subnet("minhop", uplinks=16)
    assert found.runs[-1].mean.median == pytest.approx(1)


def test_adaptive_routing_carries_what_the_topology_does() -> None:
    found = of_subnet("ar_updn")
    assert [(run.name, run.mean.median) for run in found.runs] == [
        ("ideal spreading", 1),
        ("ar_updn, adaptive", pytest.approx(1)),
    ]
    assert of_subnet("ar_updn", uplinks=1).of_line_rate == pytest.approx(0.4, abs=0.15)


@pytest.mark.parametrize(
    ("name", "verdict", "why"),
    [
        ("efa-train", "not computed", "its switches are run by the cloud"),
        ("roce-256-as-published", "not computed", "no path leads from host"),
        ("nexus-128", "not carried, by calculation", "the switch computes headroom itself"),
        ("infiniband-256-ndr", "carried, by calculation", "an InfiniBand subnet has credits instead of PFC"),
        ("infiniband-256-as-published", "carried, by calculation", "an InfiniBand subnet has credits"),
        ("ultra-ethernet-128", "carried, by calculation", "loss and congestion control"),
    ],
)
def test_a_report_without_runs_of_a_load_has_it_by_calculation_or_says_why_not(
    name: str, verdict: str, why: str
) -> None:
    result = simulated(name)
    (load,) = verdict_data(result)["packet_level"]["load"]
    assert load["verdict"] == verdict
    assert why in load["reason"]
    text = verdict_text(result)
    assert f"load: {verdict}" in text.splitlines()
    assert why in " ".join(text.split("\n\n", 1)[1].split())


def test_a_closed_form_asks_for_no_load() -> None:
    (result,) = api.simulate(EXAMPLES / "infiniband-256-ndr")
    assert (result.loads, result.overall) == ((), "not checked")
