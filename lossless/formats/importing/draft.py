"""Turns devices and cables into the draft of an intent, with all choices made, before its text is written."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.formats.importing.buffers import find_buffers
from lossless.formats.importing.class_buffers import with_class_buffers
from lossless.formats.importing.class_groups import with_groups
from lossless.formats.importing.class_queues import with_queue_limits
from lossless.formats.importing.classes import find_classes, find_watchdog
from lossless.formats.importing.curves import with_curves
from lossless.formats.importing.devices import is_dual_tor
from lossless.formats.importing.links import neighbor_claims, wire
from lossless.formats.importing.majority import dissent_notes, most
from lossless.formats.importing.model import Draft
from lossless.formats.importing.outside_switches import switches_outside, tiers_of
from lossless.formats.importing.pfc_tiers import find_tiers
from lossless.formats.importing.trimming import find_trimming
from lossless.ground.basics.errors import InputError, Problem
from lossless.model.fabric.model import DEFAULT_SWITCH_MTU_BYTES
from lossless.model.fabric.tier import Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.formats.importing.model import Claim, DraftClass, ImportDevice, ImportLink, ImportWiring
    from lossless.model.fabric.cabling import CableEnd
    from lossless.model.hardware.nic import NicProfile

PREFERRED_NIC = "connectx-7"


def draft_of(
    devices: Sequence[ImportDevice],
    claims: Iterable[Claim],
    nics: Sequence[NicProfile],
    nic: str | None,
    name: str,
    cable_m: int | None = None,
) -> Draft:
    """Return the draft of an intent for devices; ``nic`` is the adapter that the user names, if any.

    ``cable_m`` is the default length of cables; see :func:`wire`.

    Raises:
        InputError: no port of any device carries classes, so that there is nothing to declare.
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
    return Draft(
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


def _with_ranks(
    devices: Sequence[ImportDevice],
    drafted: Sequence[DraftClass],
    silent: frozenset[CableEnd],
    *,
    remapped: bool,
) -> tuple[DraftClass, ...]:
    """Return classes with their values by tier, speed and device."""
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
    """Return whether most ports have asymmetric PFC: they obey pauses of all priorities."""
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
    # A port of the base may have more than the intent says, never less.
    least = min(port_mtus)
    return (
        (usual, ())
        if vote.unanimous
        else (least, (*dissent_notes(vote, f"mtu {usual}"), "mtu: the least of all ports"))
    )


def _nic(
    nics: Sequence[NicProfile], wiring: ImportWiring, beyond: Mapping[str, Tier]
) -> tuple[str, tuple[str, ...]]:
    """Return an adapter that supports the speeds of the links to hosts, and notes on the choice."""
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
    """Return the highest oversubscription of the switches of each tier, rounded up to hundredths; at least 1."""
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
