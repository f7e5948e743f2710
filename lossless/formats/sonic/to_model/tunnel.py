"""The QoS maps of a dual ToR's tunnel to the fabric model.

The row of the tunnel itself (TUNNEL) belongs to the device: upstream's minigraph writes it, and names these maps
there where SYSTEM_DEFAULTS enables ``tunnel_qos_remap`` (sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.read.tables import whole_number
from lossless.model.fabric.qos import DSCPS, PRIORITIES, TUNNEL_MAP, UNREADABLE, IndexMap, TunnelMaps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.formats.sonic.read.tables import Tables
    from lossless.formats.sonic.to_model.ports import Objects

OUTER_TABLE = "TC_TO_DSCP_MAP"
"""The table of the maps that only tunnels and ports that rewrite DSCP use."""
TUNNEL_FIELDS = {
    "dscp_to_tc": ("decap_dscp_to_tc_map", "DSCP_TO_TC_MAP"),
    "tc_to_pg": ("decap_tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"),
    "tc_to_queue": ("encap_tc_to_queue_map", "TC_TO_QUEUE_MAP"),
    "tc_to_dscp": ("encap_tc_to_dscp_map", OUTER_TABLE),
}
"""By field of TunnelMaps: the field of TUNNEL that names the map, and the table it is in.

Source: sonic-swss orchagent/tunneldecaporch.cpp and muxorch.cpp @e6b0c5b.
"""
BOUND = {field: table for field, table in TUNNEL_FIELDS.values() if table != OUTER_TABLE}
"""The fields of TUNNEL that name maps of tables which rendering replaces whole."""


def tunnel_maps(tables: Tables, objects: Objects) -> TunnelMaps | None:
    """Return the QoS maps of a device's tunnel, the first by name, None where it has none.

    A tunnel that names no maps has none. Where the file has no TUNNEL row, the maps named :data:`TUNNEL_MAP` count.
    """
    key, row = _first_tunnel(tables.data.get("TUNNEL"))
    names = {
        name: str(row.get(field, "")) if key else TUNNEL_MAP for name, (field, _) in TUNNEL_FIELDS.items()
    }
    maps = {
        name: _outer(tables, names[name]) if table == OUTER_TABLE else objects.index_map(table, names[name])
        for name, (_, table) in TUNNEL_FIELDS.items()
    }
    if not any(maps.values()):
        return None
    origin = tables.origin("TUNNEL") if key else tables.origin(OUTER_TABLE)
    return TunnelMaps(**maps, origin=origin)


def _first_tunnel(rows: object) -> tuple[str, Mapping[str, Any]]:
    """Return the first tunnel by name and its fields; an empty name where the file has none."""
    named = (
        {str(k): row for k, row in rows.items() if isinstance(row, dict)} if isinstance(rows, dict) else {}
    )
    first = min(named, default="")
    return first, named.get(first, {})


def _outer(tables: Tables, name: str) -> IndexMap | None:
    maps = tables.data.get(OUTER_TABLE)
    row = maps.get(name) if isinstance(maps, dict) else None
    if not isinstance(row, dict):
        return None
    read = {whole_number(str(tc)): whole_number(str(dscp)) for tc, dscp in row.items()}
    targets = tuple(_target(read[tc]) if tc in read else None for tc in PRIORITIES)
    return IndexMap(name, targets, tables.origin(OUTER_TABLE).at(name))


def _target(dscp: int | None) -> int:
    return dscp if dscp is not None and dscp in DSCPS else UNREADABLE
