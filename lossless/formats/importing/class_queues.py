"""Limits of queues that have a profile of their own beside those that SONiC names: what most ports have."""

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
    from lossless.model.fabric.qos import BufferProfile

_SHIPPED = (EGRESS_LOSSLESS_PROFILE, EGRESS_LOSSY_PROFILE, QUEUE_LOSSY_PROFILE)


def with_queue_limits(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass]
) -> tuple[DraftClass, ...]:
    """Return classes with the limits that most of their queues have, as far as those are not what is left out."""
    return tuple(_with_limits(devices, cls) for cls in classes)


def _with_limits(devices: Sequence[ImportDevice], cls: DraftClass) -> DraftClass:
    ports: dict[PortsOfSpeed, list[ClassValues]] = {}
    for device in devices:
        for port in device.used.values():
            queue = port.qos.queues[cls.priority] if port.qos and port.speed_bps else None
            if queue is not None:
                ports.setdefault(cell_of(device, port), []).append(_limit(device, queue.buffer))
    queues, notes = layered(ports, lambda values, lower: bool(values) or not lower, "limits of queues")
    return cls._replace(queues=queues, notes=(*cls.notes, *notes))


def _limit(device: ImportDevice, profile: BufferProfile | None) -> ClassValues:
    """Return the threshold of a profile, nothing where it is one of those that HWSKUs ship, or of another kind than its
    pool on chips that refuse that.
    """
    if profile is None or profile.pool is None or profile.name in _SHIPPED:
        return ()
    strict, mode = device.profile.asic.formula == "mellanox", profile.pool.mode
    if profile.dynamic_th is not None and -8 <= profile.dynamic_th <= 7:
        return () if strict and mode == "static" else (("dynamic_th", profile.dynamic_th),)
    if profile.static_th_bytes is not None and not (strict and mode == "dynamic"):
        return (("static_th", profile.static_th_bytes),)
    return ()
