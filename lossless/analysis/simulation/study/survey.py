"""Facts from runs for rules, with the affected ports.

Each part of a fabric runs the requested scenario. All paths of an incast end at one port, so they never close a cycle;
where other paths of the fabric could close one, all-to-all is run too.
"""

from __future__ import annotations

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
from lossless.analysis.simulation.question.request import SimulationRequest
from lossless.analysis.simulation.study.answer import checked_scenario, load_of, parts, run_study, why_not
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import MissingInput
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.measure import GroupUse, NamedLinkEnd, SeedResult
    from lossless.analysis.simulation.study.peer_reaction import PeerReactionLimit
    from lossless.analysis.simulation.study.study import Study

    Uses = dict[PortRef, list[tuple[int, GroupUse]]]
    """Headroom used by port, each with the seed."""


def survey(views: Iterable[View], request: SimulationRequest) -> Iterator[SimulationFacts]:
    """Yield the results of runs of fabrics with a lossless class; one fact alone if the model cannot run here."""
    if (reason := why_not()) is not None:
        yield SimulationFacts(not_run=reason)
        return
    for view in views:
        for part in parts(View(with_computed_buffers(view.fabric))):
            if part.lossless_sets:
                yield from _asked(part, request)


def _asked(view: View, request: SimulationRequest) -> Iterator[SimulationFacts]:
    """Yield the results of one part of a fabric; an error becomes a fact, and the other parts go on."""
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
    """Return the scenario that shows cycles which an incast cannot, None where the paths of the fabric close none."""
    from lossless.analysis.simulation.question.cycles import is_two_tier, may_close_cycle

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
        pfc_load=load_of(view, results, request) if request.pfc_load and scenario.dcqcn else None,
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
    """Return the headroom that each port used in the same seeds with unlimited headroom."""
    from lossless.analysis.simulation.study.advice import unbounded
    from lossless.analysis.simulation.study.study import study

    free = study(unbounded(results.scenario), request.limits)
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
    """Yield places that are ports of switches."""
    yield from (PortRef(place.switch, place.port) for place in places if place.port is not None)


def _spot_of(name: str) -> PortRef:
    switch, _, port = name.rpartition(":")
    return PortRef(switch, port)
