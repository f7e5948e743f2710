"""Settings of a device beside its ports, as rows: the dynamic buffer model, a dual ToR's tunnel, trimmed packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.to_model.dynamic import FIELDS, PARAMETER_TABLE, PATTERN_TABLE, RATIO
from lossless.formats.sonic.to_model.trimming import TRIM_FIELDS, TRIM_ROW, TRIM_TABLE
from lossless.formats.sonic.to_model.tunnel import TUNNEL_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.model import SwitchQos
    from lossless.model.fabric.qos import DynamicBuffers, IndexMap, TrimSettings, TunnelMaps

_ROW = "AZURE"
"""The name of the one row of either table (sonic-buildimage files/build_templates/buffers_config.j2 @02aaf5c)."""


def steering_rows(qos: SwitchQos) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the rows of all device-wide settings: table, key, fields."""
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
    """Return the values by field."""
    return {
        "default_dynamic_th": dynamic.default_dynamic_th,
        RATIO: dynamic.oversubscription,
        "mtu": dynamic.lossless_mtu_bytes,
        "small_packet_percentage": dynamic.small_packet_percent,
    }


def _dynamic_rows(dynamic: DynamicBuffers) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the rows: table, key, fields."""
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
    """Yield the rows of the maps: table, key, fields."""
    for name, (_, table) in TUNNEL_FIELDS.items():
        index_map: IndexMap | None = getattr(tunnel, name)
        if index_map is not None:
            targets = enumerate(index_map.targets)
            yield table, index_map.name, {str(i): str(to) for i, to in targets if to is not None}


def trim_values(trimming: TrimSettings) -> dict[str, int | str | None]:
    """Return the fields of the row of trimmed packets, None for a field without a value."""
    values = trimming.size_bytes, trimming.dscp, trimming.traffic_class, trimming.queue
    return dict(zip(TRIM_FIELDS, values, strict=True))
