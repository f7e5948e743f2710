"""SONiC's config updater between two CONFIG_DBs: its rules, time, order of rows, ports taken down, rows emptied.

It changes rows of some tables only while their port is down, and puts its moves in an order in which every
configuration between is valid by SONiC's models. A row that is removed while a port that is up still refers to it
cannot be removed at once: its fields are removed one by one, while traffic runs by the fields that are left, before the
port goes down to be rebound (sonic-utilities generic_config_updater, patch_sorter.py @691b1bb: the order of its
generators of moves).

It changes first rows with all ports up, then rows port by port, then the rest. The updater searches for an order in
which every configuration between is valid by SONiC's models; this is the common pattern of its recorded moves, not
the moves one by one (sonic-utilities generic_config_updater, patch_sorter.py @691b1bb).

Its rules are on one element of a difference, by the version of its code and the device.
``profiles/sonic/updater.json`` has the rules with their sources. A release runs the code of its branch; the code then
compares the date in the build string of the device with the first release of each chip.
"""

from __future__ import annotations

import os
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from lossless.ground.basics.files import data_dir
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.formats.sonic.changes.json_patch import Element
    from lossless.formats.sonic.validate.schema import RowSchema


NEWEST = "master"
"""The branch whose builds carry no release number that the updater could compare."""


class TimeRange(NamedTuple):
    """A range of time, from ``least_s`` to ``most_s`` whole seconds."""

    least_s: int = 0
    most_s: int = 0


