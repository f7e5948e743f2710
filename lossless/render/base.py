"""A device's own file as base: owned tables replaced, stale rows gone, everything else kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.errors import RenderError
from lossless.sonic.write import OWNED, SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.fabric.model import Switch
    from lossless.sonic.write import TableRows
    from lossless.source.document import Document


def onto_base(switch: Switch, rendered: TableRows, base: Document) -> dict[str, Any]:
    """Return the complete configuration of a device.

    Raises:
        RenderError: the base is of another device, lacks a port that the intent uses, or computes its buffers
            itself; the message lists every reason.
    """
    problems = list(_problems(switch, base.data))
    if problems:
        raise RenderError("\n".join(f"{base.file}: {problem}" for problem in problems))
    kept = {table: rows for table, rows in base.data.items() if table not in OWNED}
    owned = {table: rows for table, rows in rendered.items() if table not in SHARED}
    shared = {table: _laid_over(kept.get(table, {}), rendered.get(table, {})) for table in SHARED}
    return kept | owned | {table: rows for table, rows in shared.items() if rows}


def _laid_over(rows: Mapping[str, Any], own: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    return dict(rows) | {key: {**rows.get(key, {}), **fields} for key, fields in own.items()}


def _problems(switch: Switch, data: Mapping[str, Any]) -> Iterator[str]:
    meta = data.get("DEVICE_METADATA", {}).get("localhost", {})
    if meta.get("hwsku") not in (None, switch.hwsku_name):
        yield f"is for HWSKU {meta['hwsku']}; the intent makes {switch.name} a {switch.hwsku_name}"
    if meta.get("hostname") not in (None, switch.name):
        yield f"is the file of {meta['hostname']}, not of {switch.name}"
    if meta.get("buffer_model") == "dynamic":
        why = "the device computes its buffers itself; only the traditional model is rendered"
        yield f"sets buffer_model dynamic: {why}"
    yield from _port_problems(switch, data.get("PORT", {}))


def _port_problems(switch: Switch, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    missing = [port.name for port in switch.ports if port.placed and port.name not in rows]
    if missing:
        shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        yield f"PORT has no {shown}; the intent uses them (break the cages out first)"
    for port in switch.ports:
        speed = rows.get(port.name, {}).get("speed")
        if speed is not None and port.speed_bps is not None and str(speed) != str(port.speed_bps // 10**6):
            yield f"PORT|{port.name}|speed is {speed}; the intent makes it {port.speed_bps // 10**6}"
