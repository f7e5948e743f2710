"""Load on PFC by traffic without a standing overload: by the requested traffic, or by a permutation for a stress test.

A large incast, and a NIC that is dead or slow, pause most of any fabric. They show whether frames are lost, not whether
congestion control does its part.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import PfcLoad
from lossless.analysis.simulation.study.study import study
from lossless.analysis.simulation.study.verdict import describe
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import MissingInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossless.analysis.simulation.question.request import Limits, Question
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.study import Study

SEEDS = 3
"""Random seeds of the permutation that is run beside a stress test: each is another choice of who sends to whom."""
_NOBODY_SLOWS_DOWN = "no congestion control runs: PFC carries what load there is"


def pfc_load(
    results: Study, limits: Limits, put: Callable[[Question], Scenario | MissingInput]
) -> PfcLoad | MissingInput:
    """Return the load on PFC of the traffic that was run, or of a permutation; ``put`` makes a scenario of a question.

    Without congestion control there is nothing to compare PFC with.
    """
    scenario = results.scenario
    if scenario.dcqcn is None:
        return MissingInput(_NOBODY_SLOWS_DOWN)
    if not _is_stress_test(scenario.question):
        return _measured(results)
    try:
        posed = put(_permutation(scenario.question))
        if isinstance(posed, MissingInput):
            return posed
        return _measured(study(posed, limits._replace(seeds=min(limits.seeds, SEEDS))))
    except LosslessError as error:
        return MissingInput(f"a permutation cannot be run: {error}")


def _is_stress_test(question: Question) -> bool:
    overload = question.pattern == "incast" and not question.moves
    return overload or question.dead_nic or question.slow_nic_bps is not None


def _permutation(question: Question) -> Question:
    return question._replace(pattern="permutation", moves=(), called="", dead_nic=False, slow_nic_bps=None)


def _measured(results: Study) -> PfcLoad:
    seeds = results.seeds
    by_length = sorted(seeds, key=lambda seed: seed.pauses.longest_ns / seed.pauses.longest_limit_ns)
    longest = by_length[len(seeds) // 2].pauses
    return PfcLoad(
        scenario=describe(results.scenario),
        seeds=len(seeds),
        nics_paused=median(seed.propagation.nics / max(1, seed.propagation.all_nics) for seed in seeds),
        longest_pause_us=longest.longest_ns / 1000,
        longest_pause_limit_us=longest.longest_limit_ns / 1000,
        time_in_pause=median(seed.pauses.nic_share for seed in seeds),
    )
