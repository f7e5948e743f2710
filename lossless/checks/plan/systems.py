"""Units of a switch's change: rows of SONiC's CONFIG_DB, or parts of the behavior of a switch with sessions.

Switches with sessions run another system. No public source documents the behavior of such a system during a session,
so a batch has no states on its way: a switch is before it or after it. Each part of the behavior that changes is a
unit: an entry of the DSCP map for each DSCP that jobs send or will send, all other entries, PFC, marking, scheduling,
the watchdog, the other maps, cable lengths, adaptive routing. So a switch can accept a new DSCP in one session and drop
the old one in a later one.

Of CONFIG_DB the rows of all ports are one unit. The config updater takes a port down while it changes its rows, and
does all of them in one down time (the sorter's recorded moves, sonic-utilities generic_config_updater/patch_sorter.py
@691b1bb). Entries of a map are units of their own, because a DSCP may have to be accepted before another one goes;
those of DSCPs that jobs do not send share one. Of another table the rows that come, those that go and those that
change are one unit each; the order in which the updater writes them is not known, so a unit can be done
in part. Fields replaced in one row are one move of the updater, and one write (recorded: WRED thresholds, weights of
a scheduler).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.capabilities.updater_sorting import updater_table
from lossless.formats.sonic.capabilities.updater_verdict import release_of, releases
from lossless.formats.sonic.changes.json_patch import REFERRED, Operation, operations
from lossless.formats.sonic.read.tables import PORT_MAPS
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import ClassSet, Switch, TrafficClass
from lossless.model.fabric.qos import DSCPS, PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
"""The titles of the parts beside the DSCP map, in the order of their units."""


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
    yield (
        "pfc",
        {
            "priorities": ",".join(map(str, qos.pfc.priorities)),
            "pauses": ",".join(str(qos.pausing_group(priority)) for priority in qos.pfc.priorities),
        },
    )
    yield "maps", {"queues": ",".join(str(qos.queue_of(tc)) for tc in PRIORITIES)}
    queues = [queue for queue in qos.queues if queue is not None]
    yield "scheduling", {f"queue {queue.number}": said for queue in queues if (said := _served(queue))}
    yield "marking", {f"queue {queue.number}": said for queue in queues if (said := _marked(queue))}
    dog = qos.watchdog if qos.pfc.priorities else None
    if dog is not None:
        times = (dog.detection_ms, dog.restoration_ms, switch.qos.poll.poll_ms)
        forced = {"restores during pauses": "yes"} if dog.recovery == "fixed" else {}
        yield (
            "watchdog",
            {"action": dog.action, "detection, restoration, poll in ms": ",".join(map(str, times)), **forced},
        )
    if isinstance(port.cable.known_m, int):
        yield "cables", {"m": str(port.cable.known_m)}
    yield "adaptive", {"state": "on"} if port.adaptive else {}


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
    """Return the plan units, steps by which a switch's settings become the target's: one per area and DSCP of jobs.

    ``dscps`` are those that jobs send or will send; the other DSCPs share one unit.
    """
    members: dict[tuple[str, str], list[Operation]] = {}
    for operation in _changes(running, target):
        part, row = operation.path
        own = row if part == "dscp" and int(row) in dscps else ""
        members.setdefault((part, own), []).append(operation)
    order = ["dscp", *_TITLES]
    named = sorted(members.items(), key=lambda item: (order.index(item[0][0]), item[0][1] == "", item[0][1]))
    return tuple(Unit(_part_title(*name, target), tuple(of), (), ()) for name, of in named)


def _changes(running: Config, target: Config) -> Iterator[Operation]:
    """Yield an operation for each setting that is added, removed or changed between two configurations."""
    for part in dict.fromkeys((*running, *target)):
        before, after = running.get(part, {}), target.get(part, {})
        for row in dict.fromkeys((*before, *after)):
            if row not in after:
                yield Operation("remove", (part, row))
            elif before.get(row) != after[row]:
                yield Operation("replace" if row in before else "add", (part, row), after[row])


def _part_title(part: str, row: str, target: Config) -> str:
    if part != "dscp":
        return _TITLES[part]
    if not row:
        return "other DSCPs"
    said = target.get("dscp", {}).get(row)
    return f"DSCP {row} gets traffic class {said['traffic class']}" if said else f"DSCP {row} gets no class"


def switch_between(system: SystemSwitch, done: Iterable[Operation]) -> Switch:
    """Return a switch between running and target: with the target's behavior in the areas and DSCPs of ``done``."""
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
"""The parts of units by the attribute in which a switch that was read differs from a declared one."""


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
    """A mix of two switches: done parts from the switch after the change, all others from the switch before it."""

    def __init__(self, dscps: frozenset[int], parts: frozenset[str]) -> None:
        self.dscps, self.parts = dscps, parts
        self._made: dict[tuple[int, int], PortQos] = {}

    def port(self, old: Port | None, new: Port) -> Port:
        """Return a port of the switch: ``new`` with the parts of ``old``, if there is one, that are not done."""
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
    """Return a switch with another name, and with one lossless class of the given DSCPs."""
    rdma = TrafficClass("rdma", tuple(sorted(dscps)), False, None, True, switch.origin)
    return switch._replace(name=name, classes=ClassSet("named", (rdma,)))


