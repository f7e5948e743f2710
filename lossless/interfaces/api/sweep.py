"""Sweep: many settings of thresholds, whether each is safe, and how an intent states one of them."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from lossless.analysis.simulation.study.grid import Grid, parse_grid
from lossless.analysis.simulation.study.sweep import Sweep
from lossless.interfaces.api.fabrics import fabrics_to_simulate
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from os import PathLike

    from lossless.analysis.simulation.question.request import SimulationRequest
    from lossless.analysis.simulation.study.grid import ThresholdSetting
    from lossless.formats.intent.class_changes import StatedThresholds

__all__ = ["Grid", "Sweep", "parse_grid", "state_thresholds", "sweep", "write_thresholds"]


def sweep(
    path: str | PathLike[str],
    grid: Grid,
    options: Options = DEFAULT_OPTIONS,
    ask: SimulationRequest | None = None,
    *,
    horizon_ns: int | None = None,
    executor: Executor | None = None,
    cluster: str | None = None,
    waiting: Callable[[], None] | None = None,
) -> tuple[Sweep, ...]:
    """Try every setting of ``grid``, each with the traffic of ``ask``, by default an incast, one seed.

    A lossless class is simulated for ``horizon_ns`` (3 ms for None), a lossy one until its transfers have ended or can
    be harmless no more.

    Any ``executor`` of :mod:`concurrent.futures` may do the work, or a ``cluster`` of dask.distributed: ``local`` or
    ``local:N`` for processes of this machine, or the address of a scheduler; else threads do. ``waiting`` is called
    while that scheduler has no worker yet.

    Raises:
        InputError: the intent or configuration cannot be read.
        ScenarioError: the requested scenario is impossible or would take too long, or numba is missing.
        QuantityError: a cluster that has no meaning.
        ProgramError: no scheduler answers, it is lost, or a worker has another version than this.
        LosslessError: dask.distributed is missing.
    """
    from lossless.analysis.simulation.study.cluster import cluster_executor
    from lossless.analysis.simulation.study.lossy_sweep import sweep_fabrics

    workers: AbstractContextManager[Executor | None]
    workers = nullcontext(executor) if cluster is None else cluster_executor(cluster, waiting)
    return sweep_fabrics(fabrics_to_simulate(path, options), grid, ask, horizon_ns, workers)


def state_thresholds(
    path: str | PathLike[str], class_name: str, setting: ThresholdSetting, options: Options = DEFAULT_OPTIONS
) -> StatedThresholds:
    """Return the intent at a path with a setting of a class's thresholds; every other byte of it stays.

    Raises:
        InputError: there is not exactly one intent, or its switches cannot hold the setting.
    """
    from lossless.formats.inputs.fabrics import intent_at
    from lossless.formats.intent.class_changes import stated_setting

    return stated_setting(intent_at(path), class_name, setting, options.profile_dirs)


def write_thresholds(
    path: str | PathLike[str], class_name: str, setting: ThresholdSetting, options: Options = DEFAULT_OPTIONS
) -> StatedThresholds:
    """State a setting of a class's thresholds in the intent at a path, as :func:`state_thresholds`.

    Raises:
        InputError: there is not exactly one intent, or its switches cannot hold the setting.
        LosslessError: it has changed meanwhile, or cannot be written.
    """
    from lossless.ground.documents.atomic import rewrite

    stated = state_thresholds(path, class_name, setting, options)
    rewrite(stated.file, stated.before, stated.after)
    return stated