class PatchTime(NamedTuple):
    """Times of ``config apply-patch`` in public sources, in milliseconds: of each move, and of a patch without moves.

    ``least_ms`` is the time that the updater spends between moves at least, ``most_ms`` the longest mean time of an
    operation that was measured; neither is a limit. ``measured`` is the release of the measurement, empty if the source
    names none.
    """

    least_ms: int
    most_ms: int
    empty_ms: int
    measured: str
    sources: str

    def of(self, fewest: int, most: int) -> TimeRange:
        """Return the time of a patch that the updater carries out in ``fewest`` to ``most`` moves."""
        most_ms = self.empty_ms + self.most_ms * most
        return TimeRange(self.least_ms * fewest // 1000, -(-most_ms // 1000))


_EMPTY_MS = 10_000
"""An empty patch on a line card with three namespaces, of release 202405 (Azure/sonic-buildimage-msft#2733)."""
_READS_BACK = PatchTime(
    500,
    11_200,
    _EMPTY_MS,
    "202405",
    "sonic-utilities#4592 (48 operations took 8 min 55 s), sonic-buildimage-msft#2733 (an empty patch took 10 s)",
)
"""Releases to 202511 read the configuration back after each move, which takes 0.5 s to 1 s (a comment in
generic_config_updater/change_applier.py of sonic-utilities 202605 @92c565b; branches 202305 @86aa8c4, 202311 @8654634,
202405 @ced89eb, 202411 @ac66b67, 202505 @7511bf2 and 202511 @a092c97 call get_config_db_as_json there)."""
_WAITS = PatchTime(
    1_000,
    1_500,
    _EMPTY_MS,
    "",
    "sonic-mgmt#26271 (59 operations took 76 s), sonic-mgmt#26274 (34 changes took 50 s), sonic-buildimage-msft#2733 "
    "(an empty patch took 10 s)",
)
"""Release 202605 and master wait for 1 s instead, and combine moves (change_applier.py and patch_sorter.py of branches
202605 @92c565b and master @691b1bb)."""


def patch_time(release: str) -> PatchTime:
    """Return the times of ``config apply-patch`` on a release."""
    return _WAITS if release in ("202605", NEWEST) else _READS_BACK


class UpdaterDevice(NamedTuple):
    """The properties of a device on which the updater's rules depend.

    ``release`` chooses the version of the code. ``asic_type`` and ``build_version`` are those that the device reports;
    if they are unknown (None), the chip follows from the HWSKU alone and the date from the release. ``advertised`` has
    the fields of PORT_TABLE in STATE_DB by port: the speeds and FEC modes that ports advertise.
    """

    hwsku: str
    release: str = NEWEST
    asic_type: str | None = None
    build_version: str | None = None
    advertised: Mapping[str, Mapping[str, str]] = {}


class UpdaterRules(NamedTuple):
    """The updater's rules for one device.

    ``chip`` is the updater's name of the ASIC, None where it does not list the HWSKU; ``date`` is the number that it
    compares with the first release of a chip, None where every chip it lists passes. ``never`` has operations with
    their paths that it refuses on any device.
    """

    device: UpdaterDevice
    chip: str | None
    date: str | None
    own: Mapping[str, Any]
    never: frozenset[tuple[str, str]]

    def refusal(self, element: Element) -> str | None:
        """Return why the updater refuses this change of a table, row or field; None if it permits it."""
        if (element.op, "/".join(element.path)) in self.never:
            return "the updater never does that"
        return self.validator_refusal(element)

    def validator_refusal(self, element: Element) -> str | None:
        """Return why the updater's validator of a table refuses a change in it; None if no validator refuses it."""
        own = self.own["tables"].get(element.path[0])
        if element.path[0] == "PORT" and "advertised" in self.own:
            return next(_not_advertised(element, self.own["advertised"], self.device.advertised), None)
        if own is None:
            return None
        if len(element.path) == 2 and "rows" in own:
            return None if element.op in own["rows"] else self._not_permitted(element)
        if self.chip is None:
            return f"the updater of {self.device.release} does not list HWSKU {self.device.hwsku}"
        names = _names(element, whole=own["fields"] == "whole")
        if all(self._permitted(name, element.op, own) for name in names):
            return None
        return self._not_permitted(element)

    def _permitted(self, name: str, op: str, own: Mapping[str, Any]) -> bool:
        seen = name if own["fields"] == "whole" else name.rpartition("/")[2]
        scenario = next((row for row in own["scenarios"] if seen in row["fields"]), None)
        if scenario is None or op not in scenario["operations"]:
            return False
        since = scenario["since"].get(self.chip)
        return since is not None and (self.date is None or self.date >= since)

    def _not_permitted(self, element: Element) -> str:
        place = {1: "table", 2: "row"}.get(len(element.path), "field")
        if element.op == "move":
            return f"the updater sees it as moved from a {place} that goes, and permits no moves"
        did = {"add": "adding", "replace": "changing", "remove": "removing"}.get(element.op, element.op)
        what = {"table": "the table", "row": "a row"}.get(place, "this field")
        return f"the updater of {self.device.release} does not permit {did} {what}"


@cache
def updater_table() -> dict[str, Any]:
    """Return the content of ``profiles/sonic/updater.json``: the checks of SONiC's config updater."""
    import json

    # Plain strings: pathlib costs a linter's start a third of an interpreter's.
    path = os.path.join(data_dir("profiles"), "sonic", "updater.json")  # noqa: PTH118
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        table: dict[str, Any] = json.load(file)
    return table


def rules_of(device: UpdaterDevice) -> UpdaterRules | None:
    """Return the updater's rules for a device, None if those of its release are unknown."""
    table = updater_table()
    known = table["releases"].get(device.release)
    if known is None:
        return None
    own = table["rules"][known["rules"]]
    chip = chip_of(device.hwsku, device.asic_type, table["chips"][known["chips"]])
    never = {(op, path) for rules in (table, own) for op, paths in _never(rules) for path in paths}
    return UpdaterRules(device, chip, _date(device), own, frozenset(never))


def _never(rules: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[str]]]:
    yield from ((op, paths) for op, paths in rules.get("never", {}).items() if op != "source")


