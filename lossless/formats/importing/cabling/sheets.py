"""Reads files about cabling: sheets of cables, devices and interfaces as CSV, NetBox's exports, and other known kinds.

The kind of each file is recognized, and their content combined. Sheets are read by the names of their columns.

Of cables: a device and a port for each end, then length, its unit and speed where they are known. The columns may be
called ``a device``, ``from port``, ``Device B``, ``side_b_name``, ``length (m)``; without headings they are device,
port, device, port, length, speed. NetBox's own are those of netbox-community/netbox netbox/dcim/tables/cables.py
@0901694, and of its import form (``side_a_device``, ``side_a_name``, ``length_unit``).

NetBox's devices, interfaces and cables are as its API returns them, one list a file, or several in one object.
Fields: netbox-community/netbox netbox/dcim/api/serializers_/cables.py @117f2f8 (``a_terminations``,
``b_terminations``, ``length``, ``length_unit``, ``status``) and netbox/netbox/api/serializers/generic.py @3b767fd
(``object_type``, ``object``); before version 3.3 an end was ``termination_a`` of ``termination_a_type``. ``speed`` of
an interface counts kilobits (``speed (Kbps)`` there). Consoles and power are skipped, and so are cables that are
being removed (``decommissioning``).
"""

from __future__ import annotations

import csv
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from lossless.formats.importing.cabling.cables import (
    LENGTH_UNITS,
    CableFile,
    FileCable,
    FileLine,
    looks_like_lldp,
    parse_cable_length,
    parse_speed,
    read_lldp,
    read_lldp_json,
)
from lossless.ground.basics.errors import InputError, Problem, QuantityError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import unsigned_number
from lossless.ground.documents.json.document import load_json
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lossless.formats.importing.cabling.cables import LldpNeighbor
    from lossless.ground.documents.text import Document


_LLDP_NAMES = re.compile(r"(?i)(show[-_ ]?)?lldp.*")


class CableFiles(NamedTuple):
    """The combined content of files about cabling, and their problems.

    ``listed`` are devices in sheets or exports, ``listening`` those whose own LLDP was given, by file.
    """

    files: tuple[CableFile, ...]
    problems: tuple[Problem, ...]
    listed: frozenset[str]
    listening: dict[str, str]

    @property
    def cables(self) -> list[FileCable]:
        """The cables of all files, one for each statement about it."""
        return [cable for file in self.files for cable in file.cables]


def read_files(texts: Mapping[str, str], known: Collection[str] = ()) -> CableFiles:
    """Return the content of files about cabling; LLDP files may be of ``known`` devices or of those in the files."""
    cable_files: list[CableFile] = []
    problems: list[Problem] = []
    heard: dict[str, tuple[LldpNeighbor, ...]] = {}
    for file, text in texts.items():
        try:
            read = _read(text, file)
            if isinstance(read, CableFile):
                cable_files.append(read)
            else:
                heard[file] = read
        except InputError as error:
            problems += error.problems
    problems += [problem for cable_file in cable_files for problem in cable_file.problems]
    listed = frozenset(_device_names(cable_files))
    named = {*known, *listed, *(neighbor.name for all_heard in heard.values() for neighbor in all_heard)}
    listening = {file: _device_of(file, named) for file in heard}
    cable_files += [CableFile(cables=_heard_cables(listening[file], file, heard[file])) for file in heard]
    return CableFiles(tuple(cable_files), tuple(problems), listed, listening)


def _device_names(cable_files: Iterable[CableFile]) -> Iterable[str]:
    for cable_file in cable_files:
        yield from (end.device for cable in cable_file.cables for end in (cable.a, cable.b))
        yield from (name for name, _, _ in cable_file.roles)


def _heard_cables(device: str, file: str, heard: Iterable[LldpNeighbor]) -> tuple[FileCable, ...]:
    return tuple(
        FileCable(
            CableEnd(device, neighbor.port),
            CableEnd(neighbor.name, next(iter(neighbor.ports), None)),
            None,
            None,
            FileLine(file, neighbor.line),
            neighbor.ports,
            heard=True,
        )
        for neighbor in heard
    )


