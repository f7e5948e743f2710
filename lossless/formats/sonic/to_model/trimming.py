"""Settings of a switch for trimmed packets, and the tables that steer the dynamic buffer model, to the fabric model.

A queue trims by its profile; one row of the switch sets the marks and the queue of trimmed packets. Words count in any
case, as orchagent takes them (sonic-swss orchagent/switch/trimming/helper.cpp @e6b0c5b).

The two tables that steer the dynamic buffer model hold one row each; the device takes whichever key Redis names first
(sonic-swss cfgmgr/buffer_pool_mellanox.lua @1469e8d), and here the first by name counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from lossless.formats.sonic.read.tables import whole_number
from lossless.model.fabric.qos import DynamicBuffers, TrimSettings

if TYPE_CHECKING:
    from lossless.formats.sonic.read.tables import ConfigRow, Tables


TRIM_TABLE, TRIM_ROW = "SWITCH_TRIMMING", "GLOBAL"
TRIM_FIELDS = ("size", "dscp_value", "tc_value", "queue_index")
DISCARD_ACTION, TRIM = "packet_discard_action", "trim"
FROM_TC: Literal["from-tc"] = "from-tc"
DYNAMIC: Literal["dynamic"] = "dynamic"
_Word = TypeVar("_Word", bound=str)


def trim_settings(tables: Tables) -> TrimSettings | None:
    """Return the SWITCH_TRIMMING settings of a device for trimmed packets, None if it has no such row."""
    row = tables.row(TRIM_TABLE, TRIM_ROW)
    if row is None:
        return None
    size, dscp, traffic_class, queue = (row.fields.get(field, "") for field in TRIM_FIELDS)
    return TrimSettings(
        size_bytes=whole_number(size),
        dscp=_number_or(FROM_TC, dscp),
        traffic_class=whole_number(traffic_class),
        queue=_number_or(DYNAMIC, queue),
        origin=tables.origin(TRIM_TABLE, row),
    )


def _number_or(word: _Word, text: str) -> int | _Word | None:
    return word if text.lower() == word else whole_number(text)


PARAMETER_TABLE = "DEFAULT_LOSSLESS_BUFFER_PARAMETER"
PATTERN_TABLE = "LOSSLESS_TRAFFIC_PATTERN"
COMPUTED = "NULL"
"""The profile in BUFFER_PG of a group whose headroom the device computes (sonic-buffer-pg.yang @086b03b)."""
RATIO = "over_subscribe_ratio"
FIELDS = {
    "default_dynamic_th": PARAMETER_TABLE,
    RATIO: PARAMETER_TABLE,
    "mtu": PATTERN_TABLE,
    "small_packet_percentage": PATTERN_TABLE,
}
"""The fields of the tables that steer the dynamic buffer model, and the table of each."""


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
