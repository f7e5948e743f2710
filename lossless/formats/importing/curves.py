"""Marking curves of queues: the curve of most ports, and exceptions by speed, tier and device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.layers import layered, voters
from lossless.formats.importing.model import ColourCurve, EcnCurve

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from lossless.formats.importing.layers import PortsOfSpeed
    from lossless.formats.importing.model import ClassCurve, DraftClass, ImportDevice
    from lossless.model.fabric.cabling import CableEnd
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import Curve, Wred
    from lossless.model.fabric.tier import Tier

_LARGEST_THRESHOLD = 2**31 - 1
_ALL = 100
_DEFAULT_PROBABILITY = 100
"""The default of orchagent for a profile without a probability (sonic-swss orchagent/qosorch.cpp @e6b0c5b)."""


_OFF: ClassCurve = (None,)


def with_curves(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass], silent: Collection[CableEnd]
) -> tuple[DraftClass, ...]:
    """Return classes with the curves that most of their queues have.

    ``silent`` are the ports of tiers without PFC, which vote only where no other port of a tier has their speed.
    """
    ports = voters(devices, silent)
    return tuple(_with_curves(ports, cls) for cls in classes)


def _with_curves(ports: Sequence[tuple[PortsOfSpeed, Port]], cls: DraftClass) -> DraftClass:
    by_cell: dict[PortsOfSpeed, list[ClassCurve]] = {}
    for cell, port in ports:
        queue = port.qos.queues[cls.priority] if port.qos else None
        if queue is not None:
            by_cell.setdefault(cell, []).append(_curve(queue.wred))
    ecn, notes = layered(by_cell, lambda *_: True, "ecn")
    some = any(curve != _OFF for by_speed in ecn.values() for curve in by_speed.values())
    spelt = {scope: _spelt(scope, by_speed, by_cell) for scope, by_speed in ecn.items() if some}
    declared = {scope: by_speed for scope, by_speed in spelt.items() if by_speed}
    return cls._replace(ecn=declared, notes=(*notes, *cls.notes))


def _spelt(
    scope: Tier | str | None, by_speed: dict[int | None, ClassCurve], cells: Iterable[PortsOfSpeed]
) -> dict[int | None, ClassCurve]:
    """Return the curves of a scope in a form that an intent accepts: without exceptions to an ``off`` for all speeds.

    Speeds without a curve do not mark; a device overrides its tier speed by speed.
    """
    if by_speed.get(None) != _OFF or (len(by_speed) == 1 and scope is not None):
        return by_speed
    own = (cell.speed_bps for cell in cells if cell.device == scope)
    off: dict[int | None, ClassCurve] = dict.fromkeys(own, _OFF)
    return off | {speed_bps: curve for speed_bps, curve in by_speed.items() if speed_bps is not None}


def _curve(wred: Wred | None) -> ClassCurve:
    """Return the curve of a marking profile, none for a profile that does not mark or cannot be declared."""
    green = _of_colour(wred.green) if wred is not None and wred.marks else None
    if wred is None or green is None:
        return _OFF
    others = ((name, _other(curve, green)) for name, curve in (("yellow", wred.yellow), ("red", wred.red)))
    return (EcnCurve(green, tuple((name, curve) for name, curve in others if curve != green)),)


def _other(curve: Curve, green: ColourCurve) -> ColourCurve | None:
    """Return the curve of a color, None where it is off; that of green for a curve that cannot be declared."""
    if curve.enabled == curve.marks:
        return (_of_colour(curve) or green) if curve.enabled else None
    return green


def _of_colour(curve: Curve) -> ColourCurve | None:
    """Return a curve in the form of an intent, None where it cannot be declared."""
    probability = _DEFAULT_PROBABILITY if curve.probability_percent is None else curve.probability_percent
    if curve.min_bytes is None or curve.max_bytes is None or not 0 <= probability <= _ALL:
        return None
    if not 0 <= curve.min_bytes <= curve.max_bytes <= _LARGEST_THRESHOLD:
        return None
    return ColourCurve(curve.min_bytes, curve.max_bytes, probability)
