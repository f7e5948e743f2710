"""Kinds of ports: the intended values of all ports with the same function, declared once.

A kind has a name, ``leaf-host-400G``: the tier of its switches, the destination of its ports, their rate. Kinds with
the same name and other settings get a number as suffix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.analysis.buffers.ecn_marking import protection
from lossless.analysis.buffers.headroom.port import given_headroom
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.qos import PortQos
    from lossless.model.fabric.view import PortSet

LeadsTo = Literal["host", "up", "down", "switch"]
"""The destination of a port: a host, a higher or a lower tier, or a switch of the same or of no tier."""
Pfc = Literal["on", "off", "asymmetric"]


class LosslessPriority(NamedTuple):
    """A lossless priority of a kind of ports: its queue and group, and the intended values.

    ``headroom_bytes`` and ``kmax_bytes`` are None where they are unknown, or where the queue does not mark.
    ``detection_s`` is the detection time of the watchdog, None where none is intended.
    """

    priority: int
    queue: int
    group: int
    headroom_bytes: int | None
    kmax_bytes: int | None
    detection_s: float | None


class Kind(NamedTuple):
    """The properties that all ports of a kind share. ``tier`` is the word in its name, ``rate`` is text as 400G."""

    tier: str
    leads_to: LeadsTo
    rate: str
    pfc: Pfc
    priorities: tuple[LosslessPriority, ...]

    @property
    def stem(self) -> str:
        """The name of the kind without a number."""
        return f"{self.tier}-{self.leads_to}-{self.rate}"


def lossless_priorities(ports: PortSet) -> tuple[LosslessPriority, ...]:
    """Return the intended values of each lossless priority of some ports.

    The watchdog watches the queue of the priority's own number (sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b).
    """
    return tuple(_lossless_priorities(ports))


def _lossless_priorities(ports: PortSet) -> Iterator[LosslessPriority]:
    qos = ports.qos
    for priority in qos.pfc.priorities:
        queue, group = qos.queue_of(priority), qos.pausing_group(priority)
        yield LosslessPriority(
            priority, queue, group, _headroom(ports, group), _kmax(qos, queue), _detection(ports, priority)
        )


def _headroom(ports: PortSet, number: int) -> int | None:
    group = ports.qos.groups[number]
    if group is None or group.buffer is None or not group.buffer.lossless:
        return None
    return given_headroom(ports.switch, group.buffer) or None


def _kmax(qos: PortQos, number: int) -> int | None:
    queue = qos.queues[number]
    return queue.wred.green.max_bytes if queue is not None and queue.wred and queue.wred.marks else None


def _detection(ports: PortSet, priority: int) -> float | None:
    watchdog, mask = ports.qos.watchdog, ports.qos.watchdog_mask
    watched = mask is None or priority in mask.priorities
    if watchdog is None or not watchdog.detection_ms or not watched or protection(ports) != "running":
        return None
    return watchdog.detection_ms / 1000
