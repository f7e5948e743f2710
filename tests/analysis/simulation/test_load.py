"""Whether a fabric carries a permutation of its NIC ports, and what takes rate from it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.run import Simulation
from lossless.analysis.simulation.question.request import (
    REPORT_EVENTS,
    Limits,
    Question,
    SimulationRequest,
)
from lossless.analysis.simulation.study.answer import answer, checked_scenario
from lossless.analysis.simulation.study.calculated_load import LEAST_LAST, LEAST_MEAN, fair_rates_bps
from lossless.analysis.simulation.study.load import (
    LOAD_SHARE,
    Load,
    PosedLoad,
    estimated_load_events,
    pose_load,
)
from lossless.ground.basics.findings import MissingInput
from lossless.ground.documents import load as document
from lossless.model.fabric.view import View
from lossless.output.report.simulation.verdict_text import carried_text
from tests.analysis.simulation.fabrics import PFC_ONLY, Patch, declared, example, seen_as

if TYPE_CHECKING:
    from pathlib import Path

FOUR_LEAVES: dict[str, object] = {
    "leaves": 4, "spines": 2, "hosts_per_leaf": 8, "host_links": "2 x 400G", "uplinks": "4 x 800G",
}  # fmt: skip
SPRAYED: Patch = {"topology": {"routing": {"load_balancing": "spray"}}, "hosts": {"reorder": "any"}}


def load_of(view: View, seeds: int = 2, **question: object) -> Load:
    asked = Question()._replace(**question)  # type: ignore[arg-type]
    (load,) = answer(view, SimulationRequest(asked, Limits(seeds))).loads
    assert isinstance(load, Load)
    return load


def named(load: Load) -> dict[str, tuple[int, int]]:
    """Return the mean flow rate and the last flow of each run, in percent."""
    return {run.name: (round(100 * run.mean), round(100 * run.last_flow.median)) for run in load.runs}


def test_each_cost_of_the_example_has_its_name() -> None:
    """98 % under ideal spreading, half of it where flows are hashed, half of that where DCQCN recovers within 8 MiB."""
    load = load_of(example(), seeds=3)
    assert [run.name for run in load.runs] == ["ideal spreading", "ECMP, PFC alone", "ECMP, DCQCN"]
    ideal, hashed, controlled = (run.last_flow.median for run in load.runs)
    assert ideal == pytest.approx(0.98, abs=0.01)
    assert hashed == pytest.approx(0.5, abs=0.05)
    assert controlled == pytest.approx(0.24, abs=0.05)
    assert [cause.partition(":")[0] for cause in load.causes] == ["hash collisions", "rate control"]
    assert load.verdict == "not carried"


def test_what_is_lost_to_rate_control_in_a_step_comes_back_in_long_transfers() -> None:
    hashed, controlled = load_of(example()).runs[1:]
    assert controlled.mean == pytest.approx(hashed.mean, abs=0.05)
    assert controlled.last_flow.median < 0.75 * hashed.last_flow.median


def test_a_fabric_that_sprays_to_nics_that_take_any_order_carries_its_load() -> None:
    load = load_of(declared(SPRAYED))
    assert load.verdict == "carried"
    assert load.causes == ()
    assert load.expected is not None
    assert load.expected.divides
    assert load.expected.mean.median == pytest.approx(1, abs=0.01)


def test_nics_that_need_order_take_what_spraying_brings() -> None:
    load = load_of(declared({"topology": SPRAYED["topology"]}))
    assert "packets out of order" in {cause.partition(":")[0] for cause in load.causes}
    assert named(load)["ideal spreading"][1] > 95


def test_without_congestion_control_pfc_alone_is_all_that_runs() -> None:
    load = load_of(declared(PFC_ONLY))
    assert [run.name for run in load.runs] == ["ideal spreading", "ECMP, PFC alone"]


def test_shares_are_of_what_an_oversubscribed_topology_carries() -> None:
    shape = {"hosts_per_leaf": 16, "host_links": "1 x 100G", "uplinks": "2 x 100G", "oversubscription": 4}
    hardware = {"leaf": "nvidia-sn3700", "spine": "nvidia-sn3700", "nic": "connectx-6-dx"}
    load = load_of(declared({"hardware": hardware, "topology": {"leaf_spine": shape}}))
    # Seed 1 sends 9 of 16 flows of each leaf across, through 4 x 100G; the others stay below it, at line rate.
    assert load.of_line_rate == pytest.approx((7 + 9 * 4 / 9) / 16, abs=0.01)
    ideal, *others = load.runs
    assert ideal.last_flow.median > 0.85
    assert 0.95 < ideal.slowest_tenth < ideal.mean < 1
    assert all(run.mean < ideal.mean for run in others)
    assert load.expected is not None
    assert load.expected.mean.most < 1


def test_of_a_large_fabric_leaves_take_part_as_a_whole() -> None:
    shape = {"leaves": 32, "spines": 4, "hosts_per_leaf": 24, "host_links": "1 x 100G", "uplinks": "1 x 100G"}
    hardware = {"leaf": "nvidia-sn3700", "spine": "nvidia-sn3700", "nic": "connectx-6-dx"}
    view = declared({"hardware": hardware, "topology": {"leaf_spine": shape}})
    posed = checked_scenario(view, Question(pattern="permutation", whole_leaves=True))
    assert not isinstance(posed, MissingInput)
    by_leaf: dict[int, int] = {}
    for nic in posed.nics:
        by_leaf[posed.topology.leaf(nic)] = by_leaf.get(posed.topology.leaf(nic), 0) + 1
    assert set(by_leaf.values()) == {24}
    assert len(by_leaf) == 512 // 24


def test_the_thresholds_are_those_of_the_declared_run() -> None:
    load = load_of(declared(SPRAYED))
    *others, last = load.runs
    for mean, flow, verdict in (
        (LEAST_MEAN, LEAST_LAST, "carried"),
        (LEAST_MEAN - 0.01, 1.0, "not carried"),
        (1.0, LEAST_LAST - 0.01, "not carried"),
    ):
        run = last._replace(mean=mean, last_flow=last.last_flow._replace(median=flow))
        assert load._replace(runs=(*others, run)).verdict == verdict


def posed_of(view: View, budget: int | None, seeds: int = 12) -> PosedLoad:
    permutation = Question(pattern="permutation", whole_leaves=True)
    posed = pose_load(partial(checked_scenario, view), permutation, Limits(seeds, budget=budget))
    assert isinstance(posed, PosedLoad)
    return posed


@pytest.mark.parametrize(
    ("budget", "nics", "seeds", "mib"), [(160, 64, 3, 8), (80, 32, 3, 8), (61, 32, 2, 8), (8, 32, 1, 1.3)]
)
def test_leaves_then_seeds_then_bytes_are_left_out_to_keep_to_a_budget(
    budget: int, nics: int, seeds: int, mib: float
) -> None:
    """Budgets in millions of events; four leaves of 16 NICs."""
    posed = posed_of(declared({"topology": {"leaf_spine": FOUR_LEAVES}}), budget * 10**6)
    assert (len(posed.scenario.nics), posed.seeds) == (nics, seeds)
    assert posed.scenario.question.size_bytes / 2**20 == pytest.approx(mib, abs=0.1)
    said = [f"{nics} NICs on whole leaves of 64", f"{seeds} of 3 seeds", "of 8 MiB each"]
    for words, cut in zip(said, (nics < 64, seeds < 3, mib < 8), strict=True):
        assert (words in posed.reduced) == cut
    assert bool(posed.reduced) == (nics < 64)
    by_leaf = Counter(posed.scenario.topology.leaf(nic) for nic in posed.scenario.nics)
    assert set(by_leaf.values()) == {16}, "the uplinks of a leaf keep their whole load"


@pytest.mark.parametrize("budget", [40, 12])
def test_a_report_keeps_to_its_budget_of_events(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All events that the model runs for the default report are counted, in millions."""
    counted: list[int] = []
    advance = Simulation.advance

    def counting(self: Simulation, *given: Any) -> bool:
        before = int(self.state.clock["events"][0])
        ended = advance(self, *given)
        counted.append(int(self.state.clock["events"][0]) - before)
        return ended

    monkeypatch.setattr(Simulation, "advance", counting)
    view = declared({"topology": {"leaf_spine": FOUR_LEAVES}})
    found = answer(view, SimulationRequest(limits=Limits(budget=budget * 10**6)))
    assert budget * 10**6 / 8 < sum(counted) <= budget * 10**6
    (load,) = found.loads
    assert isinstance(load, Load)
    assert "to keep to" in carried_text(load)


