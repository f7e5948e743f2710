"""What a switch does with traffic, in parts that can be compared, whichever system says it; no dialect has buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DSCPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import PortQos, Queue

PARTS = {
    "dscp": "the queue of a DSCP",
    "pfc": "the priorities that are paused",
    "paused": "the DSCPs that a pause stops",
    "scheduler": "how a queue is served",
    "ecn": "the marking curve of a queue",
    "watchdog": "whether the watchdog is on",
    "watchdog.detection": "the watchdog's detection time",
    "watchdog.restoration": "the watchdog's restoration time",
    "watchdog.action": "the watchdog's action",
    "watchdog.poll": "the watchdog's poll interval",
    "cable": "the length of cables",
    "buffers": "buffers and headroom",
    "adaptive": "adaptive routing",
}
"""The parts, and what people call them."""


class Difference(NamedTuple):
    """A part of a switch that two say differently: at a port, what is declared and what is read."""

    port: str
    part: str
    what: str
    declared: Any
    read: Any


def differences(declared: Switch, read: Switch, without: Mapping[str, str]) -> Iterator[Difference]:
    """Yield what a switch that was read does not do as declared, but for parts that its system has no place for."""
    ports = {port.name: port for port in read.ports}
    for port in declared.ports:
        if not port.placed or port.qos is None:
            continue
        own = dict(_parts(declared, port, port.qos))
        other = ports.get(port.name)
        said = dict(_parts(read, other, other.qos)) if other is not None and other.qos is not None else {}
        for (part, what), value in own.items():
            if part not in without and said.get((part, what)) != value:
                yield Difference(port.name, part, what, value, said.get((part, what)))


def meaning(switch: Switch, without: Mapping[str, str]) -> list[dict[tuple[str, str], Any]]:
    """Return the parts of each port in use, in the order of ports; names of ports are those of a system."""
    return [
        {key: value for key, value in _parts(switch, port, port.qos) if key[0] not in without}
        for port in switch.ports
        if port.placed and port.qos is not None
    ]


def _parts(switch: Switch, port: Port, qos: PortQos) -> Iterator[tuple[tuple[str, str], Any]]:
    if qos.dscp_to_tc is not None:
        yield ("dscp", ""), tuple(qos.queue_of(qos.traffic_class(dscp)) for dscp in DSCPS)
    yield ("pfc", ""), qos.pfc.priorities
    for priority in qos.pfc.priorities:
        yield ("paused", f"priority {priority}"), _paused(qos, priority)
    for queue in filter(None, qos.queues):
        yield from _of_queue(queue)
    watchdog = qos.watchdog if qos.pfc.priorities else None
    yield ("watchdog", ""), watchdog is not None
    yield ("watchdog.detection", ""), watchdog and watchdog.detection_ms
    yield ("watchdog.restoration", ""), watchdog and watchdog.restoration_ms
    yield ("watchdog.action", ""), watchdog and watchdog.action
    yield ("watchdog.poll", ""), watchdog and switch.qos.poll.poll_ms
    yield ("cable", ""), port.cable.known_m if qos.pfc.priorities else None
    if port.adaptive:  # no intent says that it must be off
        yield ("adaptive", ""), True


def _paused(qos: PortQos, priority: int) -> tuple[int, ...]:
    group = qos.pausing_group(priority)
    return tuple(dscp for dscp in DSCPS if qos.group_of(qos.traffic_class(dscp)) == group)


def _of_queue(queue: Queue) -> Iterator[tuple[tuple[str, str], Any]]:
    name, scheduler, wred = f"queue {queue.number}", queue.scheduler, queue.wred
    if scheduler is not None:
        weight = None if scheduler.kind == "STRICT" else scheduler.weight
        yield ("scheduler", name), (scheduler.kind, weight)
    curve = wred.green if wred is not None and wred.green.enabled else None
    yield ("ecn", name), None if curve is None else (curve.marks, *curve.thresholds)
