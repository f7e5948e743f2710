"""What a linter asks of fabrics, and what the runs showed: as facts, with the ports where they showed.

Each part of a fabric is put the question it is given. Where that is an incast, whose paths all end at one port and so
never close a circle, and the fabric's paths could close one, all-to-all is asked besides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import MissingInput
from lossless.analysis.buffers.simulation_facts import (
    EgressRefusal,
    HeadroomUse,
    LongestPause,
    PeerResponse,
    PortRef,
    SimulationFacts,
)
from lossless.analysis.simulation.question.request import Ask
from lossless.analysis.simulation.study.answer import followed, parts, posed, why_not
from lossless.ground.basics.errors import LosslessError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.measure import GroupUse, Place, Seen
    from lossless.analysis.simulation.study.peers import Patience
    from lossless.analysis.simulation.study.study import Study
    from lossless.model.fabric.view import View

    Uses = dict[PortRef, list[tuple[int, GroupUse]]]
    """Headroom used by port, each with the seed."""


def survey(views: Iterable[View], ask: Ask) -> Iterator[SimulationFacts]:
    """Yield what runs show of fabrics in which something is lossless; once, where nothing can be run here at all."""
    if (reason := why_not()) is not None:
        yield SimulationFacts(not_run=reason)
        return
    for view in views:
        for part in parts(view):
            if part.lossless_sets:
                yield from _asked(part, ask)


def _asked(view: View, ask: Ask) -> Iterator[SimulationFacts]:
    """Yield what one part of a fabric shows; what is refused ends nothing else."""
    try:
        found = posed(view, ask.question)
        if isinstance(found, MissingInput):
            yield SimulationFacts(view, not_run=found.reason)
            return
        yield _run(view, found, ask)
        around = _around(view, found, ask)
        if around is not None:
            yield _run(view, around, ask)
    except LosslessError as error:
        yield SimulationFacts(view, not_run=_reason(error))


def _around(view: View, found: Scenario, ask: Ask) -> Scenario | None:
    """Return what shows circles that an incast cannot, None where the paths of the fabric close none."""
    from lossless.analysis.simulation.question.cycles import is_two_tier, may_circle

    if ask.question.pattern != "incast" or is_two_tier(found.plant):
        return None
    around = posed(view, ask.question._replace(pattern="all-to-all"))
    if isinstance(around, MissingInput) or not may_circle(around.plant, around.nics):
        return None
    return around


def _reason(error: LosslessError) -> str:
    text = str(error)
    return f"{text} (options of lossless simulate)" if " --" in text else text


def _run(view: View, found: Scenario, ask: Ask) -> SimulationFacts:
    from lossless.analysis.simulation.study.verdict import judge

    seen, patient = followed(view, found, ask)
    verdict = judge(seen, (), patient)
    if not verdict.causes:
        return SimulationFacts(view, verdict.scenario, found.classes[0].priority, verdict.seeds)
    return SimulationFacts(
        view=view,
        scenario=verdict.scenario,
        priority=found.classes[0].priority,
        seeds=verdict.seeds,
        causes=verdict.causes,
        short=tuple(_short(seen, ask)),
        pools=tuple(_pools(seen)),
        refusing=tuple(_refusing(seen.seen)),
        stopped=tuple(dict.fromkeys(_spots(place for one in seen.seen for place in one.stopped))),
        circle=tuple(_spot_of(name) for name in verdict.cycle),
        pause=_pause(seen),
        obeyed=None if patient is None else _obeyed(patient),
    )


def _obeyed(patient: Patience) -> PeerResponse:
    return PeerResponse(patient.allowed_ns, patient.safe_ns)


def _short(found: Study, ask: Ask) -> Iterator[HeadroomUse]:
    """Yield the groups that dropped or had less than a frame left; what they need is measured where none runs out."""
    frame_bytes = found.scenario.frame_bytes
    tight = {
        spot: uses
        for spot, uses in _uses(found.seen).items()
        if any(use.drops or use.margin_bytes < frame_bytes for _, use in uses)
    }
    if not tight:
        return
    needed = _needed(found, ask)
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


def _needed(found: Study, ask: Ask) -> dict[PortRef, int]:
    """Return what each port used of headroom in the same seeds where no headroom can run out."""
    from lossless.analysis.simulation.study.advice import unbounded
    from lossless.analysis.simulation.study.study import study

    free = study(unbounded(found.scenario), ask.limits)
    return {spot: max(use.used_bytes for _, use in uses) for spot, uses in _uses(free.seen).items()}


def _uses(seen: Sequence[Seen]) -> Uses:
    found: Uses = {}
    for one in seen:
        for use in one.uses:
            for spot in _spots([use.place]):
                found.setdefault(spot, []).append((one.seed, use))
    return found


def _pools(found: Study) -> Iterator[tuple[str, int]]:
    least: dict[str, int] = {}
    for pool in (pool for one in found.seen for pool in one.pools):
        least[pool.switch] = min(pool.left_bytes, least.get(pool.switch, pool.left_bytes))
    yield from ((name, left) for name, left in least.items() if left < found.scenario.frame_bytes)


def _refusing(seen: Sequence[Seen]) -> Iterator[EgressRefusal]:
    found: dict[PortRef, set[int]] = {}
    for one in seen:
        for spot in _spots(one.refusing):
            found.setdefault(spot, set()).add(one.seed)
    yield from (EgressRefusal(spot, frozenset(seeds)) for spot, seeds in found.items())


def _pause(found: Study) -> LongestPause:
    from lossless.analysis.simulation.study.verdict import detection_ns

    longest_ns, allowed_ns = max(one.longest_watched_ns for one in found.seen), detection_ns(found)
    return LongestPause(longest_ns / 1e6, None if allowed_ns is None else allowed_ns / 1e6)


def _spots(places: Iterable[Place]) -> Iterator[PortRef]:
    """Yield places that are ports of switches."""
    yield from (PortRef(place.switch, place.port) for place in places if place.port is not None)


def _spot_of(name: str) -> PortRef:
    switch, _, port = name.rpartition(":")
    return PortRef(switch, port)
