"""Running state that EOS prints as JSON and NX-OS as tables.

EOS: the JSON of commands about queues, ECN and priority flow control. The forms are those that public tests of
switches read (aristanetworks/anta tests/units/anta_tests/test_interfaces.py @68667e0): ECN marks by queue, PFC frames
by port, drops by traffic class at ingress and egress. A ``-`` is a queue without the counter.

NX-OS: the tables of ``show interface priority-flow-control`` and ``show interface flowcontrol``. Their cells begin
below the headings, and no ruler divides them. ``On(8)`` is a state and a bitmap, 8 for priority 3; ``off/off`` is the
configured and the running state. No known source documents the base in which a bitmap of more than one digit is
printed: it stays a text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.ground.documents.printed_lines import printed_value, stored_value
from lossless.ground.documents.printed_tables import cells_of, spans_of
from lossless.model.fabric.state import StateCapture, StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Path
    from lossless.ground.basics.records import Maybe
    from lossless.ground.documents.concatenated_json import PrintedJson
    from lossless.model.fabric.state import CountedSince, Identity


if TYPE_CHECKING:
    Said = tuple[str, tuple[StateReading, ...]]

_EOS_NAMES = {
    "rxFrames": ("pfc_rx", "packets"),
    "txFrames": ("pfc_tx", "packets"),
    "droppedPackets": ("dropped_packets", "packets"),
    "droppedBytes": ("dropped_bytes", "bytes"),
    "enqueuedPackets": ("enqueued_packets", "packets"),
    "enqueuedBytes": ("enqueued_bytes", "bytes"),
}
_MAX_LEVELS = 10
"""Levels above a counter: an interface, a class, a side and a sum have six."""
_CLASS = re.compile(r"TC([0-9]{1,2}(?:-[0-9]{1,2})?)")


def read_eos(printed: PrintedJson, _: object, file: str) -> Iterator[StateCapture]:
    """Yield the capture of a JSON document of EOS; none for other JSON."""
    if said := _said(printed.value):
        yield StateCapture(file, f"EOS {said[0]}", said[1])


def _said(data: object) -> Said | None:
    """Return the form of EOS's JSON that a document has, and its readings; None for another document."""
    if not isinstance(data, dict):
        return None
    if isinstance(ports := data.get("intfQueueCounters"), dict):
        return "show qos interfaces ecn counters queue", tuple(_marks(ports))
    if isinstance(ports := data.get("interfaceCounters"), dict) and _has(ports, {"rxFrames", "txFrames"}):
        return "counters of priority flow control", tuple(_frames(ports))
    ports = data.get("interfaces")
    if isinstance(ports, dict) and _has(ports, {"trafficClasses"}):
        return "counters of traffic classes", tuple(_classes(ports, ("interfaces",)))
    drops = {side: part["interfaces"] for side, part in data.items() if _is_side(side, part)}
    if drops:
        return "counters of traffic classes", tuple(_sides(drops))
    return None


def _has(ports: dict[str, Any], keys: set[str]) -> bool:
    return any(isinstance(row, dict) and row.keys() & keys for row in ports.values())


def _is_side(side: str, part: object) -> bool:
    """Return whether a member of the document has counters of ingress or egress, by port."""
    return side.endswith("Counters") and isinstance(part, dict) and isinstance(part.get("interfaces"), dict)


def _marks(ports: dict[str, Any]) -> Iterator[StateReading]:
    for port, row in ports.items():
        queues = row.get("queueCounters") if isinstance(row, dict) else None
        for queue, value in (queues if isinstance(queues, dict) else {}).items():
            identity = (("port", port), ("queue", str(queue)))
            path = ("intfQueueCounters", port, "queueCounters", queue)
            yield StateReading(
                identity,
                "ecn_marked_packets",
                stored_value(value),
                "packets",
                "unknown",
                path,
                "queueCounters",
            )


def _frames(ports: dict[str, Any]) -> Iterator[StateReading]:
    for port, row in ports.items():
        if isinstance(row, dict):
            yield from _fields(row, (("port", port),), ("interfaceCounters", port))


def _sides(drops: dict[str, dict[str, Any]]) -> Iterator[StateReading]:
    for side, ports in drops.items():
        for reading in _classes(ports, (side, "interfaces")):
            yield reading._replace(identity=(*reading.identity, ("source", side)))


