"""Traffic class, priority group, PFC priority and queue must line up.

Severity: error
Fix: unsafe
Subject: fabric

## What it does
Follows each PFC priority through a port. In: its traffic class must be counted in the priority group whose
filling pauses that priority, and that group must have headroom. Out: a received pause must stop the queue
the traffic class leaves through, and that queue must not have a lossy buffer profile, nor on a port in service a
zero profile, which SONiC gives ports out of use. A lossy traffic class must not be counted in a group that
pauses. Where one thing is out of line, that is the one to fix; where several are, or no DSCP uses the priority
(and no name says that it should be lossless: PFC001), the mask is.
A DSCP uses a priority where its traffic class, by the maps, has the number of the priority or is counted in the
group that it pauses; where 802.1p is trusted, so does an entry of DOT1P_TO_TC_MAP.
Rows that the device generates itself, or writes again (BUF024), are not checked here, nor is a missing cable or
headroom row.

## Why it breaks a lossless fabric
The pause protects one group or queue and the packets fill another, so the port drops lossless packets, and its counters
show a working PFC.

## Bad
```json config_db base=leaf
{
  "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {
    "3": "0"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {
    "3": "4"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "BUFFER_PG": {"Ethernet0|3": null, "Ethernet0|3-4": {
    "profile": "ingress_lossy_profile"   // <- here
  }}
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    pg: 0   # <- here
```

## Good
```json config_db base=leaf
{
  "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "3"}},
  "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {"3": "3"}},
  "BUFFER_PG": {"Ethernet0|3": {"profile": "pg_lossless_400000_5m_profile"}}
}
```

```yaml intent base=leaf-spine
classes:
  rdma: {pg: 3}
```

## Fix
Use one number throughout: traffic class, priority group, PFC priority and queue 3 for a class on priority 3.

## Sources
- sonic-swss orchagent/qosorch.cpp @e6b0c5b (the meaning of each map), cfgmgr/buffermgr.cpp @e6b0c5b (PG n =
  priority n)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b
- opencomputeproject/SAI inc/saiqosmap.h @1d330f5 (a value without an entry has TC 0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation, merged
from lossless.checks.rules.fixes import entries, port_rows
from lossless.checks.rules.locations import entry_or_map, row_of
from lossless.checks.rules.pfc.priorities import by_switch, in_service, is_lossy, sent_priority, used_classes
from lossless.formats.sonic.read.tables import priority_list
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import joined, spell
from lossless.model.fabric.qos import PRIORITIES, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Edit, Origin
    from lossless.model.fabric.qos import BufferProfile, IndexMap, PortQos, Queue
    from lossless.model.fabric.view import PortSet, View

_PER_PORT = (("PORT_QOS_MAP",), ("BUFFER_PG",), ("BUFFER_QUEUE",), ("QUEUE",))


class _Fault(NamedTuple):
    """One fault in the path of a PFC priority. ``certain`` False: the effect on the device depends on its chip."""

    problem: str
    fix: str
    origin: Origin
    certain: bool = True
    edits: tuple[Edit, ...] = ()


def check(view: View) -> Results:
    """Yield a violation per cause that breaks the path of a PFC priority."""
    for _, device in by_switch(view.lossless_sets):
        for ports in device:
            yield from _unknown(ports)
        violations = (violation for ports in device for violation in _violations(view, ports))
        for shared in grouped((_cause(violation), violation) for violation in violations).values():
            yield from merged(shared)


def _cause(violation: Violation) -> Origin:
    """Return the key of one cause: the map; rows of single ports are one cause over all ports."""
    origin = violation.origin
    return origin._replace(path=origin.path[:1]) if origin.path[:1] in _PER_PORT else origin


def _violations(view: View, ports: PortSet) -> Iterator[Violation]:
    used = used_classes(ports.qos)
    single: dict[Origin, list[tuple[int, _Fault]]] = {}
    for priority in ports.qos.pfc.priorities:
        faults = [*_inward(view, ports, priority), *_outward(view, ports, priority)]
        certain = [fault for fault in faults if fault.certain]
        if priority not in used:
            if (
                certain
                and ports.switch.classes.knowledge == "inferred"
                and _is_idle(ports.qos, priority, used)
            ):
                yield _mask_violation(ports, priority, certain, used=False)
        elif len(certain) > 1:
            yield _mask_violation(ports, priority, certain, used=True)
        elif faults:
            fault = (certain or faults)[0]
            single.setdefault(fault.origin, []).append((priority, fault))
    # One row can stand for several priorities: BUFFER_PG|Ethernet0|3-4.
    yield from (_fault_violation(ports, in_row) for in_row in single.values())
    yield from _intruders(ports, used)


def _counted(qos: PortQos, used: frozenset[int], priority: int) -> list[int]:
    """Return the traffic classes in use whose group pauses a priority."""
    group = qos.pfc_to_pg.targets[priority] if qos.pfc_to_pg else priority
    return [tc for tc in sorted(used.intersection(PRIORITIES)) if qos.group_of(tc) == group]


def _is_idle(qos: PortQos, priority: int, used: frozenset[int]) -> bool:
    return UNREADABLE not in used and not _counted(qos, used, priority)


def _inward(view: View, ports: PortSet, priority: int) -> Iterator[_Fault]:
    """Yield each fault from the traffic class of a PFC priority to the priority group that pauses it."""
    qos = ports.qos
    counted = qos.group_of(priority)
    paused = qos.pfc_to_pg.targets[priority] if qos.pfc_to_pg else priority
    if qos.pfc_to_pg is not None and paused is None:
        yield _no_entry("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", qos.pfc_to_pg, priority)
        paused = priority
    if UNREADABLE in (counted, paused):
        return
    if counted == paused:
        yield from _group(view, ports, counted)
        if counted != priority and view.fabric.declared and not _shared_with_lossy(qos, counted):
            yield _headroom_besides(qos, priority, counted)
    elif counted == priority and qos.pfc_to_pg is not None:
        problem = f"it pauses for PG {paused}, and TC {priority} is counted in PG {counted}"
        fix = f"map priority {priority} to PG {counted} in PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"
        yield _Fault(problem, fix, qos.pfc_to_pg.entry_origin(priority))
    else:
        problem = f"{_placement(qos, priority)}, and PG {paused} is the one that pauses"
        yield _Fault(problem, f"count TC {priority} in PG {paused}", _group_origin(qos, priority))


def _placement(qos: PortQos, traffic_class: int) -> str:
    """Return the words for the group of a traffic class: the map's entry, or that it has none."""
    index_map, group = qos.tc_to_pg, qos.group_of(traffic_class)
    missing = index_map is not None and index_map.targets[traffic_class] is None
    entry = f", without an entry in {index_map.name}," if index_map is not None and missing else ""
    return f"TC {traffic_class}{entry} is counted in PG {group}"


