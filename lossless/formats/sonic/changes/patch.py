"""The RFC 6902 patch from one CONFIG_DB to another, in an order that makes sense on a running switch.

A patch is exact: applied to the current file, with its old spelling, it gives the other file. Rows that others
refer to are added first and removed last; ports give up rows before they get new ones, because the removal of
``BUFFER_PG|Ethernet0|3-4`` takes the profile of group 3 away even where ``Ethernet0|3`` has just been added.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from lossless.formats.sonic.from_model.tables import OWNED, SHARED
from lossless.formats.sonic.read.tables import PORT_MAPS
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

REFERRED = (
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    *PORT_MAPS.values(),
    "SCHEDULER",
    "TC_TO_DSCP_MAP",
    "WRED_PROFILE",
)
"""Tables that others refer to by name, each before those that refer to it. A test holds this to the schema."""


class Operation(NamedTuple):
    """One step: ``path`` is table, row and field, or the first one or two of these; ``value`` is None for a removal."""

    op: Literal["add", "replace", "remove"]
    path: tuple[str, ...]
    value: Any = None

    def as_json(self, scope: str = "") -> dict[str, Any]:
        """Return the operation as RFC 6902 writes it; ``scope`` is the namespace (``asic0``) on a multi-ASIC one."""
        names = (scope, *self.path) if scope else self.path
        written: dict[str, Any] = {"op": self.op, "path": "".join(f"/{pointer_part(name)}" for name in names)}
        return written if self.op == "remove" else written | {"value": self.value}


def pointer_part(name: str) -> str:
    """Return a key as a JSON pointer has it (RFC 6901): ``~0`` for a tilde, ``~1`` for a slash."""
    return name.replace("~", "~0").replace("/", "~1")


def patch_text(steps: Iterable[Mapping[str, Any]]) -> str:
    """Return operations, as RFC 6902 writes them, as a file: one a line."""
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
    elif not isinstance(before, dict) or not before:
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
        yield from _fields(path, before, after)


def _fields(
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
