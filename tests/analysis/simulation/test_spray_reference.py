"""The model of spraying and lossy fabrics against an independent simulator of them (uet-htsim @40ccb05)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.spray_cases import Case, read
from benchmarks.spray_sim import measure
from benchmarks.spray_summary import summary

if TYPE_CHECKING:
    from pathlib import Path

LEAST = {1: 0.98, 2: 0.98, 3: 0.96, 4: 0.99}
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


@pytest.mark.parametrize(("kind", "figures"), [(1, 50), (2, 200), (3, 350), (4, 280)])
def test_figures_agree_in_each_class_of_comparison(summed: Case, kind: int, figures: int) -> None:
    of = summed[f"class_{kind}"]
    assert of["figures"] >= figures
    assert of["agree"] >= LEAST[kind] * of["figures"], of["wrong"]