def _headroom_besides(qos: PortQos, priority: int, counted: int) -> _Fault:
    # sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b makes groups of the numbers in pfc_enable.
    problem = f"TC {priority} is counted in PG {counted}, and the switch gives PG {priority} headroom besides"
    fix = f"leave out pg, or make it {priority}"
    return _Fault(problem, fix, _group_origin(qos, priority), certain=False)


def _shared_with_lossy(qos: PortQos, number: int) -> bool:
    lossy = used_classes(qos).intersection(PRIORITIES).difference(qos.pfc.priorities)
    return any(qos.group_of(traffic_class) == number for traffic_class in lossy)


def _group(view: View, ports: PortSet, number: int) -> Iterator[_Fault]:
    """Yield the faults of a priority group: neither a BUFFER_PG row nor a generated group, or no headroom."""
    qos, group = ports.qos, ports.qos.groups[number]
    dynamic = ports.switch.qos.buffer_model == "dynamic"
    whole = any(qos.groups) or not ports.switch.is_fragment
    # Where DSCPs decide, SWS018 follows them to a group that nobody makes.
    nobody = dynamic or (qos.trust_dot1p and number not in qos.pfc.priorities)
    if group is None and nobody and whole:
        maker = "the dynamic buffer model writes none" if dynamic else "buffermgrd makes none without its PFC"
        problem = f"the port has no BUFFER_PG row for PG {number}, and {maker}"
        profile = "profile NULL" if dynamic else "a lossless profile"
        yield _Fault(problem, f"add BUFFER_PG|{ports.ports[0].name}|{number} with {profile}", qos.pfc.origin)
    if group is None or group.buffer is None or group.buffer.lossless:
        return
    if group.buffer.is_zero and in_service(ports) is None:
        return
    problem = f"PG {number} has {group.buffer.name}, which has no headroom"
    origin = group.origin if view.fabric.declared else group.origin.at("profile")
    yield _Fault(problem, f"give PG {number} a profile with xoff", origin)


