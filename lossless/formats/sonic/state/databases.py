"""Databases of a switch as readings: each field of each row, with the identity of its object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.state.dumps import dumps_of, table_and_key
from lossless.formats.sonic.state.names import CounterName, counter_of_field, since_of
from lossless.formats.sonic.state.objects import CounterObjects, map_kind, named_identity, objects_of
from lossless.formats.sonic.state.rows import row_field, row_identity
from lossless.ground.documents.printed_values import stored_value
from lossless.model.fabric.state.readings import StateCapture, StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.sonic.state.commands import SwitchCommand
    from lossless.formats.sonic.state.dumps import Dump, RowPlace
    from lossless.ground.documents.concatenated_json import PrintedJson
    from lossless.model.fabric.state.readings import Identity

_METADATA = "DEVICE_METADATA|localhost"
_FIRST = 3
"""How many objects without a name a note names."""


def read_databases(printed: PrintedJson, _: SwitchCommand, file: str) -> Iterator[StateCapture]:
    """Yield a capture for each database in a document."""
    yield from (read_dump(dump, file) for dump in dumps_of(printed.value))


def read_dump(dump: Dump, file: str) -> StateCapture:
    """Return the readings of one database."""
    fields = {row.key: row.fields for row in dump.rows}
    device, namespace = _device(fields)
    namespace = dump.namespace or namespace
    prefix: Identity = (("namespace", namespace),) if namespace else ()
    counted = dump.database == "COUNTERS_DB"
    objects = objects_of(fields)
    readings = tuple(
        reading
        for row in dump.rows
        for reading in (_counters(row, objects, prefix) if counted else _row(row, objects, prefix))
    )
    notes = (*objects.notes, *_unnamed(dump, objects)) if counted else ()
    return StateCapture(file, dump.database, readings, device, (), notes)


def _device(rows: dict[str, Any]) -> tuple[str | None, str | None]:
    row = rows.get(_METADATA)
    if not isinstance(row, dict):
        return None, None
    name, asic = row.get("hostname"), row.get("asic_name")
    return (str(name) if name else None), (str(asic) if asic else None)


def _counters(row: RowPlace, objects: CounterObjects, prefix: Identity) -> Iterator[StateReading]:
    """Yield the counters of one object, or the names of a map."""
    if kind := map_kind(row.key):
        yield from _names(row, kind, prefix)
        return
    if row.key.endswith("_MAP"):
        return
    table, _, key = row.key.partition(":")
    identity = objects.identities.get(key) or objects.identities.get(f"oid:{key}") or ()
    named = identity or (("table", table), ("key", key))
    for field, value in _fields(row):
        yield counter_reading(field, value, table, (*prefix, *named), objects.debug, row.path)


def counter_reading(
    field: str,
    value: object,
    table: str,
    identity: Identity,
    debug: dict[str, str],
    path: tuple[str | int, ...],
) -> StateReading:
    """Return one field of an object of COUNTERS_DB."""
    counter, priority = counter_of_field(field)
    if field in debug:
        counter = CounterName(debug[field], "packets")
    if priority is not None:
        identity = (*identity, ("priority", priority))
    since = since_of(counter.name, table)
    return StateReading(
        identity, counter.name, stored_value(value), counter.unit, since, (*path, field), field
    )


def _names(row: RowPlace, kind: str, prefix: Identity) -> Iterator[StateReading]:
    """Yield each name of a map with its object, so that names without counters are visible."""
    for name, oid in _fields(row):
        identity = (*prefix, *named_identity(kind, name))
        yield StateReading(identity, "oid", stored_value(oid), "", "now", (*row.path, name), row.key)


def _row(row: RowPlace, objects: CounterObjects, prefix: Identity) -> Iterator[StateReading]:
    table, key = table_and_key(row.key)
    own = row_identity(table, key) or objects.identities.get(key.partition(":")[2], ())
    identity: Identity = (*prefix, ("table", table), ("key", key), *own)
    for field, value in _fields(row):
        name, unit, *_ = row_field(table, field)
        path = (*row.path, field) if isinstance(row.fields, dict) else row.path
        yield StateReading(identity, name, stored_value(value), unit, "now", path, field)
    if not row.fields:
        yield StateReading(identity, "NULL", None, "", "now", row.path, "")


def _fields(row: RowPlace) -> Iterator[tuple[str, object]]:
    """Yield the fields of a row; ``NULL`` means none, and a value that is no hash is one field without a name."""
    if not isinstance(row.fields, dict):
        yield "", row.fields
        return
    for field, value in row.fields.items():
        yield str(field), None if field == "NULL" else value


def _unnamed(dump: Dump, objects: CounterObjects) -> Iterator[str]:
    """Yield a note for the objects that have counters and no name."""
    keys = [row.key.partition(":")[2] for row in dump.rows if row.key.startswith("COUNTERS:oid:")]
    without = [key for key in keys if key not in objects.identities]
    if without:
        named = ", ".join(without[:_FIRST]) + (", ..." if len(without) > _FIRST else "")
        what = "object has counters and no name" if len(without) == 1 else "objects have counters and no name"
        yield f"{len(without)} {what}: {named}"
