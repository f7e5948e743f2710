"""What must not happen while a batch is brought onto a switch, read from its rows alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.checks.plan.service import NAMED, PORT_TABLES, Config

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.plan.plan import PlannedBatch

_TABLES_OF_MODEL = (
    "BUFFER_",
    "CABLE_LENGTH",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "LOSSLESS_TRAFFIC_PATTERN",
)


def wrong_in_batch(before: Config, after: Config, batch: PlannedBatch, goal: Config) -> Iterator[str]:
    """Yield what is wrong with a batch; ``goal`` is what its switch is to run in the end."""
    if batch.how != "reload" and buffer_model(before) != buffer_model(after):
        yield "the buffer manager does not start again for its other model"
    if buffer_model(before) == buffer_model(after) != buffer_model(goal):
        yield from (f"{row} comes before its buffer model" for row in _rows_of_buffers(batch))


def emptied_in_use(before: Config, batch: PlannedBatch) -> Iterator[str]:
    """Yield rows that a patch removes while ports that are up refer to them.

    The config updater takes the fields of such a row one by one before it rebinds the ports (recorded with
    sonic-utilities generic_config_updater/patch_sorter.py @691b1bb).
    """
    named = set(_named_by_ports(before))
    for operation in batch.operations if batch.how == "patch" else ():
        table, *key = operation.path
        gone = before.get(table, {}) if not key else key if len(key) == 1 else ()
        if operation.op == "remove":
            yield from (f"{table}|{name} is emptied in use" for name in gone if (table, name) in named)


def buffer_model(config: Config) -> Any:
    """Return the buffer model of a configuration."""
    return config.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model", "traditional")


def _rows_of_buffers(batch: PlannedBatch) -> Iterator[str]:
    for table, rows in batch.after.items():
        if table.startswith(_TABLES_OF_MODEL):
            yield from (f"{table}|{key}" for key in rows)


def _named_by_ports(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the rows that rows of ports that are up refer to."""
    up = {name for name, port in config.get("PORT", {}).items() if port.get("admin_status") == "up"}
    for table in PORT_TABLES:
        for key, row in config.get(table, {}).items():
            for field, value in row.items() if key.partition("|")[0] in up else ():
                if field in NAMED:
                    yield from ((NAMED[field], name) for name in str(value).split(","))