def test_without_a_budget_nothing_is_left_out() -> None:
    posed = posed_of(declared({"topology": {"leaf_spine": FOUR_LEAVES}}), None)
    assert (len(posed.scenario.nics), posed.seeds, posed.reduced) == (64, 3, "")


@pytest.mark.tools("records")
@pytest.mark.parametrize(
    "design", ["colossus-3tier", "colossus-rails", "storage-converged-25g", "tomahawk5-thor2"]
)
def test_the_load_of_a_large_design_fits_into_the_budget_of_a_report(design: str, reference: Path) -> None:
    view = seen_as(document(reference / "reference" / "designs" / f"{design}.yaml"))
    posed = posed_of(view, REPORT_EVENTS)
    assert posed.reduced
    assert estimated_load_events(posed.scenario, posed.seeds) <= LOAD_SHARE * REPORT_EVENTS


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_fair_rates_are_those_of_exact_filling(data: st.DataObject) -> None:
    """Every flow has a full link on which no flow has more."""
    links = data.draw(st.integers(1, 5))
    rates = data.draw(st.lists(st.integers(1, 9), min_size=links, max_size=links))
    routes = data.draw(
        st.lists(
            st.lists(st.integers(0, links - 1), min_size=1, max_size=3, unique=True), min_size=1, max_size=8
        )
    )
    found = fair_rates_bps(
        [{(link, 0): 1.0 for link in route} for route in routes], lambda step: rates[step[0]]
    )
    assert list(found) == pytest.approx([float(rate) for rate in _filled(routes, rates)])


def _filled(routes: list[list[int]], rates: list[int]) -> list[Fraction]:
    """Raise all open flows together, and close those of each link that is full."""
    fair = [Fraction(0)] * len(routes)
    still = set(range(len(routes)))
    while still:
        room = {
            link: Fraction(
                rates[link] - sum(fair[flow] for flow, route in enumerate(routes) if link in route),
                sum(link in routes[flow] for flow in still),
            )
            for link in range(len(rates))
            if any(link in routes[flow] for flow in still)
        }
        step = min(room.values())
        for flow in still:
            fair[flow] += step
        full = {link for link, left in room.items() if left == step}
        still -= {flow for flow in still if full.intersection(routes[flow])}
    return fair