def _read(text: str, file: str) -> CableFile | tuple[LldpNeighbor, ...]:
    """Return the content of a file about cabling, whose kind is recognized by its content; of LLDP, the neighbors."""
    if not text.lstrip().startswith(("{", "[")):
        return read_lldp(text, file) if looks_like_lldp(text) else read_sheet(text, file)
    document = load_json(text, file, lists=True)
    if "lldp" in document.data:
        return read_lldp_json(document)
    if is_netbox(document.data):
        return read_netbox(document)
    message = "JSON of no kind that is known here: expected that of lldpctl, or of NetBox's API"
    raise InputError([Problem(file, 1, 1, message)])


def _device_of(file: str, known: Collection[str]) -> str:
    """Return the device that an LLDP file belongs to: the known one with the name of the file or of its folder.

    Without such a device it is the name of the file, or that of the folder of a file like ``lldp.txt``.
    """
    path = PurePath(file)
    for candidate in (path.name, path.stem, path.parent.name):
        if candidate in known:
            return candidate
    return path.parent.name if _LLDP_NAMES.fullmatch(path.stem) and path.parent.name else path.stem


_TYPE = re.compile(r"(?<![0-9.])([0-9.]++)([gt]?)base-|\(([0-9.]+)([GT])E\)")
_INTERFACE = "dcim.interface"
_PANELS = ("dcim.frontport", "dcim.rearport")


def interface_bps(kind: str) -> int | None:
    """Return the speed of an interface type, ``400gbase-x-osfp`` or ``OSFP (400GE)``; None for a type without one."""
    match = _TYPE.search(kind)
    if match is None:
        return None
    number, unit = (match[1], match[2]) if match[1] else (match[3], match[4])
    scale = {"g": 10**9, "t": 10**12, "": 10**6}[unit.lower()]
    return int(float(number) * scale)


def is_netbox(data: dict[Any, Any]) -> bool:
    """Return whether JSON has a list where responses of NetBox's API have one."""
    return any(True for _ in _lists(data))


def read_netbox(document: Document) -> CableFile:
    """Return the device roles, interface speeds and cables of a NetBox export; unusable cables are problems."""
    return _Export(document).contents()


def _lists(data: dict[Any, Any]) -> Iterator[tuple[tuple[str | int, ...], list[Any]]]:
    """Yield the lists of objects of a NetBox export, each after its path."""
    if 0 in data:
        # The items of a list are in the data by their numbers.
        yield (), list(data.values())
    else:
        for key in ("results", "devices", "interfaces", "cables"):
            value = data.get(key)
            if isinstance(value, list):
                yield (key,), value
            elif isinstance(value, dict) and isinstance(value.get("results"), list):
                yield (key, "results"), value["results"]


