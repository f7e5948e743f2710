"""The configuration of a device compared by meaning with the rendered configuration of an intent.

Names do not count: maps, schedulers, WRED and buffer profiles that are bound at the same places and have the same
values are the same, with any name on either side; if their values differ, the values that differ are listed. Names of
pools count, because SONiC looks for them. Form does not count either: ``3-4`` and one row for each number, old brackets
around references, several ports joined in one key, a key's own host and ASIC, zeros before a number, the order of
lists, the name of the CABLE_LENGTH row, a DSCP that a map leaves out and that therefore goes to TC 0.

Lossless groups and their profiles that buffermgrd makes of speed, cable and ``pfc_enable`` count as part of the device:
it writes them into the CONFIG_DB of the running device.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from lossless.formats.sonic.from_model import OWNED, tables
from lossless.formats.sonic.read.tables import MASK_FIELDS, PORT_MAPS, plain_name, whole_number
from lossless.formats.sonic.to_model.ports import index_range
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DSCPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.sonic.read.tables import Tables
    from lossless.model.fabric.model import Switch

Fields = dict[str, str]
Rows = dict[str, Fields]
State = Literal["same", "changed", "gone", "new"]

REFERENCES = {
    **{("PORT_QOS_MAP", field): table for field, table in PORT_MAPS.items()},
    ("QUEUE", "scheduler"): "SCHEDULER",
    ("QUEUE", "wred_profile"): "WRED_PROFILE",
    ("BUFFER_PG", "profile"): "BUFFER_PROFILE",
    ("BUFFER_QUEUE", "profile"): "BUFFER_PROFILE",
}
"""Fields of CONFIG_DB that name a row, by table and field, and the table of that row."""
LISTS = ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")
OBJECTS = tuple(dict.fromkeys(REFERENCES.values()))
NO_FIELDS = "NULL"
"""The field by which Redis keeps a row that has none (sonic-swss-common, ConfigDBConnector)."""
_NUMBERED = ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE")
_MAPS = frozenset(PORT_MAPS.values())


class Cell(NamedTuple):
    """One field of a CONFIG_DB row, deployed and rendered, by the device's names; a side that lacks it has None."""

    table: str
    key: str
    field: str
    deployed: str | None
    rendered: str | None

    @property
    def state(self) -> State:
        """The rendered value beside the deployed one: the ``same``, ``changed``, ``gone`` or ``new``."""
        if self.deployed == self.rendered:
            return "same"
        if self.rendered is None:
            return "gone"
        return "new" if self.deployed is None else "changed"

    @property
    def port(self) -> str | None:
        """The key without its queue or group number: the port, if any; None for maps, schedulers, profiles, pools."""
        return None if self.table in (*OBJECTS, "BUFFER_POOL") else self.key.rpartition("|")[0] or self.key

    @property
    def number(self) -> int | None:
        """The queue or priority group number at the end of the key; None in other tables and for a range."""
        return whole_number(self.key.rpartition("|")[2]) if self.table in _NUMBERED else None


def compare(deployed: Tables, rendered: Tables, switch: Switch) -> tuple[Cell, ...]:
    """Return every field of the tables that rendering owns, deployed and rendered, table by table and row by row.

    ``switch`` is the model of the deployed tables, with the rows that the device makes itself.
    """
    own = _own_prefix(deployed)
    ours, theirs = _canonical(rendered, own), _canonical(deployed, own)
    _add_made(theirs, ours, switch)
    names = _ObjectNames(theirs, ours)
    cells: list[Cell] = []
    for table in OWNED:
        cells += _cells(table, theirs[table], names.renamed(table, ours[table]))
    return tuple(cells)


def _add_made(theirs: dict[str, Rows], ours: dict[str, Rows], switch: Switch) -> None:
    """Add to the deployed rows the BUFFER_PG rows and buffer profiles that buffermgrd generates.

    No row is added for a group of a PFC priority without a rendered row: buffermgrd generates that group from the
    rendered configuration too.
    """
    groups = {
        f"{port.name}|{group.number}": group.buffer.name
        for port in switch.ports
        for group in (port.qos.groups if port.qos else ())
        if group is not None and group.generated and group.buffer is not None
    }
    profiles = tables(switch).get("BUFFER_PROFILE", {})
    for key, name in groups.items():
        port, _, number = key.rpartition("|")
        paused = ours["PORT_QOS_MAP"].get(port, {}).get("pfc_enable", "").split(",")
        if key not in ours["BUFFER_PG"] and number in paused:
            continue
        theirs["BUFFER_PG"].setdefault(key, {"profile": name})
        theirs["BUFFER_PROFILE"].setdefault(name, profiles[name])


def _cells(table: str, theirs: Rows, ours: Rows) -> Iterator[Cell]:
    for key in sorted(theirs.keys() | ours.keys(), key=natural_key):
        mine, other = theirs.get(key), ours.get(key)
        fields = sorted({*(mine or ()), *(other or ())}, key=natural_key)
        for field in fields:
            yield Cell(
                table, key, field, mine.get(field) if mine else None, other.get(field) if other else None
            )


