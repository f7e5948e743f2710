"""The headroom of all lossless groups must fit into the pool from which it is taken.

Severity: warning
Fix: unsafe
Subject: buffers

## What it does
Adds up the headroom that the lossless groups of a switch can claim at once. Where they draw on a shared headroom pool
(`BUFFER_POOL` `xoff`), the sum is compared with its size: beyond the declared `headroom_oversubscription`, or 1:1 in an
intent without one, it is a warning. On a deployed switch without a declared ratio it is only information, because many
fabrics oversubscribe headroom on purpose. Headroom that leaves nothing of the chip to share is an error. So is, in the
dynamic buffer model of NVIDIA chips, a port whose groups claim more of the shared pool than the chip lends one port.
Where the switch computes headroom and pools itself, the computed values are added up; `over_subscribe_ratio` then sizes
the shared headroom pool.

## Why it breaks a lossless fabric
Oversubscribed headroom is a bet that not all groups pause at once. An incast over a whole row loses the
bet: the pool runs dry while peers are still stopping, and lossless packets are dropped. With no shared
buffer left, every group pauses at its first packet.

## Bad
```json config_db base=azure
{
  "BUFFER_POOL": {"ingress_lossless_pool": {
    "xoff": "300000"   // <- here
  }}
}
```

## Good
```json config_db base=azure
{
  "BUFFER_POOL": {"ingress_lossless_pool": {
    "xoff": "500000"
  }}
}
```

## Fix
Enlarge the shared headroom pool, shorten cables, or turn PFC off on ports that carry no RDMA; where the
ratio is meant, state `buffers.headroom_oversubscription` in the intent.

## Sources
- sonic-swss cfgmgr/buffer_pool_mellanox.lua @1469e8d
- sonic-swss cfgmgr/buffer_check_headroom_mellanox.lua @e6b0c5b; sonic-buildimage platform/mellanox/asic_table.j2
  @086b03b (port_max_shp, port_reserved_shp)
- Bai et al., Empowering Azure Storage with RDMA, NSDI 2023 (oversubscribed headroom pools)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import by_switch
from lossless.analysis.buffers.headroom.sums import HeadroomSum, PortClaim, claim_beyond_limit, headroom_sums
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.fixes import field
from lossless.checks.rules.locations import below, distinct, places
from lossless.ground.basics.units import format_bytes
from lossless.model.fabric.qos import includes_headroom

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Edit, Json, Origin, Severity
    from lossless.model.fabric.view import PortSet, View

_ROUNDING = 1.001
"""The tolerance of the comparison with the declared ratio: the sizes of pools are rounded to bytes and cells."""


def check(view: View) -> Results:
    """Yield a violation per pool or set of ports whose headroom does not fit, or exceeds the declared ratio or 1:1."""
    for sets in by_switch(view):
        for ports in sets:
            claim = claim_beyond_limit(ports)
            if claim is not None:
                yield _port_violation(ports, claim)
        sums = headroom_sums(sets)
        if isinstance(sums, MissingInput):
            yield MissingInput(sums.reason, places(sets))
        else:
            yield from _of_pools(sets, sums, view.fabric.declared)


def _of_pools(sets: Sequence[PortSet], sums: Sequence[HeadroomSum], declared: bool) -> Iterator[Violation]:
    for demand in sums:
        violation = _headroom_oversubscribed(demand, declared)
        if violation is not None:
            yield violation._replace(data=_data(demand)).on_ports(*distinct(sets))


def _port_violation(ports: PortSet, claim: PortClaim) -> Violation:
    return Violation(
        origin=ports.cable.origin,
        message=f"the lossless groups of a port can claim {format_bytes(claim.claimed_bytes)} of the shared headroom "
        f"pool, the chip lends a port {format_bytes(claim.limit_bytes)}",
        note="the dynamic buffer model refuses these groups, and the port has no headroom",
        help="use a shorter cable or fewer lossless classes, or let each group hold its own headroom: no "
        "over_subscribe_ratio and no xoff on the pool",
        data={"claimed_bytes": claim.claimed_bytes, "limit_bytes": claim.limit_bytes},
        severity="error",
    ).on_ports(ports)


def _headroom_oversubscribed(demand: HeadroomSum, declared: bool) -> Violation | None:
    if not demand.fits:
        return _does_not_fit(demand, declared)
    if demand.ratio is not None and demand.ratio > (demand.accepted or 1.0) * _ROUNDING:
        return _oversubscribed(demand, demand.ratio, declared)
    return None


def _does_not_fit(demand: HeadroomSum, declared: bool) -> Violation:
    chip = format_bytes(demand.chip_bytes) if demand.chip_bytes else "the chip"
    stated = " or state buffers.headroom_oversubscription" if demand.shared_bytes else ""
    dynamic = demand.switch.qos.dynamic
    if dynamic is not None and not declared and not demand.shared_bytes:
        stated = ", or set over_subscribe_ratio, by which groups share headroom"
    # The switch computes a pool of size 0, and its headroom is not configured.
    if demand.shared_bytes and not declared and demand.pool.size_bytes != 0:
        return _pool_too_large(demand, demand.shared_bytes, chip)
    return Violation(
        origin=_declared_origin(demand) if declared else demand.pool.origin.at("size"),
        message=f"headroom of {format_bytes(demand.headroom_bytes)} for {_groups(demand)} leaves "
        f"nothing of {chip} to share",
        note="each group holds its headroom before anything is shared",
        help=f"use shorter cables, fewer lossless classes or fewer ports{stated}",
        severity="error",
    )


def _pool_too_large(demand: HeadroomSum, shared_bytes: int, chip: str) -> Violation:
    return Violation(
        origin=demand.pool.origin.at("xoff"),
        message=f"{demand.pool.name} sets {format_bytes(shared_bytes)} aside as headroom, which leaves nothing of "
        f"{chip} to share",
        note=f"{_groups(demand)} can claim {format_bytes(demand.claimed_bytes)} of it",
        help=f"set xoff to {demand.claimed_bytes} and size to what the chip has left"
        if demand.chip_bytes is not None and demand.claimed_bytes < demand.chip_bytes
        else "use shorter cables, fewer lossless classes or fewer ports",
        severity="error",
    )


def _oversubscribed(demand: HeadroomSum, ratio: float, from_intent: bool) -> Violation:
    declared = f", {demand.accepted:g}:1 is declared" if demand.accepted else ""
    severity: Severity = "warning" if from_intent or demand.accepted else "info"
    origin, told = _declared_origin(demand), _told_ratio(demand, ratio)
    remedy, fix = _remedy(demand, told)
    return Violation(
        origin=told or (origin.at("xoff") if origin.path[:1] == ("BUFFER_POOL",) else origin),
        message=f"{_groups(demand)} can claim {format_bytes(demand.claimed_bytes)} of headroom, "
        f"{demand.pool.name} holds {format_bytes(demand.shared_bytes or 0)}, {ratio:.2f}:1{declared}",
        note="the sum of xoff over every lossless group of every port with PFC that is not down",
        help=f"{remedy}; where the ratio is meant, state it in the intent: "
        f"buffers.headroom_oversubscription: {math.ceil(ratio * 10) / 10:g}",
        severity=severity,
        fix=fix,
    )


def _declared_origin(demand: HeadroomSum) -> Origin:
    """Return the origin of a pool, or of the cable that needs most headroom if an intent leaves its size to compute."""
    return demand.cable_origin if demand.pool.origin.path == ("topology",) else demand.pool.origin


def _groups(demand: HeadroomSum) -> str:
    return f"{demand.groups} lossless group{'' if demand.groups == 1 else 's'}"


def _told_ratio(demand: HeadroomSum, ratio: float) -> Origin | None:
    """Return the origin of ``over_subscribe_ratio`` if the switch sizes the pool by it, else None."""
    dynamic = demand.switch.qos.dynamic if demand.switch.qos.buffer_model == "dynamic" else None
    if dynamic is None or not dynamic.oversubscription or ratio > dynamic.oversubscription * _ROUNDING:
        return None
    return below(dynamic.origin, "over_subscribe_ratio")


def _remedy(demand: HeadroomSum, told: Origin | None) -> tuple[str, tuple[Edit, ...]]:
    """Return the help and the edits by which the shared headroom meets all claims within the buffer of chip or pool."""
    if told is not None:
        return "set over_subscribe_ratio to 1", field(told, "1")
    claimed, size, origin = demand.claimed_bytes, demand.pool.size_bytes, demand.pool.origin
    shared = demand.shared_bytes or 0
    room = demand.chip_bytes if demand.chip_bytes is not None else (size or 0) + shared
    if size and claimed >= room:
        return "use shorter cables, fewer lossless classes or fewer ports", ()
    counted_in = bool(size) and demand.chip_bytes is not None and includes_headroom(size or 0, shared, room)
    if not size or counted_in or size + claimed <= room:
        return f"give the shared headroom pool {format_bytes(claimed)}", field(
            origin.at("xoff"), str(claimed)
        )
    return f"set xoff to {claimed} and size to {room - claimed}", (
        *field(origin.at("xoff"), str(claimed)),
        *field(origin.at("size"), str(room - claimed)),
    )


def _data(demand: HeadroomSum) -> dict[str, Json]:
    return {
        "headroom_sum_bytes": demand.headroom_bytes,
        "claimed_bytes": demand.claimed_bytes,
        "shared_headroom_bytes": demand.shared_bytes,
        "chip_bytes": demand.chip_bytes,
        "groups": demand.groups,
        "ratio": None if demand.ratio is None else round(demand.ratio, 3),
    }