class _Export:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._cables: list[FileCable] = []
        self._roles: list[tuple[str, str, FileLine]] = []
        self._speeds: list[tuple[CableEnd, int]] = []
        self._rated: list[tuple[CableEnd, int]] = []
        self._problems: list[Problem] = []

    def contents(self) -> CableFile:
        listed = [
            ((*path, number), item)
            for path, items in _lists(self._document.data)
            for number, item in enumerate(items)
            if isinstance(item, dict)
        ]
        spans = self._document.locate_many([path for path, _ in listed])
        for path, item in listed:
            self._take(item, FileLine(self._document.file, spans[path].line))
        speeds, rated = tuple(self._speeds), tuple(self._rated)
        return CableFile(tuple(self._cables), tuple(self._roles), speeds, rated, tuple(self._problems))

    def _take(self, item: dict[str, Any], place: FileLine) -> None:
        if "a_terminations" in item or "termination_a_type" in item:
            self._take_cable(item, place)
        elif "device_type" in item:
            role = _text(item.get("role") or item.get("device_role"), "slug", "name")
            if role and item.get("name"):
                self._roles.append((str(item["name"]), role, place))
        elif "device" in item and "type" in item:
            self._take_interface(item)

    def _take_interface(self, item: dict[str, Any]) -> None:
        device, name = _text(item["device"], "name", "display"), str(item.get("name") or "")
        kbps, rated_bps = item.get("speed"), interface_bps(_text(item["type"], "value"))
        if not device or not name:
            return
        if isinstance(kbps, int) and kbps:
            self._speeds.append((CableEnd(device, name), kbps * 1000))
        elif rated_bps:
            self._rated.append((CableEnd(device, name), rated_bps))

    def _take_cable(self, item: dict[str, Any], place: FileLine) -> None:
        if _text(item.get("status"), "value").lower() == "decommissioning":
            return
        ends = [_ends(item, side) for side in ("a", "b")]
        kinds = {kind for side in ends for kind, _ in side}
        name = f"cable {item.get('label') or item.get('id') or ''}".strip()
        if _INTERFACE not in kinds and not kinds & {*_PANELS}:
            return
        why = _refusal(ends, kinds)
        if why is not None:
            self._problems.append(place.problem(f"{name}: {why}"))
            return
        (_, a), (_, b) = ends[0][0], ends[1][0]
        if a is None or b is None:
            self._problems.append(place.problem(f"{name}: an end names no device and interface"))
            return
        try:
            length = item.get("length")
            cable_m = (
                None
                if length is None
                else parse_cable_length(str(length), _text(item.get("length_unit"), "value"))
            )
        except QuantityError as error:
            self._problems.append(place.problem(f"{name}: {error}"))
            return
        self._cables.append(FileCable(a, b, None, cable_m, place))


def _refusal(ends: list[list[tuple[str, CableEnd | None]]], kinds: set[str]) -> str | None:
    if kinds & {*_PANELS}:
        return "it ends at a patch panel; the link goes on there, and its whole length is not said here"
    if any(not side for side in ends):
        return "one end is not connected"
    if any(len(side) > 1 for side in ends):
        return "it has several ends on one side; write each link of a breakout as a cable of its own"
    return f"it joins an interface to {', '.join(sorted(kinds - {_INTERFACE}))}" if len(kinds) > 1 else None


def _ends(item: dict[str, Any], side: str) -> list[tuple[str, CableEnd | None]]:
    """Return the ends on one side of a NetBox cable: the type of each, and its device and port, None if not named."""
    listed = item.get(f"{side}_terminations")
    if listed is None:
        kind = item.get(f"termination_{side}_type")
        return [(str(kind), _end(item.get(f"termination_{side}")))] if kind else []
    objects = [end for end in listed if isinstance(end, dict)] if isinstance(listed, list) else []
    return [(str(end.get("object_type", "")), _end(end.get("object"))) for end in objects]


def _end(named: Any) -> CableEnd | None:
    if not isinstance(named, dict):
        return None
    device, port = _text(named.get("device"), "name", "display"), str(named.get("name") or "")
    return CableEnd(device, port) if device and port else None


def _text(value: Any, *keys: str) -> str:
    """Return a value that is text itself, or of an object the first value under one of the keys; else empty."""
    if isinstance(value, dict):
        return next((str(value[key]) for key in keys if value.get(key)), "")
    return str(value) if isinstance(value, str) else ""


_A = {"a", "1", "from", "source", "src", "local", "near"}
_B = {"b", "2", "to", "destination", "dest", "dst", "remote", "far", "z", "peer", "neighbor", "neighbour"}
_DEVICE = {
    "device",
    "hostname",
    "host",
    "switch",
    "node",
    "system",
    "server",
    "neighbor",
    "neighbour",
    "peer",
}
_PORT = {"port", "interface", "termination", "iface", "nic", "int", "intf", "ifname"}
_PLAIN = ("a device", "a port", "b device", "b port", "length", "speed")
_RATE_UNITS = {"gbps": "G", "gb": "G", "g": "G", "gbit": "G", "kbps": "K", "mbps": "M", "mb": "M"}
_ENDS = ("a device", "a port", "b device", "b port")

