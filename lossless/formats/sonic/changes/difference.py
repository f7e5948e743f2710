"""What differs between two CONFIG_DBs in the tables that rendering owns: by table, row and field.

Meaning is compared, not spelling: integers and their text, old bracket references and plain names, comma-joined
keys, ranges of queues and one row a queue, and blanks around values are the same. What only the spelling differs in
is no difference here; a patch (:mod:`lossless.formats.sonic.changes.patch`) brings it along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.formats.sonic.from_model.tables import OWNED, SHARED
from lossless.formats.sonic.read.tables import READ_TABLES, plain_name
from lossless.formats.sonic.to_model.ports import index_range
from lossless.ground.basics.natural_order import natural_key
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.sonic.from_model.tables import Fields, TableRows
    from lossless.formats.sonic.read.tables import Tables

    Rows = dict[str, Fields]

NUMBERED = ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE")
"""Tables whose rows are for one number or a range of them: ``Ethernet0|3-4`` says what two rows would."""
_NO_FIELDS = "NULL"
"""The field by which Redis keeps a row that has none (sonic-swss-common, ConfigDBConnector)."""


class FieldDifference(NamedTuple):
    """One field that differs; None where the row does not have it."""

    field: str
    before: str | None
    after: str | None


class RowDifference(NamedTuple):
    """One row that differs. A row that is only on one side lists all its fields, none where it has none."""

    table: str
    key: str
    kind: Literal["added", "removed", "changed"]
    fields: tuple[FieldDifference, ...]


def differences(running: Tables, rendered: TableRows) -> tuple[RowDifference, ...]:
    """Return what must change for a running configuration to mean what is rendered, in the order of tables."""
    row_differences: list[RowDifference] = []
    for table in OWNED:
        before = _meaning(table, _fields_of(running, table))
        row_differences += _rows(table, before, _meaning(table, rendered.get(table, {})))
    for table in SHARED:
        own = rendered.get(table, {})
        named = {
            key: {name: value for name, value in fields.items() if name in own[key]}
            for key, fields in _fields_of(running, table).items()
            if key in own
        }
        row_differences += _rows(table, _meaning(table, named), _meaning(table, own))
    return tuple(row_differences)


def _fields_of(running: Tables, table: str) -> dict[str, Mapping[str, str]]:
    """Return the rows of a table, of one that is rendered and not read as well."""
    if table in READ_TABLES:
        return {key: row.fields for key, row in running.table(table).items()}
    rows = running.data.get(table)
    return {
        key: {str(name): str(value) for name, value in row.items()}
        for key, row in (rows.items() if isinstance(rows, dict) else ())
        if isinstance(row, dict)
    }


def _meaning(table: str, rows: Mapping[str, Mapping[str, str]]) -> Rows:
    """Return rows as they are meant, each number of a range as a row of its own."""
    if table not in NUMBERED:
        return {key: _fields(row) for key, row in rows.items()}
    numbered_rows: Rows = {}
    for key, row in rows.items():
        fields = _fields(row)
        numbered_rows.update(dict.fromkeys(_numbers(key), fields))
    return numbered_rows


def _numbers(key: str) -> Iterator[str]:
    place, bar, numbers_text = key.rpartition("|")
    numbers = index_range(numbers_text) if "-" in numbers_text else None
    if numbers is None:
        yield key
    else:
        yield from (f"{place}{bar}{number}" for number in numbers)


def _fields(row: Mapping[str, str]) -> Fields:
    return {field: canonical(value) for field, value in row.items() if field != _NO_FIELDS}


def canonical(value: str) -> str:
    """Return a value without blanks around it or its parts, references as plain names."""
    if "[" not in value and " " not in value and "\t" not in value:
        return value
    parts = (part.strip() for part in value.split(","))
    return ",".join(plain_name(p) if p.startswith("[") and p.endswith("]") else p for p in parts)


def _rows(table: str, before: Rows, after: Rows) -> Iterator[RowDifference]:
    if before == after:
        return
    for key in sorted({*before, *after}, key=natural_key):
        old, new = before.get(key), after.get(key)
        if old != new:
            kind: Literal["added", "removed", "changed"] = (
                "added" if old is None else "removed" if new is None else "changed"
            )
            yield RowDifference(table, key, kind, tuple(_changed(old or {}, new or {})))


def _changed(old: Fields, new: Fields) -> Iterator[FieldDifference]:
    for field in sorted({*old, *new}, key=natural_key):
        if old.get(field) != new.get(field):
            yield FieldDifference(field, old.get(field), new.get(field))
