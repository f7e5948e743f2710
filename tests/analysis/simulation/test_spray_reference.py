"""The model of spraying and lossy fabrics against an independent simulator of them (uet-htsim @40ccb05)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.spray_cases import Case, read
from benchmarks.spray_sim import measure
from benchmarks.spray_summary import summary

pytestmark = [pytest.mark.tools("records"), pytest.mark.xdist_group("spraying")]

if TYPE_CHECKING:
    from pathlib import Path

LEAST = {"class_1": 1.0, "class_2": 1.0, "class_3": 0.99, "class_4": 0.99, "knife_edge": 0.95}
"""The part of the figures that agrees, by class of comparison."""


@pytest.fixture(scope="module")
def summed(reference: Path) -> Case:
    cases, topologies = read(reference / "reference" / "spray-lossy" / "cases.json")
    recorded = {case["id"]: case for case in cases}
    found = {
        case["id"]: {
            mode: measure(case, topologies[case["topology"]], mode, run["seeds"])
            for mode, run in case["runs"].items()
        }
        for case in cases
    }
    ended = [run["unfinished"][2] for runs in found.values() for run in runs.values()]
    assert len(ended) > 200
    assert max(ended) == 0
    return summary(found, recorded, topologies)


@pytest.mark.parametrize(
    ("kind", "figures"),
    [("class_1", 50), ("class_2", 130), ("class_3", 350), ("class_4", 280), ("knife_edge", 60)],
)
def test_figures_agree_in_each_class_of_comparison(summed: Case, kind: str, figures: int) -> None:
    of = summed[kind]
    assert of["figures"] >= figures
    assert of["agree"] >= LEAST[kind] * of["figures"], of["wrong"]
