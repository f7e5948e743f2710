"""Violations from a simulation run: one for each root cause, unless another rule has reported it already."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from lossless.analysis.buffers.ecn_marking import holds_half_of_its_pool
from lossless.analysis.buffers.simulation_facts import PortRef
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.precedence import RESTATES
from lossless.checks.rules.simulation import root_causes
from lossless.ground.basics.findings import SEVERITIES, grouped
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

_OF_THE_SAME_PORTS = ("BUF001", "BUF003", "BUF013", "ECN001", "PFC005")
"""Rules whose findings explain loss at a port, whichever row they point at."""
_HALVES = "a queue of half its pool drops in the model: chips whose buffer has two halves pause earlier than the model"


class VerdictEvidence(NamedTuple):
    """A violation, or a missing input, for one verdict of a simulation run, and the origins of the rows behind it."""

    verdict: BufferVerdict
    outcome: Violation | MissingInput
    rows: tuple[Origin, ...] = ()


def violations(run: SimulationRun, verdict: BufferVerdict, severity: Severity) -> Results:
    """Yield one violation for each root cause with this verdict, unless a graver verdict or another rule has it."""
    reported: set[Origin] = set()
    for evidence in _all(run.facts):
        if isinstance(evidence.outcome, MissingInput):
            if evidence.verdict == verdict:
                yield evidence.outcome
        elif evidence.outcome.origin not in reported:
            reported.add(evidence.outcome.origin)
            if evidence.verdict == verdict and not _is_reported(
                run, evidence.outcome, evidence.rows, severity
            ):
                yield evidence.outcome


def _all(run: SimulationFacts) -> Iterator[VerdictEvidence]:
    for cause in run.causes:
        yield from EVIDENCE_OF[cause.kind](run, cause)


def _is_reported(
    run: SimulationRun, violation: Violation, rows: Sequence[Origin], severity: Severity
) -> bool:
    """Return whether another rule reports at least as gravely the same object, or loss at one of the same ports."""
    elements = set(violation.elements)
    grave = SEVERITIES[: SEVERITIES.index(violation.severity or severity) + 1]
    declared = root_causes.view_of(run.facts).fabric.declared
    return any(
        finding.severity in grave
        and not finding.code.startswith(RESTATES)
        and (
            any(_is_same_object(finding.origin, row, declared=declared) for row in rows)
            or (finding.code in _OF_THE_SAME_PORTS and not elements.isdisjoint(finding.elements))
        )
        for finding in run.findings
    )


def _is_same_object(here: Origin, there: Origin, *, declared: bool) -> bool:
    """Return whether two places are in the same row or, in an intent, equal or a key and its direct parent."""
    if here.file != there.file:
        return False
    if not declared:
        return here.path[:2] == there.path[:2] and len(there.path) > 1
    short, long = sorted((here.path, there.path), key=len)
    return short == long or (len(short) > 1 and long[:-1] == short)


# --- the evidence of each kind of cause ---


def _drops(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    pools = dict(run.pools)
    dropping = [short for short in run.short if short.drops]
    of_groups = [short for short in dropping if short.spot.switch not in pools]
    yield from _of_headroom(run, cause, [short for short in of_groups if not _has_enough(short)])
    yield from _of_chips(run, cause, [short for short in of_groups if _has_enough(short)])
    yield from _of_pools(run, cause, [short for short in dropping if short.spot.switch in pools])
    yield from _of_queues(run, cause)
    if not dropping and not run.refusing:
        yield _evidence(run, cause, root_causes.the_class(run), cause.text, ())


def _has_enough(short: HeadroomUse) -> bool:
    """Return whether a group drops although its headroom is large enough: the buffer of the chip is full."""
    return short.needed_bytes is not None and short.needed_bytes <= short.given_bytes


def _of_headroom(
    run: SimulationFacts, cause: SimulationCause, dropping: Sequence[HeadroomUse]
) -> Iterator[VerdictEvidence]:
    for root, shorts in _by_root_cause(run, dropping, root_causes.headroom):
        why = f"its headroom of {format_bytes(shorts[0].given_bytes)} runs out{_response_times(run)}"
        if root.is_unpaused:
            why = "its link has no PFC, so the port does not pause what arrives"
        message = f"{_dropped(run, shorts[0].spot, _seeds(shorts))}: {why}"
        yield _of_shorts(run, cause, root, message, shorts, fix=_headroom_fix(run, shorts))


def _of_chips(
    run: SimulationFacts, cause: SimulationCause, dropping: Sequence[HeadroomUse]
) -> Iterator[VerdictEvidence]:
    for root, shorts in _by_root_cause(run, dropping, root_causes.pool):
        message = f"{_dropped(run, shorts[0].spot, _seeds(shorts))}: the buffer of its switch is full"
        fix = "reduce the size of the pool, so that it and the headroom of every group fit in the chip"
        yield _of_shorts(run, cause, root, message, shorts, fix=fix)


def _of_pools(
    run: SimulationFacts, cause: SimulationCause, dropping: Sequence[HeadroomUse]
) -> Iterator[VerdictEvidence]:
    for root, shorts in _by_root_cause(run, dropping, root_causes.headroom_pool):
        why = f"the shared headroom runs out{_response_times(run)}"
        message = f"{_dropped(run, shorts[0].spot, _seeds(shorts))}: {why}"
        left = min(left for switch, left in run.pools if switch in {short.spot.switch for short in shorts})
        yield _of_shorts(run, cause, root, message, shorts, fix=_pool_fix(root), pool_left_bytes=left)


def _of_queues(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    for root, refusals in _by_root_cause(run, run.refusing, root_causes.queue):
        if root.profile is not None and holds_half_of_its_pool(root.profile):
            yield VerdictEvidence("unsafe", MissingInput(_HALVES))
            continue
        spots = [refusal.spot for refusal in refusals]
        seeds = len(frozenset().union(*(refusal.refused_in for refusal in refusals)))
        why, fix = _refused(root)
        message = f"{_dropped(run, spots[0], seeds)}: {why}"
        yield _evidence(run, cause, root, message, spots, fix=fix, data={"seeds_with_drops": seeds})


def _refused(root: RootCause) -> tuple[str, str]:
    if root.profile is None:
        return "its WRED drops them instead of marking them", 'set "ecn": "ecn_all"'
    if root.is_pool:
        return (
            "its queue fills its pool before PFC pauses",
            "set the size of the pool to the whole buffer of the chip",
        )
    if root.profile.dynamic_th is not None:
        return "its queue is full before PFC pauses", f"set dynamic_th of {root.profile.name} to 7"
    return (
        "its queue is full before PFC pauses",
        f"set static_th of {root.profile.name} to the size of the pool",
    )


def _storms(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    for root, spots in _by_origin((root_causes.watchdog(run, spot), spot) for spot in run.stopped):
        data: dict[str, Json] = {"seeds_with_storms": cause.seeds}
        fix = "raise the detection time, or remove the congestion: no NIC is at fault here"
        yield _evidence(run, cause, root, cause.text, spots, fix=fix, data=data)


def _cycles(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    yield _evidence(
        run,
        cause,
        root_causes.link(run, run.cycle[0]),
        cause.text,
        run.cycle,
        fix="change links or routes, not thresholds: no buffer is large enough for a cyclic buffer dependency",
        data={"seeds_with_cycles": cause.seeds, "links": len(run.cycle)},
    )


def _tight_headroom(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    for root, shorts in _by_root_cause(run, run.short, root_causes.headroom):
        worst = min(shorts, key=lambda short: short.margin_bytes)
        left = format_bytes(max(0, worst.margin_bytes))
        message = f"{left} of {format_bytes(worst.given_bytes)} of headroom were left at {worst.spot}"
        yield _of_shorts(run, cause, root, message, shorts, fix=_headroom_fix(run, shorts))


def _tight_pools(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    on = {switch: _any_spot(run, switch) for switch, _ in run.pools}
    pools_at = [(switch, left, spot) for switch, left in run.pools if (spot := on[switch]) is not None]
    for root, pools in _by_origin((root_causes.headroom_pool(run, pool[2]), pool) for pool in pools_at):
        least, left, _ = min(pools, key=lambda pool: pool[1])
        message = f"{format_bytes(max(0, left))} of the shared headroom were left at {least}"
        data: dict[str, Json] = {"pool_left_bytes": left}
        spots = [spot for _, _, spot in pools]
        yield _evidence(run, cause, root, message, spots, fix=_pool_fix(root), data=data)


def _long_pauses(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    data: dict[str, Json] = {}
    if run.pause is not None:
        data = {"longest_pause_ms": run.pause.longest_ms, "detection_ms": run.pause.detection_ms}
    fix = "raise the detection time, or remove the congestion"
    yield _evidence(run, cause, root_causes.quickest_watchdog(run), cause.text, (), fix=fix, data=data)


def _others(run: SimulationFacts, cause: SimulationCause) -> Iterator[VerdictEvidence]:
    yield _evidence(run, cause, root_causes.the_class(run), cause.text, ())


EVIDENCE_OF: dict[str, Callable[[SimulationFacts, SimulationCause], Iterator[VerdictEvidence]]] = {
    "drop": _drops,
    "storm": _storms,
    "cycle": _cycles,
    "headroom": _tight_headroom,
    "headroom pool": _tight_pools,
    "pause": _long_pauses,
    "dead NIC": _others,
}


# --- shared helpers ---


def _evidence(
    run: SimulationFacts,
    cause: SimulationCause,
    root: RootCause,
    message: str,
    spots: Sequence[PortRef],
    *,
    fix: str = "",
    data: dict[str, Json] | None = None,
) -> VerdictEvidence:
    """Return the violation of a cause with its rows; information where a headroom from the vendor's table is tight."""
    vendors_own = cause.verdict != "unsafe" and root.vendors_own
    violation = Violation(
        origin=root.origin,
        message=message,
        note=run.scenario,
        help=fix,
        elements=tuple(map(str, spots)),
        data={"seeds": run.seeds, **(data or {})},
        severity="info" if vendors_own else None,
    )
    return VerdictEvidence(cause.verdict, violation, (root.origin, *root.rows))


