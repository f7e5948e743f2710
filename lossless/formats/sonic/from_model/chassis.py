"""Queue rows of a chassis with virtual output queues: their keys name host, ASIC and port.

Every card of a chassis holds a queue for every port of the chassis, so such a device has rows for the ports of other
cards too: their thresholds, not their schedulers, which are the other card's own.
Source: sonic-buildimage files/build_templates/qos_config.j2 @0791705 and buffers_config.j2 @02aaf5c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.read.system_ports import carries_traffic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Rows = dict[str, dict[str, str]]

KEYED = ("BUFFER_QUEUE", "QUEUE")
"""The tables whose keys are ``host|asic|port|queue`` on such a device."""


def chassis_rows(tables: Mapping[str, Rows], device: Mapping[str, Any]) -> dict[str, Rows]:
    """Return rendered tables as a device needs them: on a VOQ chassis with its keys, otherwise unchanged.

    ``device`` is the device's own file, which has its type and the ports of its chassis.
    """
    own = _own_name(device)
    if own is None:
        return dict(tables)
    return {name: _keyed(rows, own, device) if name in KEYED else rows for name, rows in tables.items()}


def _own_name(device: Mapping[str, Any]) -> str | None:
    """Return ``host|asic`` of a VOQ device, None for others."""
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
    """Return by port the settings of its rows beside the scheduler, by queue."""
    shared_by_port: dict[str, list[tuple[str, dict[str, str]]]] = {}
    for key, fields in rows.items():
        port, _, number = key.rpartition("|")
        own = shared_by_port.setdefault(port, [])
        shared = {field: value for field, value in fields.items() if field != "scheduler"}
        if shared:
            own.append((number, shared))
    return shared_by_port


def _others(ports: Iterable[str], own: str, device: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the ports of other cards, each with a port of this one whose thresholds it gets: one of its speed."""
    speeds = _rows(device, "PORT")
    like: dict[str, str] = {}
    for port in ports:
        like.setdefault(str(speeds.get(port, {}).get("speed", "")), port)
    for place, row in sorted(_rows(device, "SYSTEM_PORT").items()) if like else ():
        if place.rpartition("|")[0] != own and carries_traffic(place):
            yield place, like.get(str(row.get("speed", "")), next(iter(like.values())))


def _rows(device: Mapping[str, Any], table: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a table that are objects; other entries are reported when the table is read."""
    rows = device.get(table)
    if not isinstance(rows, dict):
        return {}
    return {str(key): row for key, row in rows.items() if isinstance(row, dict)}
