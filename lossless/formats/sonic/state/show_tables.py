"""Tables of SONiC's commands as readings, cell by cell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.sonic.state.columns import (
    named_by,
    row_keys,
    since_printed,
    title_counter,
    value_column,
)
from lossless.formats.sonic.state.forms import TABLES
from lossless.formats.sonic.state.names import CounterName
from lossless.formats.sonic.state.rates import printed_quantity
from lossless.ground.basics.known import UNKNOWN
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.printed_values import printed_value
from lossless.model.fabric.state.readings import StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.sonic.state.columns import ValueColumn
    from lossless.formats.sonic.state.commands import SwitchCommand
    from lossless.ground.basics.known import Maybe
    from lossless.ground.documents.printed_tables import PrintedRow, PrintedTable
    from lossless.model.fabric.state.readings import CountedSince, Identity

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
    """Return the command that prints such a table."""
    if form := next((form for form in TABLES if form.is_of((_first(table), *table.headings))), None):
        return form.name
    counter = title_counter(context.title)
    if counter is None:
        return "table"
    what = "priority-group" if " pg" in context.title.lower() else "queue"
    return f"show {what} {'drop counters' if counter.unit == 'packets' else 'watermark'}"


def _first(table: PrintedTable) -> str:
    """Return the heading of the first column that identifies the object of a row."""
    return table.headings[next(iter(row_keys(table.headings)), 0)]


def read_table(table: PrintedTable, context: TableContext) -> tuple[StateReading, ...]:
    """Return a reading for each cell."""
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
    """Return value and unit of a cell, and the accuracy that some carry in brackets."""
    if heading in _TEXTS:
        return (cell if printed_value(cell) is not UNKNOWN else UNKNOWN), counter.unit, None
    if quantity := printed_quantity(cell):
        return *quantity, None
    if match := _ACCURACY.fullmatch(cell):
        accuracy = printed_value(match[2])
        return printed_value(match[1]), counter.unit, None if accuracy is UNKNOWN else accuracy
    match = _DEFAULT.fullmatch(cell)
    return printed_value(match[1] if match else cell), counter.unit, None
