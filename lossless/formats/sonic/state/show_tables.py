"""Tables of SONiC's commands as readings, cell by cell: their columns, and cells that carry their unit.

Some columns identify the object of a row, others have values. pfcwd prints 0 for a counter that is not there, and
without ``-e`` no queue whose counters are all 0; its status is ``N/A`` where the watchdog does not run
(sonic-utilities pfcwd/main.py @015521a). dropstat prints 0 for a counter that is not there (scripts/dropstat
@4fca816), watermarkstat for a queue that one port has and another does not (scripts/watermarkstat @2a5c132).

Cells with a unit are rates with decimal prefixes, and shares. Source: sonic-utilities utilities_common/netstat.py,
format_brate, format_prate and format_util @965233c.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.sonic.state.forms import TABLES
from lossless.formats.sonic.state.rows import BY_HEADING, CounterName, is_setting
from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.ground.documents.printed_lines import number, printed_value
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.formats.sonic.state.databases import SwitchCommand
    from lossless.ground.basics.records import Maybe
    from lossless.ground.documents.printed_tables import PrintedRow, PrintedTable
    from lossless.model.fabric.state import CountedSince, Identity


_KEYS = {
    "port": "port",
    "iface": "port",
    "interface": "port",
    "port rx": "port",
    "port tx": "port",
    "localport": "port",
    "pool": "pool",
    "device": "device",
}
"""Headings of columns that identify the object of a row, at any position."""
_FIRST_KEYS = {
    "profile": "profile",
    "counter": "object",
    "counter type": "object",
    "type": "object",
    "configuration": "object",
}
"""Headings that identify the object of a row in the first column only: other tables have values under them."""
_TITLES = {
    "ingress shared pool occupancy per pg": CounterName("shared_watermark_bytes", "bytes"),
    "ingress headroom per pg": CounterName("xoff_room_watermark_bytes", "bytes"),
    "ingress pg dropped packets": CounterName("dropped_packets", "packets"),
    "egress shared pool occupancy per": CounterName("shared_watermark_bytes", "bytes"),
    "shared pool maximum occupancy": CounterName("watermark_bytes", "bytes"),
    "headroom pool maximum occupancy": CounterName("xoff_room_watermark_bytes", "bytes"),
}
"""The counter of a table whose headings are only numbers of queues, priority groups and pools, by the table's title."""
_PAIRED = {
    "STORM DETECTED/RESTORED": (
        CounterName("pfcwd_detected", "storms"),
        CounterName("pfcwd_restored", "storms"),
    ),
    "TX OK/DROP": (CounterName("pfcwd_tx_ok", "packets"), CounterName("pfcwd_tx_drop", "packets")),
    "RX OK/DROP": (CounterName("pfcwd_rx_ok", "packets"), CounterName("pfcwd_rx_drop", "packets")),
    "TX LAST OK/DROP": (
        CounterName("pfcwd_tx_last_ok", "packets"),
        CounterName("pfcwd_tx_last_drop", "packets"),
    ),
    "RX LAST OK/DROP": (
        CounterName("pfcwd_rx_last_ok", "packets"),
        CounterName("pfcwd_rx_last_drop", "packets"),
    ),
}
_SETTINGS = {
    "STATUS": CounterName("pfcwd_status", ""),
    "ACTION": CounterName("pfcwd_action", ""),
    "DETECTION TIME": CounterName("pfcwd_detection_time", "ms"),
    "RESTORATION TIME": CounterName("pfcwd_restoration_time", "ms"),
    "HISTORY": CounterName("pfcwd_history", ""),
    "STATE": CounterName("port_state", ""),
    "Lossless priorities": CounterName("lossless_priorities", ""),
    "Asymmetric": CounterName("pfc_asym", ""),
    "RemoteDevice": CounterName("lldp_device", ""),
    "RemotePortID": CounterName("lldp_port", ""),
    "RemotePortDescr": CounterName("lldp_port_description", ""),
    # Debug counters: the fields of DEBUG_COUNTER
    "Alias": CounterName("alias", ""),
    "Group": CounterName("group", ""),
    "Type": CounterName("type", ""),
    "Description": CounterName("desc", ""),
    "Drop Monitor": CounterName("drop_monitor_status", ""),
    "Window": CounterName("window", ""),
    "Drop Count Threshold": CounterName("drop_count_threshold", ""),
    "Incident Count Threshold": CounterName("incident_count_threshold", ""),
    "Interval (in ms)": CounterName("poll_interval", "ms"),
    "Status": CounterName("poll_status", ""),
}
_LAST_POLL = frozenset({"bytes/s", "packets/s", "%"})
_ELEMENTS = ("TxQ", "Voq", "Priority")
_ELEMENT = re.compile(r"(PG|UC|MC|ALL|VOQ|PFC)([0-9]{1,3})")
_MEMBER = re.compile(r"(.+):([0-9]{1,3})")


