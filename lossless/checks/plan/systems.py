"""Switches that take a change as a session: their units, and the switch after some of the units.

No public source documents the behavior of such a system during a session, so a batch has no states on its way: a
switch is before it or after it. The behavior of a switch has parts, and each part that changes is a unit: an entry of
the DSCP map for each DSCP that jobs send or will send, all other entries, PFC, marking, scheduling, the watchdog, the
other maps. So a switch can accept a new DSCP in one session and drop the old one in a later one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lossless.checks.plan.units import Config, Unit
from lossless.formats.sonic.changes.patch import Operation
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import ClassSet, Switch, TrafficClass
from lossless.model.fabric.qos import DSCPS, PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import IndexMap, PortQos, Queue

_TITLES = {
    "pfc": "PFC",
    "maps": "classes and queues",
    "scheduling": "scheduling",
    "marking": "ECN",
    "watchdog": "the watchdog",
    "cables": "cable lengths",
    "adaptive": "adaptive routing",
}
"""The parts beside the DSCP map, in the order in which they are taken up."""


class PlannedSession(NamedTuple):
    """The session that a switch takes at once: its commands, the commands to undo it, and how they are run.

    ``file`` is the name of the commands. ``runs`` are the commands to run, by purpose: ``begin``, the commands,
    ``commit``, ``check``, ``confirm``, and ``back`` if the check fails. ``why`` describes the known effect on traffic.
    """

    file: str
    commands: tuple[str, ...]
    undo: tuple[str, ...]
    runs: Mapping[str, tuple[str, ...]]
    why: str


class SystemSwitch(NamedTuple):
    """A switch that takes sessions, before and after, and the properties of its system.

    ``silent`` are the rules that do not apply to it, ``drained`` the parts for which it must carry no jobs.
    ``refused`` returns why the system has no configuration for a switch of the model, and ``session`` returns the
    session from one switch to another.
    """

    title: str
    running: Switch
    target: Switch
    silent: frozenset[str]
    drained: frozenset[str]
    refused: Callable[[Switch], tuple[str, ...]]
    session: Callable[[Switch, Switch], PlannedSession]


def settings_of(switch: Switch) -> Config:
    """Return the behavior of a switch, as rows by part: one for each DSCP, and of other parts one for each port."""
    config: Config = {}
    for port in switch.ports:
        if port.qos is None:
            continue
        for dscp in DSCPS if port.qos.dscp_to_tc is not None else ():
            classes = config.setdefault("dscp", {}).setdefault(str(dscp), {"traffic class": ""})
            told = {*filter(None, classes["traffic class"].split(",")), str(port.qos.traffic_class(dscp))}
            classes["traffic class"] = ",".join(sorted(told))
        for part, row in _rows(switch, port, port.qos):
            if row:
                config.setdefault(part, {})[port.name] = row
    return config


def _rows(switch: Switch, port: Port, qos: PortQos) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "pfc", {"priorities": ",".join(map(str, qos.pfc.priorities)), "pauses": _pausing(qos)}
    yield "maps", {"queues": ",".join(str(qos.queue_of(tc)) for tc in PRIORITIES)}
    queues = [queue for queue in qos.queues if queue is not None]
    yield "scheduling", {f"queue {queue.number}": said for queue in queues if (said := _served(queue))}
    yield "marking", {f"queue {queue.number}": said for queue in queues if (said := _marked(queue))}
    dog = qos.watchdog if qos.pfc.priorities else None
    if dog is not None:
        times = (dog.detection_ms, dog.restoration_ms, switch.qos.poll.poll_ms)
        yield (
            "watchdog",
            {"action": dog.action, "detection, restoration, poll in ms": ",".join(map(str, times))},
        )
    if isinstance(port.cable.known_m, int):
        yield "cables", {"m": str(port.cable.known_m)}
    yield "adaptive", {"state": "on"} if port.adaptive else {}


def _pausing(qos: PortQos) -> str:
    return ",".join(str(qos.pausing_group(priority)) for priority in qos.pfc.priorities)


def _served(queue: Queue) -> str:
    scheduler = queue.scheduler
    if scheduler is None:
        return ""
    return "strict" if scheduler.kind == "STRICT" else f"{scheduler.weight} %"


def _marked(queue: Queue) -> str:
    if queue.wred is None or not queue.wred.marks:
        return ""
    low, high, percent = queue.wred.green.thresholds
    return f"{low} B to {high} B, {percent} %"


def units_of_system(running: Config, target: Config, dscps: frozenset[int]) -> tuple[Unit, ...]:
    """Return the units by which a switch becomes another one; ``dscps`` are those that jobs send or will send."""
    members: dict[tuple[str, str], list[Operation]] = {}
    for operation in _changes(running, target):
        part, row = operation.path
        own = row if part == "dscp" and int(row) in dscps else ""
        members.setdefault((part, own), []).append(operation)
    order = ["dscp", *_TITLES]
    named = sorted(members.items(), key=lambda item: (order.index(item[0][0]), item[0][1] == "", item[0][1]))
    return tuple(Unit(_title(*name, target), tuple(of), (), ()) for name, of in named)


def _changes(running: Config, target: Config) -> Iterator[Operation]:
    """Yield an operation for each row that comes, goes or changes."""
    for part in dict.fromkeys((*running, *target)):
        before, after = running.get(part, {}), target.get(part, {})
        for row in dict.fromkeys((*before, *after)):
            if row not in after:
                yield Operation("remove", (part, row))
            elif before.get(row) != after[row]:
                yield Operation("replace" if row in before else "add", (part, row), after[row])


def _title(part: str, row: str, target: Config) -> str:
    if part != "dscp":
        return _TITLES[part]
    if not row:
        return "other DSCPs"
    said = target.get("dscp", {}).get(row)
    return f"DSCP {row} gets traffic class {said['traffic class']}" if said else f"DSCP {row} gets no class"


def switch_between(system: SystemSwitch, done: Iterable[Operation]) -> Switch:
    """Return a switch of which some units are done."""
    touched = {operation.path[:2] for operation in done}
    dscps = frozenset(int(path[1]) for path in touched if path[0] == "dscp")
    parts = frozenset(path[0] for path in touched if path[0] != "dscp")
    return _mixed(system.running, system.target, dscps, parts) if touched else system.running


READ_AS = {
    "dscp": ("maps",),
    "pfc": ("pfc",),
    "paused": ("pfc",),
    "scheduler": ("scheduling",),
    "ecn": ("marking",),
    "watchdog": ("watchdog",),
    "cable": ("cables",),
    "adaptive": ("adaptive",),
}
"""The parts by which what is read is compared with what is declared, and those that are units."""


def as_declared(read: Switch, target: Switch, differing: frozenset[str]) -> Switch:
    """Return the running switch, spelled as its target except for the parts in ``differing``.

    A mere difference of spelling changes nothing. The DSCPs that a pause stops follow from their traffic classes.
    """
    own = differing - {"paused"} if "dscp" in differing else differing
    others = {part for name in own for part in READ_AS[name.partition(".")[0]]}
    dscps = frozenset() if "dscp" in differing else frozenset(DSCPS)
    return _mixed(read, target, dscps, frozenset(_TITLES) - others)


def _mixed(before: Switch, after: Switch, dscps: frozenset[int], parts: frozenset[str]) -> Switch:
    mixing = _Mixing(dscps, parts)
    old = {port.name: port for port in before.ports}
    ports = tuple(mixing.port(old.get(port.name), port) for port in after.ports)
    poll = (after if "watchdog" in parts else before).qos.poll
    return after._replace(ports=ports, qos=after.qos._replace(poll=poll))


class _Mixing:
    """Takes the parts that are done from the switch after the change, all others from the one before it."""

    def __init__(self, dscps: frozenset[int], parts: frozenset[str]) -> None:
        self.dscps, self.parts = dscps, parts
        self._made: dict[tuple[int, int], PortQos] = {}

    def port(self, old: Port | None, new: Port) -> Port:
        """Return a port."""
        if old is None or old.qos is None or new.qos is None:
            return new if "pfc" in self.parts or old is None else new._replace(qos=old.qos)
        key = (id(old.qos), id(new.qos))
        if key not in self._made:
            self._made[key] = self._qos(old.qos, new.qos)
        cable, adapts = (new if part in self.parts else old for part in ("cables", "adaptive"))
        return new._replace(qos=self._made[key], cable=cable.cable, adaptive=adapts.adaptive)

    def _qos(self, old: PortQos, new: PortQos) -> PortQos:
        pfc, maps = (new if part in self.parts else old for part in ("pfc", "maps"))
        dog = (new if "watchdog" in self.parts else old).watchdog
        return new._replace(
            dscp_to_tc=self._dscps(old.dscp_to_tc, new.dscp_to_tc),
            tc_to_queue=maps.tc_to_queue,
            trust_dot1p=maps.trust_dot1p,
            dot1p_to_tc=maps.dot1p_to_tc,
            tc_to_pg=pfc.tc_to_pg,
            pfc_to_queue=pfc.pfc_to_queue,
            pfc_to_pg=pfc.pfc_to_pg,
            pfc=pfc.pfc,
            groups=pfc.groups,
            watchdog=dog,
            watchdog_mask=pfc.pfc if dog is not None else None,
            queues=tuple(map(self._queue, old.queues, new.queues)),
        )

    def _dscps(self, old: IndexMap | None, new: IndexMap | None) -> IndexMap | None:
        if old is None or new is None:
            return new if self.dscps else old
        pairs = enumerate(zip(old.targets, new.targets, strict=True))
        return new._replace(targets=tuple(b if dscp in self.dscps else a for dscp, (a, b) in pairs))

    def _queue(self, old: Queue | None, new: Queue | None) -> Queue | None:
        base = new or old
        if base is None:
            return None
        served, marked = (new if part in self.parts else old for part in ("scheduling", "marking"))
        scheduler = served.scheduler if served is not None else None
        wred = marked.wred if marked is not None else None
        return base._replace(scheduler=scheduler, wred=wred) if scheduler or wred or old else None


def carrying_jobs(switch: Switch, name: str, dscps: frozenset[int]) -> Switch:
    """Return a switch that is called ``name``, and of which some DSCPs have to be lossless."""
    rdma = TrafficClass("rdma", tuple(sorted(dscps)), False, None, True, switch.origin)
    return switch._replace(name=name, classes=ClassSet("named", (rdma,)))