def chip_of(hwsku: str, asic_type: str | None, chips: Mapping[str, Any]) -> str | None:
    """Return the updater's name of a switch's ASIC, None where it lists none for the HWSKU.

    Some ASIC types are names themselves; else HWSKUs of Mellanox are listed whole, those of Broadcom by a part of the
    name.
    """
    if asic_type in chips.get("types", ()):
        return asic_type
    name = hwsku.lower()
    if asic_type in ("mellanox", "vs", None):
        for chip, listed in chips["whole"].items():
            if name in map(str.lower, listed):
                return str(chip)
    if asic_type in ("broadcom", "vs", None):
        for chip, listed in chips["part"].items():
            if any(part.lower() in name for part in listed):
                return str(chip)
    return None


def _date(device: UpdaterDevice) -> str | None:
    """Return the date that the updater compares: the last part of eight digits of the build string, None without one.

    Where the build string is unknown, this is the release and ``00``, None for ``master``."""
    if device.build_version is None:
        return None if device.release == NEWEST else f"{device.release}00"
    dates = [part for part in device.build_version.split(".") if len(part) == 8 and part.isdigit()]
    return dates[-1] if dates else None


def _names(element: Element, *, whole: bool) -> list[str]:
    """Return the path below the table in lower case; if the value is a dict, a path for each of its keys.

    ``whole``: the path is without parts that have digits.
    """
    parts = [part for part in element.path[1:] if not (whole and any(map(str.isdigit, part)))]
    place = "/".join(parts).lower()
    if isinstance(element.value, dict):
        return [f"{place}/{key}" if place else key for key in element.value]
    return [place]


