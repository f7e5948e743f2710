"""What is published of tests and measurements on switches, and what the packet-level model says of the same flows."""

from __future__ import annotations

import pytest

from benchmarks.published import rows
from benchmarks.published_cases import Published, cases
from lossless.analysis.simulation.engine.run import prepare

pytestmark = pytest.mark.tools("records")

CASES = {case.name: case for case in cases()}
SHORT = {name: case for name, case in CASES.items() if case.horizon_ns < 1e8}
MEASURES = 35


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_model_shows_what_was_published(case: Published) -> None:
    assert [row for row in rows(case) if row["verdict"] != "agrees"] == []


def test_as_many_measures_are_compared_as_the_page_says() -> None:
    assert sum(len(case.expected) for case in CASES.values()) == MEASURES


@pytest.mark.parametrize(
    "name", ["incast 3:1, two lossless flows in queue 3", "storage incast 3:1 without DCQCN, ECT"]
)
def test_without_headroom_the_same_flows_lose_frames(name: str) -> None:
    """The comparison can fail: what PFC protects is lost where no headroom is left."""
    case = SHORT[name]
    ends = [cable.a_end for cable in case.network.cables if cable.a_end is not None]
    groups = tuple(
        group if group.headroom_bytes is None else group._replace(headroom_bytes=5_000)
        for group in ends[0].groups
    )
    short = ends[0]._replace(groups=groups)
    cables = tuple(cable._replace(a_end=short) for cable in case.network.cables)
    broken = case._replace(network=case.network._replace(cables=cables))
    assert {row["measure"] for row in rows(broken) if row["verdict"] == "differs"} >= {"lossless_drops"}
