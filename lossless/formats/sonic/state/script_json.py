"""The ``-j`` forms of SONiC's scripts: the same values as their tables, without the titles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.state.rows import BY_HEADING, BY_KEY, CounterName
from lossless.formats.sonic.state.show_tables import (
    TRIMMING_ROW,
    element_of,
    printed_quantity,
    since_printed,
    value_column,
)
from lossless.ground.documents.printed_lines import printed_value
from lossless.model.fabric.state import StateCapture, StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.sonic.state.databases import SwitchCommand
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.concatenated_json import PrintedJson
    from lossless.model.fabric.state import CountedSince, Identity

    Said = tuple[str, tuple[StateReading, ...]]

_NAMESPACE = re.compile(r"For namespace (\S+?):|.*\(Namespace (\S+)\)")
_TIMES = frozenset({"time", "cached_time"})
_TRIMMING = frozenset({"size", "dscp_value", "tc_value", "queue_index"})
_POOL = re.compile(r"\w+_pool\w*")


def read_scripts(printed: PrintedJson, command: SwitchCommand, file: str) -> Iterator[StateCapture]:
    """Yield the capture of a document, in the namespace that the lines before it name."""
    matches = [match for line in printed.before if (match := _NAMESPACE.match(line))]
    namespace = (matches[-1][1] or matches[-1][2]) if matches else command.namespace
    cleared: CountedSince = (
        "clear" if any("Last cached time" in line for line in printed.before) else "unknown"
    )
    prefix = (("namespace", namespace),) if namespace else ()
    if said := _said(printed.value, command, prefix, cleared):
        yield StateCapture(file, command.form or said[0], said[1], command.device)


def _said(data: object, command: SwitchCommand, prefix: Identity, cleared: CountedSince) -> Said | None:
    """Return the form of a document and its readings; None if no script of SONiC prints it."""
    if isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
        return _watermarks(data, command, prefix)
    if not isinstance(data, dict) or not data:
        return None
    if data.keys() <= _TRIMMING:
        return "show switch-trimming global", tuple(_trimming(data, prefix))
    if _is_queues(data):
        readings = tuple(_queues(data, prefix, cleared))
        wred = any(reading.name.startswith(("wred_", "ecn_")) for reading in readings)
        return ("show queue wredcounters" if wred else "show queue counters"), readings
    if all(isinstance(row, dict) and row.keys() & BY_HEADING.keys() for row in data.values()):
        return "show interfaces counters", tuple(_ports(data, prefix, cleared))
    return None


def _is_queues(data: dict[str, Any]) -> bool:
    """Return whether a document has queues below ports, or at least ports without any queue to show."""
    rows = [row for row in data.values() if isinstance(row, dict)]
    return len(rows) == len(data) and any(
        element_of(str(key)) and isinstance(value, dict) for row in rows for key, value in row.items()
    )


def _trimming(data: dict[str, Any], prefix: Identity) -> Iterator[StateReading]:
    for field, value in data.items():
        unit = "bytes" if field == "size" else ""
        yield StateReading(
            (*prefix, *TRIMMING_ROW), field, printed_value(str(value)), unit, "now", (field,), field
        )


def _queues(data: dict[str, Any], prefix: Identity, cleared: CountedSince) -> Iterator[StateReading]:
    for port, row in data.items():
        since: CountedSince = "clear" if "cached_time" in row else cleared
        for queue, fields in row.items():
            if queue in _TIMES or not isinstance(fields, dict):
                continue
            identity = (*prefix, ("port", port), *(element_of(queue) or (("object", queue),)))
            for key, value in fields.items():
                counter = BY_KEY.get(key) or CounterName(key, "")
                yield _reading(counter, value, identity, since, (port, queue, key))


def _ports(data: dict[str, Any], prefix: Identity, cleared: CountedSince) -> Iterator[StateReading]:
    for port, row in data.items():
        for heading, value in row.items():
            counter = BY_HEADING.get(heading) or CounterName(heading, "")
            yield _reading(counter, value, (*prefix, ("port", port)), cleared, (port, heading))


def _reading(
    counter: CounterName, value: object, identity: Identity, since: CountedSince, path: Path
) -> StateReading:
    quantity = printed_quantity(str(value))
    read, unit = quantity or (printed_value(str(value)), counter.unit)
    return StateReading(
        identity, counter.name, read, unit, since_printed(counter, since, "unknown"), path, str(path[-1])
    )


def _watermarks(data: list[dict[str, Any]], command: SwitchCommand, prefix: Identity) -> Said | None:
    """Read a list of ports with the columns of watermarkstat, or of pools; the output does not name the watermark."""
    if all("Port" in row and any(element_of(str(key)) for key in row) for row in data):
        return "watermarkstat -j", tuple(_elements(data, command, prefix))
    if all(row and all(_POOL.fullmatch(str(key)) for key in row) for row in data):
        return "watermarkstat -j", tuple(_pools(data, command, prefix))
    return None


def _elements(data: list[dict[str, Any]], command: SwitchCommand, prefix: Identity) -> Iterator[StateReading]:
    for index, row in enumerate(data):
        for key, value in row.items():
            if key == "Port":
                continue
            element, (counter, *_) = value_column(str(key), "Port", None, command)
            identity = (*prefix, ("port", str(row["Port"])), *element)
            yield StateReading(
                identity,
                counter.name,
                printed_value(str(value)),
                counter.unit,
                since_printed(counter, "unknown", command.window),
                (index, str(key)),
                str(key),
            )


def _pools(data: list[dict[str, Any]], command: SwitchCommand, prefix: Identity) -> Iterator[StateReading]:
    name = command.watermark or "pool_watermark_bytes"
    for index, row in enumerate(data):
        for pool, value in row.items():
            identity = (*prefix, ("pool", str(pool)))
            yield StateReading(
                identity,
                name,
                printed_value(str(value)),
                "bytes",
                command.window,
                (index, str(pool)),
                "Bytes",
            )