Config = dict[str, dict[str, Any]]
"""A CONFIG_DB, or the behavior of a switch with sessions: fields by table (or part) and row."""
_MAPS = frozenset({*PORT_MAPS.values(), "TC_TO_DSCP_MAP"})
_UNNAMED = "rows that nothing refers to"
_ENTRY = 4
"""Parts of the name of an entry of a map: operation, table, row and field."""
_BY_PORT = frozenset({"PFC_WD", "CABLE_LENGTH"})
"""Tables with a row or a field for each port, which the updater changes while the port is up."""


class Unit(NamedTuple):
    """Operations on a switch that are done together. ``ports`` are those whose rows change, none for shared rows.

    ``half`` are the operations of every second port or row, a unit that is done in part; empty for one port or row.
    ``is_unnamed``: it adds rows without references yet, or removes rows whose references are gone. ``by_hand``: people
    do it, and the switch is out of service meanwhile.
    """

    title: str
    operations: tuple[Operation, ...]
    ports: tuple[str, ...]
    half: tuple[Operation, ...]
    is_unnamed: bool = False
    by_hand: bool = False

    @property
    def comes_first(self) -> bool:
        """Whether the unit adds rows that others will refer to."""
        return self.is_unnamed and self.operations[0].op == "add"


def units_of(
    running: Mapping[str, Any], target: Mapping[str, Any], dscps: frozenset[int]
) -> tuple[Unit, ...]:
    """Return the units by which the owned and shared tables of ``running`` become those of ``target``.

    ``dscps`` are those that jobs send or will send: in a DSCP map each entry of theirs is a unit, all others are one.
    Another HWSKU is another switch, which comes with all of its rows. Rows change on the later of two releases.
    """
    if (hwskus := [hwsku_of(side) for side in (running, target)]) and hwskus[0] != hwskus[1]:
        return (_replaced(running, target),)
    members: dict[tuple[str, ...], dict[str, list[Operation]]] = {}
    free = _Unnamed(named_rows(running), named_rows(target))
    for operation in operations(running, target):
        for single in _by_row(operation, running):
            unit, member = _place(single, free, dscps)
            members.setdefault(unit, {}).setdefault(member, []).append(single)
    units = [_unit(name, parts) for name, parts in members.items()]
    upgrade = _upgrade(running, target)
    if upgrade is None:
        return tuple(units)
    return (upgrade, *units) if is_later(release_of(target), release_of(running)) else (*units, upgrade)


def hwsku_of(config: Mapping[str, Any]) -> str:
    """Return the HWSKU in a configuration, empty if it names none."""
    return str(config.get("DEVICE_METADATA", {}).get("localhost", {}).get("hwsku", ""))


def is_later(release: str | None, than: str | None) -> bool:
    """Return whether a release came out after another; ``master`` is the last."""
    known = releases()
    return release in known and than in known and known.index(release) > known.index(than)


def _replaced(running: Mapping[str, Any], target: Mapping[str, Any]) -> Unit:
    title = f"HWSKU {hwsku_of(running)} becomes {hwsku_of(target)}"
    rows = (single for each in operations(running, target) for single in _by_row(each, running))
    return Unit(title, tuple(rows), (), (), by_hand=True)


def _upgrade(running: Mapping[str, Any], target: Mapping[str, Any]) -> Unit | None:
    """Return the unit by which a switch gets another release, None if it keeps its own or one of both is unknown."""
    before, after = release_of(running), release_of(target)
    if before == after or before is None or after is None:
        return None
    version = Operation(
        "replace", ("VERSIONS", "DATABASE", "VERSION"), target["VERSIONS"]["DATABASE"]["VERSION"]
    )
    return Unit(f"SONiC {before} becomes {after}", (version,), (), (), by_hand=True)


