"""From fabrics and what is to be varied to a sweep of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import MissingInput
from lossless.analysis.simulation.question.request import Ask, Limits
from lossless.analysis.simulation.study.answer import parts, posed, why_not
from lossless.ground.basics.errors import ScenarioError
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Executor

    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.grid import Grid
    from lossless.analysis.simulation.study.sweep import Sweep
    from lossless.model.fabric.model import Fabric


def sweep_fabrics(
    fabrics: Iterable[Fabric], grid: Grid, ask: Ask | None, horizon_ns: float, executor: Executor | None
) -> tuple[Sweep, ...]:
    """Return a sweep of each fabric, or of each part of it that is a fabric of its own.

    Raises:
        ScenarioError: what is asked cannot be or would take too long, something of a fabric is not known, or numba is
            missing.
    """
    if (reason := why_not()) is not None:
        raise ScenarioError(reason)
    from lossless.analysis.simulation.engine.run import compiled_before, prepare
    from lossless.analysis.simulation.study.grid import checked
    from lossless.analysis.simulation.study.sweep import sweep

    grid, ask = checked(grid), ask or Ask(limits=Limits(seeds=1))
    found = [_scenario(part, ask) for fabric in fabrics for part in parts(View(fabric))]
    rare = ask.question.dead_nic or ask.question.slow_nic_bps is not None
    if ask.compiling is not None and not compiled_before(rare=rare):
        ask.compiling()
    prepare(rare=rare)
    return tuple(sweep(one, grid, ask.limits, horizon_ns, executor, ask.progress) for one in found)


def _scenario(view: View, ask: Ask) -> Scenario:
    found = posed(view, ask.question)
    if isinstance(found, MissingInput):
        raise ScenarioError(f"nothing to sweep: {found.reason}")
    return found
