"""Where queues mark: the curve of most ports, and those of speeds, tiers and devices that have another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.layers import cell_of, layered
from lossless.formats.importing.model import ColourCurve, EcnCurve
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lossless.formats.importing.layers import PortsOfSpeed
    from lossless.formats.importing.model import ClassCurve, DraftClass, ImportDevice
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import Curve, Wred

_LARGEST_THRESHOLD = 2**31 - 1
_ALL = 100
_DEFAULT_PROBABILITY = 100
"""What orchagent sets where a profile has none (sonic-swss orchagent/qosorch.cpp @e6b0c5b)."""


def with_curves(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass], silent: Collection[CableEnd]
) -> tuple[DraftClass, ...]:
    """Return classes with the curves that most of their queues have.

    ``silent`` are the ports of tiers without PFC, which have a say only where no other port of a tier has their speed.
    """
    ports = [
        (cell_of(device, port), port, CableEnd(device.name, port.name) in silent)
        for device in devices
        for port in device.used.values()
        if port.speed_bps is not None
    ]
    pausing = {(cell.tier, cell.speed_bps) for cell, _, is_silent in ports if not is_silent}
    marking = [
        (cell, port)
        for cell, port, is_silent in ports
        if not is_silent or (cell.tier, cell.speed_bps) not in pausing
    ]
    return tuple(_with_curves(marking, cls) for cls in classes)


def _with_curves(ports: Sequence[tuple[PortsOfSpeed, Port]], cls: DraftClass) -> DraftClass:
    by_cell: dict[PortsOfSpeed, list[ClassCurve]] = {}
    for cell, port in ports:
        queue = port.qos.queues[cls.priority] if port.qos else None
        if queue is not None:
            by_cell.setdefault(cell, []).append(_curve(queue.wred))
    ecn, notes = layered(by_cell, lambda curve, lower: bool(curve) or not lower, "ecn")
    return cls._replace(ecn=ecn, notes=(*notes, *cls.notes))


def _curve(wred: Wred | None) -> ClassCurve:
    """Return the curve by which a profile marks, none where it marks nothing or cannot be declared."""
    green = _of_colour(wred.green) if wred is not None and wred.marks else None
    if wred is None or green is None:
        return ()
    others = ((name, _other(curve, green)) for name, curve in (("yellow", wred.yellow), ("red", wred.red)))
    return (EcnCurve(green, tuple((name, curve) for name, curve in others if curve != green)),)


def _other(curve: Curve, green: ColourCurve) -> ColourCurve | None:
    """Return the curve of a colour, None where it is off; what cannot be declared counts as having that of green."""
    if curve.enabled == curve.marks:
        return (_of_colour(curve) or green) if curve.enabled else None
    return green


def _of_colour(curve: Curve) -> ColourCurve | None:
    """Return a curve that an intent can declare."""
    probability = _DEFAULT_PROBABILITY if curve.probability_percent is None else curve.probability_percent
    if curve.min_bytes is None or curve.max_bytes is None or not 0 <= probability <= _ALL:
        return None
    if not 0 <= curve.min_bytes <= curve.max_bytes <= _LARGEST_THRESHOLD:
        return None
    return ColourCurve(curve.min_bytes, curve.max_bytes, probability)