class _ObjectNames:
    """Names of the device for rendered QoS maps, schedulers, WRED and buffer profiles.

    All rendered rows that get the same name have equal values. So two rows at one place count as equal where the
    deployed row has the values of the rendered one.
    """

    def __init__(self, theirs: Mapping[str, Rows], ours: Mapping[str, Rows]) -> None:
        self._theirs, self._ours = theirs, ours
        self._pairs: dict[str, dict[str, str]] = {}
        self._named: dict[str, Rows] = {}
        for table, votes in self._votes().items():
            self._pairs[table], self._named[table] = self._pair(table, votes)

    def _votes(self) -> dict[str, Counter[tuple[str, str]]]:
        """Return, by pair of a rendered and a deployed name, the number of fields in which they take the same place."""
        votes: dict[str, Counter[tuple[str, str]]] = {table: Counter() for table in OBJECTS}
        for (table, field), target in REFERENCES.items():
            for key, row in self._ours[table].items():
                other = self._theirs[table].get(key, {}).get(field)
                if field in row and other:
                    votes[target][row[field], other] += 1
        return votes

    def _pair(self, table: str, votes: Counter[tuple[str, str]]) -> tuple[dict[str, str], Rows]:
        """Return the device's name of each rendered name, and the rendered rows by all names that stand for them.

        A name of the device goes to rows of equal values first, then by the number of places, then to its namesake.
        Where the device has one row for several rendered ones whose values differ, and no other name is free, the
        names of the table are taken as they are rendered.
        """
        theirs, ours = self._theirs[table], self._ours[table]
        pairs: dict[str, str] = {}
        named: Rows = {}
        bound = (pair for pair in votes if pair[0] in ours)
        order = sorted(bound, key=lambda pair: (-votes[pair], *map(natural_key, pair)))
        namesakes = [(mine, mine) for mine in sorted(ours, key=natural_key)]
        equal = [pair for pair in (*order, *namesakes) if ours[pair[0]] == theirs.get(pair[1])]
        for mine, other in (*equal, *order, *namesakes):
            if mine not in pairs and named.setdefault(other, ours[mine]) == ours[mine]:
                pairs[mine] = other
        if any(mine not in pairs for mine in ours):
            pairs, named = dict(namesakes), {**ours}
        rendered = list(ours.values())
        for other, row in theirs.items():
            if other not in named and row in rendered:
                named[other] = row
        return pairs, named

    def renamed(self, table: str, rows: Rows) -> Rows:
        """Return the rendered rows of a table with the device's names."""
        if table in OBJECTS:
            return self._named[table]
        return {key: {f: self._value(table, key, f, v) for f, v in row.items()} for key, row in rows.items()}

    def _value(self, table: str, key: str, field: str, value: str) -> str:
        target = REFERENCES.get((table, field))
        if table in LISTS:
            return ",".join(sorted(self._name("BUFFER_PROFILE", name, None) for name in value.split(",")))
        if target is None:
            return value
        return self._name(target, value, self._theirs[table].get(key, {}).get(field))

    def _name(self, table: str, name: str, there: str | None) -> str:
        """Return the device's name of a rendered map or profile: the bound one, ``there``, if equal, else its pair."""
        mine = self._ours[table].get(name)
        if there is not None and mine == self._theirs[table].get(there) == self._named[table].get(there):
            return there
        return self._pairs[table].get(name, name)


def _own_prefix(deployed: Tables) -> str:
    """Return ``hostname|asic|``, which precedes the device's own ports in the keys of a VOQ chassis."""
    meta = deployed.row("DEVICE_METADATA", "localhost")
    fields = meta.fields if meta else {}
    return f"{fields.get('hostname', '')}|{fields.get('asic_name', '')}|"


def _canonical(read: Tables, own: str) -> dict[str, Rows]:
    """Return the tables that rendering owns in canonical form; a DSCP that a map leaves out is there with TC 0."""
    canonical = {name: dict(_rows(name, read, own)) for name in OWNED}
    for row in canonical["DSCP_TO_TC_MAP"].values():
        row.update({str(dscp): "0" for dscp in DSCPS if str(dscp) not in row})
    return canonical


def _rows(name: str, read: Tables, own: str) -> Iterator[tuple[str, Fields]]:
    for key, row in read.table(name).items():
        fields = dict(_fields(name, tuple(row.fields.items())))
        if name == "CABLE_LENGTH":
            yield from ((port, {"length": length}) for port, length in fields.items())
            continue
        place, _, numbers_text = key.removeprefix(own).rpartition("|")
        numbers = index_range(numbers_text) if name in _NUMBERED else None
        if numbers is None or place.count("|"):
            yield key, fields
        else:
            yield from ((f"{place}|{number}", fields) for number in numbers)


@lru_cache(maxsize=4096)
def _fields(table: str, fields: tuple[tuple[str, str], ...]) -> Fields:
    """Return the fields of a row in canonical form; cached, as the rows of most ports are equal."""
    return {_index(table, f): _canonical_value(table, f, v) for f, v in _plain_last(fields) if f != NO_FIELDS}


def _plain_last(fields: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return the fields of a row with ``26`` after ``026``, so that ``26`` takes effect if a map has both."""
    return sorted(fields, key=lambda item: -len(item[0]))


def _index(table: str, field: str) -> str:
    """Return the name of a field; a number in a QoS map is without leading zeros."""
    number = whole_number(field) if table in _MAPS else None
    return field if number is None else str(number)


def _canonical_value(table: str, field: str, value: str) -> str:
    text = value.strip()
    if table in LISTS:
        return ",".join(sorted(_plain(name.strip()) for name in text.split(",") if name.strip()))
    if field in MASK_FIELDS:
        return ",".join(sorted({part.strip() for part in text.split(",") if part.strip()}))
    number = whole_number(text)
    return _plain(text) if number is None else str(number)


def _plain(text: str) -> str:
    return plain_name(text) if text.startswith("[") and text.endswith("]") else text
