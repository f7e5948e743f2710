"""From a view of a fabric and a question to the verdict of runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.simulation.question.request import FOREIGN_SETTINGS, INTERPRETED
from lossless.ground.basics.errors import NotHereError, ScenarioError
from lossless.ground.basics.extras import install_command
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.buffers.verdict import PfcLoad
    from lossless.analysis.simulation.question.request import Question, SimulationRequest
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.peer_reaction import PeerReactionLimit
    from lossless.analysis.simulation.study.recording import Recording
    from lossless.analysis.simulation.study.study import Study
    from lossless.analysis.simulation.study.verdict import RunVerdict


_NUMBA_SETTINGS = ".numba_config.yaml"


def has_numba() -> bool:
    """Return whether the packet-level model can be compiled here."""
    from importlib.util import find_spec

    return find_spec("numba") is not None and find_spec("numpy") is not None


def why_not() -> str | None:
    """Return why the model cannot run on this machine, None if it can."""
    if not has_numba():
        return f"numba is not installed: {install_command('sim')} adds the packet-level model"
    # numba reads it from the current folder as it is imported, and compiles by it: a checkout is not to be trusted.
    # Source: numba 0.68.1 numba/core/config.py (_EnvReloader.update).
    if os.path.lexists(_NUMBA_SETTINGS):
        return FOREIGN_SETTINGS
    return INTERPRETED if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") else None


class Answer(NamedTuple):
    """A verdict for each part of a fabric, the reasons of parts that were not run, and recordings for pictures.

    ``pfc_loads`` has the traffic under PFC for each verdict, and changes none.
    """

    runs: tuple[RunVerdict, ...] = ()
    not_run: str | None = None
    recordings: tuple[Recording, ...] = ()
    pfc_loads: tuple[PfcLoad | MissingInput, ...] = ()


def answer(view: View, request: SimulationRequest) -> Answer:
    """Return the verdicts of runs for a fabric.

    Raises:
        ScenarioError: the request is invalid, or would take too long.
    """
    if (reason := why_not()) is not None:
        return Answer(not_run=reason)
    from lossless.analysis.simulation.study.advice import advice
    from lossless.analysis.simulation.study.verdict import run_verdict

    view = View(with_computed_buffers(view.fabric))
    verdicts: list[RunVerdict] = []
    recordings: list[Recording] = []
    reasons: list[str] = []
    loads: list[PfcLoad | MissingInput] = []
    for part, scenario in scenarios_of(view, request.question):
        if isinstance(scenario, MissingInput):
            reasons.append(scenario.reason)
            continue
        results, reaction_limit = run_study(part, scenario, request)
        verdicts.append(run_verdict(results, advice(part, results, request.limits), reaction_limit))
        recordings += [_recorded(scenario, results, verdicts[-1])] if request.record else []
        loads += [load_of(part, results, request)] if request.pfc_load and not scenario.is_lossy else []
    not_run = "; ".join(dict.fromkeys(reasons)) or None
    return Answer(tuple(verdicts), not_run, tuple(recordings), tuple(loads))


def load_of(view: View, results: Study, request: SimulationRequest) -> PfcLoad | MissingInput:
    """Return the load on PFC in one part of a fabric."""
    from lossless.analysis.simulation.study.pfc_load import pfc_load

    return pfc_load(results, request.limits, lambda question: checked_scenario(view, question))


def scenarios_of(view: View, question: Question) -> Iterator[tuple[View, Scenario | MissingInput]]:
    """Yield each part of a fabric with its scenario, or the reason why the question does not apply there.

    A named port has to be in one of the parts; the others are not run, with this as their reason.

    Raises:
        ScenarioError: the request is invalid.
    """
    elsewhere: list[tuple[View, NotHereError]] = []
    here = 0
    for part in parts(view):
        try:
            scenario = checked_scenario(part, question)
        except NotHereError as error:
            elsewhere.append((part, error))
            continue
        here += not isinstance(scenario, MissingInput)
        yield part, scenario
    if elsewhere and not here:
        raise elsewhere[0][1]
    for part, reason in elsewhere:
        yield part, MissingInput(f"{part.fabric.switches[0].name} is not run: {reason}")


def checked_scenario(view: View, question: Question) -> Scenario | MissingInput:
    """Return the scenario of one part of a fabric, or the reason why the model cannot simulate it.

    Raises:
        ScenarioError: the request is invalid.
    """
    from lossless.analysis.simulation.engine.check import check
    from lossless.analysis.simulation.question.instance import instantiate
    from lossless.analysis.simulation.question.scenario import scenario

    posed = scenario(view, question)
    if isinstance(posed, MissingInput):
        return posed
    try:
        instance = instantiate(posed, 1)
        check(instance.network, {node: instance.names[node] for node in range(instance.network.nodes)})
    except ScenarioError as error:
        return MissingInput(f"the model cannot follow this fabric: {error}")
    return posed


def compile_for(request: SimulationRequest) -> None:
    """Compile the model for a request, or load it from the cache; report a compilation, which takes long."""
    from lossless.analysis.simulation.engine.run import compiled_before, prepare

    rare = request.record or request.question.dead_nic or request.question.slow_nic_bps is not None
    if request.compiling is not None and not compiled_before(rare=rare):
        request.compiling()
    prepare(rare=rare)


def run_study(
    view: View, scenario: Scenario, request: SimulationRequest
) -> tuple[Study, PeerReactionLimit | None]:
    """Return the results of all seeds of a scenario, and the limit on peers' reaction time if drops depend on it."""
    from lossless.analysis.simulation.study.peer_reaction import peer_reaction_limit
    from lossless.analysis.simulation.study.study import study

    compile_for(request)
    results = study(scenario, request.limits, request.progress)
    drops = not scenario.is_lossy and any(seed.drops for seed in results.seeds)
    return results, peer_reaction_limit(view, results, request.limits) if drops else None


def _recorded(scenario: Scenario, results: Study, verdict: RunVerdict) -> Recording:
    from lossless.analysis.simulation.question.instance import instantiate
    from lossless.analysis.simulation.study.recording import record

    first = results.seeds[0]
    return record(instantiate(scenario, first.seed), first.seed, first.outcome.ended_ns, verdict.scenario)


def parts(view: View) -> Iterator[View]:
    """Yield a declared fabric as a whole; of deployed devices each linked group, and each single device."""
    fabric = view.fabric
    if fabric.declared:
        yield view
        return
    linked = _linked(view)
    for names in {id(names): names for names in linked.values()}.values():
        switches = tuple(switch for switch in fabric.switches if switch.name in names)
        yield View(fabric._replace(switches=switches, links=tuple(x for x in fabric.links if x.a in names)))
    for switch, _ in view.identical:
        if switch.name not in linked:
            yield View(fabric._replace(switches=(switch,), links=()))


def _linked(view: View) -> dict[str, set[str]]:
    """Return for each switch that has a link to another all that it is connected with."""
    linked: dict[str, set[str]] = {}
    for link in view.fabric.links:
        joined = linked.get(link.a, {link.a}) | linked.get(link.b, {link.b})
        linked.update(dict.fromkeys(joined, joined))
    return linked
