"""Differences between two CONFIG_DBs in the tables that rendering owns: by table, row and field.

Meaning is compared (:mod:`lossless.formats.sonic.changes.meaning`): a difference in spelling or name alone is no
difference here; a patch (:mod:`lossless.formats.sonic.changes.patch`) includes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.formats.sonic.changes.meaning import NO_FIELDS, compare
from lossless.formats.sonic.from_model.tables import CABLES, OWNED, SHARED
from lossless.formats.sonic.read.tables import Tables, plain_name
from lossless.ground.basics.natural_order import natural_key
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.sonic.changes.meaning import Cell
    from lossless.formats.sonic.from_model.tables import Fields, TableRows
    from lossless.model.fabric.model import Switch

    Rows = dict[str, Fields]

Kind = Literal["added", "removed", "changed"]


class FieldDifference(NamedTuple):
    """One field that differs; None where the row does not have it."""

    field: str
    before: str | None
    after: str | None


class RowDifference(NamedTuple):
    """One row that differs. A row that is only on one side lists all its fields, none where it has none."""

    table: str
    key: str
    kind: Kind
    fields: tuple[FieldDifference, ...]


def differences(running: Tables, rendered: TableRows, switch: Switch) -> tuple[RowDifference, ...]:
    """Return the changes that give a running configuration the meaning of the rendered one, in the order of tables.

    ``switch`` is the model of the running configuration; rows have its names.
    """
    rows_of: dict[tuple[str, str], list[Cell]] = {}
    for cell in compare(running, Tables(running.file, dict(rendered)), switch):
        rows_of.setdefault(_row_of(running, cell), []).append(cell)
    row_differences = [
        *(difference for place, cells in rows_of.items() for difference in _of_cells(place, cells)),
        *_empty_rows(running, rendered),
    ]
    for table in SHARED:
        own = rendered.get(table, {})
        named = {
            key: {name: value for name, value in row.fields.items() if name in own[key]}
            for key, row in running.table(table).items()
            if key in own
        }
        row_differences += _rows(table, _meaning(named), _meaning(own))
    order = {table: place for place, table in enumerate((*OWNED, *SHARED))}
    return tuple(sorted(row_differences, key=lambda row: (order[row.table], natural_key(row.key))))


def _row_of(running: Tables, cell: Cell) -> tuple[str, str]:
    """Return the table and row of a cell; cables lie in one row, by port."""
    if cell.table != "CABLE_LENGTH":
        return cell.table, cell.key
    return cell.table, next(iter(running.table("CABLE_LENGTH")), CABLES)


def _of_cells(place: tuple[str, str], cells: Sequence[Cell]) -> Iterator[RowDifference]:
    """Yield the difference of one row; none if all its fields are equal."""
    fields = [
        FieldDifference(
            cell.key if cell.table == "CABLE_LENGTH" else cell.field, cell.deployed, cell.rendered
        )
        for cell in cells
        if cell.state != "same"
    ]
    if fields:
        before = any(cell.deployed is not None for cell in cells)
        after = any(cell.rendered is not None for cell in cells)
        yield RowDifference(*place, _kind(before=before, after=after), tuple(fields))


def _kind(*, before: bool, after: bool) -> Kind:
    return "changed" if before and after else "removed" if before else "added"


def _empty_rows(running: Tables, rendered: TableRows) -> Iterator[RowDifference]:
    """Yield rows without fields that only the device has."""
    for table in OWNED:
        for key, row in running.table(table).items():
            if not row.fields.keys() - {NO_FIELDS} and key not in rendered.get(table, {}):
                yield RowDifference(table, key, "removed", ())


def _meaning(rows: Mapping[str, Mapping[str, str]]) -> Rows:
    return {key: _fields(row) for key, row in rows.items()}


def _fields(row: Mapping[str, str]) -> Fields:
    return {field: canonical(value) for field, value in row.items() if field != NO_FIELDS}


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
            kind = _kind(before=old is not None, after=new is not None)
            yield RowDifference(table, key, kind, tuple(_changed(old or {}, new or {})))


def _changed(old: Fields, new: Fields) -> Iterator[FieldDifference]:
    for field in sorted({*old, *new}, key=natural_key):
        if old.get(field) != new.get(field):
            yield FieldDifference(field, old.get(field), new.get(field))
