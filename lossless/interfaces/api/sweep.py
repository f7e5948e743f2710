"""Sweep: many settings of thresholds, and whether each is safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.study.grid import Grid, parse_grid
from lossless.interfaces.api.fabrics import fabrics_to_simulate
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from os import PathLike

    from lossless.analysis.simulation.question.request import SimulationRequest
    from lossless.analysis.simulation.study.sweep import Sweep

__all__ = ["Grid", "parse_grid", "sweep"]


def sweep(
    path: str | PathLike[str],
    grid: Grid,
    options: Options = DEFAULT_OPTIONS,
    ask: SimulationRequest | None = None,
    *,
    horizon_ns: int = 3_000_000,
    executor: Executor | None = None,
) -> tuple[Sweep, ...]:
    """Try every setting of ``grid``, each for ``horizon_ns`` of the traffic of ``ask``, by default an incast, one seed.

    Any ``executor`` of :mod:`concurrent.futures` may do the work, also one of processes or machines; else threads do.

    Raises:
        InputError: the intent or configuration cannot be read.
        ScenarioError: what is asked cannot be, would take too long, or numba is missing.
    """
    from lossless.analysis.simulation.study.sweeps import sweep_fabrics

    return sweep_fabrics(fabrics_to_simulate(path, options), grid, ask, horizon_ns, executor)