def _classes(ports: dict[str, Any], path: Path) -> Iterator[StateReading]:
    for port, row in ports.items():
        classes = row.get("trafficClasses") if isinstance(row, dict) else None
        for name, sides in (classes if isinstance(classes, dict) else {}).items():
            match = _CLASS.fullmatch(name)
            identity = (("port", port), ("tc", match[1] if match else name))
            if isinstance(sides, dict):
                yield from _fields(sides, identity, (*path, port, "trafficClasses", name))


def _fields(row: dict[str, Any], identity: Identity, path: Path) -> Iterator[StateReading]:
    """Yield the counters of a port or traffic class; those of ingress or egress lie below its name."""
    for key, value in row.items():
        if isinstance(value, dict):
            if len(path) > _MAX_LEVELS:
                continue
            side = identity if key == "countersSum" else (*identity, ("source", key))
            yield from _fields(value, side, (*path, key))
            continue
        name, unit = _EOS_NAMES.get(key, (key, ""))
        yield StateReading(identity, name, stored_value(value), unit, "unknown", (*path, key), key)


_PFC = re.compile(r"\s*Port\s+Mode\s+Oper(?:\s?\(\S.*\))?\s+RxPPP\s+TxPPP\s*")
_FLOW_CONTROL = re.compile(r"\s*Port\s+Send FC\s+Receive FC\s+RxPause\s+TxPause\s*")
_PORT = re.compile(r"[A-Za-z]+[0-9][\w/.-]*")
_BITMAP = re.compile(r"(\w+)\s*\(([0-9a-fA-F]+)\)")
_NXOS_NAMES = {
    "Mode": "pfc_mode",
    "RxPPP": "pfc_rx",
    "TxPPP": "pfc_tx",
    "RxPause": "pause_rx",
    "TxPause": "pause_tx",
    "Send FC": "send_fc",
    "Receive FC": "receive_fc",
}


def read_nxos(text: str, file: str) -> Iterator[StateCapture]:
    """Yield one capture of the PFC and flow control tables of NX-OS in a text; none if there is no such table."""
    lines = text.splitlines()
    readings: list[StateReading] = []
    form = ""
    for at, line in enumerate(lines):
        if _PFC.fullmatch(line) or _FLOW_CONTROL.fullmatch(line):
            form = "show interface " + ("priority-flow-control" if "PPP" in line else "flowcontrol")
            readings += _rows(lines, at, form)
    if form:
        yield StateCapture(file, f"NX-OS {form}", tuple(readings))


def _rows(lines: Sequence[str], at: int, form: str) -> Iterator[StateReading]:
    spans = spans_of(lines[at])
    headings = cells_of(lines[at], spans)
    for index, line in enumerate(lines[at + 1 :], at + 2):
        cells = cells_of(line, spans)
        if not line.strip() or set(line.strip()) <= set("-="):
            continue
        if not _PORT.fullmatch(cells[0]):
            break
        for heading, cell in zip(headings[1:], cells[1:], strict=True):
            for name, value in _values(heading, cell):
                yield _reading(cells[0], name, value, (form, index, heading))


def _values(heading: str, cell: str) -> Iterator[tuple[str, Maybe[int | float | str]]]:
    """Yield names and values of a cell: ``On(8)`` and ``off/off`` are two."""
    name = _NXOS_NAMES.get(heading, heading)
    if heading.startswith("Oper"):
        match = _BITMAP.fullmatch(cell)
        yield "pfc_oper", printed_value(match[1] if match else cell)
        if match:
            yield "oper_bitmap", int(match[2], 16) if len(match[2]) == 1 else match[2]
    elif name in ("send_fc", "receive_fc"):
        admin, _, oper = cell.partition("/")
        yield f"{name}_admin", printed_value(admin)
        yield f"{name}_oper", printed_value(oper)
    else:
        yield name, printed_value(cell)


def _reading(
    port: str, name: str, value: Maybe[int | float | str], path: tuple[str | int, ...]
) -> StateReading:
    counts = name.startswith(("pfc_rx", "pfc_tx", "pause_"))
    since: CountedSince = "unknown" if counts else "now"
    return StateReading(
        (("port", port),), name, value, "packets" if counts else "", since, path, str(path[-1])
    )
