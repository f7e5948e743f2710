"""Databases of a switch as readings: each field of each row, with the identity of its object; commands of transcripts.

Some properties of printed values follow from a command. ``show ... watermark`` prints the watermarks since the last
user clear, ``persistent-watermark`` those since the last clear of the persistent ones (sonic-utilities
scripts/watermarkstat @2a5c132).

Dumps of redis come in the forms in which tools write them, each with rows of one database and namespace. Forms:
``{key: hash}``; ``{key: {type, value, ttl, expireat}}`` (sonic-db-dump -y, redis-dump); ``{"id": NAME, "data":
dump}``; several dumps under names or numbers of databases (sonic-swss-common common/database_config.json @01a617f:
APPL_DB 0, ASIC_DB 1, COUNTERS_DB 2, CONFIG_DB 4, STATE_DB 6) or under namespaces; lists of those; tables of rows, as
config_db.json has them. The keys of a dump show which database it is.

Objects of COUNTERS_DB are named by its maps of names joined, so that a counter has a queue, not only an oid. The maps
``COUNTERS_QUEUE_PORT_MAP``, ``..._INDEX_MAP`` and ``..._TYPE_MAP`` repeat this by object, and add the type
(sonic-utilities scripts/watermarkstat @2a5c132).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.read.forms import is_wrapped
from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.formats.sonic.state.rows import CounterName, counter_of_field, row_field, row_identity, since_of
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.printed_lines import stored_value
from lossless.model.fabric.state import StateCapture, StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.concatenated_json import PrintedJson
    from lossless.model.fabric.state import CountedSince, Identity


_PROMPT = re.compile(
    r"(?:\[?(?P<user>[\w.-]+)@(?P<host>[\w.-]++)(?::[^#$>]*+|[^\]#$>:]*+\])?\s*+[#$>]|(?P<name>[\w.-]+)[#>]|[#$]|==>)"
    r"\s*+(?P<command>\S.*)"
)
_KNOWN = re.compile(
    r"(?:sudo\s+)?(?:/usr/(?:local/)?bin/)?"
    r"(?:show|clear|sonic-clear|config|portstat|pfcstat|queuestat|wredstat|watermarkstat|pfcwd|pfc|ecnconfig|mmuconfig"
    r"|counterpoll|dropstat|dropconfig|pg-drop|intfstat|switchstat|fabricstat|trimstat|sonic-db-cli|sonic-db-dump"
    r"|redis-cli|redis-dump|gnmi_get|gnmic|date|uptime|cat)\b"
)
_NAMESPACE = re.compile(r"(?:-n|--namespace)[ =]([A-Za-z]+[0-9]+)\b")
_WATERMARKSTAT = re.compile(r"watermarkstat\b")
_PERSISTENT = re.compile(r" (?:-\w*p|--persistent\b)")
_SINGLE_LETTER = re.compile(r"^(?:sudo\s+)?(?:/\S*/)?")


class SwitchCommand(NamedTuple):
    """A command as typed at a switch, and the device that the prompt of the transcript names, if any."""

    text: str
    device: str | None = None

    @property
    def form(self) -> str:
        """The words of the command before its first option, without ``sudo``: ``show queue watermark unicast``."""
        words = _SINGLE_LETTER.sub("", self.text).split()
        kept = []
        for word in words:
            if word.startswith("-"):
                break
            kept.append(word)
        return " ".join(kept)

    @property
    def namespace(self) -> str | None:
        """The namespace (``asic0``) that an option of the command names, None if there is none."""
        match = _NAMESPACE.search(self.text)
        return match[1] if match else None

    @property
    def window(self) -> CountedSince:
        """The clear since which the watermarks in the command's output count; ``unknown`` for other commands."""
        stat = _WATERMARKSTAT.search(self.text)
        if "persistent-watermark" in self.text or (stat and _PERSISTENT.search(self.text, stat.end())):
            return "persistent clear"
        return "user clear" if "watermark" in self.text else "unknown"

    @property
    def watermark(self) -> str | None:
        """The name of the watermark that the command prints; None if the command is not about watermarks."""
        if "watermark" not in self.text:
            return None
        if "headroom" in self.text:
            return "xoff_room_watermark_bytes"
        return "watermark_bytes" if "pool" in self.text else "shared_watermark_bytes"


NO_COMMAND = SwitchCommand("")


def command_of(line: str) -> SwitchCommand | None:
    """Return the command that a line of a transcript starts; None for any other line."""
    match = _PROMPT.fullmatch(line.strip())
    if match is None or not _KNOWN.match(match["command"]):
        return None
    return SwitchCommand(match["command"].strip(), match["host"] or match["name"])


_METADATA = "DEVICE_METADATA|localhost"
_FIRST = 3
"""How many of the objects without a name a note lists."""


def read_databases(printed: PrintedJson, _: SwitchCommand, file: str) -> Iterator[StateCapture]:
    """Yield a capture for each redis database in a JSON document."""
    yield from (read_dump(dump, file) for dump in dumps_of(printed.value))


def read_dump(dump: Dump, file: str) -> StateCapture:
    """Return the capture of a database, a reading for each field of each row; of COUNTERS_DB's maps, only name maps."""
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
    """Yield the readings of a COUNTERS_DB row: counters of an object, or names of a name map; none of other maps."""
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
    """Return the reading of one field of an object of COUNTERS_DB; ``debug`` names its debug counters by field."""
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
    """Yield each name of a COUNTERS_DB name map with its oid, so that names without counters are visible."""
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
    """Yield field and value of a row: None for ``NULL``; a row that is no hash is one field without a name."""
    if not isinstance(row.fields, dict):
        yield "", row.fields
        return
    for field, value in row.fields.items():
        yield str(field), None if field == "NULL" else value


