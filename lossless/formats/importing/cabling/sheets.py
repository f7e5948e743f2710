"""Reads sheets of cables, devices and interfaces as CSV, by the names of their columns; also NetBox's exports.

Of cables: a device and a port for each end, then length, its unit and speed where they are known. The columns may be
called ``a device``, ``from port``, ``Device B``, ``side_b_name``, ``length (m)``; without headings they are device,
port, device, port, length, speed. NetBox's own are those of netbox-community/netbox netbox/dcim/tables/cables.py
@0901694, and of its import form (``side_a_device``, ``side_a_name``, ``length_unit``).
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from lossless.formats.importing.cabling.cables import (
    LENGTH_UNITS,
    CableFile,
    FileCable,
    FileLine,
    parse_cable_length,
    parse_speed,
)
from lossless.formats.importing.cabling.netbox import interface_bps
from lossless.ground.basics.errors import InputError, Problem, QuantityError
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
"""Column numbers by content: ``a device``, ``length``, ``length unit``; with a heading's unit ``length in m``."""


def read_sheet(text: str, file: str) -> CableFile:
    """Return the content of a sheet; lines that cannot be used are problems. Comments (``#``) are skipped.

    Raises:
        InputError: the text is not CSV, or lacks the columns of every supported kind.
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
    """Return the columns by their headings; of two device columns without a side the first is that of end ``a``."""
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
    """Add the unit in a heading, ``length (m)``, as the name of a column."""
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
    """Return the cables of a sheet; without headings a line has at most ``most`` cells."""
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
            speed_bps, cable_m = _speed(row, columns), _length(row, columns)
        except QuantityError as error:
            problems.append(place.problem(str(error)))
            continue
        a, b = CableEnd(row["a device"], row["a port"]), CableEnd(row["b device"], row["b port"])
        cables.append(FileCable(a, b, speed_bps, cable_m, place))
    return CableFile(cables=tuple(cables), problems=tuple(problems))


def _length(row: Mapping[str, str], columns: Columns) -> int | None:
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
    if _RATE_UNITS.get(unit) == "K" and text.isdecimal():
        return int(text) * 1000
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
