"""The shared part of a pool: its size less the headroom and the reservations of groups and queues.

SAI defines a pool's shared size as its size less all reservations (opencomputeproject/SAI inc/saibuffer.h,
SAI_BUFFER_POOL_ATTR_SHARED_SIZE). Broadcom's chips confirm it: where a pool leaves room in the chip for the
reservations, groups share all of it; where it spans the chip, they share the rest (docs/validation.md has the recorded
packet counts). Pools of NVIDIA chips are sized without the reservations, by the switch itself.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import includes_headroom

if TYPE_CHECKING:
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import BufferProfile, Pool


class Reserved(NamedTuple):
    """The reserved bytes of a switch's ports in one pool."""

    groups_bytes: int = 0
    queues_bytes: int = 0

    def total_bytes(self, parts: int) -> int:
        """Return the reserved bytes of the whole buffer: those of a queue count in every part.

        A group fills from the part of its own port, a queue from all. On Tomahawk 5, for each of two parts, in cells:
        the pool's limit, half of the headroom pool, and the minima of its groups and of all queues leave the same 1,036
        cells in three configurations with 64, 96 and 128 ports (sonic-buildimage device/arista/
        x86_64-arista_7060x6_64pe_b/Arista-7060X6-64PE-B-{P64,P32O64,O128}/th5-a7060x6-64pe.config.bcm @086b03b).
        """
        return self.groups_bytes + parts * self.queues_bytes


def shared_bytes(size_bytes: int, headroom_bytes: int, chip_bytes: int, reserved_bytes: int = 0) -> int:
    """Return the shared bytes of a pool: its size without the headroom in it, at most the rest of the chip."""
    counted_in = headroom_bytes and includes_headroom(size_bytes, headroom_bytes, chip_bytes)
    given = size_bytes - headroom_bytes if counted_in else size_bytes
    left = max(chip_bytes, size_bytes) - headroom_bytes - reserved_bytes if reserved_bytes else given
    return max(0, min(given, left))


def buffer_parts(switch: Switch) -> int:
    """Return the number of parts of a switch's buffer; 1 where it is unknown."""
    return (switch.profile.asic.buffer_parts if switch.profile else None) or 1


def reserved_of(switch: Switch, pool: Pool) -> Reserved:
    """Return the bytes that ports in service reserve of an ingress pool, none for a pool sized without them.

    Queues count if their pool has the same size: both are then the whole buffer.
    """
    if not reserves(switch):
        return Reserved()
    groups, queues = reserved_sizes(switch, "groups"), reserved_sizes(switch, "queues")
    return Reserved(
        sum(size for profile, size in groups if profile.pool and profile.pool.name == pool.name),
        sum(size for profile, size in queues if profile.pool and profile.pool.size_bytes == pool.size_bytes),
    )


def reserves(switch: Switch) -> bool:
    """Return whether the size of a profile is the reservation of a group or queue, in addition to the shared part.

    On NVIDIA chips the size of a lossless profile contains its headroom, and pools are sized without it.
    """
    return switch.profile is not None and switch.profile.asic.formula is None


def reserved_sizes(switch: Switch, what: Literal["groups", "queues"]) -> list[tuple[BufferProfile, int]]:
    """Return the profiles of groups or queues of ports in service with their reserved bytes, by kind of port."""
    ports = Counter(id(port.qos) for port in switch.ports if port.qos and port.admin_up is not False)
    shared = {id(port.qos): port.qos for port in switch.ports if port.qos}
    return [
        (slot.buffer, times * slot.buffer.reserved_bytes)
        for key, times in ports.items()
        for slot in getattr(shared[key], what)
        if slot is not None and slot.buffer is not None and slot.buffer.reserved_bytes > 0
    ]
