"""Sweeps of fabrics over a grid of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.simulation.question.request import Limits, SimulationRequest
from lossless.analysis.simulation.study.answer import checked_scenario, compile_for, parts, why_not
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.findings import MissingInput
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.grid import Grid
    from lossless.analysis.simulation.study.sweep import Sweep
    from lossless.model.fabric.model import Fabric

HORIZON_NS = 3_000_000
"""How long a setting of a lossless class is followed: ten rate-increase timers of a ConnectX."""


def sweep_fabrics(
    fabrics: Iterable[Fabric],
    grid: Grid,
    request: SimulationRequest | None,
    horizon_ns: float | None,
    executor: AbstractContextManager[Executor | None],
) -> tuple[Sweep, ...]:
    """Return a sweep of each fabric, or of each part of it that is a fabric of its own.

    A lossless class is followed for ``horizon_ns``, :data:`HORIZON_NS` if that is None; a lossy one takes none.

    ``executor`` is entered after the checks of all scenarios.

    Raises:
        ScenarioError: the request is invalid or would take too long, an input is missing, or numba is
            missing.
    """
    if (reason := why_not()) is not None:
        raise ScenarioError(reason)
    from lossless.analysis.simulation.study.grid import checked

    grid, request = checked(grid), request or SimulationRequest(limits=Limits(seeds=1))
    scenarios = [
        _scenario(part, request) for fabric in fabrics for part in parts(View(with_computed_buffers(fabric)))
    ]
    compile_for(request)
    with executor as entered:
        return tuple(_swept(scenario, grid, request, horizon_ns, entered) for scenario in scenarios)


def _swept(
    scenario: Scenario,
    grid: Grid,
    request: SimulationRequest,
    horizon_ns: float | None,
    executor: Executor | None,
) -> Sweep:
    if not scenario.is_lossy:
        from lossless.analysis.simulation.study.sweep import sweep

        own_ns = HORIZON_NS if horizon_ns is None else horizon_ns
        return sweep(scenario, grid, request.limits, own_ns, executor, request.progress)
    from lossless.analysis.simulation.study.lossy_sweep import lossy_sweep

    if horizon_ns is not None:
        raise ScenarioError(
            f"--horizon: class {scenario.classes[0].name} is lossy, and followed until its transfers have ended or"
            " can be harmless no more; leave it out"
        )
    return lossy_sweep(scenario, grid, request.limits, executor, request.progress)


def _scenario(view: View, request: SimulationRequest) -> Scenario:
    scenario = checked_scenario(view, request.question)
    if isinstance(scenario, MissingInput):
        raise ScenarioError(f"nothing to sweep: {scenario.reason}")
    return scenario
