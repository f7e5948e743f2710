"""What rules share: where a hit points, and on which ports it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.fabric.qos import PortQos
    from lossless.fabric.view import PortSet
    from lossless.findings import Origin


def below(origin: Origin, *keys: str) -> Origin:
    """Return where a key below a value stands; the value's own place where a preset or a default gave it."""
    return origin if origin.mark == "key" or origin.path == ("preset",) else origin.at(*keys)


def elements(sets: Sequence[PortSet]) -> tuple[str, ...]:
    """Return the ports of several sets by name."""
    return tuple(name for ports in sets for name in ports.elements)


def places(sets: Sequence[PortSet]) -> int:
    """Return on how many ports several sets are."""
    return sum(ports.places for ports in sets)


def counted_lossy(qos: PortQos, priority: int) -> bool:
    """Return whether the traffic of a priority is known to fill a group without headroom.

    Such a priority has PFC by mistake; the PFC rules say so, and what else it lacks follows from that.
    """
    number = qos.group_of(priority)
    group = qos.groups[number] if 0 <= number < len(qos.groups) else None
    return group is not None and group.buffer is not None and not group.buffer.lossless
