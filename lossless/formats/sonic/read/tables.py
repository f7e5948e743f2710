"""CONFIG_DB as found: rows with canonical values, their oddities collected and never fatal.

JSON integers become text, lists become comma text: ConfigDBConnector stores one under its field with ``@`` behind it,
and orchagent and buffermgrd read fields without that (sonic-swss-common common/configdb.h, table.cpp @85a39d8). Old
bracket references (``[BUFFER_POOL|x]``, before 202111) are plain names in :meth:`ConfigRow.reference` and
:func:`names_in`, and comma-joined port keys become one row a port; each row remembers the key it was written under, so
that findings point at the text of the file. Other forms of a whole file are taken apart before, by
:mod:`lossless.formats.sonic.read.forms`.

Lists of priorities, and numbers of the tables in :data:`CHECKED_TABLES`, are read as by orchagent: by std::stoi and
std::stoul. Blanks and a sign may lead, all text after the digits is ignored, and text without digits throws (sonic-swss
orchagent/qosorch.cpp @bcd579d, orchagent/bufferorch.cpp @51de623).

On a chassis with virtual output queues, each queue row is for a system port. A card has a queue for each port of all
cards. Rows name host, ASIC and port: where the first two are the card's own, the ASIC in any case, the port is one of
``PORT``; else all three together are a name in ``SYSTEM_PORT``, to the letter, and a row of another name is dropped
(sonic-swss orchagent/qosorch.cpp handleQueueTable, orchagent/bufferorch.cpp processQueue @e6b0c5b).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple, Record
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import TypeGuard

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.layout import Remark
    from lossless.ground.documents.text import Document


INT_MAX = 2**31 - 1
"""The largest result of std::stoi; it throws on larger numbers."""
UINT64_MAX = 2**64 - 1
_MOST_DIGITS = 20
"""Digits of 2 to the 64th; int() refuses texts that are very much longer with an error of its own."""

MASK_FIELDS = ("pfc_enable", "pfcwd_sw_enable")
"""The fields of PORT_QOS_MAP that list priorities."""


def read_number(text: str, most: int = INT_MAX) -> int | None:
    """Return the number that orchagent reads from a text, None if reading it throws."""
    match = re.match(r"[ \t\n\v\f\r]*([+-]?)0*([0-9]+)", text, re.ASCII)
    if match is None or len(match[2]) > _MOST_DIGITS or int(match[2]) > most:
        return None
    return -int(match[2]) if match[1] == "-" else int(match[2])


def bit_of(number: int) -> int:
    """Return the bit that orchagent sets for a number in a list of priorities: the number's low five bits."""
    return number % 256 % 32


def read_priorities(text: str) -> tuple[int, ...]:
    """Return the priorities whose bits a comma list sets; parts that set no such bit are left out (rule SWS009)."""
    numbers = (read_number(part.strip()) for part in text.split(","))
    bits = {bit_of(number) for number in numbers if number is not None}
    return tuple(priority for priority in PRIORITIES if priority in bits)


def priority_list(priorities: Iterable[int]) -> str:
    """Return priorities as a comma list."""
    return ",".join(map(str, priorities))


_READ = """
    DEVICE_METADATA PORT DEVICE_NEIGHBOR VERSIONS DSCP_TO_TC_MAP DOT1P_TO_TC_MAP TC_TO_QUEUE_MAP
    TC_TO_PRIORITY_GROUP_MAP MAP_PFC_PRIORITY_TO_QUEUE PFC_PRIORITY_TO_PRIORITY_GROUP_MAP PORT_QOS_MAP QUEUE
    SCHEDULER WRED_PROFILE BUFFER_POOL BUFFER_PROFILE BUFFER_PG BUFFER_QUEUE BUFFER_PORT_INGRESS_PROFILE_LIST
    BUFFER_PORT_EGRESS_PROFILE_LIST CABLE_LENGTH PFC_WD FLEX_COUNTER_TABLE DEFAULT_LOSSLESS_BUFFER_PARAMETER
    LOSSLESS_TRAFFIC_PATTERN TC_TO_DSCP_MAP SWITCH_TRIMMING
"""
READ_TABLES = frozenset(_READ.split())
"""The tables of CONFIG_DB that are read into rows at once; others are where they are needed (Tables.written)."""
CHECKED_TABLES = frozenset({"WRED_PROFILE", "SCHEDULER", "BUFFER_POOL", "BUFFER_PROFILE", "PFC_WD"})
"""The tables in which rules of the families SWS and CFG report a number that cannot be read."""

