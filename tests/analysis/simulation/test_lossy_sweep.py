"""Sweeps of lossy classes: each row is the answer of ``lossless simulate`` for the intent that states its setting."""

from __future__ import annotations

import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.simulation.engine.run import prepare
from lossless.analysis.simulation.study.cluster import ClusterExecutor, cluster_executor
from lossless.api import Grid, Limits, Question, SimulationRequest, simulate, sweep, write_thresholds
from lossless.ground.basics.errors import InputError, ScenarioError
from tests.analysis.simulation.lossy_fabrics import SHORT, TRIMMING, fabric, roce

pytestmark = pytest.mark.tools("runs")

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lossless.analysis.simulation.study.sweep import SweepRow
    from lossless.api import Sweep

SEEDS = 2
PERMUTATION = Question(pattern="permutation", size_bytes=1 << 20)
INCAST = Question(size_bytes=SHORT)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


def swept(path: Path, grid: Grid, question: Question = INCAST, **others: Any) -> Sweep:
    (result,) = sweep(path, grid, ask=SimulationRequest(question, Limits(seeds=SEEDS)), **others)
    return result


def simulated(path: Path, question: Question = INCAST) -> tuple[Any, ...]:
    (result,) = simulate(path, ask=SimulationRequest(question, Limits(seeds=SEEDS)))
    (run,) = result.runs
    return run.verdict, run.loss, round(run.goodput_bps), int(run.egress_bytes.most)


def shown(row: SweepRow) -> tuple[Any, ...]:
    return row.verdict, row.loss, row.goodput_bps, row.egress_bytes


def alone(path: Path, row: SweepRow, question: Question) -> tuple[Any, ...]:
    """Return what an intent shows that states a row's setting."""
    copy = path.parent / "alone" / "fabric.yaml"
    copy.parent.mkdir(exist_ok=True)
    if row.setting.trimming == 0:
        copy.write_text(path.read_text().replace(TRIMMING, ""))
    else:
        shutil.copy(path, copy)
    setting = row.setting._replace(trimming=None)
    if any(value is not None for value in setting):
        write_thresholds(copy, "rdma", setting)
    return simulated(copy, question)


UEC = Grid(queue_dynamic_th=(-7, -4, 1), trimming=(1, 0))
CURVES = Grid(kmin_bytes=(20_000, 90_000), kmax_bytes=(90_000, 900_000), queue_dynamic_th=(-6, -2))


@pytest.mark.parametrize(
    ("uec", "grid", "question"),
    [
        (True, UEC, INCAST),
        (True, CURVES, INCAST),
        (False, CURVES._replace(pmax_percent=(7, 100)), INCAST._replace(size_bytes=1 << 20)),
        (False, Grid(queue_dynamic_th=(-7, 1)), PERMUTATION),
        (False, Grid(queue_dynamic_th=(-7, 1)), PERMUTATION._replace(load_balancing="spray")),
    ],
)
def test_a_row_is_what_simulate_says_of_the_intent_that_states_it(
    tmp_path: Path, uec: bool, grid: Grid, question: Question
) -> None:
    path = fabric(tmp_path) if uec else roce(tmp_path)
    result = swept(path, grid, question)
    assert len(result.rows) == grid.size - result.skipped
    assert shown(result.configured) == simulated(path, question)
    for row in result.rows:
        assert shown(row) == alone(path, row, question), row.setting
    assert question.pattern != "incast" or len({row.loss for row in result.rows}) > 1


def test_the_best_is_first(tmp_path: Path) -> None:
    result = swept(fabric(tmp_path), UEC)
    ranks = [("safe", "on the edge", "unsafe").index(row.verdict) for row in result.rows]
    assert ranks == sorted(ranks)
    assert {row.verdict for row in result.rows} > {"safe"}
    safe = [row.loss.slowdown for row in result.rows if row.verdict == "safe" and row.loss is not None]
    assert safe == sorted(safe)


def plain(rows: Sequence[SweepRow]) -> list[str]:
    return [repr(row) for row in rows]


@pytest.mark.tools("cluster")
@pytest.mark.xdist_group("cluster")
def test_processes_and_a_cluster_give_the_same_rows_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ClusterExecutor, "least", 6)
    grid = Grid(kmin_bytes=range(20_000, 100_000, 6_400), queue_dynamic_th=(-6,))
    path, question = fabric(tmp_path), INCAST._replace(nics=17)
    here = swept(path, grid, question)
    assert len(here.rows) == 13
    assert len({row.marks for row in here.rows}) > 1
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        assert plain(swept(path, grid, question, executor=executor).rows) == plain(here.rows)
    with cluster_executor("local:2") as executor:
        assert plain(swept(path, grid, question, executor=executor).rows) == plain(here.rows)


@pytest.mark.parametrize(
    ("uec", "grid", "message"),
    [
        (True, Grid(dynamic_th=(1,)), "class rdma is lossy, and its queues limit it; vary queue_dynamic_th"),
        (True, Grid(headroom_bytes=(1,)), "headroom cannot be varied: class rdma is lossy"),
        (False, Grid(trimming=(1, 0)), "nothing states what class rdma is trimmed into"),
        (True, Grid(queue_dynamic_th=(-8,)), "queue_dynamic_th is -8; expected -7 to 7"),
    ],
)
def test_what_a_lossy_class_does_not_have_is_refused(
    tmp_path: Path, uec: bool, grid: Grid, message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        swept(fabric(tmp_path) if uec else roce(tmp_path), grid)


def test_a_horizon_of_a_lossy_class_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="followed until its transfers have ended"):
        swept(fabric(tmp_path), UEC, horizon_ns=3_000_000)


def test_queues_with_a_fixed_limit_have_no_alpha_to_vary(tmp_path: Path) -> None:
    path = roce(tmp_path, ("dynamic_th: -3", "static_th: 2 MB"))
    with pytest.raises(ScenarioError, match=r"no dynamic threshold; state classes\.rdma\.queue\.dynamic_th"):
        swept(path, Grid(queue_dynamic_th=(1,)))


def test_no_trimming_is_not_written(tmp_path: Path) -> None:
    path = fabric(tmp_path)
    (row,) = swept(path, Grid(trimming=(0,))).rows
    with pytest.raises(InputError, match="take trimming out by hand"):
        write_thresholds(path, "rdma", row.setting)