_NOTHING = {"", "-", "—", "n/a", "na", "none", "null", "tbd", "?"}
"""Texts that stand for an empty cell."""

_SEPARATOR = re.compile(r'"?sep=([,;\t|])"?')
"""The first line that declares the separator of cells for Excel."""

Columns = dict[str, int]
"""Column indexes of a sheet by content: ``a device``, ``length``, ``length unit``; a heading's unit: ``length in m``.
"""


def read_sheet(text: str, file: str) -> CableFile:
    """Return the cables, interface speeds or device roles of a CSV sheet; invalid cables and speeds are problems.

    Comments (``#``) are skipped.

    Raises:
        InputError: the text is not CSV, is empty, or lacks the columns of every supported kind.
    """
    lines = list(_lines(text, file))
    if not lines:
        raise InputError([Problem(file, 1, 1, "no line with anything in it")])
    first, heads = lines[0]
    columns = _columns(heads)
    kind = _kind(columns)
    if kind == "interfaces":
        return _interfaces(lines[1:], columns, file)
    if kind == "devices":
        return _devices(lines[1:], columns, file)
    if kind == "cables":
        return _cables(lines[1:], columns, file)
    # Of four names of devices and ports one at least is counted; a line without a digit is a heading.
    if len(columns) >= 2 or not re.search(r"[0-9]", "".join(heads[:4])):
        lacking = ", ".join(name for name in _ENDS if name not in columns)
        message = f"no column for {lacking}; found {', '.join(heads)}"
        raise InputError([Problem(file, first, 1, message)])
    return _cables(lines, {name: at for at, name in enumerate(_PLAIN)}, file, most=len(_PLAIN))