def _group_origin(qos: PortQos, traffic_class: int) -> Origin:
    """Return the origin of a traffic class's priority group: the map's entry, else the map, else the port's QoS."""
    index_map = qos.tc_to_pg
    return qos.origin if index_map is None else entry_or_map(index_map, traffic_class)


def _outward(view: View, ports: PortSet, priority: int) -> Iterator[_Fault]:
    """Yield each fault from a received pause to the queue it should stop."""
    qos = ports.qos
    leaves = qos.queue_of(priority)
    stopped = qos.pfc_to_queue.targets[priority] if qos.pfc_to_queue else priority
    if qos.pfc_to_queue is not None and stopped is None:
        yield _no_entry("MAP_PFC_PRIORITY_TO_QUEUE", qos.pfc_to_queue, priority)
        stopped = leaves
    if UNREADABLE in (leaves, stopped):
        return
    if leaves != stopped:
        problem = f"a pause stops queue {stopped}, and TC {priority} leaves through queue {leaves}"
        wrong_map = qos.tc_to_queue if stopped == priority else qos.pfc_to_queue
        origin = entry_or_map(wrong_map, priority) if wrong_map is not None else qos.origin
        yield _Fault(problem, f"let both be queue {priority}", origin)
        # How the wrong queue drops is of no account: the traffic should not be there.
        return
    queue = qos.queues[leaves]
    if queue is not None and queue.buffer is not None and is_lossy(queue.buffer):
        problem = f"queue {leaves} has {queue.buffer.name}, which drops at its tail"
        origin = queue.buffer_origin or queue.origin
        place = origin if view.fabric.declared else origin.at("profile")
        yield _Fault(problem, f"give queue {leaves} the egress profile of lossless queues", place)
    elif queue is not None and queue.buffer is not None and queue.buffer.is_zero and in_service(ports):
        yield _zero(view, queue, queue.buffer)


def _zero(view: View, queue: Queue, profile: BufferProfile) -> _Fault:
    """Return the fault of a queue with a zero profile.

    A row of a file that is not called zero has a wrong threshold or an empty pool; any other profile is misplaced.
    """
    problem = f"queue {queue.number} has {profile.name}, which holds nothing"
    row = row_of(profile)
    if row is not None and not view.fabric.declared and "zero" not in profile.name:
        # A profile whose pool is empty sets no threshold of that kind.
        field = "pool" if profile.pool is not None and profile.pool.size_bytes == 0 else "dynamic_th"
        return _Fault(problem, "set dynamic_th to 7, and a pool that holds something", row.at(field))
    origin = queue.buffer_origin or queue.origin
    place = origin if view.fabric.declared else origin.at("profile")
    return _Fault(problem, f"give queue {queue.number} the egress profile of lossless queues", place)


def _no_entry(table: str, index_map: IndexMap, priority: int) -> _Fault:
    problem = f"{table} {index_map.name} has no entry for it"
    edits = entries(index_map, (priority, priority))
    return _Fault(problem, f'add "{priority}": "{priority}"', index_map.origin, certain=False, edits=edits)


