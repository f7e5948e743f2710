"""Limits and sizes of queues with profiles other than SONiC's own: those of most ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.layers import cell_of, layered
from lossless.model.hardware.buffer_names import (
    EGRESS_LOSSLESS_PROFILE,
    EGRESS_LOSSY_PROFILE,
    QUEUE_LOSSY_PROFILE,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.formats.importing.layers import PortsOfSpeed
    from lossless.formats.importing.model import ClassValues, DraftClass, ImportDevice
    from lossless.model.fabric.qos import BufferProfile, Pool

_SHIPPED = (EGRESS_LOSSLESS_PROFILE, EGRESS_LOSSY_PROFILE, QUEUE_LOSSY_PROFILE)


def with_queue_limits(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass]
) -> tuple[DraftClass, ...]:
    """Return classes with the limits that most of their queues have, except for defaults."""
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
    """Return whether values override all values of a lower rank; the two kinds of thresholds override each other."""
    return _kinds(values) >= _kinds(lower)


def _kinds(values: ClassValues) -> set[str]:
    return {"size" if key == "size" else "threshold" for key, _ in values}


def _limits(device: ImportDevice, profile: BufferProfile | None, *, lossless: bool) -> ClassValues:
    """Return the values of a profile that differ from those of the HWSKU; none for the HWSKU's own profiles."""
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
    """Return the threshold of a profile; none where it is not of its pool's kind, on chips that refuse that."""
    strict, mode = device.profile.asic.formula == "mellanox", pool.mode
    if profile.dynamic_th is not None and -8 <= profile.dynamic_th <= 7:
        return () if strict and mode == "static" else (("dynamic_th", profile.dynamic_th),)
    if profile.static_th_bytes is not None and not (strict and mode == "dynamic"):
        return (("static_th", profile.static_th_bytes),)
    return ()
