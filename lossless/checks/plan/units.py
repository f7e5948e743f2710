"""Units of a switch's change: the rows of a port, which is down meanwhile, or the content of one shared row.

The config updater takes a port down while it changes its rows, and does all of them in one down time (the sorter's
recorded moves, sonic-utilities generic_config_updater/patch_sorter.py @691b1bb): such rows are one unit. Entries of a
map are units of their own, because a DSCP may have to be accepted before another one goes. Of other tables the rows
that come, go or change are one unit each; the order in which the updater writes them is not known, so a unit can be
done in part. Fields replaced in one row are one move of the updater, and one write (recorded: WRED thresholds, weights
of a scheduler).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.capabilities.updater import release_of, releases
from lossless.formats.sonic.capabilities.updater_rules import updater_table
from lossless.formats.sonic.changes.patch import REFERRED, Operation, operations
from lossless.formats.sonic.read.tables import PORT_MAPS
from lossless.ground.basics.natural_order import natural_key
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Config = dict[str, dict[str, Any]]
"""A CONFIG_DB: tables of rows of fields."""
_MAPS = frozenset({*PORT_MAPS.values(), "TC_TO_DSCP_MAP"})
_UNNAMED = "rows that nothing refers to"
_ENTRY = 4
"""Parts of the name of an entry of a map: operation, table, row and field."""
_BY_PORT = frozenset({"PFC_WD", "CABLE_LENGTH"})
"""Tables that say something of each port, and that the updater changes while the port is up."""


class Unit(NamedTuple):
    """Operations that are done together. ``ports`` are those whose rows change, none for rows that ports share.

    ``half`` are the operations of every second port or row: a unit that is done in part. ``is_unnamed``: it
    adds rows without references yet, or removes rows whose references are gone. ``by_hand``: people do it, and the
    switch is out of service meanwhile.
    """

    title: str
    operations: tuple[Operation, ...]
    ports: tuple[str, ...]
    half: tuple[Operation, ...]
    is_unnamed: bool = False
    by_hand: bool = False

    @property
    def comes_first(self) -> bool:
        """Whether it adds rows that others will refer to."""
        return self.is_unnamed and self.operations[0].op == "add"


def units_of(
    running: Mapping[str, Any], target: Mapping[str, Any], dscps: frozenset[int]
) -> tuple[Unit, ...]:
    """Return the units by which the owned tables of ``running`` become those of ``target``.

    ``dscps`` are those that jobs send or will send: each entry of theirs is a unit, all others of a map are one.
    Another HWSKU is another switch, which comes with all of its rows. Rows change on the later of two releases.
    """
    if (hwskus := [hwsku_of(side) for side in (running, target)]) and hwskus[0] != hwskus[1]:
        return (_replaced(running, target),)
    members: dict[tuple[str, ...], dict[str, list[Operation]]] = {}
    free = _Unnamed(named_rows(running), named_rows(target))
    for operation in operations(running, target):
        for single in _by_row(operation, running):
            unit, member = _place(single, free, dscps)
            members.setdefault(unit, {}).setdefault(member, []).append(single)
    units = [_unit(name, parts) for name, parts in members.items()]
    upgrade = _upgrade(running, target)
    if upgrade is None:
        return tuple(units)
    return (upgrade, *units) if is_later(release_of(target), release_of(running)) else (*units, upgrade)


def hwsku_of(config: Mapping[str, Any]) -> str:
    """Return the HWSKU in a configuration, empty if it names none."""
    return str(config.get("DEVICE_METADATA", {}).get("localhost", {}).get("hwsku", ""))


def is_later(release: str | None, than: str | None) -> bool:
    """Return whether a release came out after another; ``master`` is the last."""
    known = releases()
    return release in known and than in known and known.index(release) > known.index(than)


def _replaced(running: Mapping[str, Any], target: Mapping[str, Any]) -> Unit:
    title = f"HWSKU {hwsku_of(running)} becomes {hwsku_of(target)}"
    rows = (single for each in operations(running, target) for single in _by_row(each, running))
    return Unit(title, tuple(rows), (), (), by_hand=True)


def _upgrade(running: Mapping[str, Any], target: Mapping[str, Any]) -> Unit | None:
    """Return the unit by which a switch gets another release, None if it keeps its own."""
    before, after = release_of(running), release_of(target)
    if before == after or before is None or after is None:
        return None
    version = Operation(
        "replace", ("VERSIONS", "DATABASE", "VERSION"), target["VERSIONS"]["DATABASE"]["VERSION"]
    )
    return Unit(f"SONiC {before} becomes {after}", (version,), (), (), by_hand=True)


def changed(config: Mapping[str, Any], done: Iterable[Operation]) -> Config:
    """Return a configuration with operations carried out; tables and rows that they leave alone are shared."""
    result: Config = dict(config)
    copied: set[tuple[str, ...]] = set()
    for operation in done:
        _change(result, operation, copied)
    return {table: rows for table, rows in result.items() if rows}


def _by_row(operation: Operation, running: Mapping[str, Any]) -> Iterator[Operation]:
    """Yield an operation on a whole table row by row."""
    if len(operation.path) > 1:
        yield operation
    elif operation.op == "add":
        yield from (Operation("add", (*operation.path, key), row) for key, row in operation.value.items())
    else:
        yield from (Operation("remove", (*operation.path, key)) for key in running[operation.path[0]])


class _Unnamed(NamedTuple):
    """The names by which rows are referred to, before and after."""

    before: frozenset[str]
    after: frozenset[str]

    def holds(self, operation: Operation) -> bool:
        """Return whether an operation adds a row without references, or removes a row whose references are gone."""
        table, key, *field = operation.path
        if field or table not in REFERRED or operation.op == "replace":
            return False
        return key not in (self.before if operation.op == "add" else self.after)


def _place(operation: Operation, free: _Unnamed, dscps: frozenset[int]) -> tuple[tuple[str, ...], str]:
    """Return the unit that an operation belongs to, and the member of it: a port, a row or a field."""
    table, key, *field = operation.path
    if table in _port_tables() and (port := key.partition("|")[0]) != "global":
        return ("rows of ports",), port
    if table in _BY_PORT:
        member = field[0] if field and table == "CABLE_LENGTH" else key
        return ((table, "GLOBAL") if key == "GLOBAL" else (table,)), member
    if field and table == "DSCP_TO_TC_MAP" and not (field[0].isdecimal() and int(field[0]) in dscps):
        return ("other entries", table, key), field[0]
    if field and table in _MAPS:
        return (operation.op, table, key, field[0]), ""
    if free.holds(operation):
        return (operation.op, _UNNAMED, table), key
    return (operation.op if not field else "change", table), f"{key} {operation.op}"


def named_rows(config: Mapping[str, Any]) -> frozenset[str]:
    """Return the names by which rows of a configuration refer to others."""
    rows = (row for table in _referring(config) for row in table.values() if isinstance(row, dict))
    return frozenset(name for row in rows for value in row.values() for name in str(value).split(","))


def _referring(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for table in (*_port_tables(), "BUFFER_PROFILE"):
        rows = config.get(table)
        if isinstance(rows, dict):
            yield rows


def _port_tables() -> tuple[str, ...]:
    return tuple(updater_table()["ports_down"]["tables"])


def _unit(name: tuple[str, ...], parts: Mapping[str, Sequence[Operation]]) -> Unit:
    order = sorted(parts, key=natural_key)
    is_of_ports = name[0] == "rows of ports"
    return Unit(
        title=_title(name, next(iter(parts.values()))[0]),
        operations=tuple(operation for part in parts.values() for operation in part),
        ports=tuple(order) if is_of_ports else (),
        half=tuple(operation for part in order[::2] for operation in parts[part]) if len(order) > 1 else (),
        is_unnamed=name[1:2] == (_UNNAMED,),
    )


def _title(name: tuple[str, ...], operation: Operation) -> str:
    if name[0] == "rows of ports":
        return "rows of ports"
    if name[1:2] == (_UNNAMED,):
        return f"{'new' if name[0] == 'add' else 'unused'} rows of {name[2]}"
    if len(name) == _ENTRY:
        goes = operation.op == "remove"
        return f"{'|'.join(name[1:])} {'goes' if goes else f'becomes {operation.value}'}"
    if name[0] == "other entries":
        return f"other DSCPs of {name[1]}|{name[2]}"
    verbs = {"add": "new rows of", "remove": "old rows of", "replace": "rows of", "change": "values of"}
    return f"{verbs[name[0]]} {name[1]}" if name[0] in verbs else "|".join(name)


def _change(result: Config, operation: Operation, copied: set[tuple[str, ...]]) -> None:
    table, key, *field = operation.path
    if (table,) not in copied:
        copied.add((table,))
        result[table] = dict(result.get(table, {}))
    rows = result[table]
    if not field:
        _set(rows, key, operation)
        return
    if (table, key) not in copied:
        copied.add((table, key))
        rows[key] = dict(rows.get(key, {}))
    _set(rows[key], field[0], operation)


def _set(holder: dict[str, Any], name: str, operation: Operation) -> None:
    if operation.op == "remove":
        holder.pop(name, None)
    else:
        holder[name] = operation.value
