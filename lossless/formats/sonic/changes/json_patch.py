"""Differences between two CONFIG_DBs, RFC 6902 patches between them, and the effects of a change on lossless traffic.

A patch is applied as in the updater's library: the six operations of the RFC, one after another, to a copy.

Differences are listed in the tables that rendering owns or shares, by table, row and field. Meaning is compared
(:mod:`lossless.formats.sonic.changes.meaning`): a difference in spelling or name alone is no difference here; a patch
includes it.

As the updater sees it, a difference has one element for each place that changes. The updater does not check the patch
itself: its JSON library compares the running configuration with the target, and its rules check each element of the
result. A table or row that is new or removed is one element, a row on both sides is compared field by field. A value
that is removed at one place and added at another is one element too, a move to the new place: the removal is not
checked then (python-json-patch 1.33, ``make_patch``).

A patch from one CONFIG_DB to another has an order that makes sense on a running switch. A patch is exact: applied to
the current file, with its old spelling, it gives the other file. Rows that others refer to are added first and
removed last; ports give up rows before they get new ones, because the removal of ``BUFFER_PG|Ethernet0|3-4`` takes
the profile of group 3 away even where ``Ethernet0|3`` has just been added.

A change can harm lossless traffic that runs meanwhile, whether or not a port goes down for it (:func:`harms`).
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Literal

from lossless.formats.sonic.changes.meaning import NO_FIELDS, compare
from lossless.formats.sonic.from_model import CABLES, OWNED, SHARED
from lossless.formats.sonic.read.tables import PORT_MAPS, Tables, plain_name
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import joined
from lossless.model.hardware.load import switch_for_hwsku

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.formats.sonic.changes.meaning import Cell
    from lossless.formats.sonic.from_model import Fields, TableRows
    from lossless.model.fabric.model import Switch


if TYPE_CHECKING:
    Rows = dict[str, Fields]

Kind = Literal["added", "removed", "changed"]


class FieldDifference(NamedTuple):
    """One field of a CONFIG_DB row that differs, its value before and after; None on the side whose row lacks it."""

    field: str
    before: str | None
    after: str | None


class RowDifference(NamedTuple):
    """One row of CONFIG_DB that differs, with the fields that differ; all its fields if only one side has the row."""

    table: str
    key: str
    kind: Kind
    fields: tuple[FieldDifference, ...]


def differences(running: Tables, rendered: TableRows, switch: Switch) -> tuple[RowDifference, ...]:
    """Return the row changes that give a running configuration the meaning of the rendered one, by table and key.

    ``switch`` is the model of the running configuration, whose names the rows have. Of tables that rendering shares,
    only the rows and fields that it sets are compared.
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
    """Return the table and key of a field's row; cable lengths of all ports are fields of one CABLE_LENGTH row."""
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
    """Yield, as removed, rows without fields in owned tables that only the running configuration has."""
    for table in OWNED:
        for key, row in running.table(table).items():
            if not row.fields.keys() - {NO_FIELDS} and key not in rendered.get(table, {}):
                yield RowDifference(table, key, "removed", ())


def _meaning(rows: Mapping[str, Mapping[str, str]]) -> Rows:
    return {
        key: {field: canonical(value) for field, value in row.items() if field != NO_FIELDS}
        for key, row in rows.items()
    }


def canonical(value: str) -> str:
    """Return a field's text without blanks around its comma-separated parts, bracketed references as plain names."""
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


Op = Literal["add", "replace", "remove", "move"]


class Element(NamedTuple):
    """One change between two CONFIG_DBs as the updater checks it; ``value`` is the new one, or None (remove, move)."""

    op: Op
    path: tuple[str, ...]
    value: Any = None


def elements(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Element, ...]:
    """Return the elements of the difference between two configurations, as the updater's JSON library makes them.

    Where one value is removed at several paths and added at others, the library pairs them to moves in an order that
    changes from run to run: then every element that can be among them is returned.
    """
    single = list(_compared((), before, after))
    gone, come = _by_value(single, "remove"), _by_value(single, "add")
    paired: list[Element] = []
    for element, value in single:
        if element.op == "replace":
            paired.append(element)
            continue
        key = _key(value)
        leaving, coming = len(gone.get(key, ())), len(come.get(key, ()))
        if element.op == "add" and leaving:
            paired.append(Element("move", element.path))
        if element.op == "add" and coming > leaving:
            paired.append(element)
        if element.op == "remove" and leaving > coming:
            paired.append(element)
    return tuple(paired)


