"""The forms of configurations in files: every form other than a plain config_db.json becomes one document a device.

- one file for several ASICs: ``localhost``, ``asic0``, ``asic1`` ... above the tables, as ``config save FILE``
  writes it (sonic-utilities config/main.py @008ae9c; sonic-buildimage src/sonic-py-common/sonic_py_common/multi_asic.py
  @bc57a0c: an ASIC's namespace is called asicN)
- a dump of redis: rows under keys ``TABLE|key``, lists as ``field@``, ``NULL`` where a row has no fields
  (sonic-py-swsssdk src/swsssdk/configdb.py @0589283, raw_to_typed), bare or wrapped as ``redis-dump`` does
- a list of configurations
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.layout import PartLayout, Remark
from lossless.ground.documents.marked_document import part
from lossless.ground.documents.text import DocumentPart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import Document

    Data = Mapping[object, object]

HOST = "localhost"
"""SONiC's name of the part of a configuration that belongs to no ASIC."""
_SECTION = re.compile(r"localhost|asic[0-9]{1,3}")
_WRAPPER = frozenset({"type", "value", "ttl", "expireat", "size"})
_FIRST = 5
"""How many paths in a file a remark on its form lists."""


class _Root(NamedTuple):
    """A CONFIG_DB in a file: its path in the file, its data, and its section (``asic0``), empty if it is in none."""

    path: Path
    data: Data
    section: str = ""


def holds_tables(data: object) -> bool:
    """Return whether data are the CONFIG_DB of one device, as tables or as a redis dump."""
    return isinstance(data, dict) and (_has_tables(data) or _is_dump(data))


def devices_of(document: Document) -> tuple[Document, ...]:
    """Return a document for each device in a file: a plain config_db.json or a part itself; none without CONFIG_DB."""
    if document.part or _has_tables(document.data):
        return (document,)
    configs = tuple(
        _PlainConfig(
            root,
            _Dump(root.data).normal() if _is_dump(root.data) else _PlainTables(dict(root.data), {}, {}, ()),
        )
        for root in _roots(document.data)
    )
    return tuple(_part(document, index, configs) for index in range(len(configs)))


def numbered_device(document: Document, asic: str) -> Document:
    """Return the document of the device ``host:asic0`` for the plain config_db file of one ASIC (``asic0``)."""
    host = _hostname(document.data) or document.file
    name = f"{document.file} ({asic})"
    of = DocumentPart(document, name, document.file, PartLayout(document.file), device=f"{host}:{asic}")
    device_document = part(document.data, of)
    device_document.duplicates = document.duplicates
    return device_document


def unread_sections(document: Document) -> Iterator[tuple[Path, str]]:
    """Yield the paths of entries beside the devices of a file that are no sections, each with why it is not read."""
    roots = {root.path[0] for root in _roots(document.data) if root.path}
    if not roots or document.part:
        return
    for key, value in document.data.items():
        if key in roots or (isinstance(value, dict) and isinstance(key, str) and _SECTION.fullmatch(key)):
            continue
        what = f"item {key}" if isinstance(key, int) else repr(key)
        yield (key,), f"{what} is no configuration of a device; it is not read"


def _has_tables(data: Data) -> bool:
    return any(isinstance(data[name], dict) for name in READ_TABLES & data.keys())


def _names_tables(data: Data) -> bool:
    """Return whether a section is a CONFIG_DB, by the names of tables; an invalid table is reported when it is read."""
    return bool(READ_TABLES & data.keys()) or _is_dump(data)


def _is_dump(data: Data) -> bool:
    """Return whether data are a redis dump of CONFIG_DB; STATE_DB has keys with bars and DEVICE_METADATA as well."""
    tables = {key.partition("|")[0] for key in data if isinstance(key, str) and "|" in key}
    read = tables & READ_TABLES
    return bool(read - {"DEVICE_METADATA"}) or (bool(read) and tables == read)


def _roots(data: Data) -> Iterator[_Root]:
    if _is_dump(data):
        yield _Root((), data)
        return
    for key, value in data.items():
        if isinstance(key, int) and isinstance(value, dict):
            inner = [_Root((), value)] if holds_tables(value) else list(_roots(value))
            yield from (_Root((key, *root.path), root.data, root.section) for root in inner)
        elif isinstance(value, dict) and _names_tables(value) and _SECTION.fullmatch(str(key)):
            yield _Root((str(key),), value, str(key))


