"""A lossless queue must be able to hold as much as its ingress groups.

Severity: error
Fix: unsafe
Subject: buffers

## What it does
Compares the limit of one lossless egress queue with the bytes that the ingress groups of its priority hold for it once
it stalls. The limit is alpha B / (1 + alpha) of its pool or `static_th`, and the whole pool where `dynamic_th` 7 leaves
the queue unbounded. Each ingress group fills to its own threshold, then its headroom. A limit below one group is an
error. On a switch with three or more ports with PFC, a limit below two groups is a warning where it is also below half
of the pool; some chips have their buffer in two halves, and a queue there never gets more. Zero profiles, lossy queues
(PFC005) and chassis with virtual output queues are left alone. The rule fires on no lossless profile of the 127 buffer
templates with headroom rows that vendors ship, dynamic ones included.

## Why it breaks a lossless fabric
PFC acts on ingress occupancy. A queue that is full before any ingress group reaches its threshold drops at its tail,
without a pause.

## Bad
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"egress_lossless_profile": {
    "dynamic_th": "-3"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"egress_lossless_profile": {
    "dynamic_th": "7"
  }}
}
```

## Fix
Do not bound lossless queues: `dynamic_th` 7, or a `static_th` as large as the pool; and a pool of the whole buffer.

## Sources
- Bai et al., Empowering Azure Storage with RDMA, NSDI 2023 (egress of lossless traffic must not be the limit)
- Choudhury and Hahne, Dynamic queue length thresholds, 1998 (the thresholds)
- sonic-buildimage device/**/buffers_defaults_*.j2 and pg_profile_lookup.ini @086b03b
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import (
    Trigger,
    by_switch,
    ports_with_pfc,
    queue_limit_bytes,
    stalled_egress_bytes,
    trigger,
    whatever_the_parts,
)
from lossless.analysis.buffers.headroom.port import given_headroom, lossless_profile
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.fixes import field as row_field
from lossless.checks.rules.locations import below, beside, places, row_of
from lossless.checks.rules.pfc.priorities import is_lossy
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes
from lossless.model.fabric.qos import UNREADABLE, BufferProfile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.view import PortSet, View

_TWO = 2
UNBOUNDED_TH = 7
"""The largest ``dynamic_th``, with which 78 shipped pool sets leave lossless queues unbounded; NVIDIA's driver treats
it as infinite (Mellanox/SAI-Implementation mlnx_sai/src/mlnx_sai_buffer.c @91c3f7b)."""


class _EgressBacklog(NamedTuple):
    """The bytes that one and two ingress groups of a profile hold for a stalled egress queue."""

    profile: BufferProfile
    start: Trigger
    headroom_bytes: int

    @property
    def one_bytes(self) -> float:
        """The threshold and headroom of one group."""
        return stalled_egress_bytes(self.start.threshold_bytes(1), self.headroom_bytes, 1)

    @property
    def two_bytes(self) -> float:
        """The thresholds and headroom of two groups."""
        return stalled_egress_bytes(self.start.threshold_bytes(2), self.headroom_bytes, 2)


class _EgressUse(NamedTuple):
    """One egress profile of lossless queues of one priority, with its ports."""

    profile: BufferProfile
    priority: int
    sets: list[PortSet]


def check(view: View) -> Results:
    """Yield a violation per egress profile that limits a lossless queue below the backlog of its ingress groups.

    VOQ switches are left out, and those with fewer than two ports with PFC.
    """
    for sets in by_switch(view):
        ports = ports_with_pfc(sets)
        if ports < _TWO or sets[0].switch.qos.voq:
            continue
        held = _most_held(sets)
        merged: dict[int, Violation | MissingInput] = {}
        for egress in _egresses(sets):
            verdict = _verdict(view, ports, egress, held[egress.priority])
            if verdict is not None:
                merged.setdefault(id(egress.profile), verdict)
        yield from merged.values()


def _egresses(sets: Sequence[PortSet]) -> Iterator[_EgressUse]:
    uses: dict[tuple[int, int], _EgressUse] = {}
    for ports in sets:
        for priority in ports.qos.pfc.priorities:
            number = ports.qos.queue_of(priority)
            queue = ports.qos.queues[number] if number != UNREADABLE else None
            buffer = queue.buffer if queue else None
            # SWS014 reports a queue on an ingress pool.
            of_ingress = buffer is not None and buffer.pool is not None and buffer.pool.kind == "ingress"
            if buffer is not None and not is_lossy(buffer) and not of_ingress:
                egress = uses.setdefault((id(buffer), priority), _EgressUse(buffer, priority, []))
                egress.sets.append(ports)
    yield from uses.values()


def _verdict(
    view: View,
    ports: int,
    egress: _EgressUse,
    held: _EgressBacklog | MissingInput | None,
) -> Violation | MissingInput | None:
    limit = _limit_bytes(egress.profile)
    for unknown in (limit, held) if limit is not None else ():
        # A queue without a limit of its own is reported only where its pool is known to be too small.
        if isinstance(unknown, MissingInput) and egress.profile.dynamic_th != UNBOUNDED_TH:
            return MissingInput(unknown.reason, places(egress.sets))
    if not isinstance(limit, float | int) or not isinstance(held, _EgressBacklog):
        return None
    # Parts divide a dynamic limit as they do the thresholds of the groups, and leave a static one as it is.
    start = held.start if egress.profile.static_th_bytes else held.start.undivided
    found = whatever_the_parts(
        start, lambda one: _violation(view, ports, egress, held._replace(start=one), limit)
    )
    return MissingInput(found.reason, places(egress.sets)) if isinstance(found, MissingInput) else found


def _violation(
    view: View, ports: int, egress: _EgressUse, held: _EgressBacklog, limit: float
) -> Violation | None:
    if limit < held.one_bytes:
        return _egress_limit_below_ingress(view, egress, held, limit, senders=1)
    pool = egress.profile.pool
    halved = pool is not None and pool.size_bytes is not None and 2 * limit >= pool.size_bytes
    if limit < held.two_bytes and not halved and ports > _TWO:
        return _egress_limit_below_ingress(view, egress, held, limit, senders=2)
    return None


def _limit_bytes(profile: BufferProfile) -> float | MissingInput | None:
    """Return a queue's limit in bytes, at most its reserve and pool; None without one, a missing input if unknown."""
    of_pool = profile.pool.size_bytes if profile.pool is not None else None
    whole_pool = profile.reserved_bytes + of_pool if of_pool else None
    if profile.dynamic_th == UNBOUNDED_TH:
        return whole_pool
    limit = queue_limit_bytes(profile)
    if isinstance(limit, MissingInput) or limit is None or whole_pool is None:
        return limit
    return min(limit, whole_pool)


