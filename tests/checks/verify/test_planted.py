"""verify names the culprits of planted faults, and accuses nobody of what it cannot know: drawn cases of each kind.

``python -m tests.checks.verify.test_planted 1000 550`` prints what is named and what is right, of 550 cases from seed
1000 on.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from lossless.api import verify
from tests.all_cases import ALL_CASES
from tests.checks.verify.planted import FAULTS, Fault, PlantedCase, PlantedScore, planted, scored

MEASURED = (7 if ALL_CASES else 3) * len(FAULTS)
"""Cases that the long test draws."""


def score_of(case: PlantedCase, folder: Path) -> PlantedScore:
    """Return the score of what verify says of a case."""
    after, before = case.written(folder)
    report = verify([after], since=[before])
    assert report.errors == ()
    return scored(case, [(each.kind, each.device, each.port) for each in report.culprits or ()])


def _first(fault: Fault) -> int:
    """Return the first seed of a fault whose captures show its culprits; of a healthy fabric the first at all."""
    seeds = range(FAULTS.index(fault), 100 * len(FAULTS), len(FAULTS))
    return next(seed for seed in seeds if fault == "healthy" or planted(seed).nameable)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named(fault: Fault, tmp_path: Path) -> None:
    score = score_of(planted(_first(fault)), tmp_path)
    assert (score.named, score.right) == (score.nameable, score.accused)


def test_one_port_without_a_map_is_named_and_not_the_host_at_it(tmp_path: Path) -> None:
    case = planted(411)
    assert case.fault == "missing map"
    assert case.culprits == (frozenset({("leaf1", "Ethernet0")}),)
    score = score_of(case, tmp_path)
    assert (score.named, score.right, score.accused) == (1, 1, 1)


@pytest.mark.tools("runs")
def test_drawn_faults_are_named_and_nobody_else_is(tmp_path: Path) -> None:
    scores = dict.fromkeys(FAULTS, PlantedScore())
    nobody = PlantedScore()
    for seed in range(MEASURED):
        case = planted(seed)
        score = score_of(case, tmp_path / str(seed))
        scores[case.fault] = scores[case.fault].plus(score)
        nobody = nobody if case.culprits else nobody.plus(score)
    whole = PlantedScore()
    for score in scores.values():
        whole = whole.plus(score)
    assert whole.named >= 0.95 * whole.nameable
    assert whole.right >= 0.98 * whole.accused
    assert nobody.accused == 0
    assert [fault for fault, score in scores.items() if score.named < 0.85 * score.nameable] == []


def _print(first: int, cases: int) -> None:
    scores = dict.fromkeys(FAULTS, PlantedScore())
    for seed in range(first, first + cases):
        case = planted(seed)
        with tempfile.TemporaryDirectory() as folder:
            scores[case.fault] = scores[case.fault].plus(score_of(case, Path(folder)))
    whole = PlantedScore()
    for score in scores.values():
        whole = whole.plus(score)
    for name, score in (*scores.items(), ("all", whole)):
        print(f"{name:24} named {score.named} of {score.nameable}, right {score.right} of {score.accused}")


if __name__ == "__main__":
    _print(*map(int, sys.argv[1:]))
