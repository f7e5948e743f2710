"""Location of a switch's databases: redis servers, and the number of each database there, by namespace.

SONiC declares them in ``database_config.json`` for one ASIC, in ``database_global.json`` with one such file for each
namespace where there are several (sonic-swss-common common/dbconnector.cpp @01a617f, SonicDBConfig).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from lossless.formats.sonic.state.databases import NUMBERS
from lossless.ground.basics.errors import InputError, OutsideError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.folder import StatedPath
from lossless.ground.documents.json.document import load_json
from lossless.ground.documents.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.ground.basics.findings import Path as Keys
    from lossless.ground.documents.text import Document

DATABASES = ("CONFIG_DB", "COUNTERS_DB", "APPL_DB", "STATE_DB")
"""The databases that a scrape reads."""
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
_NAMESPACE = re.compile(r"(\w+)=(.+)")
_PORTS = range(1, 65536)
_ABOVE = "../.."
"""From a ``database_global.json`` to the folder of all databases: it includes ``../../redis0/sonic-db/...``
(sonic-buildimage dockers/docker-database/database_global.json.j2, edge-core/sonic-buildimage @c808640)."""


class RedisServer(NamedTuple):
    """A redis server: the path of its socket, or else a host and a port."""

    socket: str | None
    host: str = ""
    port: int = 0


class Database(NamedTuple):
    """One database: its server, and its number there."""

    server: RedisServer
    number: int


class Namespace(NamedTuple):
    """The databases of one ASIC by their names; the name of the namespace is empty for the switch itself."""

    name: str
    databases: dict[str, Database]


def given(addresses: Iterable[str]) -> tuple[Namespace, ...]:
    """Return the namespaces at redis addresses: ``[NAMESPACE=]SOCKET`` or ``[NAMESPACE=]HOST:PORT``.

    Databases have SONiC's default numbers.

    Raises:
        InputError: a text is not an address, or a second one of its namespace.
    """
    namespaces: dict[str, Namespace] = {}
    for text in addresses:
        match = _NAMESPACE.fullmatch(text)
        name, address = (match[1], match[2]) if match else ("", text)
        if name in namespaces:
            _refuse("--redis", f"{text!r} is a second server of {name or 'the switch'}")
        server = _server(address)
        numbers = {database: int(number) for number, database in NUMBERS.items()}
        databases = {database: Database(server, numbers[database]) for database in DATABASES}
        namespaces[name] = Namespace(name, databases)
    return _used(namespaces.values())


def read_layout(file: str) -> tuple[Namespace, ...]:
    """Return the namespaces that a ``database_config.json`` or ``database_global.json`` names, without other machines.

    Raises:
        InputError: one of the files cannot be read, names no databases, or has an entry that is invalid, leads outside,
            or lacks the location of a database.
    """
    document = load_json(read_text(file), file)
    if "INCLUDES" not in document.data:
        return _used([_namespace("", document)])
    namespaces: dict[str, Namespace] = {}
    for at, entry in enumerate(_value(document, ("INCLUDES",), list)):
        if not isinstance(entry, dict) or not isinstance(entry.get("include"), str):
            _refuse_at(document, ("INCLUDES", at), 'expected {"include": FILE, "namespace": NAME}')
        # Other machines within the switch: their counters are not those of its ports.
        if entry.get("container_name") or entry.get("database_name"):
            continue
        name = str(entry.get("namespace", ""))
        try:
            other = StatedPath(entry["include"]).beside(file, above=_ABOVE)
        except OutsideError as error:
            _refuse_at(document, ("INCLUDES", at, "include"), f"include: {error}")
        namespaces[name] = _namespace(name, load_json(read_text(other), other))
    if not namespaces:
        _refuse_at(document, ("INCLUDES",), "names no databases")
    return _used(namespaces.values())


def _used(namespaces: Iterable[Namespace]) -> tuple[Namespace, ...]:
    """Return the namespaces; of several, the one without a name has CONFIG_DB alone.

    On switches whose ASICs have their own namespaces, the counters are in those, and the host namespace has none.
    """
    every = tuple(namespaces)
    if len(every) < 2:
        return every
    return tuple(
        each if each.name else each._replace(databases={"CONFIG_DB": each.databases["CONFIG_DB"]})
        for each in every
    )


def _namespace(name: str, document: Document) -> Namespace:
    return Namespace(name, {database: _database(document, database) for database in DATABASES})


def _database(document: Document, name: str) -> Database:
    number = _value(document, ("DATABASES", name, "id"), int)
    instance = _value(document, ("DATABASES", name, "instance"), str)
    place = ("INSTANCES", instance)
    entry = _value(document, place, dict)
    socket = entry.get("unix_socket_path")
    if isinstance(socket, str) and socket:
        return Database(RedisServer(socket), number)
    host, port = _value(document, (*place, "hostname"), str), _value(document, (*place, "port"), int)
    return Database(RedisServer(None, host, port), number)


def _value(document: Document, path: Keys, kind: type) -> Any:
    value: Any = document.data
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        what = {int: "a number", str: "a name", list: "a list", dict: "an object"}[kind]
        _refuse_at(document, path, f"expected {what} at {'.'.join(map(str, path))}")
    return value


def _server(address: str) -> RedisServer:
    if "/" in address:
        return RedisServer(address)
    match = _ADDRESS.fullmatch(address)
    if match is None or int(match[2]) not in _PORTS:
        _refuse("--redis", f"{address!r} is neither the path of a socket nor HOST:PORT")
    return RedisServer(None, match[1].strip("[]"), int(match[2]))


def _refuse_at(document: Document, path: Keys, message: str) -> NoReturn:
    span = document.locate(path)
    raise InputError([Problem(document.file, span.line, span.column, message)])


def _refuse(place: str, message: str) -> NoReturn:
    raise InputError([Problem(place, None, None, message)])
