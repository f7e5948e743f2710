"""Turns devices and cables into the draft of an intent, with all choices made, before its text is written.

Priority groups and queues are declared where they differ from defaults: with the values of most ports, by tier and
speed. Tiers of links are divided into those with PFC and those without. Far ends for which no file was
given are switches that are configured elsewhere, or hosts.

Trimming has the classes whose queues trim, the size, and the class in which trimmed packets continue. An intent
declares it once for the fabric, by the one DSCP of a lossy class, so the settings of most switches are declared.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from lossless.formats.importing.buffers import cell_of, find_buffers, layered, voters, with_class_buffers
from lossless.formats.importing.configured import (
    differing_watchdog,
    dissent_notes,
    find_classes,
    find_watchdog,
    most,
)
from lossless.formats.importing.links import neighbor_claims, wire, with_curves
from lossless.formats.importing.model import (
    Draft,
    DraftException,
    DraftTrimming,
    is_dual_tor,
    second_priorities,
)
from lossless.formats.sonic.to_model.device_types import TIER_OF_TYPE, neighbor_type
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.cabling import LEAST_TRIM_BYTES, CableEnd
from lossless.model.fabric.model import DEFAULT_SWITCH_MTU_BYTES, Tier, link_tier
from lossless.model.fabric.qos import PRIORITIES
from lossless.model.hardware.buffers import (
    EGRESS_LOSSLESS_PROFILE,
    EGRESS_LOSSY_PROFILE,
    QUEUE_LOSSY_PROFILE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet

    from lossless.formats.importing.buffers import PortsOfSpeed
    from lossless.formats.importing.model import (
        Claim,
        ClassGroup,
        ClassValues,
        DraftClass,
        ImportDevice,
        ImportLink,
        ImportWiring,
        Stated,
    )
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import BufferProfile, Pool, PortQos
    from lossless.model.hardware.devices import NicProfile


def with_groups(
    devices: Sequence[ImportDevice],
    classes: Sequence[DraftClass],
    silent: AbstractSet[CableEnd],
    *,
    remapped: bool,
) -> tuple[DraftClass, ...]:
    """Return draft classes with the priority groups that most ports have for them, except for defaults.

    ``silent`` are the ports of tiers without PFC. They, and with ``remapped`` the ports that tunnels of dual ToRs pass,
    vote only where no other port of a tier has their speed.
    """
    second = {
        CableEnd(device.name, port.name)
        for device in devices
        for port in device.used.values()
        if remapped and second_priorities(port)
    }
    ports = voters(devices, silent | second)
    shared = min(set(PRIORITIES) - {cls.priority for cls in classes if cls.lossless}, default=0)
    return tuple(_with_groups(ports, cls, cls.priority if cls.lossless else shared) for cls in classes)


def _with_groups(ports: Sequence[tuple[PortsOfSpeed, Port]], cls: DraftClass, usual: int) -> DraftClass:
    counted = [(cell, port.qos, port.qos.group_of(cls.priority)) for cell, port in ports if port.qos]
    unused = {
        group
        for group in {group for _, _, group in counted if group in PRIORITIES}
        if cls.dscps == () and not _is_held(group, [qos for _, qos, other in counted if other == group])
    }
    by_cell: dict[PortsOfSpeed, list[ClassGroup]] = {}
    for cell, _, group in counted:
        if group in PRIORITIES:
            by_cell.setdefault(cell, []).append((usual if group in unused else group,))
    groups, notes = layered(by_cell, lambda *_: True, "priority groups")
    return cls._replace(pg=_beyond(groups, (usual,)), notes=(*cls.notes, *notes))


def _is_held(group: int, ports: Sequence[PortQos]) -> bool:
    """Return whether most of these ports have buffer for a priority group."""
    held, _ = most(qos.groups[group] is not None for qos in ports)
    return held is True


def _beyond(groups: Stated[ClassGroup], usual: ClassGroup) -> Stated[ClassGroup]:
    """Return declared priority groups without the default; a device or speed may restore it as an exception."""
    kept = {
        scope: {
            speed_bps: group
            for speed_bps, group in by_speed.items()
            if speed_bps is not None or group != usual or isinstance(scope, str)
        }
        for scope, by_speed in groups.items()
    }
    return {scope: by_speed for scope, by_speed in kept.items() if by_speed}


_SHIPPED = (EGRESS_LOSSLESS_PROFILE, EGRESS_LOSSY_PROFILE, QUEUE_LOSSY_PROFILE)


def with_queue_limits(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass]
) -> tuple[DraftClass, ...]:
    """Return draft classes with the threshold and reserved buffer of most of their queues, except for defaults."""
    return tuple(_with_limits(devices, cls) for cls in classes)


def _with_limits(devices: Sequence[ImportDevice], cls: DraftClass) -> DraftClass:
    ports: dict[PortsOfSpeed, list[ClassValues]] = {}
    for device in devices:
        for port in device.used.values():
            queue = port.qos.queues[cls.priority] if port.qos and port.speed_bps else None
            if queue is not None:
                values = _limits(device, queue.buffer, lossless=cls.lossless)
                ports.setdefault(cell_of(device, port), []).append(values)
    queues, notes = layered(ports, _hides, "limits of queues")
    return cls._replace(queues=queues, notes=(*cls.notes, *notes))


def _hides(values: ClassValues, lower: ClassValues) -> bool:
    """Return whether queue limits override all of a lower rank; dynamic and static thresholds override each other."""
    return _kinds(values) >= _kinds(lower)


def _kinds(values: ClassValues) -> set[str]:
    return {"size" if key == "size" else "threshold" for key, _ in values}


def _limits(device: ImportDevice, profile: BufferProfile | None, *, lossless: bool) -> ClassValues:
    """Return the values of a queue profile that differ from those of the HWSKU.

    Empty for the HWSKU's own profiles, and for one without a pool.
    """
    if profile is None or profile.pool is None or profile.name in _SHIPPED:
        return ()
    by_template = (defaults.queue_profile(lossless=lossless) for defaults in device.hwsku.buffers)
    shipped = [usual for usual in by_template if usual is not None]
    usual_sizes = {usual.reserved_bytes for usual in shipped}
    usual_thresholds = {(usual.dynamic_th, usual.static_th_bytes) for usual in shipped}
    sized = usual_sizes and usual_sizes != {profile.reserved_bytes}
    limited = usual_thresholds != {(profile.dynamic_th, profile.static_th_bytes)}
    return (
        *(_threshold(device, profile, profile.pool) if limited else ()),
        *((("size", profile.reserved_bytes),) if sized else ()),
    )


def _threshold(device: ImportDevice, profile: BufferProfile, pool: Pool) -> ClassValues:
    """Return the threshold of a queue profile; empty without a valid one, or where the chip refuses it in the pool."""
    strict, mode = device.profile.asic.formula == "mellanox", pool.mode
    if profile.dynamic_th is not None and -8 <= profile.dynamic_th <= 7:
        return () if strict and mode == "static" else (("dynamic_th", profile.dynamic_th),)
    if profile.static_th_bytes is not None and not (strict and mode == "dynamic"):
        return (("static_th", profile.static_th_bytes),)
    return ()


PREFERRED_NIC = "connectx-7"


def draft_of(
    devices: Sequence[ImportDevice],
    claims: Iterable[Claim],
    nics: Sequence[NicProfile],
    nic: str | None,
    name: str,
    cable_m: int | None = None,
) -> Draft:
    """Return the draft of an intent for devices; ``nic`` is the NIC profile that the user names, if any.

    ``cable_m`` is the default length of cables; see :func:`wire`.

    Raises:
        InputError: no port of any device carries classes, or a cable has no length.
    """
    fastest_nic_bps = max((rate for adapter in nics for rate in adapter.rates_bps), default=0)
    wiring = wire(devices, (*claims, *neighbor_claims(devices)), fastest_nic_bps, cable_m)
    placed = _with_tiers(devices, wiring.links)
    beyond = switches_outside(placed, wiring)
    tier_of = tiers_of(placed, beyond)
    dual_tors = _dual_tors(placed, tier_of, wiring.links)
    tiers = find_tiers(placed, tier_of, wiring.links)
    drafted, class_notes = find_classes(placed, silent=tiers.silent, remapped=bool(dual_tors))
    if not drafted:
        raise InputError([_nothing(device) for device in devices])
    buffers = find_buffers(_with_buffers(placed))
    watchdog, watchdog_notes = find_watchdog(devices)
    mtu_bytes, mtu_notes = _mtu(devices)
    trimming, trimming_notes = find_trimming(_with_buffers(placed), drafted)
    chosen, nic_notes = (nic, ()) if nic else _nic(nics, wiring, beyond)
    draft = Draft(
        name=name,
        devices=placed,
        classes=_with_ranks(placed, drafted, tiers.silent, remapped=bool(dual_tors)),
        watchdog=watchdog,
        tiers=tiers.pausing,
        asymmetric=_asymmetric(placed),
        links=wiring.links,
        outside=wiring.outside,
        switches_outside=beyond,
        nic=chosen,
        mtu_bytes=mtu_bytes,
        buffers=buffers,
        dual_tors=dual_tors,
        oversubscription=_oversubscription(tier_of, placed, wiring.links),
        notes={
            "classes": (*class_notes, *(note for device in placed for note in device.notes)),
            "pfc": watchdog_notes,
            "mtu": mtu_notes,
            "buffers": buffers.notes,
            "nic": nic_notes,
            "trimming": trimming_notes,
            "topology": wiring.notes,
        },
        trimming=trimming,
    )
    return draft._replace(exceptions=find_exceptions(draft))


def _with_ranks(
    devices: Sequence[ImportDevice],
    drafted: Sequence[DraftClass],
    silent: frozenset[CableEnd],
    *,
    remapped: bool,
) -> tuple[DraftClass, ...]:
    """Return draft classes with priority groups, ECN curves, buffers and queue limits by tier, speed and device."""
    own = _with_buffers(devices)
    grouped = with_groups(own, drafted, silent, remapped=remapped)
    return with_queue_limits(own, with_class_buffers(own, with_curves(devices, grouped, silent)))


def _with_buffers(devices: Sequence[ImportDevice]) -> tuple[ImportDevice, ...]:
    """Return the devices whose configuration contains their buffers: those that run SONiC."""
    return tuple(device for device in devices if device.switch.runs_sonic)


def _nothing(device: ImportDevice) -> Problem:
    span = device.document.locate(("PORT_QOS_MAP",))
    why = "no port has a row in PORT_QOS_MAP: nothing says which traffic is which class"
    return Problem(device.document.file, span.line, span.column, why)


def _asymmetric(devices: Sequence[ImportDevice]) -> bool:
    """Return whether most ports in use have asymmetric PFC: they obey pauses of all priorities."""
    winner, _ = most(port.asymmetric for device in devices for port in device.used.values())
    return winner is True


def _dual_tors(
    devices: Sequence[ImportDevice], tier_of: Mapping[str, Tier], links: Sequence[ImportLink]
) -> frozenset[str]:
    """Return the leaves that tunnel to a peer through spines that are declared as well."""
    tors = {device.name for device in devices if is_dual_tor(device)}
    spines = {name for name, tier in tier_of.items() if tier is Tier.SPINE}
    ends = ((link.a.device, link.b.device) for link in links)
    return frozenset(name for pair in ends for name in pair if name in tors and spines.intersection(pair))


def _mtu(devices: Sequence[ImportDevice]) -> tuple[int, tuple[str, ...]]:
    port_mtus = [
        port.mtu_bytes
        for device in devices
        for port in device.used.values()
        if isinstance(port.mtu_bytes, int)
    ]
    usual, vote = most(port_mtus)
    if usual is None:
        return DEFAULT_SWITCH_MTU_BYTES, ()
    return usual, dissent_notes(vote, f"mtu {usual}")


def find_exceptions(draft: Draft) -> dict[CableEnd, DraftException]:
    """Return the exceptions of linked ports: MTU and asymmetric PFC that differ from those of all, watchdogs from those
    of the tier.
    """
    linked = {end for link in draft.links for end in (link.a, link.b)}
    exceptions = {}
    for device in draft.devices:
        for port in device.used.values():
            end = CableEnd(device.name, port.name)
            own = _exception(draft, device, port)
            if end in linked and own != _AS_ALL:
                exceptions[end] = own
    return exceptions


_AS_ALL = DraftException(None, None, None)


def _exception(draft: Draft, device: ImportDevice, port: Port) -> DraftException:
    pauses = port.qos is not None and bool(port.qos.pfc.priorities)
    mtu_bytes = port.mtu_bytes if isinstance(port.mtu_bytes, int) else draft.mtu_bytes
    watchdog = None
    if port.qos is not None and pauses:
        usual = draft.watchdog.of(device.tier) if draft.watchdog is not None else None
        watchdog = differing_watchdog(port.qos, usual, sonic=device.switch.runs_sonic)
    return DraftException(
        mtu_bytes=mtu_bytes if mtu_bytes != draft.mtu_bytes else None,
        asymmetric=port.asymmetric if port.asymmetric != (draft.asymmetric and pauses) else None,
        watchdog=watchdog,
    )


def _nic(
    nics: Sequence[NicProfile], wiring: ImportWiring, beyond: Mapping[str, Tier]
) -> tuple[str, tuple[str, ...]]:
    """Return the name of a NIC profile for the speeds of host links, of any one if none has them, and a note on it."""
    hosts = wiring.outside.keys() - beyond.keys()
    speeds = {link.speed_bps for link in wiring.links if link.b.device in hosts}
    fitting = [nic.name for nic in nics if speeds <= set(nic.rates_bps)]
    names = fitting or [nic.name for nic in nics]
    chosen = PREFERRED_NIC if PREFERRED_NIC in names or not names else names[0]
    return chosen, ("no switch knows the adapters of its hosts: state yours",)


def _with_tiers(devices: Sequence[ImportDevice], links: Sequence[ImportLink]) -> tuple[ImportDevice, ...]:
    """Return the devices with corrected tiers: a device that is no leaf and has links to leaves alone is a spine.

    Links are a better source than the file of a device, which may have no DEVICE_NEIGHBOR. Any other switch of unknown
    tier remains a leaf.
    """
    leaves = {device.name for device in devices if device.switch.tier is Tier.LEAF}
    met: dict[str, set[str]] = {}
    for link in links:
        met.setdefault(link.a.device, set()).add(link.b.device)
        met.setdefault(link.b.device, set()).add(link.a.device)
    spines = {name for name, others in met.items() if others <= leaves and name not in leaves}
    return tuple(d._replace(tier=Tier.SPINE) if d.name in spines else d for d in devices)


def _oversubscription(
    tier_of: Mapping[str, Tier], devices: Sequence[ImportDevice], links: Sequence[ImportLink]
) -> dict[Tier, float]:
    """Return the highest oversubscription of the switches of each tier, rounded up to hundredths; at least 1.

    Tiers whose switches lack links up or down are left out.
    """
    worst: dict[Tier, float] = {}
    for device in devices:
        ratio = _ratio(device.name, tier_of, links)
        if ratio is not None:
            tier = tier_of[device.name]
            worst[tier] = max(worst.get(tier, 1.0), math.ceil(ratio * 100) / 100)
    return worst


def _ratio(name: str, tier_of: Mapping[str, Tier], links: Sequence[ImportLink]) -> float | None:
    """Return the ratio of a switch's bandwidth below to that above, None where it lacks either."""
    up, down, own = 0, 0, tier_of[name]
    for link in links:
        if name in (link.a.device, link.b.device):
            far = tier_of.get(link.b.device if link.a.device == name else link.a.device, 0)
            up += link.speed_bps if far > own else 0
            down += link.speed_bps if far < own else 0
    return down / up if up and down else None


