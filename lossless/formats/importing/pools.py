"""Derives pools and shared headroom of an intent from devices, where its computed values would differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.layers import PortsOfSpeed, layered
from lossless.formats.sonic.read.tables import whole_number
from lossless.model.hardware.buffer_names import INGRESS_LOSSLESS_POOL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.formats.importing.model import Draft, ImportDevice, PoolValues, Stated
    from lossless.formats.sonic.changes.meaning import Cell

RATIO = ("headroom_oversubscription",)
"""The key of the ratio below ``buffers``."""


def stated_ratios(devices: Sequence[ImportDevice]) -> tuple[Stated[PoolValues], tuple[str, ...]]:
    """Return the ratios of devices with the dynamic buffer model."""
    told = ((device, device.switch.qos.dynamic) for device in devices)
    return _layers((d, ((RATIO, m.oversubscription),) if m.oversubscription else ()) for d, m in told if m)


def with_ratio(draft: Draft, ratio: float) -> Draft:
    """Return a draft with one ratio for all switches."""
    return draft._replace(buffers=draft.buffers._replace(pools={None: {None: ((RATIO, ratio),)}}))


def with_sizes(draft: Draft, cells: Mapping[str, Iterable[Cell]]) -> Draft:
    """Return a draft that declares pool values of devices, as far as those computed for the intent differ.

    ``cells`` compare each device with the values computed for it.
    """
    pools, notes = _layers((device, _values(device, cells[device.name])) for device in draft.devices)
    said = "pool sizes are as deployed; left out, they are computed for the ports that are up"
    buffers = draft.buffers._replace(pools=pools, notes=(*draft.buffers.notes, *notes, said))
    return draft._replace(buffers=buffers)


def _values(device: ImportDevice, cells: Iterable[Cell]) -> PoolValues:
    """Return the pool sizes of a device, and its ratio, unless a size of the shared headroom overrides it."""
    sizes = tuple(sorted((path, size) for cell in cells for path, size in _size(cell)))
    told = device.switch.qos.dynamic
    ratio = told.oversubscription if told else None
    if not ratio or any(path[-1] == "xoff" for path, _ in sizes):
        return sizes
    return ((RATIO, ratio), *sizes)


def _size(cell: Cell) -> Iterable[tuple[tuple[str, ...], int]]:
    """Yield a pool size that differs from the computed one, by its path below ``buffers``."""
    number = whole_number(cell.deployed) if cell.table == "BUFFER_POOL" and cell.deployed else None
    keys = ("size", "percentage", "xoff") if cell.key == INGRESS_LOSSLESS_POOL else ("size", "percentage")
    if cell.state != "same" and cell.field in keys and number is not None and number >= 0:
        yield ("pool_sizes", cell.key, cell.field), number


def _layers(
    by_device: Iterable[tuple[ImportDevice, PoolValues]],
) -> tuple[Stated[PoolValues], tuple[str, ...]]:
    """Return the values of devices by scope; values of a switch have no speed."""
    ports = {PortsOfSpeed(device.tier, device.name, 0): [values] for device, values in by_device}
    return layered(ports, lambda values, lower: dict(values).keys() >= dict(lower).keys(), "buffers")
