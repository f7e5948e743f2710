"""Fabrics whose switches spray or adapt: what that brings permutations, and not incasts, and who must reorder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.simulation.engine.network import SimSpread
from lossless.analysis.simulation.question.request import (
    RANDOM_VALUES,
    Limits,
    Question,
    SimulationRequest,
    as_declared,
    choice_at,
    said_of,
    spread_of,
    taken_for_granted,
)
from lossless.analysis.simulation.question.scenario import assumed_of_routes
from lossless.api import simulate
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.cabling import PacketOrder, Routing
from lossless.model.fabric.cluster import Pattern
from lossless.model.fabric.model import Tier
from lossless.model.hardware.model import LoadBalancing
from tests.analysis.simulation.fabrics import declared
from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

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


def test_what_tiers_choose_by_is_declared_and_holds_where_a_question_asks_for_nothing_else() -> None:
    by_tier: tuple[tuple[str, LoadBalancing], ...] = (("leaf", "adaptive"), ("spine", "spray"))
    order = PacketOrder("ecmp", 0, NOWHERE, NOWHERE, by_tier)
    question = as_declared(Question(), order)
    assert (question.by_tier, question.ahead_frames) == (by_tier, 0)
    assert as_declared(Question(load_balancing="flowlet"), order).by_tier == ()
    assert said_of(question).startswith(
        "load balancing adaptive at leaf switches and spray at spine switches"
    )
    assert "every 100 ns" in " ".join(taken_for_granted(question))
    leaf, spine, top = (
        declared().fabric.switches[0]._replace(tier=tier)
        for tier in (Tier.LEAF, Tier.SPINE, Tier.SUPER_SPINE)
    )
    assert [choice_at(question, one) for one in (leaf, spine, top)] == ["adaptive", "hash", "flow hash"]
    assert spread_of(question) == SimSpread("hash", entropies=RANDOM_VALUES)


def test_tiers_that_all_hash_leave_flows_on_one_path() -> None:
    order = PacketOrder("ecmp", 64, NOWHERE, NOWHERE, (("leaf", "ecmp"), ("spine", "ecmp")))
    question = as_declared(Question(), order)
    assert (spread_of(question), question.ahead_frames, said_of(question)) == (None, None, "")
    assert choice_at(question, declared().fabric.switches[0]) is None


@pytest.mark.parametrize(
    ("stated", "spines", "at_line_rate"),
    [
        ("{leaf: adaptive}", 16, True),
        ("{leaf: adaptive, spine: ecmp}", 2, False),
        ("{leaf: adaptive, spine: adaptive}", 2, True),
        ("{spine: adaptive}", 16, False),
    ],
)
def test_leaves_must_choose_for_each_packet_and_spines_where_parallel_links_lead_down(
    stated: str, spines: int, at_line_rate: bool, tmp_path: Path
) -> None:
    """With 16 spines one link leads from each to each leaf; with 2 there are eight, which a spine chooses among."""
    text = (EXAMPLE / "fabric.yaml").read_text()
    for old, new in (
        ("topology:", f"topology:\n  routing: {{load_balancing: {stated}}}"),
        ("spines: 2", f"spines: {spines}"),
        ("uplinks: 8 x", f"uplinks: {16 // spines} x"),
    ):
        assert old in text
        text = text.replace(old, new)
    intent = tmp_path / "fabric.yaml"
    intent.write_text(f"{text}hosts: {{reorder: any}}\n")
    question = Question("permutation", 2 << 20, 64)
    (result,) = simulate(intent, ask=SimulationRequest(question, Limits(seeds=SEEDS), pfc_load=False))
    of_nics = result.runs[0].goodput_bps / (64 * 400e9)
    assert of_nics > 0.9 if at_line_rate else of_nics < 0.7


def test_dlb_is_taken_for_its_flowlet_mode_and_that_is_said() -> None:
    dlb, flowlet = (Question(load_balancing=one, ahead_frames=0) for one in ("dlb", "flowlet"))
    assert spread_of(dlb) == spread_of(flowlet)
    assert "flowlet mode" in " ".join(taken_for_granted(dlb))
    assert "flowlet mode" not in " ".join(taken_for_granted(flowlet))


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
