"""The egress queues of lossless classes and their WRED profiles, for the rules on ECN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import LARGEST_THRESHOLD
from lossless.checks.rules.locations import counted_lossy, distinct
from lossless.checks.rules.pfc.priorities import paused_class
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.model.fabric.qos import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import Curve, PortQos, Queue, Wred
    from lossless.model.fabric.view import PortSet, View


class LosslessQueue(NamedTuple):
    """The egress queue of one priority with PFC; ``queue`` is None where no row names it."""

    ports: PortSet
    priority: int
    number: int
    queue: Queue | None

    @property
    def wred(self) -> Wred | None:
        """The WRED profile of the queue; None without one."""
        return self.queue.wred if self.queue else None

    @property
    def in_fragment(self) -> bool:
        """Whether another file may have the profile of the queue.

        The queue has neither a profile nor a scheduler then, and the file has no PORT row of the port.
        """
        leads_nowhere = self.queue is None or (self.queue.scheduler is None and self.queue.wred is None)
        return leads_nowhere and self.ports.ports[0].admin_up is UNKNOWN


class WredUse(NamedTuple):
    """One WRED profile and the lossless queues to which it is bound."""

    wred: Wred
    queues: tuple[LosslessQueue, ...]

    @property
    def sets(self) -> tuple[PortSet, ...]:
        """The port sets of the queues, each once."""
        return distinct(queue.ports for queue in self.queues)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the queues, ascending."""
        return numbers(self.queues)


def lossless_queues(view: View) -> Iterator[LosslessQueue]:
    """Yield the egress queue of each priority with PFC of each port set, where its number can be read.

    Left out are queues that the pause of their priority does not stop, and those of a priority group without headroom.
    """
    for ports in view.lossless_sets:
        for priority in ports.qos.pfc.priorities:
            traffic_class = paused_class(ports.qos, priority)
            number = ports.qos.queue_of(traffic_class)
            if (
                number == UNREADABLE
                or _astray(ports.qos, priority)
                or counted_lossy(ports.qos, traffic_class)
            ):
                continue
            yield LosslessQueue(ports, priority, number, ports.qos.queues[number])


def lossless_numbers(view: View) -> dict[int, list[int]]:
    """Return the numbers of the lossless queues of each set of ports, by the ``id`` of its ports."""
    return grouped((id(queue.ports.ports), queue.number) for queue in lossless_queues(view))


def _astray(qos: PortQos, priority: int) -> bool:
    """Return whether the traffic leaves by another queue than its pause stops, which PFC005 reports."""
    stopped = qos.pfc_to_queue.targets[priority] if qos.pfc_to_queue else priority
    return stopped not in (None, UNREADABLE, qos.queue_of(paused_class(qos, priority)))


def uses(view: View) -> tuple[WredUse, ...]:
    """Return the WRED profiles of lossless queues, each with these queues."""
    profiles = grouped((queue.wred, queue) for queue in lossless_queues(view) if queue.wred is not None)
    return tuple(WredUse(wred, tuple(queues)) for wred, queues in profiles.items())


def marking_uses(view: View) -> Iterator[WredUse]:
    """Yield the marking profiles of lossless queues that the switch accepts; none where senders ignore marks."""
    if not pfc_only(view):
        yield from (use for use in uses(view) if use.wred.marks and not refused(use.wred))


def refused(wred: Wred) -> bool:
    """Return whether orchagent refuses a profile for its thresholds, so that it has no effect (SWS003)."""
    return any(_refused(curve) for curve in (wred.green, wred.yellow, wred.red))


def _refused(curve: Curve) -> bool:
    low, high = curve.min_bytes or 0, curve.max_bytes or 0
    return low > high or high > LARGEST_THRESHOLD


def numbers(queues: Sequence[LosslessQueue]) -> tuple[int, ...]:
    """Return the queue numbers of lossless queues, each once, ascending."""
    return tuple(sorted({queue.number for queue in queues}))


def in_reach(use: WredUse, curve: Curve) -> bool:
    """Return whether a queue may grow to the Kmin of a curve; a curve that means "off" begins beyond the buffer."""
    begin, buffers = curve.min_bytes, [_buffer_bytes(ports.switch) for ports in use.sets]
    return begin is None or any(size is None or begin < size for size in buffers)


def _buffer_bytes(switch: Switch) -> int | None:
    sizes_bytes = [pool.size_bytes for pool in switch.qos.pools if pool.size_bytes]
    if switch.profile and switch.profile.asic.buffer_bytes:
        sizes_bytes.append(switch.profile.asic.buffer_bytes)
    return max(sizes_bytes, default=None)


def pfc_only(view: View) -> bool:
    """Return whether the intent states ``pfc-only``: senders do not react to marks."""
    return view.fabric.congestion is not None and view.fabric.congestion.kind == "pfc-only"