PORT_MAPS = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
}
"""The fields of PORT_QOS_MAP that bind a map of the fabric model, and the tables of those maps."""


_LIST_MARK = "@"
"""The end of the name of a list field in redis; daemons do not see it."""
_TEXT = frozenset({str})
_ROW = frozenset({dict})
_LISTS = frozenset({"BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"})
_PORT_KEYED = frozenset({"PORT_QOS_MAP", "QUEUE", "BUFFER_PG", "BUFFER_QUEUE"}) | _LISTS
"""Tables whose keys orchagent splits at commas (sonic-swss orchagent/qosorch.cpp, bufferorch.cpp @bcd579d)."""


class ConfigRow(NamedTuple):
    """One row of CONFIG_DB: the key it was written under, and its fields as text."""

    key: str
    fields: Mapping[str, str]

    def reference(self, field: str) -> str:
        """Return the name a field refers to, plain or in old brackets; empty where there is none."""
        text = self.fields.get(field, "")
        if text.startswith("[") and text.endswith("]"):
            return plain_name(text)
        return text


class RowOverlap(NamedTuple):
    """Two rows of a port that set the same queues or priority groups (``numbers``); ``later`` is applied last."""

    port: str
    numbers: tuple[int, ...]
    earlier: ConfigRow
    later: ConfigRow


class NumberedKeys(NamedTuple):
    """The keys of QUEUE, BUFFER_QUEUE or BUFFER_PG: their ports, ranges of numbers, malformed keys and overlaps."""

    ports: Collection[str]
    ranges: Mapping[str, range | None]
    malformed: Sequence[ConfigRow]
    overlaps: Sequence[RowOverlap]


