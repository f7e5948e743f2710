"""The fabric model to CONFIG_DB tables, as plain data: templates only lay them out.

Values are as orchagent needs them, not only as YANG allows: the watchdog's mask beside ``pfc_enable``, the WRED
enable flags beside ``ecn``, exact speed and cable strings in profile names, one row per queue, priority groups in the
ranges of buffermgrd.

Settings of a device beside its ports are rows too: the dynamic buffer model, a dual ToR's tunnel, trimmed packets.

On a chassis with virtual output queues, keys of queue rows name host, ASIC and port. Every card of a chassis holds a
queue for every port of the chassis, so such a device has rows for the ports of other cards too: their thresholds, not
their schedulers, which are the other card's own. Source: sonic-buildimage files/build_templates/qos_config.j2
@0791705 and buffers_config.j2 @02aaf5c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.read.tables import PORT_MAPS, carries_traffic, priority_list
from lossless.formats.sonic.to_model.trimming import (
    COMPUTED,
    DISCARD_ACTION,
    FIELDS,
    PARAMETER_TABLE,
    PATTERN_TABLE,
    RATIO,
    TRIM,
    TRIM_FIELDS,
    TRIM_ROW,
    TRIM_TABLE,
)
from lossless.formats.sonic.to_model.tunnel import OUTER_TABLE, TUNNEL_FIELDS
from lossless.ground.basics.findings import natural_key
from lossless.model.fabric.qos import COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.model.fabric.model import Port, Switch, SwitchQos
    from lossless.model.fabric.qos import (
        BufferProfile,
        Curve,
        DynamicBuffers,
        IndexMap,
        Pool,
        PortQos,
        PriorityGroup,
        Scheduler,
        TrimSettings,
        TunnelMaps,
        Wred,
    )


if TYPE_CHECKING:
    Rows = dict[str, dict[str, str]]

KEYED = ("BUFFER_QUEUE", "QUEUE")
"""The tables whose keys are ``host|asic|port|queue`` on a chassis with virtual output queues."""


def chassis_rows(tables: Mapping[str, Rows], device: Mapping[str, Any]) -> dict[str, Rows]:
    """Return rendered tables as a device needs them: with the keys of a VOQ chassis if its file names host and ASIC.

    ``device`` is the device's own file, which has its type and the ports of its chassis.
    """
    own = _own_name(device)
    if own is None:
        return dict(tables)
    return {name: _keyed(rows, own, device) if name in KEYED else rows for name, rows in tables.items()}


def _own_name(device: Mapping[str, Any]) -> str | None:
    """Return ``host|asic`` of a VOQ device, None for others and if one of the two names is missing."""
    local = _rows(device, "DEVICE_METADATA").get("localhost", {})
    if local.get("switch_type") != "voq":
        return None
    names = [str(local.get(key, "")) for key in ("hostname", "asic_name")]
    return "|".join(names) if all(names) else None


def _keyed(rows: Rows, own: str, device: Mapping[str, Any]) -> Rows:
    keyed_rows = {f"{own}|{key}": fields for key, fields in rows.items()}
    shared = _thresholds(rows)
    for place, like in _others(shared, own, device):
        keyed_rows |= {f"{place}|{number}": fields for number, fields in shared[like]}
    return keyed_rows


def _thresholds(rows: Rows) -> dict[str, list[tuple[str, dict[str, str]]]]:
    """Return, by port, the number and the fields other than ``scheduler`` of each queue row with such fields."""
    shared_by_port: dict[str, list[tuple[str, dict[str, str]]]] = {}
    for key, fields in rows.items():
        port, _, number = key.rpartition("|")
        own = shared_by_port.setdefault(port, [])
        shared = {field: value for field, value in fields.items() if field != "scheduler"}
        if shared:
            own.append((number, shared))
    return shared_by_port


def _others(ports: Iterable[str], own: str, device: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the ports of other cards, each with a port of this card, of its speed if any, whose thresholds it gets."""
    speeds = _rows(device, "PORT")
    like: dict[str, str] = {}
    for port in ports:
        like.setdefault(str(speeds.get(port, {}).get("speed", "")), port)
    for place, row in sorted(_rows(device, "SYSTEM_PORT").items()) if like else ():
        if place.rpartition("|")[0] != own and carries_traffic(place):
            yield place, like.get(str(row.get("speed", "")), next(iter(like.values())))