def _not_advertised(
    element: Element, fields: Mapping[str, Any], advertised: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """Yield refusals of speeds and FEC modes to be set that the device does not advertise for their port."""
    if element.op == "remove":
        return
    for port, field, value in _speeds_and_fecs(element, tuple(fields)):
        if not _offered(value, field, fields[field], advertised.get(port, {})):
            yield f"the device does not advertise {field} {value} on {port}"


def _speeds_and_fecs(element: Element, fields: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield port, field and value of each speed or FEC mode to check; of a new row or table, only the first field."""
    port, value = element.path[1] if len(element.path) > 1 else "", element.value
    if len(element.path) > 2:
        yield from ((port, field, value) for field in fields if element.path[-1].endswith(field))
    elif isinstance(value, dict):
        rows = {port: value} if port else {name: row for name, row in value.items() if isinstance(row, dict)}
        for field in fields:
            named = [(name, field, row[field]) for name, row in rows.items() if field in row]
            if named:
                yield from named
                return


def _offered(value: Any, field: str, rule: Mapping[str, Any], advertised: Mapping[str, str]) -> bool:
    offered = advertised.get(rule["field"], "")
    if field == "speed":
        speeds = [_number(speed) for speed in offered.split(",") if speed]
        return not speeds or (None not in speeds and _number(value) in speeds)
    names = [name.strip() for name in offered.split(",")] if offered else rule["otherwise"]
    return isinstance(value, str) and value.strip() in ([] if offered == "N/A" else names)


def _number(text: Any) -> int | None:
    try:
        return int(text)
    except (TypeError, ValueError):
        return None


Row = tuple[str, str]
"""The table and key of a row of CONFIG_DB."""
_UP, _DOWN = "up", "down"


class EmptiedRow(NamedTuple):
    """A row to be removed that first loses fields while other rows refer to it; ``fields`` is how many it loses.

    ``in_use``: one of the referring rows is of a port that is up, or of no port.
    """

    table: str
    key: str
    fields: int
    in_use: bool


def ports_down(running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ports that the updater takes from up to down during a change, each once, in natural order.

    Those are ports with changed rows in tables that need their port down, and ports that the target has down.
    """
    changed = {key.partition("|")[0] for table in _tables() for key in _changed(running, target, table)}
    before, after = _rows(running, "PORT"), _rows(target, "PORT")
    closed = {port for port in after if _admin(after, port) == _DOWN}
    up = {port for port in (changed | closed) if _admin(before, port) == _UP}
    return tuple(sorted(up, key=natural_key))


def changed_rows(running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return the rows that are added, removed or changed, by table in alphabetical and by key in natural order."""
    tables = sorted(running.keys() | target.keys())
    return tuple(
        (table, key) for table in tables for key in sorted(_changed(running, target, table), key=natural_key)
    )


def needs_port_down(table: str) -> bool:
    """Return whether the updater changes rows of a table only while their port is down."""
    return table in _tables()


def referred_rows(configuration: Mapping[str, Any]) -> frozenset[Row]:
    """Return the rows that rows of tables that need their port down refer to by name."""
    return frozenset(named for named, _ in _references(configuration))


def emptied_rows(running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[EmptiedRow, ...]:
    """Return the rows to be removed that lose fields first, while other rows still refer to them, sorted."""
    tables = {table for others in _reference_fields().values() for table in others}
    gone = {
        (table, key) for table in tables for key in _rows(running, table) if key not in _rows(target, table)
    }
    users: dict[Row, set[Row]] = {}
    for named, user in _references(running) if gone else ():
        if named in gone:
            users.setdefault(named, set()).add(user)
    return tuple(
        EmptiedRow(*row, count, any(_in_use(running, user) for user in late))
        for row, own in sorted(users.items())
        if (late := _rebound_late(row, own, running, target))
        and (count := _removable(row[0], _rows(running, row[0])[row[1]]))
    )


def _rebound_late(
    row: Row, users: Iterable[Row], running: Mapping[str, Any], target: Mapping[str, Any]
) -> list[Row]:
    """Return the rows that still refer to a row to be removed when the updater removes its first field.

    A port that is up keeps its rows until no other move is left. Without such a port, removed rows and fields that
    change together come first, then single fields in the order of the tables of the running configuration.
    """
    if any(_is_up(running, user) for user in users):
        return [user for user in users if _is_up(running, user)]
    bulk = {user for table in {user[0] for user in users} for user in _in_bulk(table, running, target)}
    left = [user for user in users if user[1] in _rows(target, user[0]) and user not in bulk]
    order = list(running)
    return [user for user in left if order.index(user[0]) > order.index(row[0])]


def _in_bulk(table: str, running: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[Row]:
    """Yield rows of which the updater changes or removes several fields at once, alone or with rows of one key prefix.

    Rows of ports that are up are left out."""
    before, after = _rows(running, table), _rows(target, table)
    for changed in (_fields_replaced, _fields_removed):
        counts = {key: len(changed(row, after[key])) for key, row in before.items() if key in after}
        some = [(key, count) for key, count in counts.items() if count]
        for _, group in groupby(some, lambda pair: pair[0].rpartition("|")[0]):
            members = list(group)
            free = [key for key, _ in members if not _is_up(running, (table, key))]
            if sum(count for _, count in members) > 1 and len(free) == len(members):
                yield from ((table, key) for key in free)
            else:
                yield from ((table, key) for key, count in members if count > 1 and key in free)


def _fields_replaced(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [name for name in before if name in after and before[name] != after[name]]


def _fields_removed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [name for name in before if name not in after]


def _is_up(running: Mapping[str, Any], row: Row) -> bool:
    """Return whether a row is of a port that is up."""
    return _admin(_rows(running, "PORT"), row[1].partition("|")[0]) == _UP


def _in_use(running: Mapping[str, Any], row: Row) -> bool:
    """Return whether a row is of a port that is up, or of no port."""
    return _admin(_rows(running, "PORT"), row[1].partition("|")[0]) in (_UP, None)


def _tables() -> tuple[str, ...]:
    return tuple(updater_table()["ports_down"]["tables"])


def _admin(ports: Mapping[str, Any], port: str) -> str | None:
    """Return the admin status of a port, ``down`` where its row has none; None where there is no such port."""
    row = ports.get(port)
    return str(row.get("admin_status", _DOWN)) if isinstance(row, dict) else None


def _changed(running: Mapping[str, Any], target: Mapping[str, Any], table: str) -> Iterator[str]:
    before, after = _rows(running, table), _rows(target, table)
    yield from (key for key in before.keys() | after.keys() if before.get(key) != after.get(key))


def _references(configuration: Mapping[str, Any]) -> Iterator[tuple[Row, Row]]:
    """Yield each row that is named by a row of a table that needs its port down, and the row that names it."""
    for (table, field), others in _reference_fields().items():
        for key, row in _rows(configuration, table).items():
            value = row.get(field) if isinstance(row, dict) else None
            names = value if isinstance(value, list) else str(value).split(",") if value else ()
            for name in names:
                yield from (((other, str(name).strip()), (table, key)) for other in others)


@cache
def _reference_fields() -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the tables whose rows a field may name, by table and field; the tables need their port down."""
    return {
        (table, name): others
        for table in _tables()
        for shape in _shapes(table)
        for name, field in shape.fields.items()
        if field.type and (others := tuple(arm.name for arm in field.type.arms if arm.kind == "ref"))
    }


def _shapes(table: str) -> tuple[RowSchema, ...]:
    from lossless.formats.sonic.validate.schema import table_schema

    schema = table_schema(table, None)
    return schema.lists if schema else ()


def _removable(table: str, row: Any) -> int:
    """Return how many fields of a row can be removed one by one, while the row stays valid by SONiC's YANG models."""
    shapes = _shapes(table)
    if not shapes or not isinstance(row, dict):
        return 0
    left = dict(row)
    while (name := next((name for name in left if _may_go(shapes[0], left, name)), None)) is not None:
        del left[name]
    return len(row) - len(left)


def _may_go(shape: RowSchema, row: Mapping[str, Any], name: str) -> bool:
    from lossless.formats.sonic.validate.checks import check_fields, context_of

    rest: dict[object, object] = {field: value for field, value in row.items() if field != name}
    return not check_fields(shape, rest, context_of({}, None)).flaws


def _rows(configuration: Mapping[str, Any], table: str) -> Mapping[str, Any]:
    rows = configuration.get(table)
    return rows if isinstance(rows, dict) else {}


Phase = Literal["ports up", "no port down", "port down", "last"]


class MovePhase(NamedTuple):
    """Rows of CONFIG_DB that change together, before those of the next phase; ``port`` (if any) is down meanwhile.

    ``ports up``: rows that all ports share, and rows that need no port down. ``no port down``: rows of tables that need
    their port down, of ports that are down already or of none. ``last``: removed ports, and removed rows that others
    referred to.
    """

    phase: Phase
    rows: tuple[Row, ...]
    port: str | None = None


def move_phases(running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[MovePhase, ...]:
    """Return the phases of a change that the updater accepts, in its order, without empty ones."""
    return tuple(phase for phase in _phases(running, target) if phase.rows or phase.port)


def _phases(running: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[MovePhase]:
    changed = changed_rows(running, target)
    down = ports_down(running, target)
    # Rows of a port name it by their key.
    named = {*referred_rows(running), *(("PORT", port) for port in running.get("PORT", {}))}
    gone = {row for row in named if row[1] not in target.get(row[0], {})}
    bound = [row for row in changed if needs_port_down(row[0])]
    shared = tuple(
        row
        for row in changed
        if not needs_port_down(row[0]) and row not in gone and not _only_admin(row, running, target)
    )
    yield MovePhase("ports up", shared)
    yield MovePhase("no port down", tuple(row for row in bound if _port(row) not in down))
    for port in down:
        yield MovePhase("port down", tuple(row for row in bound if _port(row) == port), port)
    yield MovePhase("last", tuple(row for row in changed if row in gone))


def _port(row: Row) -> str:
    return row[1].partition("|")[0]


def _only_admin(row: Row, running: Mapping[str, Any], target: Mapping[str, Any]) -> bool:
    """Return whether a changed PORT row differs only in admin status, which is part of taking it down and up."""
    before, after = (side.get(row[0], {}).get(row[1]) for side in (running, target))
    if row[0] != "PORT" or not isinstance(before, dict) or not isinstance(after, dict):
        return False
    return {**before, "admin_status": None} == {**after, "admin_status": None}