class Tables:
    """The CONFIG_DB rows of one device; ``data`` is the configuration unchanged, with the tables that are not read.

    ``file`` is the file in origins, ``shown`` its name in messages, and ``device`` the device's name if that is not the
    hostname. ``remarks`` are the conversions that were needed to read it, ``numbers`` the paths of JSON numbers.

    ``unread`` notes single values without a meaning that no rule reports; ``unreadable`` whole tables that are invalid,
    with the reason. ``keys`` is filled once rows are indexed by port
    (:class:`lossless.formats.sonic.to_model.ports.RowIndex`). ``unmade`` are ports for which buffermgrd is known to
    make no lossless groups.
    """

    __slots__ = (
        "_split",
        "data",
        "device",
        "file",
        "keys",
        "numbers",
        "remarks",
        "rows",
        "shown",
        "unmade",
        "unread",
        "unreadable",
    )

    def __init__(self, file: str, data: Mapping[str, object], *, shown: str | None = None) -> None:
        self.file = file
        self.shown = shown or file
        self.device: str | None = None
        self.remarks: tuple[Remark, ...] = ()
        self.numbers: list[Path] = []
        self.data = data
        self.rows: dict[str, dict[str, ConfigRow]] = {}
        self.unreadable: list[tuple[str, str]] = []
        self.unread: list[str] = []
        self._split: dict[str, dict[str, ConfigRow]] = {}
        self.keys: dict[str, NumberedKeys] = {}
        self.unmade: frozenset[str] = frozenset()
        for table in sorted(READ_TABLES & data.keys()):
            self.rows[table] = self._table(table, data[table])

    def _table(self, name: str, value: object) -> dict[str, ConfigRow]:
        if not isinstance(value, dict):
            kind = type(value).__name__
            self.unreadable.append((name, f"{name} is a {kind}, not a table of rows; it is not read"))
            return {}
        # Pending rows wait in a map ordered by key, so the last key is applied last, wherever it is in
        # the file (SyncMap, sonic-swss orchagent/orch.h @000e01f).
        keys = sorted(value)
        # Nearly every table is text alone, and is taken unchanged.
        if _is_plain_table(name, value):
            return dict(zip(keys, map(ConfigRow, keys, map(value.__getitem__, keys)), strict=True))
        written: dict[str, ConfigRow] = {}
        for key in keys:
            if isinstance(value[key], dict):
                written[key] = ConfigRow(key, self._fields((name, key), value[key]))
            else:
                self.unread.append(f"{name}|{key}: not a row")
        if name not in _PORT_KEYED or not any(map(_names_ports, written)):
            return written
        self._split[name] = written
        return {single: row for key, row in written.items() for single in single_keys(key)}

    def _fields(self, place: Path, fields: Mapping[str, object]) -> Mapping[str, str]:
        if _is_text(fields) and _LIST_MARK not in "".join(fields):
            return fields
        text_by_field = {}
        # In the midst of a configuration a row can be wrapped as redis-dump does.
        inner = fields.get("value")
        for key, value in (inner if isinstance(inner, dict) else fields).items():
            if isinstance(value, dict) or (isinstance(value, list) and not all(map(_is_plain, value))):
                self.unread.append(f"{'|'.join(map(str, place))}|{key}: not a value")
            else:
                text_by_field[key.partition(_LIST_MARK)[0] or key] = _text(value)
                if value.__class__ is int or value.__class__ is float:
                    self.numbers.append((*place, key))
        return text_by_field

    @classmethod
    def of(cls, document: Document) -> Tables:
        """Return the CONFIG_DB rows of a document, which may be a part of its file."""
        tables = cls(document.name, document.data, shown=document.shown)
        if document.part:
            tables.device, tables.remarks = document.part.device, document.part.remarks
        if document.marked:
            from lossless.ground.documents.layout import Remark

            tables.remarks = (Remark("mark", 1, ()), *tables.remarks)
        return tables

    @property
    def makes_ports(self) -> bool:
        """Whether its PORT rows make ports; those of a qos.json are settings of ports that another file makes.

        Such a file has neither lanes and speeds nor the HWSKU of a device.
        """
        rows = self.rows.get("PORT", {})
        own = self.row("DEVICE_METADATA", "localhost")
        return bool(rows) and (
            (own is not None and "hwsku" in own.fields)
            or any({"lanes", "speed"} & row.fields.keys() for row in rows.values())
        )

    def table(self, name: str) -> Mapping[str, ConfigRow]:
        """Return the rows of a table, empty where it is absent."""
        return self.rows.get(name, {})

    def written(self, table: str) -> Mapping[str, ConfigRow]:
        """Return the rows of a table by the keys that they are written under; a row of several ports is there once.

        A table that is not among :data:`READ_TABLES` is read here.
        """
        if table not in READ_TABLES and isinstance(rows := self.data.get(table), dict):
            return {
                key: ConfigRow(key, self._fields((table, key), rows[key]))
                for key in sorted(rows)
                if isinstance(rows[key], dict)
            }
        return self._split.get(table) or self.rows.get(table, {})

    @property
    def joined(self) -> Iterator[tuple[str, ConfigRow]]:
        """The rows whose key names several ports, each with its table."""
        split = self._split.items()
        return ((table, row) for table, rows in split for key, row in rows.items() if _names_ports(key))

    def with_rows(
        self, gone: Collection[tuple[str, str]], changed: Mapping[tuple[str, str], Mapping[str, str]]
    ) -> Tables:
        """Return these tables without the rows ``gone``, and with other fields in the rows ``changed``.

        Both name rows by table and by the key that they are written under."""
        other = Tables(self.file, {}, shown=self.shown)
        other.device, other.remarks, other.data = self.device, self.remarks, self.data
        for table, rows in self.rows.items():
            other.rows[table] = {
                key: ConfigRow(row.key, changed.get((table, row.key), row.fields))
                for key, row in rows.items()
                if (table, row.key) not in gone
            }
        return other

    def row(self, table: str, key: str) -> ConfigRow | None:
        """Return one row, None where it is absent."""
        return self.rows.get(table, {}).get(key)

    def origin(self, table: str, row: ConfigRow | None = None, *fields: str) -> Origin:
        """Return the place of a table, a row or a field in the file."""
        path = (table,) if row is None else (table, row.key, *fields)
        return Origin(self.file, path)

    def number(self, table: str, row: ConfigRow, field: str) -> int | None:
        """Return a field as a number, None if it is absent or cannot be read.

        A text that is no number is noted. In the tables of :data:`CHECKED_TABLES` a rule reports it instead, and the
        number is the one that the text begins with, as orchagent takes it.
        """
        text = row.fields.get(field, "").strip()
        if not text:
            return None
        value = whole_number(text)
        if value is not None:
            return value
        if table in CHECKED_TABLES:
            return read_number(text, UINT64_MAX)
        self.unread.append(f"{table}|{row.key}|{field}: {text!r} is not a number")
        return None


def _is_plain_table(name: str, rows: Mapping[str, object]) -> bool:
    """Return whether all values of a table are text, no field is a list, and no key of ports has a comma.

    False for the tables of profile lists.
    """
    if not _ROW.issuperset(map(type, rows.values())) or name in _LISTS:
        return False
    if name in _PORT_KEYED and "," in "".join(rows):
        return False
    fields: Iterable[dict[str, object]] = rows.values()  # type: ignore[assignment]
    if _LIST_MARK in "".join(chain.from_iterable(fields)):
        return False
    return _TEXT.issuperset(map(type, chain.from_iterable(map(dict.values, fields))))


