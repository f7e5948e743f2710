"""From what a run showed to hits: one for each object that is to blame, unless another rule has blamed it already."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from lossless.analysis.buffers.ecn_marking import holds_half_of_its_pool
from lossless.analysis.buffers.simulation_facts import PortRef
from lossless.checks.rules.base import Gap, Hit, Results
from lossless.checks.rules.simulation import root_causes as blame
from lossless.ground.basics.findings import SEVERITIES
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.analysis.buffers.simulation_facts import (
        EgressRefusal,
        HeadroomUse,
        SimulationCause,
        SimulationFacts,
    )
    from lossless.analysis.buffers.verdict import BufferVerdict
    from lossless.checks.rules.simulation.root_causes import RootCause
    from lossless.checks.rules.subjects import SimulationRun
    from lossless.ground.basics.findings import Json, Origin, Severity

T = TypeVar("T")
Placed = TypeVar("Placed", "HeadroomUse", "EgressRefusal")

_MILDER = ("BUF001", "BUF002", "BUF007")
"""Rules that say of a headroom what may happen; where a run shows that it does, and they have not called it as grave,
the run takes their place."""
_OF_THE_SAME_PORTS = ("BUF001", "BUF003", "BUF013", "ECN001", "PFC005")
"""Rules whose errors explain what a run loses at a port, whichever row they point at."""
_APART = ("SCM", "CFG004")
"""What says that a schema refuses a value, or that it is not the intended one, explains nothing."""
_HALVES = "a queue of half its pool drops in the model: chips whose buffer has two halves pause earlier than it knows"


class VerdictEvidence(NamedTuple):
    """A hit of a verdict, and the rows that have a part in it; or a gap."""

    verdict: BufferVerdict
    hit: Hit | Gap
    rows: tuple[Origin, ...] = ()


def hits(run: SimulationRun, verdict: BufferVerdict, severity: Severity) -> Results:
    """Yield what a run shows of one verdict; the gravest of what blames one object, and nothing said before."""
    blamed: set[Origin] = set()
    for evidence in _all(run.facts):
        if isinstance(evidence.hit, Gap):
            if evidence.verdict == verdict:
                yield evidence.hit
        elif evidence.hit.origin not in blamed:
            blamed.add(evidence.hit.origin)
            if evidence.verdict == verdict and not _is_said(run, evidence, evidence.hit.severity or severity):
                yield evidence.hit


def _all(run: SimulationFacts) -> Iterator[VerdictEvidence]:
    for cause in run.causes:
        yield from _MAKERS[cause.kind](run, cause)


def _is_said(run: SimulationRun, evidence: VerdictEvidence, severity: Severity) -> bool:
    """Return whether another rule blames the same object, and calls it at least as grave."""
    elements = set(evidence.hit.elements) if isinstance(evidence.hit, Hit) else set()
    grave = SEVERITIES[: SEVERITIES.index(severity) + 1]
    declared = run.facts.view is not None and run.facts.view.fabric.declared
    return any(
        finding.severity in grave
        and not finding.code.startswith(_APART)
        and (
            any(_is_same_object(finding.origin, row, declared=declared) for row in evidence.rows)
            or (finding.code in _OF_THE_SAME_PORTS and not elements.isdisjoint(finding.elements))
        )
        for finding in run.findings
    )


def _is_same_object(one: Origin, other: Origin, *, declared: bool) -> bool:
    """Return whether two places are in the same row, or in an intent one is the other or a key right below it."""
    if one.file != other.file:
        return False
    if not declared:
        return one.path[:2] == other.path[:2] and len(other.path) > 1
    short, long = sorted((one.path, other.path), key=len)
    return short == long or (len(short) > 1 and long[:-1] == short)


# --- one maker for each kind of cause ---


def _drops(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    pools = dict(run.pools)
    dropping = [short for short in run.short if short.drops]
    of_groups = [short for short in dropping if short.spot.switch not in pools]
    yield from _of_headroom(run, cause, [short for short in of_groups if not _has_enough(short)])
    yield from _of_chips(run, cause, [short for short in of_groups if _has_enough(short)])
    yield from _of_pools(run, cause, [short for short in dropping if short.spot.switch in pools])
    yield from _of_queues(run, cause)
    if not dropping and not run.refusing:
        yield _found(run, cause, blame.the_class(run), cause.text, ())


def _has_enough(short: HeadroomUse) -> bool:
    """Return whether a group drops although it needs no more headroom than it has: the chip has no more room."""
    return short.needed_bytes is not None and short.needed_bytes <= short.given_bytes


def _of_headroom(
    run: SimulationFacts, cause: SimulationCause, dropping: Sequence[HeadroomUse]
) -> Iterator[VerdictEvidence]:
    for blamed, shorts in _grouped(run, dropping, blame.headroom):
        why = f"its headroom of {format_bytes(shorts[0].given_bytes)} runs out"
        message = f"{_dropped(run, shorts[0].spot, _seeds(shorts))}: {why}{_quickness(run)}"
        yield _found(
            run,
            cause,
            blamed,
            message,
            [short.spot for short in shorts],
            mend=blame.more_headroom(run, max(shorts, key=lambda short: short.needed_bytes or 0)),
            data=_numbers(shorts),
        )


def _of_chips(
    run: SimulationFacts, cause: SimulationCause, dropping: Sequence[HeadroomUse]
) -> Iterator[VerdictEvidence]:
    for blamed, shorts in _grouped(run, dropping, blame.pool):
        message = f"{_dropped(run, shorts[0].spot, _seeds(shorts))}: the buffer of its switch is full"
        mend = "make the pool smaller, so that the chip holds it and the headroom of every group"
        spots = [short.spot for short in shorts]
        yield _found(run, cause, blamed, message, spots, mend=mend, data=_numbers(shorts))


def _of_pools(
    run: SimulationFacts, cause: SimulationCause, dropping: Sequence[HeadroomUse]
) -> Iterator[VerdictEvidence]:
    for blamed, shorts in _grouped(run, dropping, blame.headroom_pool):
        why = f"the shared headroom runs out{_quickness(run)}"
        message = f"{_dropped(run, shorts[0].spot, _seeds(shorts))}: {why}"
        left = min(left for switch, left in run.pools if switch in {short.spot.switch for short in shorts})
        data: dict[str, Json] = {**_numbers(shorts), "pool_left_bytes": left}
        spots = [short.spot for short in shorts]
        yield _found(run, cause, blamed, message, spots, mend=_more_pool(blamed), data=data)


def _of_queues(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    for blamed, refusals in _grouped(run, run.refusing, blame.queue):
        if blamed.profile is not None and holds_half_of_its_pool(blamed.profile):
            yield VerdictEvidence("unsafe", Gap(_HALVES))
            continue
        spots = [refusal.spot for refusal in refusals]
        seeds = len(frozenset().union(*(refusal.refused_in for refusal in refusals)))
        why, mend = _refused(blamed)
        message = f"{_dropped(run, spots[0], seeds)}: {why}"
        yield _found(run, cause, blamed, message, spots, mend=mend, data={"seeds_with_drops": seeds})


def _refused(blamed: RootCause) -> tuple[str, str]:
    if blamed.profile is None:
        return "its WRED drops them instead of marking them", 'set "ecn": "ecn_all"'
    if blamed.is_pool:
        return "its queue has filled its pool before PFC comes", "give the pool the whole buffer of the chip"
    if blamed.profile.dynamic_th is not None:
        return "its queue is full before PFC comes", f"set dynamic_th of {blamed.profile.name} to 7"
    return (
        "its queue is full before PFC comes",
        f"set static_th of {blamed.profile.name} to the size of the pool",
    )


def _storms(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    for blamed, spots in _by_origin((blame.watchdog(run, spot), spot) for spot in run.stopped):
        data: dict[str, Json] = {"seeds_with_storms": cause.seeds}
        mend = "raise the detection time, or remove the congestion: no NIC is at fault here"
        yield _found(run, cause, blamed, cause.text, spots, mend=mend, data=data)


def _circles(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    yield _found(
        run,
        cause,
        blame.link(run, run.cycle[0]),
        cause.text,
        run.cycle,
        mend="change links or routes, not thresholds: no buffer is large enough for a circle of pauses",
        data={"seeds_with_circles": cause.seeds, "links": len(run.cycle)},
    )


def _tight_headroom(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    for blamed, shorts in _grouped(run, run.short, blame.headroom):
        worst = min(shorts, key=lambda short: short.margin_bytes)
        left = format_bytes(max(0, worst.margin_bytes))
        message = f"{left} of {format_bytes(worst.given_bytes)} of headroom were left at {worst.spot}"
        spots = [short.spot for short in shorts]
        mend = blame.more_headroom(run, max(shorts, key=lambda short: short.needed_bytes or 0))
        yield _found(run, cause, blamed, message, spots, mend=mend, data=_numbers(shorts))


def _tight_pools(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    on = {switch: _any_spot(run, switch) for switch, _ in run.pools}
    known = [(switch, left, spot) for switch, left in run.pools if (spot := on[switch]) is not None]
    for blamed, pools in _by_origin((blame.headroom_pool(run, one[2]), one) for one in known):
        left = min(left for _, left, _ in pools)
        message = f"{format_bytes(max(0, left))} of the shared headroom were left at {pools[0][0]}"
        data: dict[str, Json] = {"pool_left_bytes": left}
        spots = [spot for _, _, spot in pools]
        yield _found(run, cause, blamed, message, spots, mend=_more_pool(blamed), data=data)


def _long_pauses(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    data: dict[str, Json] = {}
    if run.pause is not None:
        data = {"longest_pause_ms": run.pause.longest_ms, "detection_ms": run.pause.detection_ms}
    mend = "raise the detection time, or remove the congestion"
    yield _found(run, cause, blame.quickest_watchdog(run), cause.text, (), mend=mend, data=data)


def _others(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    yield _found(run, cause, blame.the_class(run), cause.text, ())


_MAKERS: dict[str, Callable[[SimulationFacts, SimulationCause], Iterator[VerdictEvidence]]] = {
    "drop": _drops,
    "storm": _storms,
    "cycle": _circles,
    "headroom": _tight_headroom,
    "headroom pool": _tight_pools,
    "pause": _long_pauses,
    "dead NIC": _others,
}


# --- what they share ---


def _found(
    run: SimulationFacts,
    cause: SimulationCause,
    blamed: RootCause,
    message: str,
    spots: Sequence[PortRef],
    *,
    mend: str = "",
    data: dict[str, Json] | None = None,
) -> VerdictEvidence:
    """Return a hit; what hangs on a headroom that is the vendor's own is worth knowing, and no more (BUF002)."""
    known = cause.verdict != "unsafe" and blamed.vendors_own
    hit = Hit(
        origin=blamed.origin,
        message=message,
        note=run.scenario,
        help=mend,
        elements=tuple(map(str, spots)),
        data={"seeds": run.seeds, **(data or {})},
        severity="info" if known else None,
    )
    return VerdictEvidence(cause.verdict, hit, (blamed.origin, *blamed.rows))


