"""Shared by the rules: origins of violations, names and numbers of affected ports, and facts about profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.checks.rules.subjects import Device
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.qos import BufferProfile, IndexMap, PortQos
    from lossless.model.fabric.view import PortSet


def below(origin: Origin, *keys: str) -> Origin:
    """Return the origin of a key below a value, or that of the value where it is from a preset or a default."""
    return origin if origin.mark == "key" or origin.path == ("preset",) else origin.at(*keys)


def beside(here: Origin, *others: tuple[Origin | None, str]) -> tuple[RelatedPlace, ...]:
    """Return the related places of a finding, each once: without its own place, presets, and origins without a path."""
    related: dict[Origin, RelatedPlace] = {}
    for origin, message in others:
        written = origin is not None and origin.path and origin.path != ("preset",)
        if origin is not None and written and origin.place != here.place:
            related.setdefault(origin, RelatedPlace(origin, message))
    return tuple(related.values())


def entry_or_map(index_map: IndexMap, index: int) -> Origin:
    """Return the origin of an entry of a map, or of the map where it has no such entry."""
    return index_map.origin if index_map.targets[index] is None else index_map.entry_origin(index)


def row_of(profile: BufferProfile) -> Origin | None:
    """Return the origin of a profile's ``BUFFER_PROFILE`` row; None where it is from the switch or an intent."""
    return profile.origin if profile.origin.path[:1] == ("BUFFER_PROFILE",) else None


def element(device: Device, port: str) -> str:
    """Return the name of a port of a device in findings, such as ``leaf1:Ethernet0``."""
    return f"{device.switch.name}:{port}"


def distinct(sets: Iterable[PortSet]) -> tuple[PortSet, ...]:
    """Return port sets without repetitions; sets that share one tuple of ports count as equal."""
    return tuple({id(ports.ports): ports for ports in sets}.values())


def places(sets: Iterable[PortSet]) -> int:
    """Return the number of ports of several port sets."""
    return sum(ports.places for ports in sets)


def counted_lossy(qos: PortQos, priority: int) -> bool:
    """Return whether the traffic of a priority is in a priority group whose profile is known to have no headroom.

    Such a priority has PFC by mistake. The PFC rules report it, and its other faults follow from that.
    """
    number = qos.group_of(priority)
    group = qos.groups[number] if 0 <= number < len(qos.groups) else None
    return group is not None and group.buffer is not None and not group.buffer.lossless


def has_egress_profiles(device: Device) -> bool:
    """Return whether a ``BUFFER_PROFILE`` names an egress pool: then rows of queues are not left to another file."""
    egress = {pool.name for pool in device.switch.qos.pools if pool.kind == "egress"}
    return any(row.reference("pool") in egress for row in device.tables.table("BUFFER_PROFILE").values())
