"""Answers over gNMI from COUNTERS_DB: objects under names of ports and queues, bare objects, maps of names.

``Ethernet68:3`` is a queue or a priority group, as its fields show; ``Ethernet68:1:periodic`` has the watermarks of
that queue since the last period; an object that is requested by its oid comes without any name (sonic-gnmi
sonic_data_client/virtual_db.go and testdata @5ec1c20). gnmic prints a list of notifications, each with ``updates`` of a
``Path`` and ``values``.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.state.databases import counter_reading, named_identity
from lossless.ground.documents.printed_lines import stored_value
from lossless.model.fabric.state import StateCapture, StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.sonic.state.databases import SwitchCommand
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.concatenated_json import PrintedJson
    from lossless.model.fabric.state import CountedSince, Identity

    Said = tuple[tuple[StateReading, ...], tuple[str, ...]]

_FIELD = re.compile(r"SAI_(?=\w+?_(?:STAT|ATTR)_\w)\w++|PFC_WD_\w+|EST_PORT_STAT_\w+")
_PHYSICAL = frozenset(
    {"phy_rx_signal_detect", "pcs_fec_lane_alignment_lock", "rx_snr", "rx_vga", "tx_fir_taps_list"}
)
_MEMBER = re.compile(r"(?P<port>.+?):(?P<index>[0-9]{1,3})(?P<periodic>:periodic)?")
_OID = re.compile(r"oid:0x[0-9a-fA-F]+")
_GROUP = "SAI_INGRESS_PRIORITY_GROUP_"
_FIRST = 3
_WINDOWS: dict[str, CountedSince] = {
    "COUNTERS": "last poll",
    "USER_WATERMARKS": "user clear",
    "PERSISTENT_WATERMARKS": "persistent clear",
    "PERIODIC_WATERMARKS": "period",
}


def read_answer(printed: PrintedJson, _: SwitchCommand, file: str) -> Iterator[StateCapture]:
    """Yield the capture of a gNMI answer from COUNTERS_DB; none for other JSON."""
    if (said := read_gnmi(printed.value)) is not None:
        yield StateCapture(file, "gNMI", said[0], notes=said[1])


def read_gnmi(data: object) -> Said | None:
    """Return the readings of a gNMI answer from COUNTERS_DB, and notes; None for other JSON."""
    if isinstance(data, list):
        return _notifications(data)
    if not isinstance(data, dict) or not data:
        return None
    if _is_object(data):
        readings = tuple(_object(data, (), (), ""))
        return readings, ("the object has no name in this answer: of which port or queue it is, is unknown",)
    if all(isinstance(value, str) and _OID.fullmatch(value) for value in data.values()):
        return tuple(_names(data)), ("an answer with names of objects and no counters",)
    if all(isinstance(row, dict) for row in data.values()) and any(map(_is_object, data.values())):
        return _named(data)
    return _nothing(data)


def _notifications(data: list[Any]) -> Said | None:
    """Return the readings and notes of a list of notifications as gnmic prints it; None if it has none."""
    readings: list[StateReading] = []
    notes: list[str] = []
    for index, item in enumerate(data):
        updates = item.get("updates") if isinstance(item, dict) else None
        for at, update in enumerate(updates if isinstance(updates, list) else ()):
            values = update.get("values") if isinstance(update, dict) else None
            for name, value in (values if isinstance(values, dict) else {}).items():
                said = _update(str(update.get("Path") or name), value)
                path: Path = (index, "updates", at, "values", name)
                readings += (reading._replace(path=(*path, *reading.path)) for reading in said[0])
                notes += said[1]
    return (tuple(readings), tuple(dict.fromkeys(notes))) if readings or notes else None


def _update(path: str, value: object) -> Said:
    """Return readings and notes of an update, whose path has the table, and the object of a hash or single field."""
    steps = [step for step in re.split(r"[/\]]", path) if step]
    window = next((_WINDOWS[step] for step in steps if step in _WINDOWS), None)
    data = value
    if not isinstance(value, dict):
        data = {steps[-1]: value} if steps else {}
        steps = steps[:-1]
    if isinstance(data, dict) and _is_object(data):
        data = {steps[-1]: data} if steps and not _OID.fullmatch(steps[-1]) else data
    readings, notes = read_gnmi(data) or ((), ())
    if window is None:
        return readings, notes
    return tuple(
        reading._replace(since=window) if reading.since == "unknown" else reading for reading in readings
    ), notes


def _is_object(row: dict[str, Any]) -> bool:
    """Return whether a value is the hash of one object of COUNTERS_DB: it has a field of counters."""
    return any(
        not isinstance(value, dict) and (_FIELD.fullmatch(str(key)) or key in _PHYSICAL)
        for key, value in row.items()
    )


def _named(data: dict[str, Any]) -> Said:
    readings = tuple(
        reading
        for name, row in data.items()
        for reading in _object(
            row, (name,), _identity(name, row), "periodic" if name.endswith(":periodic") else ""
        )
    )
    return readings, tuple(_empty(data))


def _nothing(data: dict[str, Any]) -> Said | None:
    """Return a note without readings for an answer in which no port or queue has counters; None for other answers."""
    if all(
        row == {} and re.fullmatch(r"[A-Za-z]+[0-9][\w/-]*(?::[0-9]+)?", str(name))
        for name, row in data.items()
    ):
        return (), tuple(_empty(data))
    return None


def _empty(data: dict[str, Any]) -> Iterator[str]:
    names = [name for name, row in data.items() if not row]
    if names:
        shown = ", ".join(names[:_FIRST]) + (", ..." if len(names) > _FIRST else "")
        yield f"{len(names)} of {len(data)} objects have no counters in this answer: {shown}"


def _identity(name: str, row: dict[str, Any]) -> Identity:
    match = _MEMBER.fullmatch(name)
    if match:
        kind = "pg" if any(str(field).startswith(_GROUP) for field in row) else "queue"
        return ("port", match["port"]), (kind, match["index"])
    return (("object", "switch"),) if name == "SWITCH_ID" else (("port", name),)


def _object(row: dict[str, Any], path: Path, identity: Identity, window: str) -> Iterator[StateReading]:
    for field, value in row.items():
        if field in _PHYSICAL:
            yield from _lanes(str(field), value, identity, path)
            continue
        reading = counter_reading(str(field), value, "COUNTERS", identity, {}, path)
        yield reading._replace(since=_since(reading, window))


def _since(reading: StateReading, window: str) -> CountedSince:
    """Return since when a counter counts; unknown for watermarks without a period, as an answer names no table."""
    if "watermark" not in reading.name:
        return reading.since
    return "period" if window else "unknown"


def _lanes(field: str, value: object, identity: Identity, path: Path) -> Iterator[StateReading]:
    """Yield the value of each lane of a port, or one value if it has no lanes.

    Lanes come as JSON in a text, with a star after a changed value.
    """
    try:
        lanes = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        lanes = value
    if not isinstance(lanes, dict):
        yield StateReading(identity, field, stored_value(value), "", "now", (*path, field), field)
        return
    for lane, entry in lanes.items():
        plain = entry.rstrip("*") if isinstance(entry, str) else entry
        yield StateReading(
            (*identity, ("lane", str(lane))), field, stored_value(plain), "", "now", (*path, field), field
        )


def _names(data: dict[str, str]) -> Iterator[StateReading]:
    for name, oid in data.items():
        match = _MEMBER.fullmatch(name)
        identity = named_identity("QUEUE" if match and "|" in name else "PORT", name)
        if match and identity == (("port", name),):
            # Queues and priority groups are numbered the same way; the map does not say which it is.
            identity = ("port", match["port"]), ("object", match["index"])
        yield StateReading(identity, "oid", oid, "", "now", (name,), name)
