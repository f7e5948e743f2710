"""Simulation of a fabric for a question: verdicts of runs, problems for lint rules, and the load on PFC.

Each part of a fabric (:func:`parts`) runs the requested scenario. All paths of an incast end at one port, so they never
close a cycle; where other paths could close one, all-to-all is run too for lint rules.

The load on PFC is that of traffic without a standing overload: of the requested traffic, or of a permutation for a
stress test. A large incast, and a NIC that is dead or slow, pause most of any fabric. They show whether frames are
lost, not whether congestion control does its part.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.buffers.simulation_facts import (
    EgressRefusal,
    HeadroomUse,
    LongestPause,
    PeerResponse,
    PortRef,
    SimulationFacts,
)
from lossless.analysis.buffers.verdict import BUFFER_VERDICTS
from lossless.analysis.simulation.engine import GENERIC
from lossless.analysis.simulation.question.request import FOREIGN_SETTINGS, INTERPRETED, SimulationRequest
from lossless.ground.basics.errors import LosslessError, NotHereError, ScenarioError
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.programs import install_command
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.analysis.buffers.verdict import BufferVerdict, FabricVerdict, PfcLoad
    from lossless.analysis.simulation.question.request import Question
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.calculated_load import CalculatedLoad
    from lossless.analysis.simulation.study.load import Load
    from lossless.analysis.simulation.study.measure import GroupUse, NamedLinkEnd, PeakComparison, SeedResult
    from lossless.analysis.simulation.study.recording import Recording
    from lossless.analysis.simulation.study.study import PeerReactionLimit, Study
    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.ground.basics.errors import Problem


_NUMBA_SETTINGS = ".numba_config.yaml"


def has_numba() -> bool:
    """Return whether numba and NumPy are installed, which the packet-level model needs."""
    from importlib.util import find_spec

    return find_spec("numba") is not None and find_spec("numpy") is not None


def why_not() -> str | None:
    """Return the reason why the model cannot run on this machine, None if it can."""
    if not has_numba():
        return f"numba is not installed: {install_command('sim')} adds the packet-level model"
    # numba reads it from the current folder as it is imported, and compiles by it: a checkout is not to be trusted.
    # Source: numba 0.68.1 numba/core/config.py (_EnvReloader.update).
    if os.path.lexists(_NUMBA_SETTINGS):
        return FOREIGN_SETTINGS
    return INTERPRETED if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") else None


class Answer(NamedTuple):
    """A verdict for each part of a fabric, the reasons of parts that were not run, and recordings for pictures.

    ``pfc_loads`` has the load on PFC in each lossless scenario, if requested, ``loads`` whether a permutation is
    carried after a stress test; neither changes a verdict.
    """

    runs: tuple[RunVerdict, ...] = ()
    not_run: str | None = None
    recordings: tuple[Recording, ...] = ()
    pfc_loads: tuple[PfcLoad | MissingInput, ...] = ()
    loads: tuple[Load | CalculatedLoad | MissingInput, ...] = ()


class SimulationResult(NamedTuple):
    """The buffer verdicts on one fabric: from closed forms, and from runs of the packet-level model.

    ``not_run`` is the reason why the model did not run, or not on every part; ``overall`` is the worst of both.
    ``recordings`` are the data of pictures, if requested. ``pfc_loads`` have the load on PFC, ``loads`` whether a
    permutation is carried: they change no verdict. ``other_classes`` could be run too, and were not since no class was
    requested. ``peaks`` compare the measurements of switches with both, if captures were given; ``problems`` are those
    of reading the captures.
    """

    closed: FabricVerdict
    runs: tuple[RunVerdict, ...] = ()
    not_run: str | None = None
    recordings: tuple[Recording, ...] = ()
    pfc_loads: tuple[PfcLoad | MissingInput, ...] = ()
    loads: tuple[Load | CalculatedLoad | MissingInput, ...] = ()
    other_classes: tuple[str, ...] = ()
    peaks: tuple[PeakComparison, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def overall(self) -> BufferVerdict:
        """The worst of the known verdicts of closed forms and runs."""
        return min((self.closed.overall, *(run.verdict for run in self.runs)), key=BUFFER_VERDICTS.index)

    @property
    def not_checked(self) -> tuple[str, ...]:
        """Properties that closed forms could not check, and the classes that were not run."""
        not_run = (
            f"the packet-level model did not run class {name}; --class {name} runs it"
            for name in self.other_classes
        )
        return (*self.closed.not_checked, *not_run)


def answer(view: View, request: SimulationRequest) -> Answer:
    """Return the verdicts of simulation runs for each part of a fabric, or the reason why there are none.

    Raises:
        ScenarioError: the request is invalid, or would take too long.
    """
    if (reason := why_not()) is not None:
        wanted = request.pfc_load and view.fabric.declared
        return Answer(not_run=reason, loads=(MissingInput(reason),) if wanted else ())
    from lossless.analysis.simulation.study.advice import advice
    from lossless.analysis.simulation.study.verdict import run_verdict

    view = View(with_computed_buffers(view.fabric))
    verdicts: list[RunVerdict] = []
    recordings: list[Recording] = []
    reasons: list[str] = []
    pfc_loads: list[PfcLoad | MissingInput] = []
    loads: list[Load | CalculatedLoad | MissingInput] = []
    for part, scenario in scenarios_of(view, request.question):
        if isinstance(scenario, MissingInput):
            reasons.append(scenario.reason)
            loads += _by_calculation(part, request, scenario.reason)
            continue
        results, reaction_limit = run_study(part, scenario, request)
        verdicts.append(run_verdict(results, advice(part, results, request.limits), reaction_limit))
        recordings += [_recorded(scenario, results, verdicts[-1])] if request.record else []
        if request.pfc_load and not scenario.is_lossy:
            load, pfc_load = load_of(part, results, request, with_causes=True)
            pfc_loads.append(pfc_load)
            by_paths = _by_calculation(part, request, load.reason) if isinstance(load, MissingInput) else []
            loads += by_paths or ([] if load is None else [load])
        else:
            loads += _by_calculation(part, request, _LOSSY)
    not_run = "; ".join(dict.fromkeys(reasons)) or None
    return Answer(tuple(verdicts), not_run, tuple(recordings), tuple(pfc_loads), tuple(loads))


def load_of(
    view: View, results: Study, request: SimulationRequest, *, with_causes: bool = False
) -> tuple[Load | MissingInput | None, PfcLoad | MissingInput]:
    """Return the load that one part of a fabric carries, and the load on PFC there.

    The traffic is the requested one, or a permutation where that was a stress test; only the permutation runs with the
    causes of lost rate, and without them the first result is None or a missing input. Without congestion control there
    is nothing to compare PFC with.
    """
    from lossless.analysis.simulation.study.load import load_of as run_load, pfc_load, pose_load

    scenario = results.scenario
    unknown = MissingInput(_NOBODY_SLOWS_DOWN) if scenario.dcqcn is None else None
    if not _is_stress_test(scenario.question):
        return None, unknown or pfc_load(scenario, results.seeds)
    if unknown is not None and not with_causes:
        return None, unknown
    try:
        posed = pose_load(partial(checked_scenario, view), _permutation(scenario.question), request.limits)
        if isinstance(posed, MissingInput):
            return posed, unknown or posed
        load, pfc = run_load(posed, request.limits, with_causes=with_causes)
    except LosslessError as error:
        not_run = MissingInput(f"a permutation cannot be run: {error}")
        return not_run, unknown or not_run
    return load, unknown or pfc


def _by_calculation(
    view: View, request: SimulationRequest, reason: str
) -> list[CalculatedLoad | MissingInput]:
    """Return the load of an intent's fabric by calculation where a run would show it after a stress test, else none."""
    from lossless.analysis.simulation.study.calculated_load import calculated_load

    if not (request.pfc_load and view.fabric.declared and _is_stress_test(request.question)):
        return []
    return [calculated_load(view, _permutation(request.question), reason)]


