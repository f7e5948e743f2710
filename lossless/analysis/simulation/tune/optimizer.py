"""More than five parameters: a multi-objective evolutionary search (NSGA-II, Deb et al. 2002) by optuna.

optuna proposes settings and receives results in batches of one size, in order, by a sampler with a seed: the same input
has the same answer on any machine. It starts from the best settings of the grid.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lossless.analysis.buffers.verdict import BUFFER_VERDICTS
from lossless.analysis.simulation.tune.space import in_order
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.extras import install_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.simulation.study.settings import TrialSetting
    from lossless.analysis.simulation.tune.search import ThresholdSearch
    from lossless.analysis.simulation.tune.space import SearchSpace

_POPULATION = 50
"""Settings of one generation, which optuna proposes at once."""
_SEED = 1
_BARREN = 20
"""Generations without a setting that has not been tried and marks before PFC, after which the search ends."""
_SAFE = BUFFER_VERDICTS.index("safe")


def require_optuna() -> None:
    """Refuse to go on without optuna.

    Raises:
        LosslessError: it is not installed.
    """
    if find_spec("optuna") is None:
        raise LosslessError(f"--dcqcn needs optuna: {install_command('tune')}")


def search_optuna(search: ThresholdSearch, space: SearchSpace, known: Sequence[tuple[int, ...]]) -> None:
    """Try settings that optuna proposes, until the limit is reached; it starts from the ``known`` points."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.NSGAIISampler(population_size=_POPULATION, seed=_SEED)
    study = optuna.create_study(directions=["minimize"] * 4, sampler=sampler)
    for point in known:
        study.enqueue_trial(dict(zip((axis.name for axis in space.axes), point, strict=True)))
    barren = 0
    while search.left > 0 and barren < _BARREN:
        left = search.left
        _generation(study, search, space)
        barren = barren + 1 if search.left == left else 0


def _generation(study: Any, search: ThresholdSearch, space: SearchSpace) -> None:
    """Request a population, try it, and report the results to optuna; settings that may not be tried fail."""
    import optuna

    asked = [_ask(study, space) for _ in range(_POPULATION)]
    search.attempt((setting for _, setting in asked), "optuna")
    shown = {row.setting: row.kpis for row in search.rows}
    for trial, setting in asked:
        if setting in shown:
            seen = shown[setting]
            trial.set_constraint("verdict", float(_SAFE - BUFFER_VERDICTS.index(seen.verdict)))
            study.tell(trial, seen.objectives)
        else:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)


def _ask(study: Any, space: SearchSpace) -> tuple[Any, TrialSetting]:
    """Return a trial of optuna's with its setting; Kmin and Kmax change places where they are out of order."""
    from optuna.distributions import IntDistribution

    trial = study.ask(
        {axis.name: IntDistribution(axis.least, axis.most, log=axis.geometric) for axis in space.axes}
    )
    values = {axis.name: axis.nearest(trial.params[axis.name]) for axis in space.axes}
    if not in_order(values):
        values |= {"kmin": values["kmax"], "kmax": values["kmin"]}
    return trial, space.setting([values[axis.name] for axis in space.axes])