def _is_text(fields: Mapping[str, object]) -> TypeGuard[Mapping[str, str]]:
    return fields.__class__ is dict and _TEXT.issuperset(map(type, fields.values()))


@lru_cache(maxsize=4096)
def whole_number(text: str) -> int | None:
    """Return the number that a text spells, None if it is no number or too large for any device."""
    bare = text.strip()
    digits = bare.removeprefix("-")
    return int(bare) if digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS else None


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a comma list, plain or in old brackets, without empty parts and blanks around names."""
    parts = filter(None, (part.strip() for part in text.split(",")))
    return tuple(plain_name(part) if part.startswith("[") else part for part in parts)


def plain_name(reference: str) -> str:
    """Return ``x`` of ``[BUFFER_POOL|x]`` and ``[BUFFER_POOL:x]``; empty where no name follows the table."""
    inner = reference.strip("[]")
    bars = [i for i in (inner.find("|"), inner.find(":")) if i >= 0]
    return inner[min(bars) + 1 :] if bars else ""


def _is_plain(value: object) -> bool:
    return not isinstance(value, dict | list)


def _text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return str(value)


def _names_ports(key: str) -> bool:
    return "," in key.partition("|")[0]


def single_keys(key: str) -> Iterator[str]:
    """Yield the keys of single ports in a key: ``Ethernet0|3`` and ``Ethernet4|3`` of ``Ethernet0,Ethernet4|3``."""
    ports, bar, rest = key.partition("|")
    for port in ports.split(","):
        yield f"{port}{bar}{rest}"


_INSIDE = ("cpu", "ib", "rec")
"""Prefixes of the names of ports that carry no traffic of hosts: CPU, in-band and recirculation ports."""


class Card(Record):
    """The names of a card and its ASIC in the keys of a chassis; ``host`` None: there are none, or it is unknown.

    ``asic`` is in lower case, None if any ASIC matches. ``voq``: the device is a card of a VOQ chassis, and rows of
    queues without host and ASIC are dropped.
    """

    host: str | None
    asic: str | None
    voq: bool = False

    def is_named(self, host: str, asic: str) -> bool:
        """Return whether the host and ASIC of a key are those of this card."""
        return self.host == host and self.asic in (None, asic.lower())


def card_of(metadata: Mapping[str, str]) -> Card:
    """Return the card that a device is, by its ``DEVICE_METADATA|localhost``."""
    if metadata.get("switch_type") != "voq":
        return Card(None, None)
    asic = metadata.get("asic_name")
    return Card(metadata.get("hostname"), asic.lower() if asic else None, voq=True)


def carries_traffic(system_port: str) -> bool:
    """Return whether a system port (``host|asic|port``) carries traffic of hosts, as CPU and in-band ports do not."""
    name = system_port.rpartition("|")[2].lower().removeprefix("ethernet-")
    return "|" in system_port and not name.startswith(_INSIDE) and name != system_port.split("|")[1].lower()


class SystemPortRows(Record):
    """The rows of a table of queues: by system port, and those whose host, ASIC and port are no system port.

    The keys are names of ``SYSTEM_PORT``, or of a local port that has none there.
    """

    by_port: Mapping[str, tuple[ConfigRow, ...]]
    unknown: tuple[ConfigRow, ...]


def system_port_rows(tables: Tables, table: str, card: Card, names: Collection[str]) -> SystemPortRows:
    """Return the rows of ``QUEUE`` or ``BUFFER_QUEUE`` by ``names`` of system ports, without keys of other forms."""
    local = tables.table("PORT")
    own = {
        name.split("|")[2]: name
        for name in names
        if name.count("|") == 2 and card.is_named(*name.split("|")[:2])
    }
    by_port: dict[str, list[ConfigRow]] = {}
    unknown: list[ConfigRow] = []
    for key, row in tables.table(table).items():
        parts = key.split("|")
        if len(parts) != 4:
            continue
        place = "|".join(parts[:3])
        if card.is_named(*parts[:2]):
            place = own.get(parts[2], place)
            known = parts[2] in local
        else:
            known = place in names
        if known:
            by_port.setdefault(place, []).append(row)
        else:
            unknown.append(row)
    return SystemPortRows({place: tuple(rows) for place, rows in by_port.items()}, tuple(unknown))
