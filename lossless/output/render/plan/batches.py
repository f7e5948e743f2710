"""The files of one batch, and how long it may take: a patch, commands, or rows alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.formats.device_files.extras import removals
from lossless.formats.sonic.changes.json_patch import patch_text, pointer_part
from lossless.formats.sonic.from_model.tables import SHARED
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.plan.plan import PlannedBatch, Rows

CALL_S = 120
"""Longest that a command may take that reads, saves or makes a checkpoint. A choice: they take seconds."""
KILL_AFTER_S = 10
"""Seconds that a command may take to end after a signal."""
PAUSE_S = 5
"""How long to wait before the state of ports or services is looked at again."""
_PATCH_S, _MOVE_S = 300, 5
"""Longest for a patch, and for each move of it: the updater waits one second a move, and checks the whole
configuration against its models before each (sonic-utilities generic_config_updater @691b1bb). A choice."""
_WRITE_S = 2
"""Longest for each of many commands that remove a row, while none of them hangs. A choice."""
_RELOAD_S = 900
"""Longest for a reload: SONiC refuses one for 120 s after the last, and restarts all services (config/main.py
@691b1bb)."""
_PORTS_S, _RELOADED_PORTS_S = 120, 600
"""Longest until ports are up again: links train in seconds, after a reload once services are there. A choice."""
_CALLS = 20
"""Commands of a batch beside those that change it, its rollback included; more than there are."""
_MOST_TITLES = 3


class BatchLimits(NamedTuple):
    """How long a batch may take in seconds: one command that changes it, its ports, all with the rollback."""

    command_s: int
    ports_s: int
    all_s: int


def limits_of(batch: PlannedBatch) -> BatchLimits:
    """Return how long a batch may take."""
    ports_s = _RELOADED_PORTS_S if batch.how == "reload" else _PORTS_S
    ports_s = ports_s if batch.ports_down else 0
    if batch.how == "write":
        command_s, change_s = CALL_S, CALL_S + _WRITE_S * _removed(batch)
    else:
        command_s = change_s = _RELOAD_S if batch.how == "reload" else _PATCH_S + _MOVE_S * batch.moves
    # The change, and two attempts at its rollback.
    return BatchLimits(command_s, ports_s, 3 * change_s + ports_s + _CALLS * CALL_S)


def batch_line(number: str, batch: PlannedBatch) -> str:
    """Return the line of a batch for ``run.sh``: its number, kind, limits and title."""
    limits = limits_of(batch)
    more = len(batch.titles) - _MOST_TITLES
    titles = ", ".join(batch.titles[:_MOST_TITLES]) + (f" and {more} more" if more > 0 else "")
    return f"{number} {batch.how} {limits.command_s} {limits.ports_s} {' '.join(titles.split())}"


def batch_files(number: str, batch: PlannedBatch) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the files of a batch.

    A reload has its rows alone: ``run.sh`` puts them into the running configuration at that moment, so that rows that
    the updater refuses reach no running service.
    """
    yield f"{number}-rows.json", _json({"before": batch.before, "after": batch.after, "by_field": [*SHARED]})
    if batch.how == "patch":
        yield (
            f"{number}-patch.json",
            patch_text((*tests_of(batch), *(step.as_json() for step in batch.operations))),
        )
    if batch.how == "write":
        before, after = _present(batch.before), _present(batch.after)
        yield from _written(number, "write", before, after)
        yield from _written(number, "undo", after, before)


def tests_of(batch: PlannedBatch) -> Iterator[dict[str, Any]]:
    """Yield the operations that end a patch before it begins where a row is not as the plan read it."""
    for table, rows in batch.before.items():
        for key, row in rows.items():
            path = f"/{pointer_part(table)}/{pointer_part(key)}"
            if row is not None and table in SHARED:
                yield from (
                    _test(f"{path}/{pointer_part(name)}", value) for name, value in row.items() if value
                )
            elif row is not None:
                yield _test(path, row)


def _test(path: str, value: object) -> dict[str, Any]:
    return {"op": "test", "path": path, "value": value}


def _written(number: str, name: str, before: Rows, after: Rows) -> Iterator[tuple[str, str]]:
    changed = {
        table: different
        for table, rows in after.items()
        if (different := {key: row for key, row in rows.items() if before.get(table, {}).get(key) != row})
    }
    commands = removals(before, after)
    load = [f"config load -y {number}-{name}.json"] if changed else []
    if changed:
        yield f"{number}-{name}.json", _json(changed)
    yield (
        f"{number}-{name}.sh",
        "".join(f"{line}\n" for line in (*commands["before"], *load, *commands["after"])),
    )


def _removed(batch: PlannedBatch) -> int:
    """Return how many commands remove rows and fields, either in the change or in its rollback."""
    before, after = _present(batch.before), _present(batch.after)
    both = (removals(before, after), removals(after, before))
    return max(len(commands["before"]) + len(commands["after"]) for commands in both)


def _present(tables: Rows) -> Rows:
    """Return the rows that there are."""
    present = {
        table: {key: row for key, row in rows.items() if row is not None} for table, rows in tables.items()
    }
    return {table: rows for table, rows in present.items() if rows}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
