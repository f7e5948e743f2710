"""Priority groups of classes that are not defaults of an intent: those of most ports, by tier and speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.devices import second_priorities
from lossless.formats.importing.layers import layered, voters
from lossless.formats.importing.majority import most
from lossless.model.fabric.cabling import CableEnd
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Sequence, Set as AbstractSet

    from lossless.formats.importing.layers import PortsOfSpeed
    from lossless.formats.importing.model import ClassGroup, DraftClass, ImportDevice, Stated
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import PortQos


def with_groups(
    devices: Sequence[ImportDevice],
    classes: Sequence[DraftClass],
    silent: AbstractSet[CableEnd],
    *,
    remapped: bool,
) -> tuple[DraftClass, ...]:
    """Return classes with the priority groups that most ports have for them, except for defaults.

    ``silent`` are the ports of tiers without PFC. They, and with ``remapped`` the ports that tunnels of dual ToRs pass,
    vote only where no other port of a tier has their speed.
    """
    second = {
        CableEnd(device.name, port.name)
        for device in devices
        for port in device.used.values()
        if remapped and second_priorities(port)
    }
    ports = voters(devices, silent | second)
    shared = min(set(PRIORITIES) - {cls.priority for cls in classes if cls.lossless}, default=0)
    return tuple(_with_groups(ports, cls, cls.priority if cls.lossless else shared) for cls in classes)


def _with_groups(ports: Sequence[tuple[PortsOfSpeed, Port]], cls: DraftClass, usual: int) -> DraftClass:
    counted = [(cell, port.qos, port.qos.group_of(cls.priority)) for cell, port in ports if port.qos]
    unused = {
        group
        for group in {group for _, _, group in counted if group in PRIORITIES}
        if cls.dscps == () and not _is_held(group, [qos for _, qos, other in counted if other == group])
    }
    by_cell: dict[PortsOfSpeed, list[ClassGroup]] = {}
    for cell, _, group in counted:
        if group in PRIORITIES:
            by_cell.setdefault(cell, []).append((usual if group in unused else group,))
    groups, notes = layered(by_cell, lambda *_: True, "priority groups")
    return cls._replace(pg=_beyond(groups, (usual,)), notes=(*cls.notes, *notes))


def _is_held(group: int, ports: Sequence[PortQos]) -> bool:
    """Return whether most ports have buffer for a group; a group that no DSCP reaches needs none."""
    held, _ = most(qos.groups[group] is not None for qos in ports)
    return held is True


def _beyond(groups: Stated[ClassGroup], usual: ClassGroup) -> Stated[ClassGroup]:
    """Return declared values without the default; a device may restore the default against its tier."""
    kept = {
        scope: {
            speed_bps: group
            for speed_bps, group in by_speed.items()
            if speed_bps is not None or group != usual or isinstance(scope, str)
        }
        for scope, by_speed in groups.items()
    }
    return {scope: by_speed for scope, by_speed in kept.items() if by_speed}
