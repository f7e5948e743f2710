"""The rows of a switch as its daemons apply them: without rows that are not applied, and with the values as parsed.

A fabric that is read from them describes the behavior of the switch, one that is read from the file its configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.effective.objects import tokens
from lossless.formats.sonic.effective.programmed import MAP_TABLES, programmed
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.formats.sonic.effective.objects import Fields
    from lossless.formats.sonic.effective.programmed import Programmed, Row
    from lossless.model.fabric.model import Fabric
    from lossless.model.hardware.load import FindHardware

_QOS_TABLES = (*MAP_TABLES, "PORT_QOS_MAP", "QUEUE", "SCHEDULER", "WRED_PROFILE", "PFC_WD")


def applied_fabric(
    devices: Sequence[Tables], find_hardware: FindHardware, rdma_dscps: Sequence[tuple[int, ...]] = ()
) -> Fabric:
    """Return the fabric of what devices do; which classes are lossless, their files say, or DSCPs of each."""
    written = read_fabric(devices, find_hardware, rdma_dscps)
    pairs = list(zip(devices, written.switches, strict=True))
    rows = [applied_tables(tables, programmed(tables, switch)) for tables, switch in pairs]
    if all(own is tables for own, (tables, _) in zip(rows, pairs, strict=True)):
        return written
    fabric = read_fabric(rows, find_hardware)
    switches = zip(fabric.switches, written.switches, strict=True)
    return fabric._replace(
        switches=tuple(switch._replace(classes=own.classes) for switch, own in switches),
        classes=written.classes,
    )


def applied_tables(tables: Tables, state: Programmed) -> Tables:
    """Return the applied rows; the same object if all rows are applied as they are written.

    A fragment without ports stays unchanged: the rest of the switch is unknown.
    """
    if not tables.table("PORT"):
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
    """Return the rows, as they are written, that have no effect."""
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
    """Return the rows whose values the daemons read otherwise than they are written."""
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
    """Note a row whose fields are read otherwise; ``keep``: fields that are not named stay."""
    row = tables.written(place[0]).get(place[1])
    if row is None:
        return
    fields = {**row.fields, **read} if keep else read
    if fields != row.fields:
        changed[place] = fields