def _by_value(single: Sequence[tuple[Element, Any]], op: Op) -> dict[str, list[Element]]:
    places: dict[str, list[Element]] = {}
    for element, value in single:
        if element.op == op:
            places.setdefault(_key(value), []).append(element)
    return places


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _compared(path: tuple[str, ...], before: Any, after: Any) -> Iterator[tuple[Element, Any]]:
    """Yield the element of each path that differs, with the value that is removed, added or new there."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _compared_members(path, before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _compared_items(path, before, after)
    elif not (isinstance(before, str) and before == after) and _key(before) != _key(after):
        yield Element("replace", path, after), after


def _compared_members(
    path: tuple[str, ...], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[Element, Any]]:
    for name, value in before.items():
        if name not in after:
            yield Element("remove", (*path, name)), value
        elif value is not after[name]:
            yield from _compared((*path, name), value, after[name])
    for name, value in after.items():
        if name not in before:
            yield Element("add", (*path, name), value), value


def _compared_items(
    path: tuple[str, ...], before: Sequence[Any], after: Sequence[Any]
) -> Iterator[tuple[Element, Any]]:
    """Yield the differences of two lists, index by index; a changed scalar is a removal and an addition."""
    for place in range(max(len(before), len(after))):
        there = (*path, str(place))
        if place >= len(before):
            yield Element("add", there, after[place]), after[place]
        elif place >= len(after):
            yield Element("remove", there), before[place]
        elif before[place] != after[place]:
            if isinstance(before[place], (dict, list)) and type(before[place]) is type(after[place]):
                yield from _compared(there, before[place], after[place])
            else:
                yield Element("remove", there), before[place]
                yield Element("add", there, after[place]), after[place]


Path = tuple[str, ...]
_ESCAPE = re.compile(r"~[01]")
_INDEX = re.compile(r"0|[1-9][0-9]*")


class PatchDoesNotApply(ValueError):  # noqa: N818
    """An operation of a JSON patch that cannot be applied: its index in the patch (from 0), path and reason."""

    def __init__(self, operation: Mapping[str, Any], why: str, index: int) -> None:
        super().__init__(why)
        self.index = index
        self.op = str(operation.get("op", ""))
        self.path = str(operation.get("path", ""))


def parts(pointer: str) -> Path:
    """Return the names in a JSON pointer (RFC 6901).

    Raises:
        ValueError: it is not a JSON pointer.
    """
    if not pointer:
        return ()
    first, *names = pointer.split("/")
    if first or any("~" in _ESCAPE.sub("", name) for name in names):
        raise ValueError(f"{pointer!r} is not a JSON pointer")
    return tuple(name.replace("~1", "/").replace("~0", "~") for name in names)


def applied(document: Mapping[str, Any], patch: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a configuration with an RFC 6902 patch applied; the configuration itself stays unchanged.

    Raises:
        PatchDoesNotApply: an operation is malformed, finds nothing at its path, or tests for another value.
    """
    result: Any = deepcopy(document)
    for index, operation in enumerate(patch):
        try:
            result = _OPERATIONS[operation["op"]](result, operation)
        except KeyError as error:
            missing = f"there is no {error.args[0]}" if error.args else "there is no such place"
            raise PatchDoesNotApply(operation, missing, index) from error
        except (ValueError, IndexError, TypeError, AttributeError) as error:
            raise PatchDoesNotApply(operation, str(error), index) from error
    return _members(result)


def _add(document: Any, operation: Mapping[str, Any]) -> Any:
    return _put(document, parts(operation["path"]), deepcopy(operation["value"]))


def _put(document: Any, path: Path, value: Any) -> Any:
    """Return the document, with a value put at a path: in a list before the item of that index, ``-``: at its end."""
    if not path:
        return _members(value)
    holder = _found(document, path[:-1])
    if isinstance(holder, list):
        place = len(holder) if path[-1] == "-" else _index(path[-1])
        if place > len(holder):
            raise IndexError(f"the list ends before {place}")
        holder.insert(place, value)
    else:
        _members(holder)[path[-1]] = value
    return document


def _remove(document: Any, operation: Mapping[str, Any]) -> Any:
    path = parts(operation["path"])
    if not path:
        raise ValueError("the whole configuration cannot be removed")
    holder = _found(document, path[:-1])
    if isinstance(holder, list):
        del holder[_index(path[-1])]
    else:
        del _members(holder)[path[-1]]
    return document


def _replace(document: Any, operation: Mapping[str, Any]) -> Any:
    path, value = parts(operation["path"]), deepcopy(operation["value"])
    if not path:
        return _members(value)
    _found(document, path)
    holder = _found(document, path[:-1])
    holder[_index(path[-1]) if isinstance(holder, list) else path[-1]] = value
    return document


def _move(document: Any, operation: Mapping[str, Any]) -> Any:
    source, path = parts(operation["from"]), parts(operation["path"])
    value = _found(document, source)
    if source == path:
        return document
    if path[: len(source)] == source:
        raise ValueError("a value cannot be moved into itself")
    return _put(_remove(document, {"path": operation["from"]}), path, value)


def _copy(document: Any, operation: Mapping[str, Any]) -> Any:
    source = parts(operation["from"])
    if not source:
        raise ValueError("the whole configuration cannot be copied")
    return _put(document, parts(operation["path"]), deepcopy(_found(document, source)))


def _test(document: Any, operation: Mapping[str, Any]) -> Any:
    there = _found(document, parts(operation["path"]))
    if there != operation["value"]:
        raise ValueError(f"the value is {there!r}, not {operation['value']!r}")
    return document


