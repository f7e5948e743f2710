"""What rules share: where a violation points, and on which ports it shows."""

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
    """Return the place of a key below a value, or that of the value where a preset or a default gave it."""
    return origin if origin.mark == "key" or origin.path == ("preset",) else origin.at(*keys)


def beside(here: Origin, *others: tuple[Origin | None, str]) -> tuple[RelatedPlace, ...]:
    """Return the other places that have a part in a finding: not its own again, and none that nobody wrote."""
    related: dict[Origin, RelatedPlace] = {}
    for origin, message in others:
        written = origin is not None and origin.path and origin.path != ("preset",)
        if origin is not None and written and origin.place != here.place:
            related.setdefault(origin, RelatedPlace(origin, message))
    return tuple(related.values())


def entry_or_map(index_map: IndexMap, index: int) -> Origin:
    """Return where an entry of a map is written, the map itself where it has none."""
    return index_map.origin if index_map.targets[index] is None else index_map.entry_origin(index)


def row_of(profile: BufferProfile) -> Origin | None:
    """Return the row that a buffer profile was written as, None where the switch or an intent made it."""
    return profile.origin if profile.origin.path[:1] == ("BUFFER_PROFILE",) else None


def element(device: Device, port: str) -> str:
    """Return a port of a device as findings name it: ``leaf1:Ethernet0``."""
    return f"{device.switch.name}:{port}"


def distinct(sets: Iterable[PortSet]) -> tuple[PortSet, ...]:
    """Return port sets, each once."""
    return tuple({id(ports.ports): ports for ports in sets}.values())


def places(sets: Iterable[PortSet]) -> int:
    """Return on how many ports several sets are."""
    return sum(ports.places for ports in sets)


def counted_lossy(qos: PortQos, priority: int) -> bool:
    """Return whether the traffic of a priority is known to fill a group without headroom.

    Such a priority has PFC by mistake; the PFC rules say so, and what else it lacks follows from that.
    """
    number = qos.group_of(priority)
    group = qos.groups[number] if 0 <= number < len(qos.groups) else None
    return group is not None and group.buffer is not None and not group.buffer.lossless
