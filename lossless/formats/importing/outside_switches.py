"""What is at the far ends for which no file was given: switches that are configured elsewhere, or hosts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.sonic.roles import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.formats.importing.model import ImportDevice, ImportWiring

_SWITCH_PORT = re.compile(r"Ethernet[0-9]+(?:/[0-9]+)*")
"""What SONiC and others call ports of switches; a host's port is called otherwise."""
_ABOVE = {"leaf": "spine", "spine": "leaf", "super-spine": "spine"}
"""What a switch is taken for that only its port tells from a host: leaves are under spines, and spines over leaves."""


def neighbor_kind(device: ImportDevice, neighbor: str) -> str:
    """Return what a device holds a neighbour for (DEVICE_NEIGHBOR_METADATA), empty where it does not say."""
    rows = device.tables.data.get("DEVICE_NEIGHBOR_METADATA")
    row = rows.get(neighbor) if isinstance(rows, dict) else None
    kind = row.get("type") if isinstance(row, dict) else None
    return kind if isinstance(kind, str) else ""


def switches_outside(devices: Sequence[ImportDevice], wiring: ImportWiring) -> dict[str, str]:
    """Return the role of each far end that is a switch: by its type, else because its port is called as a switch's."""
    found: dict[str, str] = {}
    by_name = {device.name: device for device in devices}
    for link in wiring.links:
        device = by_name.get(link.a.device)
        if device is None or link.b.device not in wiring.outside or link.b.device in found:
            continue
        kind = neighbor_kind(device, link.b.device)
        if kind in ROLES:
            found[link.b.device] = ROLES[kind]
        elif not kind and _SWITCH_PORT.fullmatch(link.b.port or ""):
            found[link.b.device] = _ABOVE[device.role]
    return found


def roles(devices: Iterable[ImportDevice], outside: Mapping[str, str]) -> dict[str, str]:
    """Return the role of every switch, those outside among them."""
    return {**outside, **{device.name: device.role for device in devices}}