def _lines(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    lines = text.splitlines()
    begin = next((line for line in lines if line.strip() and line.strip()[0] != "#"), "")
    stated = _SEPARATOR.fullmatch(begin)
    if stated is not None:
        lines[lines.index(begin)] = ""
    delimiter = stated[1] if stated else max(",;\t", key=begin.count)
    # strict: a quote that is never closed is said, not taken for the rest of the file.
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            bare = [cell.strip() for cell in cells]
            # Excel ends lines with as many empty cells as the longest has.
            while bare and not bare[-1]:
                bare.pop()
            if bare and not bare[0].startswith("#"):
                yield reader.line_num, bare
    except csv.Error as error:
        raise InputError([Problem(file, reader.line_num, 1, f"not CSV: {error}")]) from None


def _columns(heads: Sequence[str]) -> Columns:
    """Return the columns of a sheet by its headings; of two device columns without a side the first is of end ``a``."""
    columns: Columns = {}
    for at, head in enumerate(heads):
        words = re.findall(r"[a-z]+|[0-9]+", head.lower())
        name = _name(words, columns)
        if name is not None:
            columns.setdefault(name, at)
            _note_unit(name, words, columns)
    return columns


def _name(words: Sequence[str], columns: Columns) -> str | None:
    here = set(words)
    if here & {"length", "len"}:
        return "length unit" if "unit" in here else "length"
    if here & {"speed", "rate"}:
        return "speed"
    side = "a" if here & _A else "b" if here & _B else ""
    if here & _PORT or (side and "name" in here):
        what = "port"
    elif here & _DEVICE and "type" not in here:
        what = "device"
    else:
        return words[0] if len(words) == 1 and words[0] in ("name", "type", "role", "status") else None
    side = side or ("b" if f"a {what}" in columns else "a")
    return f"{side} {what}"


def _note_unit(name: str, words: Sequence[str], columns: Columns) -> None:
    """Add a column ``length in m`` for the unit in a heading ``length (m)``, and so for speeds."""
    units = [word for word in words[1:] if word in (LENGTH_UNITS if name == "length" else _RATE_UNITS)]
    if name in ("length", "speed") and units:
        columns.setdefault(f"{name} in {units[-1]}", columns[name])


def _kind(columns: Columns) -> str:
    if all(name in columns for name in _ENDS):
        return "cables"
    if {"a device", "name", "type"} <= columns.keys() and "b device" not in columns:
        return "interfaces"
    return "devices" if {"name", "role"} <= columns.keys() else ""


def _cables(
    lines: Sequence[tuple[int, list[str]]], columns: Columns, file: str, most: int | None = None
) -> CableFile:
    """Return the cables of a sheet and the problems of its lines; more than ``most`` cells are a problem."""
    problems: list[Problem] = []
    cables = []
    for number, cells in lines:
        row = {name: cells[at] for name, at in columns.items() if at < len(cells)}
        place = FileLine(file, number)
        if row.get("status", "").lower() == "decommissioning":
            continue
        if not all(row.get(name) for name in _ENDS) or (most is not None and len(cells) > most):
            problems.append(
                place.problem(f"{', '.join(cells)!r} is no cable; expected {', '.join(_PLAIN[:5])}")
            )
            continue
        several = next((row[name] for name in _ENDS if "," in row[name]), None)
        if several is not None:
            problems.append(place.problem(f"{several!r} are several ends; write a line for each link"))
            continue
        try:
            speed_bps, cable_m = _speed(row, columns), _sheet_length(row, columns)
        except QuantityError as error:
            problems.append(place.problem(str(error)))
            continue
        a, b = CableEnd(row["a device"], row["a port"]), CableEnd(row["b device"], row["b port"])
        cables.append(FileCable(a, b, speed_bps, cable_m, place))
    return CableFile(cables=tuple(cables), problems=tuple(problems))


def _sheet_length(row: Mapping[str, str], columns: Columns) -> int | None:
    text = row.get("length", "")
    if text.lower() in _NOTHING:
        return None
    unit = next((name.removeprefix("length in ") for name in columns if name.startswith("length in ")), "")
    return parse_cable_length(text, row.get("length unit", "") or unit)


def _speed(row: Mapping[str, str], columns: Columns) -> int | None:
    text = row.get("speed", "")
    if text.lower() in _NOTHING:
        return None
    unit = next((name.removeprefix("speed in ") for name in columns if name.startswith("speed in ")), "")
    if _RATE_UNITS.get(unit) == "K" and (kilobits := unsigned_number(text)) is not None:
        return kilobits * 1000
    return parse_speed(text, _RATE_UNITS.get(unit, ""))


def _interfaces(lines: Sequence[tuple[int, list[str]]], columns: Columns, file: str) -> CableFile:
    speeds, rated, problems = [], [], []
    for number, cells in lines:
        row = {name: cells[at] for name, at in columns.items() if at < len(cells)}
        try:
            speed_bps = _speed(row, columns)
        except QuantityError as error:
            problems.append(FileLine(file, number).problem(str(error)))
            continue
        if not row.get("a device") or not row.get("name"):
            continue
        end, rated_bps = CableEnd(row["a device"], row["name"]), interface_bps(row.get("type", ""))
        if speed_bps is not None:
            speeds.append((end, speed_bps))
        elif rated_bps is not None:
            rated.append((end, rated_bps))
    return CableFile(speeds=tuple(speeds), rated=tuple(rated), problems=tuple(problems))


def _devices(lines: Sequence[tuple[int, list[str]]], columns: Columns, file: str) -> CableFile:
    roles = []
    for number, cells in lines:
        row = {name: cells[at] for name, at in columns.items() if at < len(cells)}
        if row.get("name") and row.get("role"):
            roles.append((row["name"], row["role"], FileLine(file, number)))
    return CableFile(roles=tuple(roles))
