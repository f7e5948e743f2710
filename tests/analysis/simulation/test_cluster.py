"""Work on a cluster: the same rows as on one machine, whichever worker is lost, and one message where there is none."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lossless
from lossless.analysis.simulation.engine.run import prepare
from lossless.analysis.simulation.study import cluster
from lossless.analysis.simulation.study.cluster import ClusterExecutor, cluster_executor, local_workers
from lossless.analysis.simulation.study.grid import Grid
from lossless.analysis.simulation.study.sweep import Sweep, WorkerPool
from lossless.ground.basics.errors import ProgramError, QuantityError
from tests.analysis.simulation.test_sweep import THREE, scene, swept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

pytestmark = [pytest.mark.xdist_group("cluster"), pytest.mark.tools("cluster")]

MANY = Grid(dynamic_th=(-8, 0), kmin_bytes=range(20_000, 420_000, 2_500))
"""320 settings: three batches."""


@pytest.fixture(scope="module")
def two() -> Iterator[ClusterExecutor]:
    prepare()
    with cluster_executor("local:2") as executor:
        yield executor


def pids(executor: ClusterExecutor) -> set[int]:
    return set(executor._client.run(os.getpid).values())


def pool_of(
    work: Callable[..., list[Any]], task: Any, executor: ClusterExecutor
) -> WorkerPool[Any, int, Any]:
    return WorkerPool(work, task, executor, None)


@cache
def on_one_machine() -> Sweep:
    return swept(scene(), MANY)


def test_a_cluster_gives_the_rows_of_one_machine(two: ClusterExecutor) -> None:
    assert swept(scene(), limits=THREE, executor=two) == swept(scene(), limits=THREE)
    assert swept(scene(), MANY, executor=two) == on_one_machine()


def test_a_sweep_loses_nothing_when_a_worker_is_killed_on_the_way(two: ClusterExecutor) -> None:
    before, killed = pids(two), list[int]()

    def kill_one(_done: int, _of: int) -> None:
        if not killed:
            killed.append(min(before))
            os.kill(min(before), signal.SIGKILL)

    assert swept(scene(), MANY, executor=two, progress=kill_one) == on_one_machine()
    two._client.wait_for_workers(2)
    assert not {*killed} & pids(two)


def dying(folder: str, batch: Sequence[int], *_stopping: object) -> list[int]:
    """Square numbers, but the first worker that comes to the batch with a 3 in it is killed at it."""
    killed = Path(folder, "killed")
    if 3 in batch and not killed.exists():
        killed.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return [number**2 for number in batch]


def test_what_a_worker_was_at_when_it_was_killed_is_done_by_another(
    two: ClusterExecutor, tmp_path: Path
) -> None:
    with pool_of(dying, str(tmp_path), two) as pool:
        batches = pool.batches(range(1000), 1)
        assert [len(batch) for batch in batches] == [100] * 10
        results = [square for batch in pool.map(batches) for square in batch]
    assert results == [number**2 for number in range(1000)]
    assert (tmp_path / "killed").exists()


def test_a_batch_that_kills_every_worker_is_given_up(two: ClusterExecutor) -> None:
    from distributed import KilledWorker
    from distributed.core import Status
    from distributed.scheduler import WorkerState

    last = WorkerState(
        address="tls://10.0.0.3:40331", status=Status.running, pid=1, name="w", memory_limit=0, local_directory="",
        nanny="", nthreads=1, server_id="w", scheduler=None,
    )  # fmt: skip
    assert str(two._why(KilledWorker("batch", last, 3))) == (
        "4 workers died one after another of the same batch, the last at tls://10.0.0.3:40331; its log says why (often"
        " too little memory)"
    )


@pytest.mark.parametrize(
    ("settings", "sizes"), [(1, [1]), (99, [99]), (199, [199]), (250, [125, 125]), (300, [100] * 3)]
)
def test_a_batch_has_a_hundred_settings_or_all(settings: int, sizes: list[int], two: ClusterExecutor) -> None:
    with pool_of(dying, "", two) as pool:
        assert [len(batch) for batch in pool.batches(range(settings), 1)] == sizes


def waiting(folder: str, batch: Sequence[int], unwanted: Callable[[], bool]) -> list[int]:
    Path(folder, "begun").touch()
    while not unwanted():
        time.sleep(0.01)
    Path(folder, "ended").touch()
    return list(batch)


def until(there: Callable[[], bool]) -> None:
    for _ in range(12_000):
        if there():
            return
        time.sleep(0.01)
    pytest.fail("nothing came in two minutes")


def test_what_nobody_waits_for_is_stopped_on_the_worker(two: ClusterExecutor, tmp_path: Path) -> None:
    with pool_of(waiting, str(tmp_path), two) as pool:
        pool._submit([1], 0)
        until((tmp_path / "begun").exists)
    until((tmp_path / "ended").exists)


def failing(_task: None, _batch: Sequence[int], *_stopping: object) -> list[int]:
    raise ZeroDivisionError


def test_a_mistake_of_ours_is_shown_as_it_is(two: ClusterExecutor) -> None:
    with pool_of(failing, None, two) as pool, pytest.raises(ZeroDivisionError):
        next(pool.map([[1]]))


def test_workers_of_another_version_are_refused(
    two: ClusterExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lossless, "__version__", "9.9")
    different = cluster.different_version(two._client)
    assert str(different).partition(" has ")[2] == (
        "lossless 0.1.0, here is 9.9; install the same version on both"
    )
    assert str(different).startswith("the worker at tls://127.0.0.1:")


def not_there(*_given: object) -> None:
    raise ModuleNotFoundError


def test_workers_and_schedulers_without_lossless_are_refused(
    two: ClusterExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cluster.different_version(two._client) is None
    monkeypatch.setattr(two._client, "run_on_scheduler", not_there)
    said = r"the scheduler at tls://127\.0\.0\.1:\d+ has no lossless, here is 0\.1\.0; install the same version on both"
    assert re.fullmatch(said, str(cluster.different_version(two._client)))
    monkeypatch.setattr(two._client, "run", lambda *_given, **_named: {"tcp://a:1": ModuleNotFoundError()})
    assert str(cluster.different_version(two._client)).startswith("the worker at tcp://a:1 has no lossless, ")


def test_a_worker_of_another_version_that_comes_later_does_nothing(
    two: ClusterExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "__version__", "9.9")
    with (
        pool_of(dying, "", two) as pool,
        pytest.raises(ProgramError, match=r"has lossless 0\.1\.0, here is 9\.9; install the same version"),
    ):
        next(pool.map([[1]]))


@contextmanager
def scheduler(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start a scheduler without workers in a process of its own, and say where it listens."""
    stated = folder / "scheduler.json"
    module, *options = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
    options += ["--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(stated)]
    command = [sys.executable, "-m", module, *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(
                lambda: process.poll() is not None or (stated.exists() and stated.read_text().endswith("}"))
            )
            yield process, json.loads(stated.read_text())["address"]
        finally:
            process.kill()


def test_a_scheduler_without_workers_is_waited_for_and_its_loss_is_one_message(tmp_path: Path) -> None:
    told: list[str] = []
    with (
        scheduler(tmp_path) as (process, address),
        cluster_executor(address, lambda: told.append("waiting")) as executor,
        pool_of(waiting, str(tmp_path), executor) as pool,
    ):
        assert told == ["waiting"]
        pool._submit([1], 0)
        process.kill()
        with pytest.raises(ProgramError) as raised:
            next(pool.map([]))
    assert str(raised.value) == f"the scheduler at {address} was lost; nothing is reported"


@pytest.mark.parametrize("place", ["", "local:", "local:0", "local:two", "scheduler", "tcp://scheduler"])
def test_a_place_that_is_none_is_refused(place: str) -> None:
    with pytest.raises(QuantityError, match="is no cluster; expected"):
        local_workers(place)


def test_places_are_this_machine_or_a_scheduler() -> None:
    assert local_workers("local") == os.cpu_count()
    assert local_workers("local:3") == 3
    assert local_workers("tcp://10.0.0.1:8786") is None
    assert local_workers("scheduler.dask:8786") is None
