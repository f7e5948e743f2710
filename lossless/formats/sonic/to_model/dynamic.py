"""The tables that steer the dynamic buffer model, to the fabric model.

Both hold one row; the device takes whichever key Redis names first (sonic-swss cfgmgr/buffer_pool_mellanox.lua
@1469e8d), and here the first by name counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.qos import DynamicBuffers

if TYPE_CHECKING:
    from lossless.formats.sonic.read.tables import ConfigRow, Tables

PARAMETER_TABLE = "DEFAULT_LOSSLESS_BUFFER_PARAMETER"
PATTERN_TABLE = "LOSSLESS_TRAFFIC_PATTERN"
COMPUTED = "NULL"
"""The profile of a group whose headroom the device computes (sonic-buffer-pg.yang @086b03b)."""
RATIO = "over_subscribe_ratio"
FIELDS = {
    "default_dynamic_th": PARAMETER_TABLE,
    RATIO: PARAMETER_TABLE,
    "mtu": PATTERN_TABLE,
    "small_packet_percentage": PATTERN_TABLE,
}
"""The fields, and the table of each."""


def dynamic_buffers(tables: Tables) -> DynamicBuffers | None:
    """Return the parameters of a device's dynamic buffer model, None if it has neither row."""
    rows = {table: _first(tables, table) for table in (PARAMETER_TABLE, PATTERN_TABLE)}
    present = next((table for table, row in rows.items() if row is not None), None)
    if present is None:
        return None
    values = {
        field: tables.number(table, row, field) if (row := rows[table]) is not None else None
        for field, table in FIELDS.items()
    }
    return DynamicBuffers(
        default_dynamic_th=values["default_dynamic_th"],
        oversubscription=values[RATIO],
        lossless_mtu_bytes=values["mtu"],
        small_packet_percent=values["small_packet_percentage"],
        origin=tables.origin(present, rows[present]),
    )


def _first(tables: Tables, table: str) -> ConfigRow | None:
    rows = tables.table(table)
    return rows[min(rows)] if rows else None