def _part(document: Document, index: int, configs: tuple[_PlainConfig, ...]) -> Document:
    root, normal = configs[index]
    steps = "".join(f"[{key}]" if isinstance(key, int) else f":{key}" for key in root.path)
    alone = len(configs) == 1
    shown = document.file if alone else f"{document.file}{steps}"
    of = DocumentPart(
        document,
        f"{shown} (as tables)" if alone else shown,
        shown,
        PartLayout(document.file, root.path, normal.moved, normal.renamed),
        device=_device(index, configs, document.file),
        remarks=(*(_of_file(configs) if index == 0 else ()), *normal.remarks),
    )
    made = part(normal.data, of)
    own = [duplicate for duplicate in document.duplicates if _is_below(duplicate.path, root)]
    strays = [
        duplicate
        for duplicate in document.duplicates
        if not any(_is_below(duplicate.path, other.root) for other in configs)
    ]
    made.duplicates = (*own, *(strays if index == 0 else ()))
    return made


def _is_below(path: Path, root: _Root) -> bool:
    return path[: len(root.path)] == root.path


def _of_file(configs: tuple[_PlainConfig, ...]) -> Iterator[Remark]:
    """Yield the remarks that a file has sections (``asic0``), or is a list of configurations."""
    if any(config.root.section for config in configs):
        yield Remark("sections", len(configs), ())
    if any(isinstance(key, int) for config in configs for key in config.root.path):
        yield Remark("list", len(configs), ())


def _device(index: int, configs: tuple[_PlainConfig, ...], file: str) -> str | None:
    """Return the device name ``host:asic0`` of a section; None for the host, or with a hostname of its own."""
    section = configs[index].root.section
    if section in ("", HOST):
        return None
    names = [_hostname(config.normal.data) for config in configs]
    own = names[index]
    if own and names.count(own) < 2:
        return None
    host = own or next(filter(None, names), file)
    return f"{host}:{section}"


def _hostname(data: Data) -> str:
    rows = data.get("DEVICE_METADATA")
    row = rows.get(HOST) if isinstance(rows, dict) else None
    name = row.get("hostname") if isinstance(row, dict) else None
    return name if isinstance(name, str) else ""


class _PlainTables(NamedTuple):
    """A CONFIG_DB as tables, with original paths and names of its rows and fields, and remarks on its form."""

    data: dict[object, object]
    moved: dict[Path, tuple[Path, Path]]
    renamed: dict[Path, str]
    remarks: tuple[Remark, ...]


class _PlainConfig(NamedTuple):
    root: _Root
    normal: _PlainTables


class _Dump:
    """Converts a redis dump of CONFIG_DB to tables."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._tables: dict[object, Any] = {}
        self._moved: dict[Path, tuple[Path, Path]] = {}
        self._renamed: dict[Path, str] = {}
        self._seen: dict[str, list[Path]] = {}

    def normal(self) -> _PlainTables:
        """Return the tables of the dump, the original paths of rows and fields, and remarks on the form of the dump."""
        for key, value in self._data.items():
            if isinstance(key, str) and "|" in key:
                self._row(key, value)
            elif key in READ_TABLES:
                # No row of redis; whoever reads tables says that it is none. Others are CONFIG_DB_INITIALIZED.
                self._tables[key] = value
        remarks = tuple(Remark(kind, len(p), tuple(p[:_FIRST])) for kind, p in self._seen.items())
        return _PlainTables(dict(self._tables), self._moved, self._renamed, remarks)

    def _row(self, key: str, value: object) -> None:
        table, _, row = key.partition("|")
        path: Path = (table, row)
        self._note("dump", path)
        inner: Path = ()
        if is_wrapped(value):
            assert isinstance(value, dict)
            value, inner = value["value"], ("value",)
            self._note("wrapped", path)
        self._moved.setdefault((table,), ((key,), ()))
        self._moved[path] = ((key,), inner)
        self._rows(table)[row] = self._fields(path, value) if isinstance(value, dict) else value

    def _rows(self, table: str) -> dict[str, object]:
        if not isinstance(self._tables.get(table), dict):
            self._tables[table] = {}
        rows: dict[str, object] = self._tables[table]
        return rows

    def _fields(self, path: Path, fields: Mapping[str, object]) -> dict[str, object]:
        plain_fields: dict[str, object] = {}
        for name, value in fields.items():
            if name == "NULL":
                self._note("null", path)
            elif name.endswith("@") and isinstance(value, str):
                plain = name[:-1]
                plain_fields[plain] = value.split(",")
                self._renamed[(*path, plain)] = name
                self._note("listed", (*path, plain))
            else:
                plain_fields[name] = value
        return plain_fields

    def _note(self, kind: str, path: Path) -> None:
        self._seen.setdefault(kind, []).append(path)


def is_wrapped(value: object) -> bool:
    """Return whether a row is written as ``redis-dump`` does: below ``value``, as a hash or beside its type."""
    if not isinstance(value, dict) or not {"value"} <= value.keys() <= _WRAPPER:
        return False
    return "type" in value or isinstance(value["value"], dict)