def _found(document: Any, path: Path) -> Any:
    for name in path:
        document = document[_index(name)] if isinstance(document, list) else _members(document)[name]
    return document


def _members(holder: Any) -> dict[str, Any]:
    if not isinstance(holder, dict):
        raise TypeError(f"{holder!r} has nothing below it")
    return holder


def _index(name: str) -> int:
    if not _INDEX.fullmatch(name):
        raise ValueError(f"{name!r} is not a place in a list")
    return int(name)


_OPERATIONS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


REFERRED = (
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    *PORT_MAPS.values(),
    "SCHEDULER",
    "TC_TO_DSCP_MAP",
    "WRED_PROFILE",
)
"""Tables of CONFIG_DB whose rows others refer to by name, each before those that refer to it, as a test checks."""


class Operation(NamedTuple):
    """One operation of a CONFIG_DB patch; ``path`` is table, row and field, or less; ``value`` None for a removal."""

    op: Literal["add", "replace", "remove"]
    path: tuple[str, ...]
    value: Any = None

    def as_json(self, scope: str = "") -> dict[str, Any]:
        """Return the operation as RFC 6902 writes it; ``scope``: the namespace (``asic0``) of a multi-ASIC switch."""
        names = (scope, *self.path) if scope else self.path
        written: dict[str, Any] = {"op": self.op, "path": "".join(f"/{pointer_part(name)}" for name in names)}
        return written if self.op == "remove" else written | {"value": self.value}


def pointer_part(name: str) -> str:
    """Return a key as a JSON pointer has it (RFC 6901): ``~0`` for a tilde, ``~1`` for a slash."""
    return name.replace("~", "~0").replace("/", "~1")


def patch_text(steps: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of an RFC 6902 patch file, one operation a line."""
    lines = ",\n".join("  " + json.dumps(step, ensure_ascii=False) for step in steps)
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def operations(running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[Operation, ...]:
    """Return the operations that turn the owned and shared tables of ``running`` into those of ``target``."""
    leaves = [table for table in (*OWNED, *SHARED) if table not in REFERRED]
    steps = {table: list(_table(table, running, target)) for table in (*REFERRED, *leaves)}
    return (
        *(step for table in REFERRED for step in steps[table] if not _removes_row(step)),
        *(step for table in leaves for step in steps[table] if _removes_row(step)),
        *(step for table in leaves for step in steps[table] if not _removes_row(step)),
        *(step for table in reversed(REFERRED) for step in steps[table] if _removes_row(step)),
    )


def _removes_row(step: Operation) -> bool:
    return step.op == "remove" and len(step.path) < 3


def _table(table: str, running: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[Operation]:
    before, after = running.get(table), target.get(table)
    if before == after and type(before) is type(after):
        return
    # An empty table of a file is no table at all in the database of the switch: nothing is there to be removed.
    if not after:
        if before:
            yield Operation("remove", (table,))
    elif not isinstance(before, dict) or not before or not isinstance(after, dict):
        yield Operation("add", (table,), after)
    else:
        for key in before:
            if key not in after:
                yield Operation("remove", (table, key))
        for key, fields in after.items():
            yield from _row((table, key), before, key, fields)


def _row(path: tuple[str, ...], rows: Mapping[str, Any], key: str, after: Any) -> Iterator[Operation]:
    before = rows.get(key)
    if key not in rows:
        yield Operation("add", path, after)
    elif not isinstance(before, dict) or not isinstance(after, dict):
        if before != after:
            yield Operation("replace", path, after)
    elif before != after:
        yield from _field_operations(path, before, after)


def _field_operations(
    path: tuple[str, ...], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Operation]:
    for field in before:
        if field not in after:
            yield Operation("remove", (*path, field))
    for field, value in after.items():
        if field not in before:
            yield Operation("add", (*path, field), value)
        elif type(before[field]) is not type(value) or before[field] != value:
            yield Operation("replace", (*path, field), value)


def harms(running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a text for each lossless DSCP that the target makes lossy or moves to other priorities, in their order."""
    return tuple(_moves(_priorities(running), _priorities(target)))


def _moves(before: Mapping[int, frozenset[int]], after: Mapping[int, frozenset[int]]) -> Iterator[str]:
    for dscp, priorities in sorted(before.items()):
        moved = after.get(dscp, frozenset())
        if moved != priorities:
            becomes = f"on priority {_spelled(moved)}" if moved else "lossy"
            yield f"DSCP {dscp} is lossless on priority {_spelled(priorities)}, and becomes {becomes}"


def _spelled(priorities: frozenset[int]) -> str:
    return joined(map(str, sorted(priorities)))


def _priorities(configuration: Mapping[str, Any]) -> dict[int, frozenset[int]]:
    """Return the priorities of the lossless classes of a configuration, by DSCP."""
    (switch,) = read_fabric([Tables("config_db.json", dict(configuration))], switch_for_hwsku).switches
    priorities: dict[int, frozenset[int]] = {}
    for cls in switch.classes.lossless:
        for dscp in cls.dscps:
            priorities[dscp] = priorities.get(dscp, frozenset()) | {cls.priority or 0}
    return priorities
