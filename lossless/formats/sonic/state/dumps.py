"""Dumps of redis, in the forms in which tools write them, as rows of one database and namespace.

Forms: ``{key: hash}``; ``{key: {type, value, ttl, expireat}}`` (sonic-db-dump -y, redis-dump); ``{"id": NAME, "data":
dump}``; several dumps under names or numbers of databases (sonic-swss-common common/database_config.json @01a617f:
APPL_DB 0, ASIC_DB 1, COUNTERS_DB 2, CONFIG_DB 4, STATE_DB 6) or under namespaces; lists of those; tables of rows, as
config_db.json has them. Which database a dump is, its keys say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.read.forms import is_wrapped
from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Path

NUMBERS = {"0": "APPL_DB", "1": "ASIC_DB", "2": "COUNTERS_DB", "4": "CONFIG_DB", "6": "STATE_DB"}
NAMESPACE = re.compile(r"asic[0-9]{1,3}")
_NAME = re.compile(r"(?:GB_)?(?:APPL|ASIC|COUNTERS|CONFIG|STATE)_DB")
_COUNTERS = re.compile(
    r"(?:COUNTERS|RATES|(?:USER|PERSISTENT|PERIODIC)_WATERMARKS|PORT_PHY_ATTR|PFC_STAT_HISTORY|CRM"
    r"|COUNTERS_GLOBAL_NAT):.+|COUNTERS_\w+_MAP|ACL_COUNTER_RULE_MAP|PERSISTENT_DROP_ALERTS"
)
_ASIC = re.compile(r"(?:ASIC_STATE|LANES|HIDDEN):?.*|VIDTORID|RIDTOVID|VIDCOUNTER|COLDVIDS")
_APPL = re.compile(r"_?[A-Z][A-Z0-9_]*_TABLE:.+")
_BARRED = re.compile(r"([A-Z][A-Z0-9_]*)\|.+", re.DOTALL)
_STATE_TABLE = re.compile(
    r"(?!(?:FLEX_COUNTER|ACL|PBH|CRM|FG_NHG|BGP_PEER)_TABLE$)[A-Z0-9_]+_TABLE"
    r"|TRANSCEIVER_\w+|\w+_INFO|\w+_CAPABILIT(?:Y|IES)|\w+_STATUS"
)
_CONFIG_ONLY = READ_TABLES - {"DEVICE_METADATA"} | {"FLEX_COUNTER_TABLE", "PORTCHANNEL"}
_MAX_LEVELS = 4
"""Levels above the rows: a list, a namespace, a database, its ``data``."""


class RowPlace(NamedTuple):
    """A row of a database, and its path in the file."""

    key: str
    fields: Any
    path: Path


class Dump(NamedTuple):
    """The rows of one database."""

    database: str
    namespace: str | None
    rows: tuple[RowPlace, ...]


def dumps_of(data: object) -> tuple[Dump, ...]:
    """Return the databases in a document; empty if it is no dump."""
    return tuple(_dumps(data, (), None, None))


def table_and_key(key: str) -> tuple[str, str]:
    """Split the name of a row at its first separator: a bar in CONFIG_DB and STATE_DB, a colon in the others."""
    at = min((at for separator in "|:" if (at := key.find(separator)) >= 0), default=len(key))
    return key[:at], key[at + 1 :]


def _dumps(data: object, path: Path, database: str | None, namespace: str | None) -> Iterator[Dump]:
    if len(path) >= _MAX_LEVELS:
        return
    if isinstance(data, list):
        for index, item in enumerate(data):
            yield from _dumps(item, (*path, index), database, namespace)
    elif isinstance(data, dict):
        if (
            isinstance(data.get("data"), dict)
            and isinstance(data.get("id"), str)
            and _NAME.fullmatch(data["id"])
        ):
            yield from _dumps(data["data"], (*path, "data"), data["id"], namespace)
        elif rows := tuple(_rows(data, path)):
            yield from _by_database(rows, database, namespace)
        else:
            yield from _named(data, path, namespace)


def _named(data: dict[Any, Any], path: Path, namespace: str | None) -> Iterator[Dump]:
    """Yield the dumps below names of databases or namespaces."""
    for key, value in data.items():
        name = NUMBERS.get(key, key)
        if _NAME.fullmatch(name):
            yield from _dumps(value, (*path, key), name, namespace)
        elif NAMESPACE.fullmatch(key) or key in ("localhost", "host"):
            inner = key if NAMESPACE.fullmatch(key) else namespace
            yield from _dumps(value, (*path, key), None, inner)


def _rows(data: dict[Any, Any], path: Path) -> Iterator[RowPlace]:
    """Yield the rows of a dump, or of a file of tables; none if it has none."""
    if any(_database(str(key)) for key in data):
        for key, value in data.items():
            if is_wrapped(value):
                yield RowPlace(str(key), value["value"], (*path, key, "value"))
            else:
                yield RowPlace(str(key), value, (*path, key))
    elif any(key in READ_TABLES and isinstance(data[key], dict) for key in data):
        for table, rows in data.items():
            if isinstance(rows, dict):
                yield from (RowPlace(f"{table}|{key}", rows[key], (*path, table, key)) for key in rows)


def _database(key: str) -> str | None:
    if _COUNTERS.fullmatch(key):
        return "COUNTERS_DB"
    if _ASIC.fullmatch(key):
        return "ASIC_DB"
    if _APPL.fullmatch(key):
        return "APPL_DB"
    match = _BARRED.fullmatch(key)
    if match is None or match[1] == "DEBUG":
        return None
    return "STATE_DB" if _STATE_TABLE.fullmatch(match[1]) else "CONFIG_DB"


def _by_database(rows: tuple[RowPlace, ...], database: str | None, namespace: str | None) -> Iterator[Dump]:
    if database is not None:
        yield Dump(database.removeprefix("GB_"), namespace, rows)
        return
    barred = _barred(rows)
    groups: dict[str, list[RowPlace]] = {}
    for row in rows:
        kind = _database(row.key)
        if kind in ("CONFIG_DB", "STATE_DB"):
            kind = barred
        groups.setdefault(kind or barred or next(iter(groups), "COUNTERS_DB"), []).append(row)
    yield from (Dump(name, namespace, tuple(group)) for name, group in groups.items())


def _barred(rows: tuple[RowPlace, ...]) -> str | None:
    """Return the database of the rows with a bar: by tables that only CONFIG_DB has, then by those of STATE_DB."""
    tables = {match[1] for row in rows if (match := _BARRED.fullmatch(row.key))}
    if not tables:
        return None
    if tables & _CONFIG_ONLY:
        return "CONFIG_DB"
    return "STATE_DB" if any(_STATE_TABLE.fullmatch(table) for table in tables) else "CONFIG_DB"