def _rows(device: Mapping[str, Any], table: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a table that are JSON objects; other entries are reported when the table is read."""
    rows = device.get(table)
    if not isinstance(rows, dict):
        return {}
    return {str(key): row for key, row in rows.items() if isinstance(row, dict)}


Fields = dict[str, str]
TableRows = dict[str, dict[str, Fields]]

OWNED = (
    "BUFFER_PG",
    "BUFFER_POOL",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_PROFILE",
    "BUFFER_QUEUE",
    "CABLE_LENGTH",
    PARAMETER_TABLE,
    "DSCP_TO_TC_MAP",
    PATTERN_TABLE,
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "PFC_WD",
    "PORT_QOS_MAP",
    "QUEUE",
    "SCHEDULER",
    TRIM_TABLE,
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "WRED_PROFILE",
)
"""Tables that rendering replaces whole: a row of theirs that is not rendered is stale and goes."""
SHARED = ("DEVICE_METADATA", "FLEX_COUNTER_TABLE", "PORT", OUTER_TABLE)
"""Tables in which rendering sets the fields it names and leaves all others."""
CABLES = "AZURE"
"""The name of the CABLE_LENGTH row (sonic-buildimage files/build_templates/buffers_config.j2 @086b03b)."""
_BY_NAME = ("BUFFER_POOL", "BUFFER_PROFILE", "FLEX_COUNTER_TABLE", "SCHEDULER", "WRED_PROFILE")
"""Tables whose rows are sorted by name, as the order in which ports use them does not matter."""


def tables(switch: Switch) -> TableRows:
    """Return the CONFIG_DB tables of a switch that have rows, by table, key and field, in a fixed order."""
    ports = sorted((p for p in switch.ports if p.placed and p.qos), key=lambda port: natural_key(port.name))
    rows_by_table: TableRows = {name: {} for name in (*OWNED, *SHARED)}
    for port in ports:
        if port.qos is not None:
            _port_rows(rows_by_table, switch.qos, port, port.qos)
    for qos in {id(port.qos): port.qos for port in ports}.values():
        if qos is not None:
            _object_rows(rows_by_table, qos)
    _switch_rows(rows_by_table, switch)
    for name in _BY_NAME:
        rows_by_table[name] = {
            key: rows_by_table[name][key] for key in sorted(rows_by_table[name], key=natural_key)
        }
    return {name: rows for name, rows in rows_by_table.items() if rows}


def _switch_rows(rows_by_table: TableRows, switch: Switch) -> None:
    for pool in switch.qos.pools:
        rows_by_table["BUFFER_POOL"][pool.name] = _pool(pool)
    if switch.qos.global_dscp_map is not None:
        rows_by_table["PORT_QOS_MAP"]["global"] = {"dscp_to_tc_map": switch.qos.global_dscp_map.name}
        rows_by_table["DSCP_TO_TC_MAP"][switch.qos.global_dscp_map.name] = _map(switch.qos.global_dscp_map)
    if switch.qos.poll.poll_ms is not None and rows_by_table["PFC_WD"]:
        rows_by_table["PFC_WD"]["GLOBAL"] = {"POLL_INTERVAL": str(switch.qos.poll.poll_ms)}
    if switch.qos.buffer_model == "dynamic":
        rows_by_table["DEVICE_METADATA"]["localhost"] = {"buffer_model": "dynamic"}
    for table, key, fields in steering_rows(switch.qos):
        rows_by_table[table][key] = fields
    for group, enabled in switch.qos.counters:
        rows_by_table["FLEX_COUNTER_TABLE"][group] = {
            "FLEX_COUNTER_STATUS": "enable" if enabled else "disable"
        }


def _port_rows(rows_by_table: TableRows, device: SwitchQos, port: Port, qos: PortQos) -> None:
    if not _only_global(device, qos):
        rows_by_table["PORT_QOS_MAP"][port.name] = _port_qos_map(qos)
    if port.cable.configured_m is not None:
        rows_by_table["CABLE_LENGTH"].setdefault(CABLES, {})[port.name] = f"{port.cable.configured_m}m"
    if qos.watchdog is not None:
        row = {
            "action": qos.watchdog.action,
            "detection_time": _text(qos.watchdog.detection_ms),
            "restoration_time": _text(qos.watchdog.restoration_ms),
        }
        rows_by_table["PFC_WD"][port.name] = {field: value for field, value in row.items() if value}
    if port.asymmetric:
        rows_by_table["PORT"][port.name] = {"pfc_asym": "on"}
    for table, key, fields in _numbered_rows(port.name, qos, computed=device.buffer_model == "dynamic"):
        rows_by_table[table][key] = fields


def _only_global(device: SwitchQos, qos: PortQos) -> bool:
    """Return whether a port needs no PORT_QOS_MAP row: the switch's global DSCP map, if any, is its only QoS map.

    Such a port has no PFC and no watchdog mask either.
    """
    others = qos.tc_to_queue, qos.tc_to_pg, qos.pfc_to_queue, qos.pfc_to_pg
    return qos.dscp_to_tc is device.global_dscp_map and not any(
        (*others, qos.pfc.priorities, qos.watchdog_mask)
    )


def _port_maps(qos: PortQos) -> dict[str, IndexMap]:
    """Return the QoS maps that a port binds, by the fields of PORT_QOS_MAP that name them."""
    bound = {
        "dscp_to_tc_map": qos.dscp_to_tc,
        "tc_to_queue_map": qos.tc_to_queue,
        "tc_to_pg_map": qos.tc_to_pg,
        "pfc_to_queue_map": qos.pfc_to_queue,
        "pfc_to_pg_map": qos.pfc_to_pg,
    }
    return {field: index_map for field, index_map in bound.items() if index_map is not None}


def _port_qos_map(qos: PortQos) -> Fields:
    fields = {field: index_map.name for field, index_map in _port_maps(qos).items()}
    masks = {"pfc_enable": qos.pfc, "pfcwd_sw_enable": qos.watchdog_mask}
    return fields | {
        field: priority_list(mask.priorities) for field, mask in masks.items() if mask and mask.priorities
    }


def _numbered_rows(port: str, qos: PortQos, *, computed: bool) -> Iterator[tuple[str, str, Fields]]:
    for numbers, name in _runs_of_groups(qos, computed=computed):
        yield "BUFFER_PG", f"{port}|{numbers}", {"profile": name}
    for queue in filter(None, qos.queues):
        key = f"{port}|{queue.number}"
        if queue.buffer is not None:
            yield "BUFFER_QUEUE", key, {"profile": queue.buffer.name}
        served = {"scheduler": queue.scheduler, "wred_profile": queue.wred}
        fields = {field: value.name for field, value in served.items() if value is not None}
        if fields or queue.buffer is None:
            yield "QUEUE", key, fields
    for side, profiles in zip(("INGRESS", "EGRESS"), qos.profile_lists, strict=True):
        if profiles:
            names = ",".join(profile.name for profile in profiles)
            yield f"BUFFER_PORT_{side}_PROFILE_LIST", port, {"profile_list": names}


def _runs_of_groups(qos: PortQos, *, computed: bool) -> Iterator[tuple[str, str]]:
    """Yield numbers and profile name of BUFFER_PG rows: adjacent lossless groups of one profile are one, ``3-4``.

    buffermgrd writes such rows itself, by the same slices of ``pfc_enable`` (sonic-swss cfgmgr/buffermgr.cpp
    @029506c, generateIdListFromMap); rows of other keys would stand beside its own and overlap.
    """
    groups = [g for g in qos.groups if g is not None and (g.buffer or (computed and g.generated))]
    run: list[PriorityGroup] = []
    for group in groups:
        if run and not _continues(run[-1], group):
            yield _row_of(run)
            run = []
        run.append(group)
    if run:
        yield _row_of(run)


def _continues(last: PriorityGroup, group: PriorityGroup) -> bool:
    return group.lossless and group.number == last.number + 1 and group.named is last.named


def _row_of(run: list[PriorityGroup]) -> tuple[str, str]:
    first, last = run[0], run[-1]
    numbers = str(first.number) if first is last else f"{first.number}-{last.number}"
    return numbers, first.named.name if first.named else COMPUTED


def _object_rows(rows_by_table: TableRows, qos: PortQos) -> None:
    """Write the maps, schedulers, WRED and buffer profiles that a port's QoS refers to by name."""
    for field, index_map in _port_maps(qos).items():
        rows_by_table[PORT_MAPS[field]][index_map.name] = _map(index_map)
    for queue in filter(None, qos.queues):
        if queue.scheduler is not None:
            rows_by_table["SCHEDULER"][queue.scheduler.name] = _scheduler(queue.scheduler)
        if queue.wred is not None:
            rows_by_table["WRED_PROFILE"][queue.wred.name] = _wred(queue.wred)
    for profile in _profiles(qos):
        rows_by_table["BUFFER_PROFILE"][profile.name] = _profile(profile)
    for override in (group.override for group in qos.groups if group and group.override):
        rows_by_table["BUFFER_PROFILE"][override.name] = {**_profile(override), "headroom_type": "dynamic"}


def _profiles(qos: PortQos) -> Iterable[BufferProfile]:
    yield from (group.buffer for group in qos.groups if group and group.buffer)
    yield from (queue.buffer for queue in qos.queues if queue and queue.buffer)
    for profiles in qos.profile_lists:
        yield from profiles


def _map(index_map: IndexMap) -> Fields:
    return {str(index): str(target) for index, target in enumerate(index_map.targets) if target is not None}


def _scheduler(scheduler: Scheduler) -> Fields:
    fields = {
        "type": scheduler.kind,
        "weight": _text(scheduler.weight),
        "meter_type": "" if scheduler.meter == "bytes" else scheduler.meter,
        "cir": _text(scheduler.cir),
        "pir": _text(scheduler.pir),
    }
    return {field: value for field, value in fields.items() if value}


def _wred(wred: Wred) -> Fields:
    curves = dict(zip(COLOURS, (wred.green, wred.yellow, wred.red), strict=True))
    fields = {"ecn": _ecn_mode([colour for colour, curve in curves.items() if curve.marks])}
    for colour, curve in curves.items():
        fields |= _curve(colour, curve)
    return fields


def _curve(colour: str, curve: Curve) -> Fields:
    fields = {
        f"wred_{colour}_enable": "true" if curve.enabled else "false",
        f"{colour}_min_threshold": _text(curve.min_bytes),
        f"{colour}_max_threshold": _text(curve.max_bytes),
        f"{colour}_drop_probability": _text(curve.probability_percent),
    }
    return {field: value for field, value in fields.items() if value}


def _ecn_mode(colours: list[str]) -> str:
    if len(colours) == len(COLOURS):
        return "ecn_all"
    return "ecn_" + ("_".join(colours) or "none")


def _pool(pool: Pool) -> Fields:
    fields = {
        "type": pool.kind,
        "mode": pool.mode,
        "size": _text(pool.size_bytes),
        "percentage": _text(pool.percent),
        "xoff": _text(pool.shared_headroom_bytes),
    }
    return {field: value for field, value in fields.items() if value}


def _profile(profile: BufferProfile) -> Fields:
    fields = {
        "pool": profile.pool.name if profile.pool else "",
        "size": str(profile.reserved_bytes),
        "xon": _text(profile.xon_bytes),
        "xoff": _text(profile.headroom_bytes),
        "xon_offset": _text(profile.xon_offset_bytes),
        "dynamic_th": _text(profile.dynamic_th),
        "static_th": _text(profile.static_th_bytes),
        DISCARD_ACTION: TRIM if profile.trims else "",
    }
    return {field: value for field, value in fields.items() if value}


def _text(value: int | None) -> str:
    return "" if value is None else str(value)


_ROW = "AZURE"
"""The row key of both dynamic buffer tables (sonic-buildimage files/build_templates/buffers_config.j2 @02aaf5c)."""


def steering_rows(qos: SwitchQos) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield table, key and fields of the rows of dynamic buffer model, tunnel maps and packet trimming."""
    if qos.dynamic is not None:
        yield from _dynamic_rows(qos.dynamic)
    if qos.tunnel is not None:
        yield from _tunnel_rows(qos.tunnel)
    if qos.trimming is not None:
        fields = {
            field: str(value) for field, value in trim_values(qos.trimming).items() if value is not None
        }
        yield TRIM_TABLE, TRIM_ROW, fields


def dynamic_values(dynamic: DynamicBuffers) -> dict[str, int | None]:
    """Return the values of both tables of the dynamic buffer model by field, None for an absent value."""
    return {
        "default_dynamic_th": dynamic.default_dynamic_th,
        RATIO: dynamic.oversubscription,
        "mtu": dynamic.lossless_mtu_bytes,
        "small_packet_percentage": dynamic.small_packet_percent,
    }


def _dynamic_rows(dynamic: DynamicBuffers) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield table, key and fields of the rows of the dynamic buffer model."""
    values = dynamic_values(dynamic)
    for table in (PARAMETER_TABLE, PATTERN_TABLE):
        fields = {
            name: str(values[name])
            for name, holder in FIELDS.items()
            if holder == table and values[name] is not None
        }
        if fields:
            yield table, _ROW, fields


def _tunnel_rows(tunnel: TunnelMaps) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield table, name and entries of the QoS maps of a dual ToR's tunnel."""
    for name, (_, table) in TUNNEL_FIELDS.items():
        index_map: IndexMap | None = getattr(tunnel, name)
        if index_map is not None:
            targets = enumerate(index_map.targets)
            yield table, index_map.name, {str(i): str(to) for i, to in targets if to is not None}


def trim_values(trimming: TrimSettings) -> dict[str, int | str | None]:
    """Return the values of the SWITCH_TRIMMING row by field, None where there is none."""
    values = trimming.size_bytes, trimming.dscp, trimming.traffic_class, trimming.queue
    return dict(zip(TRIM_FIELDS, values, strict=True))