_SWITCH_PORT = re.compile(r"Ethernet[0-9]+(?:/[0-9]+)*")
"""The pattern of port names of switches, in SONiC and other systems; names of host ports differ."""
_ACROSS = {Tier.LEAF: Tier.SPINE, Tier.SPINE: Tier.LEAF, Tier.SUPER_SPINE: Tier.SPINE}
"""The assumed tier of a switch that only its port distinguishes from a host, by the tier of its neighbor.

Leaves are assumed below spines, and spines above leaves.
"""


def switches_outside(devices: Sequence[ImportDevice], wiring: ImportWiring) -> dict[str, Tier]:
    """Return the tier of each switch among the far ends for which no file was given, by name.

    It is a switch by its type; without a type by a switch's port name, or as one of ``wiring.switches``.
    """
    tier_of: dict[str, Tier] = {}
    by_name = {device.name: device for device in devices}
    for link in wiring.links:
        if link.b.device not in wiring.outside or link.b.device in tier_of:
            continue
        device = by_name[link.a.device]
        kind = neighbor_type(device.tables, link.b.device)
        if kind in TIER_OF_TYPE:
            tier_of[link.b.device] = TIER_OF_TYPE[kind]
        elif not kind and _is_switch(link.b, wiring):
            tier_of[link.b.device] = _ACROSS[device.tier]
    return tier_of


