"""Side effects of the config updater between two configurations: ports that it takes down, rows that it empties.

It changes rows of some tables only while their port is down, and puts its moves in an order in which every
configuration between is valid by SONiC's models. A row that is removed while a port that is up still refers to it
cannot be removed at once: its fields are removed one by one, while traffic runs by the fields that are left, before the
port goes down to be rebound (sonic-utilities generic_config_updater, patch_sorter.py @691b1bb: the order of its
generators of moves).
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.capabilities.updater_rules import updater_table
from lossless.ground.basics.natural_order import natural_key
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.formats.sonic.validate.schema import RowSchema

Row = tuple[str, str]
"""A table and a key."""
_UP, _DOWN = "up", "down"


class EmptiedRow(NamedTuple):
    """A row that loses fields while others refer to it: the table, the row, and how many fields.

    ``in_use``: one of the referring rows is of a port that is up, or of no port.
    """

    table: str
    key: str
    fields: int
    in_use: bool


def ports_down(running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ports that are up and go down on the way, each once, in natural order.

    Those are ports with rows that change in tables that need their port down, and ports that the target has down.
    """
    changed = {key.partition("|")[0] for table in _tables() for key in _changed(running, target, table)}
    before, after = _rows(running, "PORT"), _rows(target, "PORT")
    closed = {port for port in after if _admin(after, port) == _DOWN}
    up = {port for port in (changed | closed) if _admin(before, port) == _UP}
    return tuple(sorted(up, key=natural_key))


def changed_rows(running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return the rows that come, go or change, in natural order."""
    tables = sorted(running.keys() | target.keys())
    return tuple(
        (table, key) for table in tables for key in sorted(_changed(running, target, table), key=natural_key)
    )


def needs_port_down(table: str) -> bool:
    """Return whether the updater changes rows of a table only while their port is down."""
    return table in _tables()


def referred_rows(configuration: Mapping[str, Any]) -> frozenset[Row]:
    """Return the rows that rows of such tables refer to by name."""
    return frozenset(named for named, _ in _references(configuration))


def emptied_rows(running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[EmptiedRow, ...]:
    """Return the rows that go while others refer to them, and that lose fields before they go."""
    tables = {table for others in _reference_fields().values() for table in others}
    gone = {
        (table, key) for table in tables for key in _rows(running, table) if key not in _rows(target, table)
    }
    users: dict[Row, set[Row]] = {}
    for named, user in _references(running) if gone else ():
        if named in gone:
            users.setdefault(named, set()).add(user)
    return tuple(
        EmptiedRow(*row, count, any(_in_use(running, user) for user in late))
        for row, own in sorted(users.items())
        if (late := _rebound_late(row, own, running, target))
        and (count := _removable(row[0], _rows(running, row[0])[row[1]]))
    )


def _rebound_late(
    row: Row, users: Iterable[Row], running: Mapping[str, Any], target: Mapping[str, Any]
) -> list[Row]:
    """Return those of the users of a row that still refer to it when the first of its fields may go.

    A port that is up holds all its rows until no other move is left. Without one, rows that go and fields that change
    several at once come first, and then single fields in the order of the tables.
    """
    if any(_is_up(running, user) for user in users):
        return [user for user in users if _is_up(running, user)]
    bulk = {user for table in {user[0] for user in users} for user in _in_bulk(table, running, target)}
    left = [user for user in users if user[1] in _rows(target, user[0]) and user not in bulk]
    order = list(running)
    return [user for user in left if order.index(user[0]) > order.index(row[0])]


def _in_bulk(table: str, running: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of which fields change, or go, together with others: of one row, or of neighbors of one kind."""
    before, after = _rows(running, table), _rows(target, table)
    for changed in (_fields_replaced, _fields_removed):
        counts = {key: len(changed(row, after[key])) for key, row in before.items() if key in after}
        some = [(key, count) for key, count in counts.items() if count]
        for _, group in groupby(some, lambda pair: pair[0].rpartition("|")[0]):
            members = list(group)
            free = [key for key, _ in members if not _is_up(running, (table, key))]
            if sum(count for _, count in members) > 1 and len(free) == len(members):
                yield from ((table, key) for key in free)
            else:
                yield from ((table, key) for key, count in members if count > 1 and key in free)


def _fields_replaced(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [name for name in before if name in after and before[name] != after[name]]


def _fields_removed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [name for name in before if name not in after]


def _is_up(running: Mapping[str, Any], row: Row) -> bool:
    """Return whether a row is of a port that is up."""
    return _admin(_rows(running, "PORT"), row[1].partition("|")[0]) == _UP


def _in_use(running: Mapping[str, Any], row: Row) -> bool:
    """Return whether a row is of a port that is up, or of no port."""
    return _admin(_rows(running, "PORT"), row[1].partition("|")[0]) in (_UP, None)


def _tables() -> tuple[str, ...]:
    return tuple(updater_table()["ports_down"]["tables"])


def _admin(ports: Mapping[str, Any], port: str) -> str | None:
    """Return the state of a port, None where there is no such port; one that states none is down."""
    row = ports.get(port)
    return str(row.get("admin_status", _DOWN)) if isinstance(row, dict) else None


def _changed(running: Mapping[str, Any], target: Mapping[str, Any], table: str) -> Iterator[str]:
    before, after = _rows(running, table), _rows(target, table)
    yield from (key for key in before.keys() | after.keys() if before.get(key) != after.get(key))


def _references(configuration: Mapping[str, Any]) -> Iterator[tuple[Row, Row]]:
    """Yield each row that is referred to by name, and the row that does."""
    for (table, field), others in _reference_fields().items():
        for key, row in _rows(configuration, table).items():
            value = row.get(field) if isinstance(row, dict) else None
            names = value if isinstance(value, list) else str(value).split(",") if value else ()
            for name in names:
                yield from (((other, str(name).strip()), (table, key)) for other in others)


@cache
def _reference_fields() -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the fields of rows that need their port down, and the tables whose rows they name."""
    return {
        (table, name): others
        for table in _tables()
        for shape in _shapes(table)
        for name, field in shape.fields.items()
        if field.type and (others := tuple(arm.name for arm in field.type.arms if arm.kind == "ref"))
    }


def _shapes(table: str) -> tuple[RowSchema, ...]:
    from lossless.formats.sonic.validate.schema import table_schema

    schema = table_schema(table, None)
    return schema.lists if schema else ()


def _removable(table: str, row: Any) -> int:
    """Return how many fields the models let go one by one, each time the first that they do."""
    shapes = _shapes(table)
    if not shapes or not isinstance(row, dict):
        return 0
    left = dict(row)
    while (name := next((name for name in left if _may_go(shapes[0], left, name)), None)) is not None:
        del left[name]
    return len(row) - len(left)


def _may_go(shape: RowSchema, row: Mapping[str, Any], name: str) -> bool:
    from lossless.formats.sonic.validate.checks import context_of
    from lossless.formats.sonic.validate.rows import check_fields

    rest: dict[object, object] = {field: value for field, value in row.items() if field != name}
    return not check_fields(shape, rest, context_of({}, None)).flaws


def _rows(configuration: Mapping[str, Any], table: str) -> Mapping[str, Any]:
    rows = configuration.get(table)
    return rows if isinstance(rows, dict) else {}