class ValueColumn(NamedTuple):
    """A column of values: the queue, priority group or priority in its heading, and its counters (two for ``1/0``)."""

    element: Identity
    counters: tuple[CounterName, ...]


def title_counter(title: str) -> CounterName | None:
    """Return the counter that the title of a table of ``show`` names, None if it names none."""
    lowered = title.lower()
    return next((counter for start, counter in _TITLES.items() if lowered.startswith(start)), None)


def row_keys(headings: Sequence[str]) -> dict[int, str]:
    """Return the columns that identify the object of a row, with the kind of each; parts of a port come after it."""
    keys = {index: kind for index, heading in enumerate(headings) if (kind := _KEYS.get(heading.lower()))}
    if "QUEUE" in headings and "STATUS" in headings:
        keys[headings.index("QUEUE")] = "member"
    if not keys and headings[0].lower() in _FIRST_KEYS:
        keys[0] = _FIRST_KEYS[headings[0].lower()]
    if "port" in keys.values():
        keys |= {index: "element" for index, heading in enumerate(headings) if heading in _ELEMENTS}
    return keys


def named_by(kind: str, cell: str) -> Identity:
    """Return the identity that a cell of an identifying column of this kind gives its row: ``port Ethernet0``."""
    if kind == "element":
        return element_of(cell) or (("object", cell),)
    match = _MEMBER.fullmatch(cell) if kind == "member" else None
    if match:
        return ("port", match[1]), ("queue", match[2])
    return (("port" if kind == "member" else kind, cell),)


def element_of(heading: str) -> Identity:
    """Return the element that a heading or cell names: ``UC3`` is queue 3 of kind UC; empty for any other text."""
    match = _ELEMENT.fullmatch(heading)
    if match is None:
        return ()
    if match[1] in ("PG", "PFC"):
        return (("pg" if match[1] == "PG" else "priority", match[2]),)
    return ("queue", match[2]), ("queue_kind", match[1])


def value_column(heading: str, first: str, title: CounterName | None, command: SwitchCommand) -> ValueColumn:
    """Return element and counters of a column, by its heading, the table's first heading, its title and the command."""
    if heading in _PAIRED:
        return ValueColumn((), _PAIRED[heading])
    if element := element_of(heading):
        return ValueColumn(
            element, (title or _untitled(element[0][0], first, command) or CounterName(heading, ""),)
        )
    if heading == "Bytes" and first == "Pool":
        name = title.name if title else command.watermark or "pool_watermark_bytes"
        return ValueColumn((), (CounterName(name, "bytes"),))
    return ValueColumn((), (_SETTINGS.get(heading) or BY_HEADING.get(heading) or CounterName(heading, ""),))


def _untitled(kind: str, first: str, command: SwitchCommand) -> CounterName | None:
    """Return the counter of queue, priority group or priority columns in a table without a title; None: unknown."""
    if kind == "priority":
        names = {"Port Rx": "pfc_rx", "Port Tx": "pfc_tx"}
        return CounterName(names[first], "packets") if first in names else None
    if kind == "queue":
        return CounterName("shared_watermark_bytes", "bytes")
    if "drop" in command.text:
        return CounterName("dropped_packets", "packets")
    return CounterName(command.watermark or "pg_watermark_bytes", "bytes")


def since_printed(counter: CounterName, cleared: CountedSince, window: CountedSince) -> CountedSince:
    """Return since when a printed value counts: scripts subtract the values at the last clear, and print its time."""
    if counter in _SETTINGS.values() or is_setting(counter.name):
        return "now"
    if "watermark" in counter.name:
        return window
    return "last poll" if counter.unit in _LAST_POLL or "_ber" in counter.name else cleared


_RATE = re.compile(r"([0-9][0-9.]*)\s*([KMGT]?)B/s")
_PER_SECOND = re.compile(r"([0-9][0-9.]*)/s")
_PERCENT = re.compile(r"([0-9][0-9.]*)\s*%")
_PREFIXES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def printed_quantity(cell: str) -> tuple[float, str] | None:
    """Return value and unit of a cell that carries its unit (``14.32 KB/s``, ``64.00%``); None where it has none."""
    text = cell.strip().replace(",", "")
    if match := _RATE.fullmatch(text):
        value = number(match[1], "")
        return (value * _PREFIXES[match[2]], "bytes/s") if isinstance(value, int | float) else None
    for of_cell, unit in ((_PER_SECOND.fullmatch, "packets/s"), (_PERCENT.fullmatch, "%")):
        if match := of_cell(text):
            value = number(match[1], "")
            return (value, unit) if isinstance(value, int | float) else None
    return None