def _grouped(
    run: SimulationFacts, items: Iterable[Placed], of: Callable[[SimulationFacts, PortRef], RootCause]
) -> Iterator[tuple[RootCause, list[Placed]]]:
    """Yield items by what is to blame for them."""
    yield from _by_origin((of(run, item.spot), item) for item in items)


def _by_origin(items: Iterable[tuple[RootCause, T]]) -> Iterator[tuple[RootCause, list[T]]]:
    items_by_origin: dict[Origin, tuple[RootCause, list[T]]] = {}
    for blamed, item in items:
        items_by_origin.setdefault(blamed.origin, (blamed, []))[1].append(item)
    yield from items_by_origin.values()


def _dropped(run: SimulationFacts, spot: PortRef, seeds: int) -> str:
    return f"lossless frames are dropped at {spot} in {seeds} of {run.seeds} seeds"


def _quickness(run: SimulationFacts) -> str:
    if run.obeyed is None:
        return ""
    allowed, safe = run.obeyed
    return f" where peers take the {allowed:,.0f} ns to obey PFC that IEEE 802.3 allows; none are within {safe:,.0f} ns"


def _seeds(shorts: Iterable[HeadroomUse]) -> int:
    return len(frozenset().union(*(short.dropped_in for short in shorts)))


def _numbers(shorts: Sequence[HeadroomUse]) -> dict[str, Json]:
    worst = min(shorts, key=lambda short: short.margin_bytes)
    return {
        "seeds_with_drops": _seeds(shorts),
        "drops": max(short.drops for short in shorts),
        "given_bytes": worst.given_bytes,
        "used_bytes": worst.used_bytes,
        "margin_bytes": worst.margin_bytes,
        "need_bytes": max((short.needed_bytes for short in shorts if short.needed_bytes), default=None),
    }


def _more_pool(blamed: RootCause) -> str:
    pool = (
        blamed.profile.pool.name
        if blamed.profile is not None and blamed.profile.pool is not None
        else "the pool"
    )
    return f"raise xoff of {pool}: the shared headroom ran short, not the headroom of one group"


def _any_spot(run: SimulationFacts, switch: str) -> PortRef | None:
    """Return a port of a switch whose group draws on its headroom pool."""
    sets = run.view.lossless_sets if run.view is not None else ()
    names = (port.name for ports in sets if switch in ports.switches for port in ports.ports)
    return next((PortRef(switch, name) for name in names), None)
