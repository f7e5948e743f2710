"""Workloads on lossy classes: the verdict is that of ``lossless simulate`` for the same traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.simulation.engine.run import prepare
from lossless.api import Limits, Question, SimulationRequest, Workload, evaluate_workload, simulate
from tests.analysis.simulation.lossy_fabrics import TRIMMING, fabric, roce

if TYPE_CHECKING:
    from pathlib import Path

TWO = Limits(seeds=2)
STORAGE = "networks: {storage: {on: fabric, class: CLASS}}\ntelemetry: off"


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


def evaluated(path: Path, **how: Any) -> Any:
    workload = Workload(**{"collective": "all-to-all", "size_bytes": 4 << 20, "gpus": 32, **how})
    estimate, checked = evaluate_workload(path, workload, SimulationRequest(limits=TWO))
    return estimate, checked


@pytest.mark.parametrize("kind", ["trims", "drops", "roce"])
def test_the_verdict_of_a_fan_in_is_that_of_simulate(tmp_path: Path, kind: str) -> None:
    path = roce(tmp_path) if kind == "roce" else fabric(tmp_path, *[(TRIMMING, "")] * (kind == "drops"))
    estimate, checked = evaluated(path)
    question = Question(nics=estimate.incast.senders + 1, size_bytes=estimate.incast.size_bytes)
    (alone,) = simulate(path, ask=SimulationRequest(question, TWO))
    (run,) = alone.runs
    assert checked.runs[-1] == run
    assert run.loss is not None
    own, _ = checked.runs
    assert own.scenario.startswith("all-to-all among 32 NICs")
    assert own.loss is not None
    assert checked.overall == min(own.verdict, run.verdict, key=("unsafe", "on the edge", "safe").index)
    assert checked.not_run == ()


def test_storage_in_the_lossy_class_of_rdma_runs_and_in_another_does_not(tmp_path: Path) -> None:
    how = {"collective": "storage-read", "sources": 8}
    _, checked = evaluated(roce(tmp_path, ("telemetry: off", STORAGE.replace("CLASS", "rdma"))), **how)
    assert [run.loss is not None for run in checked.runs] == [True]
    _, checked = evaluated(roce(tmp_path, ("telemetry: off", STORAGE.replace("CLASS", "default"))), **how)
    assert checked.runs == ()
    assert checked.not_run[0].startswith("storage rides class default, which is lossy")