def _fault_violation(ports: PortSet, faults: list[tuple[int, _Fault]]) -> Violation:
    """Return the violation of the faults at one place, for one priority or for several."""
    priorities = [priority for priority, _ in faults]
    first = faults[0][1]
    return Violation(
        origin=first.origin,
        message=f"PFC is on for {spell(priorities)}, but {'; '.join(fault.problem for _, fault in faults)}",
        note="the pause protects one thing while the packets fill another",
        help="; ".join(fault.fix for _, fault in faults),
        data={"priority": priorities[0], "priorities": [*priorities]},
        severity=None if any(fault.certain for _, fault in faults) else "warning",
        fix=tuple(edit for _, fault in faults for edit in fault.edits)
        if all(fault.edits for _, fault in faults)
        else (),
    ).on_ports(ports)


def _mask_violation(ports: PortSet, priority: int, faults: list[_Fault], *, used: bool) -> Violation:
    marking = "DSCP or 802.1p priority" if ports.qos.trust_dot1p else "DSCP"
    link = ", but" if used else f", which no {marking} uses;"
    fixes = "; ".join(fault.fix for fault in faults)
    classes = ports.switch.classes
    named = (dscp for cls in classes.lossless for dscp in cls.dscps if classes.knowledge != "inferred")
    needed = any(ports.qos.traffic_class(dscp) == priority for dscp in named)
    kept = [other for other in ports.qos.pfc.priorities if other != priority]
    return Violation(
        origin=ports.qos.pfc.origin,
        message=f"PFC is on for priority {priority}{link} {'; '.join(fault.problem for fault in faults)}",
        note="its path is lossy in more than one place" if len(faults) > 1 else "no traffic needs the pause",
        help=fixes if needed else f"take {priority} out of pfc_enable; or, to make it lossless: {fixes}",
        data={"priority": priority, "faults": len(faults)},
        severity=None if used else "warning",
        fix=() if needed else port_rows([ports], ports.qos.pfc.origin, "pfc_enable", priority_list(kept)),
    ).on_ports(ports)


def _intruders(ports: PortSet, used: frozenset[int]) -> Iterator[Violation]:
    """Yield a violation per priority whose group counts lossy traffic classes, which its pause does not stop.

    The class outside the group of its own number is to blame: the lossless class, else the first lossy one.
    """
    qos = ports.qos
    for priority in qos.pfc.priorities:
        counted = _counted(qos, used, priority)
        lossy = [tc for tc in counted if tc not in qos.pfc.priorities and sent_priority(qos, tc) != priority]
        if not lossy or (priority in used and priority not in counted):
            continue
        group, also = qos.group_of(lossy[0]), " also" if priority in counted else ""
        yield Violation(
            origin=_group_origin(qos, priority if group != priority and also else lossy[0]),
            message=f"PG {group} of PFC priority {priority}{also} counts lossy TC {joined(map(str, lossy))}",
            note="lossy traffic fills the headroom of the lossless class, and the wrong sender is paused",
            help="count lossy traffic classes in PG 0, each lossless one in the PG of its own number",
            data={"priority": priority, "group": group, "lossy_traffic_classes": [*lossy]},
            severity="warning",
        ).on_ports(ports)


def _unknown(ports: PortSet) -> Iterator[MissingInput]:
    qos = ports.qos
    dangling = [
        group
        for p in qos.pfc.priorities
        if (group := qos.groups[p]) is not None and group.buffer is None and not group.generated
    ]
    if dangling:
        yield MissingInput("BUFFER_PG names a profile that is not in the file", ports.places)
    maps = (qos.tc_to_pg, qos.pfc_to_pg, qos.tc_to_queue, qos.pfc_to_queue)
    if any(m is not None and UNREADABLE in [m.targets[p] for p in qos.pfc.priorities] for m in maps):
        yield MissingInput("the map entry of a PFC priority cannot be read", ports.places)
