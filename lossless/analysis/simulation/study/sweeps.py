"""From fabrics and what is to be varied to a sweep of each."""

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


def sweep_fabrics(
    fabrics: Iterable[Fabric],
    grid: Grid,
    request: SimulationRequest | None,
    horizon_ns: float,
    executor: AbstractContextManager[Executor | None],
) -> tuple[Sweep, ...]:
    """Return a sweep of each fabric, or of each part of it that is a fabric of its own.

    ``executor`` is entered once it is known that there is something to do.

    Raises:
        ScenarioError: what is asked cannot be or would take too long, something of a fabric is not known, or numba is
            missing.
    """
    if (reason := why_not()) is not None:
        raise ScenarioError(reason)
    from lossless.analysis.simulation.study.grid import checked
    from lossless.analysis.simulation.study.sweep import sweep

    grid, request = checked(grid), request or SimulationRequest(limits=Limits(seeds=1))
    scenarios = [
        _scenario(part, request) for fabric in fabrics for part in parts(View(with_computed_buffers(fabric)))
    ]
    compile_for(request)
    with executor as entered:
        return tuple(
            sweep(scenario, grid, request.limits, horizon_ns, entered, request.progress)
            for scenario in scenarios
        )


def _scenario(view: View, request: SimulationRequest) -> Scenario:
    scenario = checked_scenario(view, request.question)
    if isinstance(scenario, MissingInput):
        raise ScenarioError(f"nothing to sweep: {scenario.reason}")
    if scenario.is_lossy:
        raise ScenarioError(
            f"class {scenario.classes[0].name} is lossy: sweeps are of thresholds of lossless classes"
        )
    return scenario