def _unnamed(dump: Dump, objects: CounterObjects) -> Iterator[str]:
    """Yield a note on the objects of COUNTERS_DB that have counters and no name, if there are any."""
    keys = [row.key.partition(":")[2] for row in dump.rows if row.key.startswith("COUNTERS:oid:")]
    without = [key for key in keys if key not in objects.identities]
    if without:
        named = ", ".join(without[:_FIRST]) + (", ..." if len(without) > _FIRST else "")
        what = "object has counters and no name" if len(without) == 1 else "objects have counters and no name"
        yield f"{len(without)} {what}: {named}"


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
    """The rows of one redis database; ``namespace`` is that of its ASIC, None if the file does not name it."""

    database: str
    namespace: str | None
    rows: tuple[RowPlace, ...]


def dumps_of(data: object) -> tuple[Dump, ...]:
    """Return the redis databases in a JSON document; empty if it is no dump."""
    return tuple(_dumps(data, (), None, None))


def table_and_key(key: str) -> tuple[str, str]:
    """Return the table and the key of a row's name, split at its first bar or colon."""
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
    """Yield the rows of a redis dump, or of a file of tables; none for other data."""
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
    """Return the database of rows with ``|`` in their keys, None without such rows.

    It is STATE_DB if a table is one of its tables and none exists only in CONFIG_DB, else CONFIG_DB.
    """
    tables = {match[1] for row in rows if (match := _BARRED.fullmatch(row.key))}
    if not tables:
        return None
    if tables & _CONFIG_ONLY:
        return "CONFIG_DB"
    return "STATE_DB" if any(_STATE_TABLE.fullmatch(table) for table in tables) else "CONFIG_DB"


QUEUE_KINDS = {
    "SAI_QUEUE_TYPE_UNICAST": "UC",
    "SAI_QUEUE_TYPE_MULTICAST": "MC",
    "SAI_QUEUE_TYPE_ALL": "ALL",
    "SAI_QUEUE_TYPE_UNICAST_VOQ": "VOQ",
    "SAI_QUEUE_TYPE_FABRIC_TX": "FABRIC",
}
_MEMBERS = {"QUEUE": "queue", "VOQ": "queue", "FABRIC_QUEUE": "queue", "PG": "pg"}
_PORTS = frozenset({"PORT", "SYSTEM_PORT", "FABRIC_PORT"})
_NAME_MAP = re.compile(r"COUNTERS_(\w+)_NAME_MAP|(ACL)_COUNTER_RULE_MAP")
_DEBUG_MAP = re.compile(r"COUNTERS_DEBUG_NAME_\w+_STAT_MAP")
_NEEDED = {"QUEUE": ("TYPE", "INDEX", "PORT"), "PG": ("INDEX", "PORT")}
MEMBER = re.compile(r"(.+):([0-9]{1,3})")


class CounterObjects(NamedTuple):
    """Identities of COUNTERS_DB objects by oid, names of debug counters by field, and notes on incomplete maps."""

    identities: dict[str, Identity]
    debug: dict[str, str]
    notes: tuple[str, ...]


def objects_of(rows: Mapping[str, Any]) -> CounterObjects:
    """Return the objects that the name maps of a COUNTERS_DB name; ``rows`` are its rows by key."""
    maps = {key: value for key, value in rows.items() if key.endswith("_MAP") and isinstance(value, dict)}
    identities: dict[str, Identity] = {}
    for key, names in maps.items():
        if kind := map_kind(key):
            for name, oid in names.items():
                identities.setdefault(str(oid), _identity(kind, str(name), str(oid), maps))
    debug = {
        str(field): str(name)
        for key, names in maps.items()
        if _DEBUG_MAP.fullmatch(key)
        for name, field in names.items()
    }
    return CounterObjects(identities, debug, tuple(_notes(maps)))


def map_kind(key: str) -> str | None:
    """Return the kind of objects in a map of names (``QUEUE``), None for any other row."""
    match = _NAME_MAP.fullmatch(key)
    return (match[1] or match[2]) if match else None


def named_identity(kind: str, name: str) -> Identity:
    """Return the identity (port, queue, priority group, pool or other object) of a name in a map of this kind."""
    if kind in _PORTS:
        return (("port", name),)
    if kind == "BUFFER_POOL":
        return (("pool", name),)
    member = MEMBER.fullmatch(name) if kind in _MEMBERS else None
    if member:
        return ("port", member[1]), (_MEMBERS[kind], member[2])
    return (("object", f"{kind}:{name}"),)


def _identity(kind: str, name: str, oid: str, maps: Mapping[str, dict[str, Any]]) -> Identity:
    identity = named_identity(kind, name)
    if kind not in _MEMBERS or _MEMBERS[kind] != "queue":
        return identity
    sort = QUEUE_KINDS.get(str(maps.get("COUNTERS_QUEUE_TYPE_MAP", {}).get(oid)))
    sort = "VOQ" if kind == "VOQ" else sort
    return (*identity, ("queue_kind", sort)) if sort else identity


def _notes(maps: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    for key, names in maps.items():
        if not names and key != "COUNTERS_LAG_NAME_MAP":
            yield f"{key} is empty: what it names is unknown"
    for kind, parts in _NEEDED.items():
        oids = {str(oid) for oid in maps.get(f"COUNTERS_{kind}_NAME_MAP", {}).values()}
        for part in parts:
            other = maps.get(f"COUNTERS_{kind}_{part}_MAP")
            missing = len(oids - other.keys()) if other else 0
            if missing:
                name_map = f"COUNTERS_{kind}_NAME_MAP"
                yield f"{missing} of {len(oids)} objects of {name_map} are not in COUNTERS_{kind}_{part}_MAP"