_TEXTS = frozenset({"Lossless priorities", "Lanes", "Member Ports", "Ports", "Recent RX Pause Timestamp"})
"""Columns whose commas divide no thousands."""
_ACCURACY = re.compile(r"(\S+) \(([0-9.]+)%\)")
_DEFAULT = re.compile(r"default \(([0-9]+)\)")
_TRIMMING = {
    "Packet trimming size": CounterName("size", "bytes"),
    "Packet trimming DSCP value": CounterName("dscp_value", ""),
    "Packet trimming TC value": CounterName("tc_value", ""),
    "Packet trimming queue index": CounterName("queue_index", ""),
}
TRIMMING_ROW: Identity = (("table", "SWITCH_TRIMMING"), ("key", "GLOBAL"))


class TableContext(NamedTuple):
    """The context of a table: the command, the namespace, the title, and whether it counts since a clear."""

    command: SwitchCommand
    namespace: str | None
    title: str
    cleared: CountedSince

    @property
    def prefix(self) -> Identity:
        """The namespace, as the first part of the identity of its values."""
        return (("namespace", self.namespace),) if self.namespace else ()


def table_form(table: PrintedTable, context: TableContext) -> str:
    """Return the command of SONiC that prints a table with these headings and title, ``table`` if it is unknown."""
    if form := next((form for form in TABLES if form.is_of((_first(table), *table.headings))), None):
        return form.name
    counter = title_counter(context.title)
    if counter is None:
        return "table"
    what = "priority-group" if " pg" in context.title.lower() else "queue"
    return f"show {what} {'drop counters' if counter.unit == 'packets' else 'watermark'}"


def _first(table: PrintedTable) -> str:
    """Return the heading of the first column that identifies the object of a row, else that of the first column."""
    return table.headings[next(iter(row_keys(table.headings)), 0)]


def read_table(table: PrintedTable, context: TableContext) -> tuple[StateReading, ...]:
    """Return the readings of a table's cells outside identifying columns; a cell like ``1/0`` has two."""
    keys = row_keys(table.headings)
    title = title_counter(context.title)
    columns = {
        index: value_column(heading, _first(table), title, context.command)
        for index, heading in enumerate(table.headings)
        if index not in keys
    }
    return tuple(
        reading for row in table.rows for reading in _row_readings(table, row, keys, columns, context)
    )


def _row_readings(
    table: PrintedTable,
    row: PrintedRow,
    keys: dict[int, str],
    columns: dict[int, ValueColumn],
    context: TableContext,
) -> Iterator[StateReading]:
    if table.headings[:2] == ("Configuration", "Value") and row.cells[0] in _TRIMMING:
        columns = {1: columns[1]._replace(counters=(_TRIMMING[row.cells[0]],))}
        identity = (*context.prefix, *TRIMMING_ROW)
    else:
        identity = (
            *context.prefix,
            *(pair for index, kind in keys.items() for pair in named_by(kind, row.cells[index])),
        )
        if not keys:
            identity = (*identity, ("object", "switch"))
    for index, column in columns.items():
        path = (context.command.form, row.line, table.headings[index])
        yield from _cell_readings(row.cells[index], column, (*identity, *column.element), path, context)


def _cell_readings(
    cell: str, column: ValueColumn, identity: Identity, path: tuple[str | int, ...], context: TableContext
) -> Iterator[StateReading]:
    heading = str(path[-1])
    cells = cell.split("/") if len(column.counters) > 1 else [cell]
    if len(cells) != len(column.counters):
        cells = [""] * len(column.counters)
    for counter, part in zip(column.counters, cells, strict=True):
        value, unit, extra = _value(part, heading, counter)
        since = since_printed(counter, context.cleared, context.command.window)
        yield StateReading(identity, counter.name, value, unit, since, path, heading)
        if extra is not None:
            yield StateReading(identity, f"{counter.name}_accuracy", extra, "%", since, path, heading)


def _value(
    cell: str, heading: str, counter: CounterName
) -> tuple[Maybe[int | float | str], str, int | float | str | None]:
    """Return value and unit of a cell, and the accuracy in percent that some have in brackets, else None."""
    if heading in _TEXTS:
        return (cell if printed_value(cell) is not UNKNOWN else UNKNOWN), counter.unit, None
    if quantity := printed_quantity(cell):
        return *quantity, None
    if match := _ACCURACY.fullmatch(cell):
        accuracy = printed_value(match[2])
        return printed_value(match[1]), counter.unit, None if accuracy is UNKNOWN else accuracy
    match = _DEFAULT.fullmatch(cell)
    return printed_value(match[1] if match else cell), counter.unit, None