def _of_shorts(
    run: SimulationFacts,
    cause: SimulationCause,
    root: RootCause,
    message: str,
    shorts: Sequence[HeadroomUse],
    *,
    fix: str,
    **data: Json,
) -> VerdictEvidence:
    spots = [short.spot for short in shorts]
    return _evidence(run, cause, root, message, spots, fix=fix, data={**_numbers(shorts), **data})


def _headroom_fix(run: SimulationFacts, shorts: Sequence[HeadroomUse]) -> str:
    return root_causes.more_headroom(run, max(shorts, key=lambda short: short.needed_bytes or 0))


def _by_root_cause(
    run: SimulationFacts, items: Iterable[Placed], of: Callable[[SimulationFacts, PortRef], RootCause]
) -> Iterator[tuple[RootCause, list[Placed]]]:
    """Yield each root cause with the short headrooms, or the refusing queues, of ports that it explains."""
    yield from _by_origin((of(run, item.spot), item) for item in items)


def _by_origin(items: Iterable[tuple[RootCause, T]]) -> Iterator[tuple[RootCause, list[T]]]:
    for pairs in grouped((root.origin, (root, item)) for root, item in items).values():
        yield pairs[0][0], [item for _, item in pairs]


def _dropped(run: SimulationFacts, spot: PortRef, seeds: int) -> str:
    return f"lossless frames are dropped at {spot} in {seeds} of {run.seeds} seeds"


def _response_times(run: SimulationFacts) -> str:
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


def _pool_fix(root: RootCause) -> str:
    pool = (
        root.profile.pool.name if root.profile is not None and root.profile.pool is not None else "the pool"
    )
    return f"raise xoff of {pool}: the shared headroom ran short, not the headroom of one group"


def _any_spot(run: SimulationFacts, switch: str) -> PortRef | None:
    """Return the first port with PFC of a switch, whose group draws on its headroom pool; None without one."""
    sets = root_causes.view_of(run).lossless_sets
    names = (port.name for ports in sets if switch in ports.switches for port in ports.ports)
    return next((PortRef(switch, name) for name in names), None)
