"""Fabrics whose switches spray or adapt: what that brings permutations, and not incasts, and who must reorder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.simulation.question.assumptions import assumed_of_routes
from lossless.analysis.simulation.question.load_balancing import as_declared, taken_for_granted
from lossless.analysis.simulation.question.request import Limits, Pattern, Question, SimulationRequest
from lossless.api import simulate
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.known import UNKNOWN
from lossless.model.fabric.routing import PacketOrder, Routing
from tests.paths import ROOT

if TYPE_CHECKING:
    from lossless.analysis.simulation.study.verdict import RunVerdict

EXAMPLE = ROOT / "examples" / "roce-256"
SEEDS = 2
NOWHERE = Origin("", ())


def run(pattern: Pattern, size_bytes: int = 2 << 20, nics: int = 64, **how: Any) -> RunVerdict:
    question = Question(pattern, size_bytes, nics, **how)
    (result,) = simulate(EXAMPLE, ask=SimulationRequest(question, Limits(seeds=SEEDS), pfc_load=False))
    (verdict,) = result.runs
    return verdict


@pytest.mark.parametrize("choice", ["spray", "adaptive"])
def test_a_permutation_runs_at_line_rate_where_packets_are_spread_and_may_arrive_in_any_order(
    choice: Any,
) -> None:
    one_path, spread = run("permutation"), run("permutation", load_balancing=choice, ahead_frames=0)
    assert spread.of_line_rate > 0.95 > 1.5 * one_path.of_line_rate


def test_receivers_in_order_give_back_what_spraying_brings() -> None:
    any_order, in_order = (run("permutation", load_balancing="spray", ahead_frames=a) for a in (0, None))
    assert in_order.goodput_bps < 0.8 * any_order.goodput_bps


def test_an_incast_pauses_however_paths_are_chosen() -> None:
    one_path, spread = (
        run("incast", 8 << 20, 64, load_balancing=choice, ahead_frames=ahead)
        for choice, ahead in (("ecmp", None), ("spray", 0))
    )
    assert one_path.pfc.seeds == spread.pfc.seeds == SEEDS
    assert spread.goodput_bps == pytest.approx(one_path.goodput_bps, rel=0.02)


def test_an_intent_says_how_its_packets_are_spread_and_a_question_may_say_otherwise() -> None:
    declared = PacketOrder("spray", 64, NOWHERE, NOWHERE)
    asked = [
        as_declared(question, order)
        for question, order in (
            (Question(), None),
            (Question(), declared),
            (Question(load_balancing="ecmp"), declared),
            (Question(load_balancing="adaptive", ahead_frames=0), declared),
            (Question(), declared._replace(ahead_frames=UNKNOWN)),
        )
    ]
    assert [(one.load_balancing, one.ahead_frames) for one in asked] == [
        ("ecmp", None),
        ("spray", 64),
        ("ecmp", None),
        ("adaptive", 0),
        ("spray", None),
    ]


def test_what_nics_take_out_of_order_is_no_question_where_nothing_comes_so() -> None:
    with pytest.raises(ScenarioError, match=r"^--reorder: under ecmp a flow keeps one path"):
        as_declared(Question(ahead_frames=64), None)


def test_what_is_assumed_of_load_balancing_is_said() -> None:
    assert list(taken_for_granted(Question())) == []
    assert list(taken_for_granted(Question(load_balancing="spray", ahead_frames=64))) == []
    assert "in order" in " ".join(taken_for_granted(Question(load_balancing="spray")))
    assert "256 us" in " ".join(taken_for_granted(Question(load_balancing="flowlet", ahead_frames=0)))


def test_paths_with_extra_hops_are_left_out_and_that_is_said() -> None:
    shortest = Routing("up-down", (), NOWHERE)
    assert [*assumed_of_routes(None), *assumed_of_routes(shortest)] == []
    (said,) = assumed_of_routes(shortest._replace(extra_hops=2))
    assert said == "packets take shortest paths: the model has none of the paths with up to 2 extra hops"