def _most_held(sets: Sequence[PortSet]) -> dict[int, _EgressBacklog | MissingInput | None]:
    """Return the largest backlog of the known groups of each priority; None where no group is lossless.

    It is a missing input where no group of the priority is known.
    """
    held_by_profile: dict[int, _EgressBacklog | MissingInput] = {}
    pausing = grouped((priority, ports) for ports in sets for priority in ports.qos.pfc.priorities)
    most: dict[int, _EgressBacklog | MissingInput | None] = {}
    for priority, same in pausing.items():
        profiles = [(ports, lossless_profile(ports, priority)) for ports in same]
        held = [
            _held(ports, profile, held_by_profile) if isinstance(profile, BufferProfile) else profile
            for ports, profile in profiles
        ]
        backlogs = [each for each in held if isinstance(each, _EgressBacklog)]
        unknown = next((each for each in held if isinstance(each, MissingInput)), None)
        most[priority] = max(backlogs, key=lambda backlog: backlog.one_bytes, default=unknown)
    return most


def _held(
    ports: PortSet, profile: BufferProfile, held_by_profile: dict[int, _EgressBacklog | MissingInput]
) -> _EgressBacklog | MissingInput:
    if id(profile) not in held_by_profile:
        start = trigger(ports.switch, profile)
        if isinstance(start, MissingInput):
            held_by_profile[id(profile)] = start
        else:
            held_by_profile[id(profile)] = _EgressBacklog(
                profile, start, given_headroom(ports.switch, profile)
            )
    return held_by_profile[id(profile)]


def _is_pool_short(profile: BufferProfile, limit: float) -> bool:
    """Return whether the limit of a queue in bytes is its reserved buffer and its whole pool."""
    of_pool = profile.pool.size_bytes if profile.pool is not None else None
    return of_pool is not None and limit == profile.reserved_bytes + of_pool


def _egress_limit_below_ingress(
    view: View, egress: _EgressUse, held: _EgressBacklog, limit: float, *, senders: int
) -> Violation:
    profile = egress.profile
    amount = int(held.one_bytes if senders == 1 else held.two_bytes)
    who = "one ingress group holds" if senders == 1 else "two ingress groups hold"
    field, by_pool = (
        "dynamic_th" if profile.dynamic_th is not None else "static_th",
        _is_pool_short(profile, limit),
    )
    origin = profile.origin if view.fabric.declared else below(profile.origin, field)
    if by_pool and profile.pool is not None and not view.fabric.declared:
        origin = below(profile.pool.origin, "size")
    raised = field == "dynamic_th" and not by_pool
    return Violation(
        origin=origin,
        fix=row_field(origin, str(UNBOUNDED_TH)) if raised else (),
        message=f"{profile.name} lets a lossless queue hold {format_bytes(int(limit))}, and {who} "
        f"{format_bytes(amount)} for it before its sender stops",
        note=f"{held.profile.name}: threshold and headroom of each group; the queue drops first, without a pause",
        help="give its pool the whole buffer of the chip"
        if by_pool
        else "set dynamic_th to 7"
        if field == "dynamic_th"
        else "set static_th to the size of the pool, so that only ingress decides",
        data={
            "limit_bytes": int(limit),
            "held_bytes": amount,
            "senders": senders,
            "priority": egress.priority,
            "ingress_profile": held.profile.name,
        },
        related=beside(origin, (row_of(held.profile), "threshold and headroom of the groups")),
        severity=None if senders == 1 else "warning",
    ).on_ports(*egress.sets)