def _is_switch(end: CableEnd, wiring: ImportWiring) -> bool:
    return end.device in wiring.switches or _SWITCH_PORT.fullmatch(end.port or "") is not None


def tiers_of(devices: Iterable[ImportDevice], outside: Mapping[str, Tier]) -> dict[str, Tier]:
    """Return the tier of every switch by name, including those for which no file was given."""
    return {**outside, **{device.name: device.tier for device in devices}}


TIERS = ("hosts", "uplinks", "spine_uplinks")


class PfcTiers(NamedTuple):
    """The tiers of links with PFC, and the ports of the others; None and no ports if all tiers or no tier has PFC."""

    pausing: tuple[str, ...] | None
    silent: frozenset[CableEnd]


def find_tiers(
    devices: Sequence[ImportDevice], tier_of: Mapping[str, Tier], links: Sequence[ImportLink]
) -> PfcTiers:
    """Return the tiers of links in which most ports have PFC, None for all or none; ``tier_of`` is by switch."""
    ports = _ports_by_tier(devices, tier_of, links)
    pausing = tuple(tier for tier in TIERS if tier in ports and _pause(ports[tier]))
    if not pausing or len(pausing) == len(ports):
        return PfcTiers(None, frozenset())
    silent = frozenset(end for tier, ends in ports.items() if tier not in pausing for end in ends)
    return PfcTiers(pausing, silent)


