"""Shared by the cable rules: devices and names of cables, and the ports they are declared for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.cabling import PlannedCable, ReportedCable
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import View


_MANY = 5


def devices_of(cable: PlannedCable | ReportedCable) -> tuple[str, str]:
    """Return the names of the two devices of a cable, sorted."""
    first, second = sorted((cable.a.device, cable.b.device))
    return first, second


def named(cables: Sequence[PlannedCable] | Sequence[ReportedCable]) -> tuple[str, ...]:
    """Return the names of cables."""
    return tuple(cable.name for cable in cables)


def some(names: Sequence[str]) -> str:
    """Return the first five names of devices as text, and how many more there are."""
    more = f" and {len(names) - _MANY:,} more" if len(names) > _MANY else ""
    return ", ".join(names[:_MANY]) + more


def related(origin: Origin, message: str) -> tuple[RelatedPlace, ...]:
    """Return the related place of a finding with its message."""
    return (RelatedPlace(origin, message),)


def port_of(view: View, cable: PlannedCable) -> tuple[Switch, Port] | None:
    """Return the switch and the port at a declared cable's first end, or None where that port is not configured."""
    for switch in view.units.get(cable.a.device, ()):
        port = view.port(switch.name, cable.a.port or "")
        if port is not None:
            return switch, port
    return None
