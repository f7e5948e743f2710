"""The cause that makes a DSCP lossy on a port, by the programmed state; and CONFIG_DB as the daemons apply it.

If a DSCP is lossy, the row that is the cause is returned. Applied rows are without those that are not applied, and
have the values as parsed. A fabric that is read from them describes the behavior of the switch, one that is read from
the file its configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.formats.sonic.effective.objects import index_range, tokens
from lossless.formats.sonic.effective.programmed import MAP_TABLES, Row, programmed
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.sonic.effective.objects import Fate, Fields
    from lossless.formats.sonic.effective.programmed import Programmed, ProgrammedPort
    from lossless.model.fabric.model import Fabric
    from lossless.model.hardware.load import FindHardware


_QOS_TABLES = (*MAP_TABLES, "PORT_QOS_MAP", "QUEUE", "SCHEDULER", "WRED_PROFILE", "PFC_WD")


class Chain(NamedTuple):
    """A fabric as its files are written, the states that the daemons program, by switch, and the fabric as applied."""

    written: Fabric
    states: tuple[Programmed, ...]
    applied: Fabric


def chain_of(
    devices: Sequence[Tables], find_hardware: FindHardware, rdma_dscps: Sequence[tuple[int, ...]] = ()
) -> Chain:
    """Return the fabric of the files of its switches, as written and as applied.

    The lossless classes of both are those of the files as written, or of ``rdma_dscps``.
    """
    written = read_fabric(devices, find_hardware, rdma_dscps)
    states = tuple(
        programmed(tables, switch) for tables, switch in zip(devices, written.switches, strict=True)
    )
    rows = [applied_tables(tables, state) for tables, state in zip(devices, states, strict=True)]
    if all(own is tables for own, tables in zip(rows, devices, strict=True)):
        return Chain(written, states, written)
    fabric = read_fabric(rows, find_hardware)
    switches = zip(fabric.switches, written.switches, strict=True)
    applied = fabric._replace(
        switches=tuple(switch._replace(classes=own.classes) for switch, own in switches),
        classes=written.classes,
    )
    return Chain(written, states, applied)


def applied_tables(tables: Tables, state: Programmed) -> Tables:
    """Return CONFIG_DB as the daemons apply it; the same object if that makes no difference.

    A fragment without ports stays unchanged: the rest of the switch is unknown.
    """
    if not tables.makes_ports:
        return tables
    gone = _gone(tables, state)
    changed = _changed(tables, state)
    made = {port for port, programmed in state.ports.items() if programmed.settings.admin_up}
    unmade = frozenset(
        name
        for name in made - state.undecided
        if any(number not in state.ports[name].groups for number in state.ports[name].pfc)
    ) | (tables.table("PORT").keys() - state.ports.keys())
    if not gone and not changed and not unmade:
        return tables
    applied = tables.with_rows(gone, changed)
    applied.unmade = unmade
    return applied


def _gone(tables: Tables, state: Programmed) -> frozenset[Row]:
    """Return the written rows that the daemons do not apply, and BUFFER_PG rows that buffermgrd replaces.

    Rows of PORT, and watchdogs that wait for their mask, are not among them.
    """
    # A watchdog that waits for its mask stays: the port says whether the mask is empty, or filled in on upgrade.
    gone = {
        row
        for row, fate in state.fates.items()
        if row[0] != "PORT" and not (row[0] == "PFC_WD" and fate.kind == "waits")
    }
    gone.update(row for row in state.generated if row[0] == "BUFFER_PG")
    if state.unready or state.ended:
        gone.update((table, key) for table in _QOS_TABLES for key in tables.written(table))
    if state.ended:
        buffers = [table for table in tables.rows if table.startswith("BUFFER_")]
        gone.update((table, key) for table in buffers for key in tables.written(table))
    return frozenset(row for row in gone if row[1] in tables.written(row[0]))


def _changed(tables: Tables, state: Programmed) -> dict[Row, Fields]:
    """Return the rows that daemons read otherwise than written, with the fields as read; ports that stay down too."""
    changed: dict[Row, Fields] = {}
    for table, maps in state.maps.items():
        for name, targets in maps.items():
            read = {str(index): str(target) for index, target in targets.items()}
            _note(tables, changed, (table, name), read)
    for name, wred in state.wreds.items():
        _note(
            tables,
            changed,
            ("WRED_PROFILE", name),
            {f: str(value) for f, value in wred.given.items()},
            keep=True,
        )
    for name, scheduler in state.schedulers.items():
        if scheduler.weight is not None:
            _note(tables, changed, ("SCHEDULER", name), {"weight": str(scheduler.weight)}, keep=True)
    for name, profile in state.profiles.items():
        numbers = {
            "size": profile.size_bytes,
            "xoff": profile.xoff_bytes,
            "xon": profile.xon_bytes,
            "xon_offset": profile.xon_offset_bytes,
            "dynamic_th": profile.dynamic_th,
            "static_th": profile.static_th_bytes,
        }
        read = {field: str(number) for field, number in numbers.items() if number is not None}
        _note(tables, changed, ("BUFFER_PROFILE", name), read, keep=True)
    for key, row in tables.written("PORT_QOS_MAP").items():
        ports = [state.ports[name] for name in tokens(key, ",") if name in state.ports]
        if ports and ("PORT_QOS_MAP", key) not in state.fates:
            masks = {"pfc_enable": ports[0].pfc, "pfcwd_sw_enable": ports[0].watchdog_mask}
            read = {field: ",".join(map(str, mask)) for field, mask in masks.items() if field in row.fields}
            _note(tables, changed, ("PORT_QOS_MAP", key), read, keep=True)
    for name in tables.table("PORT"):
        if name not in state.ports or name in state.unready or not state.ports[name].settings.admin_up:
            _note(tables, changed, ("PORT", name), {"admin_status": "down"}, keep=True)
    for name, port in state.ports.items():
        if port.watchdog:
            times = {
                "detection_time": port.watchdog.detection_ms,
                "restoration_time": port.watchdog.restoration_ms,
            }
            read = {field: str(time) for field, time in times.items() if time}
            _note(tables, changed, ("PFC_WD", name), read, keep=True)
    return changed


def _note(
    tables: Tables, changed: dict[Row, Fields], place: Row, read: Mapping[str, str], *, keep: bool = False
) -> None:
    """Add a row to ``changed`` if its fields as read differ from the written ones; ``keep``: other fields stay."""
    row = tables.written(place[0]).get(place[1])
    if row is None:
        return
    fields = {**row.fields, **read} if keep else read
    if fields != row.fields:
        changed[place] = fields


class Break(NamedTuple):
    """The cause of a lossy DSCP on a port. ``row`` has it, ``field`` is its entry, empty if it is not one entry.

    ``kind``: the port does not exist (``port``); its rows wait for a port that is not ready (``ready``); its row of
    PORT_QOS_MAP is not applied (``maps``); orchagent crashes (``ended``); no map reads the DSCP (``unmapped``); a map
    sends it, or a pause, where nothing is lossless (``entry``); its PFC is in a row of several ports, which buffermgrd
    makes no groups of (``joined``); its group has no headroom (``group``), or no PFC of the port pauses it (``pause``).
    ``where``: the port that is not ready, or the port and the number of a group. ``fate`` is that of ``row``, None
    where it is applied.
    """

    kind: Literal["port", "ready", "maps", "ended", "unmapped", "entry", "joined", "group", "pause"]
    row: Row
    field: str
    fate: Fate | None
    where: str = ""


class ChainNumbers(NamedTuple):
    """The traffic class, priority group and queue of a DSCP on a port."""

    traffic_class: int
    group: int
    queue: int


def numbers_of(state: Programmed, port: ProgrammedPort, dscp: int) -> ChainNumbers:
    """Return a DSCP's traffic class, group and queue; a key a map lacks leads to 0 (SAI inc/saiqosmap.h @c67f115)."""
    name = port.maps.get("dscp_to_tc_map", state.global_map)
    traffic_class = state.maps["DSCP_TO_TC_MAP"][name].get(dscp, 0) if name else 0
    group = _target(state, port, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", traffic_class)
    return ChainNumbers(
        traffic_class, group, _target(state, port, "tc_to_queue_map", "TC_TO_QUEUE_MAP", traffic_class)
    )


def break_of(state: Programmed, name: str, dscp: int) -> Break | None:
    """Return why a DSCP is lossy on a port, None if it is lossless or the answer is unknown."""
    if early := _before_maps(state, name):
        return early
    port = state.ports[name]
    if "dot1p_to_tc_map" in port.maps:
        return None
    numbers = numbers_of(state, port, dscp)
    backed, pausing = _pausing(state, port, numbers)
    if numbers.group not in port.groups and name in state.undecided:
        return None
    if backed and any(_paused_queue(state, port, p) == numbers.queue for p in pausing):
        return None
    return _cause(state, name, port, dscp, numbers, backed=backed, pausing=bool(pausing))


def is_lossless(state: Programmed, name: str, dscp: int, priority: int) -> bool:
    """Return whether a port is known to keep a DSCP lossless by PFC of this priority."""
    if break_of(state, name, dscp) or name in state.undecided or "dot1p_to_tc_map" in state.ports[name].maps:
        return False
    port = state.ports[name]
    numbers = numbers_of(state, port, dscp)
    _, pausing = _pausing(state, port, numbers)
    return priority in pausing and _paused_queue(state, port, priority) == numbers.queue


def _pausing(state: Programmed, port: ProgrammedPort, numbers: ChainNumbers) -> tuple[bool, list[int]]:
    """Return whether the priority group of a DSCP has headroom, and the port's PFC priorities of that group."""
    profile = port.groups.get(numbers.group, "")
    settings = state.profiles.get(profile)
    backed = profile in state.computed or bool(settings and settings.xoff_bytes)
    return backed, [
        p
        for p in port.pfc
        if _target(state, port, "pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", p) == numbers.group
    ]


def _before_maps(state: Programmed, name: str) -> Break | None:
    """Return why the maps of a port do not count: no port, no QoS applied, PORT_QOS_MAP row not applied; or None."""
    if name not in state.ports:
        fate = state.fates.get(("PORT", name))
        return Break("port", ("PORT", name), fate.field if fate else "", fate)
    if state.ended:
        return Break("ended", state.ended, "profile_list", None)
    if state.unready:
        # One row is enough, of whatever port: each port that is not ready keeps all others from their QoS.
        port = next(iter(state.unready))
        return _rooted(state, "ready", state.unready[port], port)
    for table, key in state.fates:
        if table == "PORT_QOS_MAP" and name in tokens(key, ","):
            return _rooted(state, "maps", (table, key))
    return None


def _rooted(state: Programmed, kind: Literal["ready", "maps", "group"], row: Row, where: str = "") -> Break:
    """Return a break at the end of the chain of rows that wait for one another from ``row`` on."""
    seen = {row}
    fate = state.fates.get(row)
    while fate is not None and fate.on is not None and fate.on in state.fates and fate.on not in seen:
        row, fate = fate.on, state.fates[fate.on]
        seen.add(row)
    return Break(kind, row, fate.field if fate else "", fate, where)


def _cause(
    state: Programmed,
    name: str,
    port: ProgrammedPort,
    dscp: int,
    numbers: ChainNumbers,
    *,
    backed: bool,
    pausing: bool,
) -> Break:
    """Return the break with the row and field that make a DSCP lossy on a port."""
    dscp_map = port.maps.get("dscp_to_tc_map", state.global_map)
    traffic_class, group = numbers.traffic_class, numbers.group
    if state.paused_off and port.watchdog_mask:
        return Break("pause", ("PFC_WD", "GLOBAL"), "BIG_RED_SWITCH", None)
    if not port.pfc:
        return Break("pause", ("PORT_QOS_MAP", name), "pfc_enable", None)
    if dscp_map is None and traffic_class not in port.pfc:
        return Break("unmapped", ("PORT_QOS_MAP", name), "", None)
    if traffic_class not in port.pfc and dscp_map:
        if _pauses_elsewhere(state, dscp_map, traffic_class):
            return Break("pause", ("PORT_QOS_MAP", name), "pfc_enable", None)
        return Break("entry", ("DSCP_TO_TC_MAP", dscp_map), str(dscp), None)
    for field, table, wrong in (
        ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", not backed or not pausing),
        ("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", backed and not pausing),
        ("tc_to_queue_map", "TC_TO_QUEUE_MAP", backed and pausing),
        ("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", backed and pausing),
    ):
        bound = port.maps.get(field)
        if bound and wrong and state.maps[table][bound].get(traffic_class) != traffic_class:
            return Break("entry", (table, bound), str(traffic_class), None)
    if not backed:
        if waiting := next(_waiting_groups(state, name, group), None):
            return _rooted(state, "group", waiting)
        if profile := port.groups.get(group):
            return Break("group", ("BUFFER_PROFILE", profile), "xoff", None, f"{name}|{group}")
        if (joined := state.joined.get(name)) is not None:
            return Break("joined", ("PORT_QOS_MAP", joined), "", None)
        return Break("group", ("BUFFER_PG", f"{name}|{group}"), "", None)
    return Break("pause", ("PORT_QOS_MAP", name), "pfc_enable", None)


def _pauses_elsewhere(state: Programmed, dscp_map: str, traffic_class: int) -> bool:
    """Return whether any port with this DSCP map has PFC on a traffic class; ports without it then lack PFC."""
    ports = state.ports.values()
    return any(
        traffic_class in port.pfc and port.maps.get("dscp_to_tc_map", state.global_map) == dscp_map
        for port in ports
    )


def _waiting_groups(state: Programmed, name: str, group: int) -> Iterator[Row]:
    """Yield the BUFFER_PG rows of a port that are not applied and name a group, or numbers that cannot be read."""
    for table, key in state.fates:
        if table == "BUFFER_PG":
            port, _, text = key.partition("|")
            numbers = index_range(text)
            if name in tokens(port, ",") and (not isinstance(numbers, range) or group in numbers):
                yield table, key


def _target(state: Programmed, port: ProgrammedPort, field: str, table: str, index: int) -> int:
    bound = port.maps.get(field)
    return index if bound is None else _in(state.maps[table][bound], index)


def _in(targets: Mapping[int, int], index: int) -> int:
    return targets.get(index, 0)


def _paused_queue(state: Programmed, port: ProgrammedPort, priority: int) -> int:
    return _target(state, port, "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", priority)
