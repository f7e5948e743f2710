"""Differences between the configuration of a switch and its intent, value by value.

Maps and profiles are compared by content: their names on the device may be others than in the intent. The difference of
a map is at the map; that of a profile or scheduler is at its row where it has the declared name, else at the binding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from lossless.checks.rules.locations import entry_or_map
from lossless.formats.sonic.from_model import trim_values
from lossless.formats.sonic.to_model.trimming import DISCARD_ACTION, TRIM, TRIM_ROW, TRIM_TABLE
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed, number_ranges
from lossless.model.fabric.qos import (
    UNREADABLE,
    BufferProfile,
    Curve,
    IndexMap,
    Pool,
    Scheduler,
    Watchdog,
    Wred,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Origin, Severity
    from lossless.model.fabric.model import SwitchQos
    from lossless.model.fabric.qos import (
        PortQos,
        PriorityGroup,
        PriorityMask,
        Queue,
        TrimSettings,
        TunnelMaps,
    )

Value = str | int | bool | None
Fields = dict[str, Value]
Item = TypeVar("Item", Scheduler, Wred, BufferProfile)
_SHOWN = 3
_WEIGHED = frozenset({"DWRR", "WRR"})


class SwitchDifference(NamedTuple):
    """One difference between a switch and its intent: its origin, the message, and the origin of the declared value.

    ``severity`` follows the effect on traffic; None for that of the rule.
    """

    origin: Origin
    message: str
    declared: Origin
    severity: Severity | None = None


class MapField(NamedTuple):
    """One kind of map that a port binds: its attribute of PortQos, its table, and the words for source and target.

    ``same``: where the map is unbound, each number leads to itself; if False, each leads to 0.
    """

    attribute: str
    table: str
    source: str
    target: str
    same: bool


MAPS = (
    MapField("dscp_to_tc", "DSCP_TO_TC_MAP", "DSCP", "TC", same=False),
    MapField("tc_to_queue", "TC_TO_QUEUE_MAP", "TC", "queue", same=True),
    MapField("tc_to_pg", "TC_TO_PRIORITY_GROUP_MAP", "TC", "PG", same=True),
    MapField("pfc_to_queue", "MAP_PFC_PRIORITY_TO_QUEUE", "priority", "queue", same=True),
    MapField("pfc_to_pg", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "priority", "PG", same=True),
)

_TUNNEL_MAPS = (*MAPS[:3], MapField("tc_to_dscp", "TC_TO_DSCP_MAP", "TC", "DSCP", same=False))


def of_tunnel(have: TunnelMaps, want: TunnelMaps) -> Iterator[SwitchDifference]:
    """Yield the differences between the maps of a tunnel and the declared ones."""
    for field in _TUNNEL_MAPS:
        yield from of_map(field, getattr(have, field.attribute), getattr(want, field.attribute), have.origin)


def of_port(
    name: str, have: PortQos, want: PortQos, *, same_link: bool, kept: bool
) -> Iterator[SwitchDifference]:
    """Yield the differences between the QoS of a port and its declared one.

    Unless speed and cable are the declared ones, groups that the switch makes from them are not compared. ``kept``:
    each lossless class is lossless on the port by its priority, so that other TC, queue or group numbers are no error.
    """
    if have.trust_dot1p and not want.trust_dot1p:
        message = "dot1p_to_tc_map is bound: the intent trusts DSCP"
        yield SwitchDifference(have.origin, message, want.origin, _grave(want.pfc.priorities))
    lossless = want.pfc.priorities
    for field in MAPS:
        maps = getattr(have, field.attribute), getattr(want, field.attribute)
        inside = kept and field.attribute != "dscp_to_tc"
        yield from of_map(field, *maps, have.origin, () if inside else lossless)
    yield from _mask("pfc_enable", have.pfc, want.pfc)
    # The rules on the watchdog report one without a row or without priorities.
    if have.watchdog_mask is not None and have.watchdog_mask.priorities and want.watchdog_mask is not None:
        yield from _mask("pfcwd_sw_enable", have.watchdog_mask, want.watchdog_mask)
    if have.watchdog is not None and want.watchdog is not None:
        fields = _differing(_watchdog(have.watchdog), _watchdog(want.watchdog))
        yield from _row("the watchdog", fields, have.watchdog.origin, want.watchdog.origin)
    yield from _queues(have, want)
    yield from _groups(have, want, same_link=same_link, kept=kept)
    yield from _lists(name, have, want)


def of_map(
    field: MapField,
    have: IndexMap | None,
    want: IndexMap | None,
    unbound: Origin,
    lossless: Sequence[int] = (),
) -> Iterator[SwitchDifference]:
    """Yield the difference between a map and the declared one; its origin is ``unbound`` where no map is bound.

    It is an error where entries lead to no ``lossless`` target and the declared one is lossless: no pause protects that
    traffic. Numbers without an entry in the intent are not compared. Unreadable entries are reported by other rules.
    """
    if want is None:
        return
    sources = grouped(
        ((configured, target), index)
        for index, target in enumerate(want.targets)
        if (configured := _target(have, index, same=field.same)) not in (target, UNREADABLE)
        and target is not None
    )
    if not sources:
        return
    texts = [
        f"{field.source} {number_ranges(indexes)} goes to {field.target} {configured}, the intent says {target}"
        for (configured, target), indexes in sources.items()
    ]
    name = f"{field.table} {have.name}" if have else f"no {field.table} is in force"
    origin = _map_origin(have, [index for indexes in sources.values() for index in indexes], unbound)
    left_out = [target for configured, target in sources if target in lossless and configured not in lossless]
    message = f"{name}: {listed(texts, _SHOWN, '; ')}"
    yield SwitchDifference(origin, message, want.origin, _grave(left_out))


def _grave(lossless: Collection[int]) -> Severity | None:
    """Return ``error`` for a difference that leaves lossless priorities without protection, None if there are none."""
    return "error" if lossless else None


def _target(index_map: IndexMap | None, index: int, *, same: bool) -> int:
    if index_map is None:
        return index if same else 0
    return index_map.targets[index] or 0


def _map_origin(have: IndexMap | None, indexes: Sequence[int], unbound: Origin) -> Origin:
    if have is None:
        return unbound
    return entry_or_map(have, indexes[0]) if len(indexes) == 1 else have.origin


def _mask(field: str, have: PriorityMask, want: PriorityMask) -> Iterator[SwitchDifference]:
    if have.priorities != want.priorities:
        message = f"{field} is {_numbers(have.priorities)}, the intent says {_numbers(want.priorities)}"
        missing = {*want.priorities}.difference(have.priorities)
        yield SwitchDifference(have.origin, message, want.origin, _grave(missing))


def _queues(have: PortQos, want: PortQos) -> Iterator[SwitchDifference]:
    extra = []
    for number, (queue, declared) in enumerate(zip(have.queues, want.queues, strict=True)):
        if declared is not None:
            lossless = number in want.pfc.priorities
            yield from _queue(queue, declared, have.origin, lossless=lossless)
        elif queue is not None:
            extra.append(queue)
    if extra:
        numbers = _numbers([queue.number for queue in extra])
        yield SwitchDifference(
            extra[0].origin, f"queue {numbers}: the intent has no such rows", want.origin, "info"
        )


def _queue(have: Queue | None, want: Queue, nowhere: Origin, *, lossless: bool) -> Iterator[SwitchDifference]:
    if have is None:
        origin = nowhere._replace(path=("QUEUE",), mark="key")
        message = f"queue {want.number} has no row, the intent serves it"
        yield SwitchDifference(origin, message, want.origin, "error" if lossless else None)
        return
    prefix = f"queue {want.number}"
    yield from _bound(f"{prefix}: scheduler", have.scheduler, want.scheduler, have.origin, _scheduler)
    # ECN001 reports a lossless queue without marking.
    if have.wred is not None or not lossless:
        yield from _bound(f"{prefix}: wred_profile", have.wred, want.wred, have.origin, _wred)
    at = have.buffer_origin or nowhere._replace(path=("BUFFER_QUEUE",), mark="key")
    yield from _bound(f"{prefix}: buffer profile", have.buffer, want.buffer, at, profile_fields)


def _groups(have: PortQos, want: PortQos, *, same_link: bool, kept: bool) -> Iterator[SwitchDifference]:
    extra = []
    for number, (group, declared) in enumerate(zip(have.groups, want.groups, strict=True)):
        if declared is not None:
            if same_link or group is None or not group.generated:
                yield from _group(number, group, declared, have.origin, kept=kept)
        elif group is not None and not group.generated:
            extra.append(group)
    if extra:
        numbers = _numbers([group.number for group in extra])
        yield SwitchDifference(
            extra[0].origin, f"PG {numbers}: the intent has no such rows", want.origin, "info"
        )


def _group(
    number: int, have: PriorityGroup | None, want: PriorityGroup, nowhere: Origin, *, kept: bool
) -> Iterator[SwitchDifference]:
    if have is None:
        origin = nowhere._replace(path=("BUFFER_PG",), mark="key")
        message = f"PG {number} has no row, the intent has buffers for it"
        yield SwitchDifference(origin, message, want.origin, "error" if want.lossless and not kept else None)
    elif have.named is not None or not have.generated or want.override is not None:
        differences = _bound(f"PG {number}: profile", have.named, want.named, have.origin, profile_fields)
        lost = want.lossless and not have.lossless and not kept
        yield from (
            difference._replace(severity="error") if lost else difference for difference in differences
        )


def _lists(name: str, have: PortQos, want: PortQos) -> Iterator[SwitchDifference]:
    for side, configured, declared in zip(
        ("INGRESS", "EGRESS"), have.profile_lists, want.profile_lists, strict=True
    ):
        by_name = {profile.name: profile for profile in configured}
        for profile in declared:
            if profile.name in by_name:
                yield from _bound("", by_name[profile.name], profile, profile.origin, profile_fields)
        unlike = [
            p
            for p in declared
            if p.name not in by_name
            and not any(profile_fields(other) == profile_fields(p) for other in configured)
        ]
        if unlike:
            table = f"BUFFER_PORT_{side}_PROFILE_LIST"
            message = f"{side.lower()} profiles are {_names(configured)}, the intent says {_names(declared)}"
            yield SwitchDifference(have.origin._replace(path=(table, name)), message, unlike[0].origin)


def _bound(
    subject: str, have: Item | None, want: Item | None, at: Origin, fields: Callable[[Item], Fields]
) -> Iterator[SwitchDifference]:
    """Yield the difference between a bound row and the declared one, at the row itself where the names are equal."""
    if want is None:
        if have is not None:
            yield SwitchDifference(at, f"{subject} is {have.name}, the intent says none", at)
    elif have is None:
        yield SwitchDifference(
            at, f"{subject} is missing, the intent says {_shown(fields(want))}", want.origin
        )
    elif differing := _differing(fields(have), fields(want)):
        own = have.name == want.name
        subject = have.name if own else f"{subject} {have.name}"
        yield from _row(subject, differing, have.origin if own else at, want.origin)


def _row(
    subject: str, fields: Mapping[str, tuple[Value, Value]], at: Origin, declared: Origin
) -> Iterator[SwitchDifference]:
    if fields:
        texts = [
            f"{name} is {_text(have)}, the intent says {_text(want)}" for name, (have, want) in fields.items()
        ]
        yield SwitchDifference(at, f"{subject}: {listed(texts, _SHOWN, '; ')}", declared)


def of_pool(have: Pool, want: Pool) -> Iterator[SwitchDifference]:
    """Yield the differences between a buffer pool and the declared one."""
    yield from _row(have.name, _differing(_pool(have), _pool(want)), have.origin, want.origin)


def of_trimming(have: SwitchQos, want: SwitchQos, nowhere: Origin) -> Iterator[SwitchDifference]:
    """Yield the differences in packet trimming; the origin is ``nowhere`` where the device has no row for it."""
    row = f"{TRIM_TABLE}|{TRIM_ROW}"
    if have.trimming is None and want.trimming is not None:
        message = f"{row} is missing, the intent says {_shown(_trimming(want.trimming))}"
        yield SwitchDifference(nowhere, message, want.trimming.origin)
    elif have.trimming is not None and want.trimming is None:
        yield SwitchDifference(
            have.trimming.origin, f"{row}: the intent trims no packets", want.origin, "info"
        )
    elif have.trimming is not None and want.trimming is not None:
        fields = _differing(_trimming(have.trimming), _trimming(want.trimming))
        yield from _row(row, fields, have.trimming.origin, want.trimming.origin)


def _trimming(trimming: TrimSettings) -> Fields:
    return {**trim_values(trimming)}


def _differing(have: Fields, want: Fields) -> dict[str, tuple[Value, Value]]:
    names = dict.fromkeys((*want, *have))
    return {n: (have.get(n), want.get(n)) for n in names if have.get(n) != want.get(n)}


def _scheduler(scheduler: Scheduler) -> Fields:
    rates: Fields = {"cir": scheduler.cir or None, "pir": scheduler.pir or None}
    weight = scheduler.weight if scheduler.kind in _WEIGHED else None
    meter = scheduler.meter if any(rates.values()) else None
    return {"type": scheduler.kind, "weight": weight, **rates, "meter_type": meter}


def _wred(wred: Wred) -> Fields:
    curves = {"green": wred.green, "yellow": wred.yellow, "red": wred.red}
    return {
        field: value for colour, curve in curves.items() for field, value in _curve(colour, curve).items()
    }


def _curve(colour: str, curve: Curve) -> Fields:
    """Return the fields of a WRED curve; of a curve that is off, only that it is off."""
    if not curve.enabled:
        return {f"wred_{colour}_enable": False}
    return {
        f"wred_{colour}_enable": True,
        f"ecn of {colour}": curve.marks,
        f"{colour}_min_threshold": curve.min_bytes,
        f"{colour}_max_threshold": curve.max_bytes,
        f"{colour}_drop_probability": curve.probability_percent,
    }


def profile_fields(profile: BufferProfile) -> Fields:
    """Return the values of a buffer profile by field name."""
    return {
        "pool": profile.pool.name if profile.pool else None,
        "size": profile.reserved_bytes,
        "xoff": profile.headroom_bytes,
        "xon": profile.xon_bytes or None,
        "xon_offset": profile.xon_offset_bytes or None,
        "dynamic_th": profile.dynamic_th,
        "static_th": profile.static_th_bytes,
        DISCARD_ACTION: TRIM if profile.trims else None,
    }


def _pool(pool: Pool) -> Fields:
    headroom = pool.shared_headroom_bytes or None
    return {
        "type": pool.kind,
        "mode": pool.mode,
        "size": pool.size_bytes,
        "percentage": pool.percent,
        "xoff": headroom,
    }


def _watchdog(watchdog: Watchdog) -> Fields:
    return {
        "detection_time": watchdog.detection_ms,
        "restoration_time": watchdog.restoration_ms,
        "action": watchdog.action,
    }


def _text(value: Value) -> str:
    if value is None:
        return "not set"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(fields: Fields) -> str:
    return listed([f"{name} {_text(value)}" for name, value in fields.items() if value is not None], _SHOWN)


def _numbers(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers)) or "empty"


def _names(profiles: Sequence[BufferProfile]) -> str:
    return ", ".join(profile.name for profile in profiles) or "none"