def _pause(ports: dict[CableEnd, Port]) -> bool:
    winner, _ = most(bool(port.qos and port.qos.pfc.priorities) for port in ports.values())
    return winner is True


def _ports_by_tier(
    devices: Sequence[ImportDevice], tier_of: Mapping[str, Tier], links: Sequence[ImportLink]
) -> dict[str, dict[CableEnd, Port]]:
    by_name = {device.name: device for device in devices}
    by_tier: dict[str, dict[CableEnd, Port]] = {}
    for link in links:
        ends = (tier_of.get(link.a.device), tier_of.get(link.b.device))
        # What is no switch is declared as a host.
        tier = link_tier({end.word if end else "host" for end in ends})
        for end in (link.a, link.b):
            if end.device in by_name and end.port in (used := by_name[end.device].used):
                by_tier.setdefault(tier, {})[end] = used[end.port]
    return by_tier


_Notes = tuple[str, ...]


def find_trimming(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass]
) -> tuple[DraftTrimming | None, _Notes]:
    """Return the packet trimming of most devices, None without it or where an intent cannot declare it, and notes."""
    settings = [device.switch.qos.trimming for device in devices]
    told, vote = most(None if each is None else (each.size_bytes, each.dscp, each.queue) for each in settings)
    if told is None:
        return None, () if vote.unanimous else (_dissent(vote.votes - vote.ayes, vote.votes),)
    notes = () if vote.unanimous else (f"trimming: {vote.ayes} of {vote.votes} devices have it so",)
    size_bytes, dscp, queue = told
    trimmed = tuple(cls.name for cls in classes if not cls.lossless and _trims(devices, cls.priority))
    into = next((c for c in classes if c.dscps == (dscp,) and not c.lossless and c.name not in trimmed), None)
    why = _why_not(size_bytes, trimmed, into, queue)
    if why or into is None or size_bytes is None:
        return None, (f"trimming is not declared: {why}",)
    return DraftTrimming(trimmed, into.name, size_bytes), notes


def _dissent(those: int, votes: int) -> str:
    return f"trimming is not declared: {those} of {votes} devices have it, or have it so"


def _trims(devices: Sequence[ImportDevice], number: int) -> bool:
    """Return whether the profiles of most queues with one number trim packets."""
    queues = (port.qos.queues[number] for device in devices for port in device.used.values() if port.qos)
    winner, _ = most(queue.buffer is not None and queue.buffer.trims for queue in queues if queue is not None)
    return winner is True


def _why_not(
    size_bytes: int | None, trimmed: _Notes, into: DraftClass | None, queue: int | str | None
) -> str:
    """Return why an intent cannot declare the trimming of devices, empty where it can."""
    if size_bytes is None or size_bytes < LEAST_TRIM_BYTES:
        return "no device says to what size, or to less than a frame has"
    if not trimmed:
        return "most queues of no class that may drop have a profile that trims"
    if into is None:
        return "the DSCP of trimmed packets is not that of a class which may drop and has no other"
    return "" if queue == into.priority else f"class {into.name} has another queue than trimmed packets"