def changed(config: Mapping[str, Any], done: Iterable[Operation]) -> Config:
    """Return a configuration with operations carried out, without empty tables; unchanged tables are shared."""
    result: Config = dict(config)
    copied: set[tuple[str, ...]] = set()
    for operation in done:
        _change(result, operation, copied)
    return {table: rows for table, rows in result.items() if rows}


def _by_row(operation: Operation, running: Mapping[str, Any]) -> Iterator[Operation]:
    """Yield an operation on a whole table row by row."""
    if len(operation.path) > 1:
        yield operation
    elif operation.op == "add":
        yield from (Operation("add", (*operation.path, key), row) for key, row in operation.value.items())
    else:
        yield from (Operation("remove", (*operation.path, key)) for key in running[operation.path[0]])


class _Unnamed(NamedTuple):
    """The names of rows that are referred to, before and after a change."""

    before: frozenset[str]
    after: frozenset[str]

    def holds(self, operation: Operation) -> bool:
        """Return whether an operation adds a row without references, or removes a row whose references are gone."""
        table, key, *field = operation.path
        if field or table not in REFERRED or operation.op == "replace":
            return False
        return key not in (self.before if operation.op == "add" else self.after)


def _place(operation: Operation, free: _Unnamed, dscps: frozenset[int]) -> tuple[tuple[str, ...], str]:
    """Return the unit that an operation belongs to, and the member of this unit: a port, a row or a field."""
    table, key, *field = operation.path
    if table in _port_tables() and (port := key.partition("|")[0]) != "global":
        return ("rows of ports",), port
    if table in _BY_PORT:
        member = field[0] if field and table == "CABLE_LENGTH" else key
        return ((table, "GLOBAL") if key == "GLOBAL" else (table,)), member
    if (
        field
        and table == "DSCP_TO_TC_MAP"
        and not (field[0].isascii() and field[0].isdecimal() and int(field[0]) in dscps)
    ):
        return ("other entries", table, key), field[0]
    if field and table in _MAPS:
        return (operation.op, table, key, field[0]), ""
    if free.holds(operation):
        return (operation.op, _UNNAMED, table), key
    return (operation.op if not field else "change", table), f"{key} {operation.op}"


def named_rows(config: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of rows that rows of ports and buffer profiles refer to, and all other values in these rows."""
    rows = (row for table in _referring(config) for row in table.values() if isinstance(row, dict))
    return frozenset(name for row in rows for value in row.values() for name in str(value).split(","))


def _referring(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for table in (*_port_tables(), "BUFFER_PROFILE"):
        rows = config.get(table)
        if isinstance(rows, dict):
            yield rows


def _port_tables() -> tuple[str, ...]:
    return tuple(updater_table()["ports_down"]["tables"])


def _unit(name: tuple[str, ...], parts: Mapping[str, Sequence[Operation]]) -> Unit:
    order = sorted(parts, key=natural_key)
    is_of_ports = name[0] == "rows of ports"
    return Unit(
        title=_unit_title(name, next(iter(parts.values()))[0]),
        operations=tuple(operation for part in parts.values() for operation in part),
        ports=tuple(order) if is_of_ports else (),
        half=tuple(operation for part in order[::2] for operation in parts[part]) if len(order) > 1 else (),
        is_unnamed=name[1:2] == (_UNNAMED,),
    )


def _unit_title(name: tuple[str, ...], operation: Operation) -> str:
    if name[0] == "rows of ports":
        return "rows of ports"
    if name[1:2] == (_UNNAMED,):
        return f"{'new' if name[0] == 'add' else 'unused'} rows of {name[2]}"
    if len(name) == _ENTRY:
        goes = operation.op == "remove"
        return f"{'|'.join(name[1:])} {'goes' if goes else f'becomes {operation.value}'}"
    if name[0] == "other entries":
        return f"other DSCPs of {name[1]}|{name[2]}"
    verbs = {"add": "new rows of", "remove": "old rows of", "replace": "rows of", "change": "values of"}
    return f"{verbs[name[0]]} {name[1]}" if name[0] in verbs else "|".join(name)


def _change(result: Config, operation: Operation, copied: set[tuple[str, ...]]) -> None:
    table, key, *field = operation.path
    if (table,) not in copied:
        copied.add((table,))
        result[table] = dict(result.get(table, {}))
    rows = result[table]
    if not field:
        _set(rows, key, operation)
        return
    if (table, key) not in copied:
        copied.add((table, key))
        rows[key] = dict(rows.get(key, {}))
    _set(rows[key], field[0], operation)


def _set(holder: dict[str, Any], name: str, operation: Operation) -> None:
    if operation.op == "remove":
        holder.pop(name, None)
    else:
        holder[name] = operation.value