def _is_stress_test(question: Question) -> bool:
    overload = question.pattern == "incast" and not question.moves
    return overload or question.dead_nic or question.slow_nic_bps is not None


def _permutation(question: Question) -> Question:
    return question._replace(
        pattern="permutation", whole_leaves=True, moves=(), called="", dead_nic=False, slow_nic_bps=None
    )


def scenarios_of(view: View, question: Question) -> Iterator[tuple[View, Scenario | MissingInput]]:
    """Yield each part of a fabric with its scenario, or the reason why the question does not apply there.

    A port that the question names has to be in one of the parts; other parts are not run, with this as their reason.

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


def compile_ahead(compiling: Callable[[], None]) -> tuple[str, bool]:
    """Compile the model for all processors of this architecture; return the folder, and whether it was necessary.

    ``compiling`` is called before, as it takes long.

    Raises:
        LosslessError: the model cannot run here, no folder can be written, or numba has been imported.
    """
    reason = why_not()
    if reason is not None:
        raise NotHereError(reason)
    if "numba" in sys.modules:
        raise LosslessError(
            "numba compiles for this processor in this process: compile ahead in one of its own"
        )
    os.environ.update(GENERIC)
    from lossless.analysis.simulation.engine.compiled import folder_to_prepare
    from lossless.analysis.simulation.engine.run import compiled_before, prepare_in

    folder = folder_to_prepare()
    if folder is None:
        raise LosslessError("no folder for machine code can be written: name one, as in NUMBA_CACHE_DIR=DIR")
    is_new = prepare_in(folder, compiling)
    if not compiled_before(rare=True):
        raise LosslessError(f"{folder}: the machine code could not be written")
    return str(folder), is_new


def run_study(
    view: View, scenario: Scenario, request: SimulationRequest
) -> tuple[Study, PeerReactionLimit | None]:
    """Return the results of a scenario's seeds; the limit on peers' reaction time if drops depend on it, else None."""
    from lossless.analysis.simulation.study.study import peer_reaction_limit, study

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
    """Yield a declared fabric as a whole; of deployed devices each linked group, and one of each kind without links."""
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
    """Return for each switch with a link to another the names of all switches of its linked group."""
    linked: dict[str, set[str]] = {}
    for link in view.fabric.links:
        joined = linked.get(link.a, {link.a}) | linked.get(link.b, {link.b})
        linked.update(dict.fromkeys(joined, joined))
    return linked


if TYPE_CHECKING:
    Uses = dict[PortRef, list[tuple[int, GroupUse]]]
    """The headroom used at each port, each use with its seed."""


def survey(views: Iterable[View], request: SimulationRequest) -> Iterator[SimulationFacts]:
    """Yield the facts of runs of each part of the fabrics with PFC; one reason if the model cannot run here."""
    if (reason := why_not()) is not None:
        yield SimulationFacts(not_run=reason)
        return
    for view in views:
        for part in parts(View(with_computed_buffers(view.fabric))):
            if part.lossless_sets:
                yield from _asked(part, request)


def _asked(view: View, request: SimulationRequest) -> Iterator[SimulationFacts]:
    """Yield the facts of the runs of one part of a fabric; an error becomes the reason why it was not run."""
    try:
        scenario = checked_scenario(view, request.question)
        if isinstance(scenario, MissingInput):
            yield SimulationFacts(view, not_run=scenario.reason)
            return
        yield _run(view, scenario, request)
        around = _around(view, scenario, request)
        if around is not None:
            yield _run(view, around, request._replace(pfc_load=False))
    except LosslessError as error:
        yield SimulationFacts(view, not_run=_reason(error))


def _around(view: View, scenario: Scenario, request: SimulationRequest) -> Scenario | None:
    """Return the all-to-all scenario beside a requested incast where its paths may close a cycle, else None."""
    from lossless.analysis.simulation.question.nodes import is_two_tier, may_close_cycle

    if request.question.pattern != "incast" or is_two_tier(scenario.topology):
        return None
    around = checked_scenario(view, request.question._replace(pattern="all-to-all"))
    if isinstance(around, MissingInput) or not may_close_cycle(around.topology, around.nics):
        return None
    return around


def _reason(error: LosslessError) -> str:
    text = str(error)
    return f"{text} (options of lossless simulate)" if " --" in text else text


def _run(view: View, scenario: Scenario, request: SimulationRequest) -> SimulationFacts:
    from lossless.analysis.simulation.study.verdict import run_verdict

    results, reaction_limit = run_study(view, scenario, request)
    verdict = run_verdict(results, (), reaction_limit)
    facts = SimulationFacts(
        view=view,
        scenario=verdict.scenario,
        priority=scenario.classes[0].priority,
        seeds=verdict.seeds,
        pfc_load=load_of(view, results, request)[1] if request.pfc_load and scenario.dcqcn else None,
    )
    if not verdict.causes:
        return facts
    return facts._replace(
        causes=verdict.causes,
        short=tuple(_short(results, request)),
        pools=tuple(_pools(results)),
        refusing=tuple(_refusing(results.seeds)),
        stopped=tuple(dict.fromkeys(_spots(place for seed in results.seeds for place in seed.stopped))),
        cycle=tuple(_spot_of(name) for name in verdict.cycle),
        pause=_pause(results),
        obeyed=None if reaction_limit is None else _obeyed(reaction_limit),
    )


def _obeyed(reaction_limit: PeerReactionLimit) -> PeerResponse:
    return PeerResponse(reaction_limit.allowed_ns, reaction_limit.safe_ns)


def _short(results: Study, request: SimulationRequest) -> Iterator[HeadroomUse]:
    """Yield the groups that dropped or had less than a frame left, with their need measured with unlimited headroom."""
    frame_bytes = results.scenario.frame_bytes
    tight = {
        spot: uses
        for spot, uses in _uses(results.seeds).items()
        if any(use.drops or use.margin_bytes < frame_bytes for _, use in uses)
    }
    if not tight:
        return
    needed = _needed(results, request)
    for spot, uses in tight.items():
        used = max(use.used_bytes for _, use in uses)
        yield HeadroomUse(
            spot=spot,
            given_bytes=uses[0][1].headroom_bytes,
            used_bytes=used,
            needed_bytes=needed[spot] + frame_bytes if spot in needed else None,
            drops=max(use.drops for _, use in uses),
            dropped_in=frozenset(seed for seed, use in uses if use.drops),
        )


def _needed(results: Study, request: SimulationRequest) -> dict[PortRef, int]:
    """Return the headroom that each port used in runs with unlimited headroom."""
    from lossless.analysis.simulation.study.advice import without_limits

    free = without_limits(results, request.limits)
    return {spot: max(use.used_bytes for _, use in uses) for spot, uses in _uses(free.seeds).items()}


def _uses(seeds: Sequence[SeedResult]) -> Uses:
    by_spot: Uses = {}
    for seed in seeds:
        for use in seed.uses:
            for spot in _spots([use.place]):
                by_spot.setdefault(spot, []).append((seed.seed, use))
    return by_spot


def _pools(results: Study) -> Iterator[tuple[str, int]]:
    least: dict[str, int] = {}
    for pool in (pool for seed in results.seeds for pool in seed.pools):
        least[pool.switch] = min(pool.left_bytes, least.get(pool.switch, pool.left_bytes))
    yield from ((name, left) for name, left in least.items() if left < results.scenario.frame_bytes)


def _refusing(seeds: Sequence[SeedResult]) -> Iterator[EgressRefusal]:
    seeds_of: dict[PortRef, set[int]] = {}
    for seed in seeds:
        for spot in _spots(seed.refusing):
            seeds_of.setdefault(spot, set()).add(seed.seed)
    yield from (EgressRefusal(spot, frozenset(refused)) for spot, refused in seeds_of.items())


def _pause(results: Study) -> LongestPause:
    from lossless.analysis.simulation.study.verdict import detection_ns

    longest_ns, allowed_ns = (
        max(seed.longest_watched_ns for seed in results.seeds),
        detection_ns(results.scenario),
    )
    return LongestPause(longest_ns / 1e6, None if allowed_ns is None else allowed_ns / 1e6)


def _spots(places: Iterable[NamedLinkEnd]) -> Iterator[PortRef]:
    """Yield the link ends that are switch ports, as switch and port."""
    yield from (PortRef(place.switch, place.port) for place in places if place.port is not None)


def _spot_of(name: str) -> PortRef:
    switch, _, port = name.rpartition(":")
    return PortRef(switch, port)


_LOSSY = "loss and congestion control of a class that may lose frames are not in it; --workload permutation runs them"
_NOBODY_SLOWS_DOWN = "no congestion control runs: PFC carries what load there is"
