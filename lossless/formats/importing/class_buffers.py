"""Thresholds and headroom of lossless groups that differ from the HWSKU's: those of most ports, by tier and speed.

Values that a switch would compute, or take from a row of its HWSKU, are not declared: they are the defaults of an
intent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.layers import cell_of, layered
from lossless.model.hardware.buffer_names import INGRESS_LOSSLESS_POOL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.formats.importing.layers import PortsOfSpeed
    from lossless.formats.importing.model import ClassValues, DraftClass, ImportDevice
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import BufferProfile
    from lossless.model.hardware.model import HeadroomRow

_DEFAULT_DYNAMIC_TH = 0
"""The intent's default threshold in the dynamic buffer model.

Source: sonic-buildimage files/build_templates/buffers_config.j2 @02aaf5c.
"""


def with_class_buffers(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass]
) -> tuple[DraftClass, ...]:
    """Return classes with the buffers that most of their groups have, except for values that are defaults."""
    return tuple(_with_buffers(devices, classes, cls) if cls.lossless else cls for cls in classes)


def _with_buffers(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass], cls: DraftClass
) -> DraftClass:
    # In the traditional model all lossless classes have one profile, so they have one vote.
    alone = all(device.switch.qos.buffer_model == "dynamic" for device in devices)
    priorities = [other.priority for other in classes if other.lossless and (other is cls or not alone)]
    ports: dict[PortsOfSpeed, list[ClassValues]] = {}
    for device in devices:
        for port in device.used.values():
            for values in _values_of(device, port, priorities):
                ports.setdefault(cell_of(device, port), []).append(values)
    buffers, notes = layered(ports, _has_keys, "thresholds and headroom")
    return cls._replace(buffers=buffers, notes=(*cls.notes, *notes))


def _has_keys(values: ClassValues, lower: ClassValues) -> bool:
    return dict(values).keys() >= dict(lower).keys()


def _values_of(device: ImportDevice, port: Port, priorities: Sequence[int]) -> Iterator[ClassValues]:
    """Yield, for each lossless group of a port, the values that are not defaults of an intent."""
    qos = port.qos
    for priority in priorities if qos is not None and port.speed_bps else ():
        group = (
            qos.groups[qos.group_of(priority)] if qos is not None and priority in qos.pfc.priorities else None
        )
        if group is None:
            continue
        profile = group.named
        if device.switch.qos.buffer_model == "dynamic":
            yield _of_computed(device, profile)
        elif profile is not None and (row := _row(device, port)) is not None:
            yield _beyond(device, profile, row)


def _row(device: ImportDevice, port: Port) -> HeadroomRow | None:
    return device.hwsku.row(port.speed_bps, port.cable.configured_m or 0)


def _of_computed(device: ImportDevice, profile: BufferProfile | None) -> ClassValues:
    dynamic = device.switch.qos.dynamic
    default = _DEFAULT_DYNAMIC_TH if dynamic is None else dynamic.default_dynamic_th
    if profile is None:
        return () if default in (None, _DEFAULT_DYNAMIC_TH) else (("dynamic_th", default),)
    headroom = {
        "xoff": profile.headroom_bytes,
        "xon": profile.xon_bytes,
        "xon_offset": profile.xon_offset_bytes,
    }
    whole = {key: value for key, value in headroom.items() if value is not None}
    return (*_threshold(device, profile), *(whole.items() if {"xoff", "xon"} <= whole.keys() else ()))


def _beyond(device: ImportDevice, profile: BufferProfile, row: HeadroomRow) -> ClassValues:
    """Return the values of a profile that differ from the row of its speed and length."""
    usual = {"xoff": row.headroom_bytes, "xon": row.xon_bytes, "xon_offset": row.xon_offset_bytes}
    given = {"xoff": profile.headroom_bytes, "xon": profile.xon_bytes, "xon_offset": profile.xon_offset_bytes}
    other = ((key, value) for key, value in given.items() if value is not None and value != usual[key])
    threshold = (
        () if row.threshold in (profile.dynamic_th, profile.static_th_bytes) else _threshold(device, profile)
    )
    return (*threshold, *other)


def _threshold(device: ImportDevice, profile: BufferProfile) -> ClassValues:
    """Return a threshold of the pool's kind, none for one of the other kind, whose effect depends on the switch."""
    pools = {pool.name: pool for pool in device.switch.qos.pools}
    mode = pools[INGRESS_LOSSLESS_POOL].mode if INGRESS_LOSSLESS_POOL in pools else ""
    if mode == "dynamic" and profile.dynamic_th is not None and -8 <= profile.dynamic_th <= 7:
        return (("dynamic_th", profile.dynamic_th),)
    if mode == "static" and profile.static_th_bytes is not None:
        return (("static_th", profile.static_th_bytes),)
    return ()
