"""Reads cables from cabling files and LLDP output: two ends each, a speed and a length where the file has them.

Statements of several files about one cable are merged; a contradiction between them is a problem, and no value is
guessed.

A cabling file has one line a cable, ``device, port, device, port, length``; only the length may be left out.

LLDP output is one file a device: ``show lldp table`` and ``show lldp neighbors``, ``lldpctl -f json`` and ``json0``.
None contains the name of its device; if there are several devices, the name of the file, or of its folder, must. The
table is that of sonic-utilities scripts/lldpshow @b67b1bb, the list and its fields that of lldpd/lldpd
src/client/display.c @012ec0d, the JSON that of src/client/json_writer.c @06987a2: json omits lists of one and makes
names keys, json0 keeps both.
"""

from __future__ import annotations

import csv
import re
from decimal import ROUND_CEILING, Decimal
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from lossless.formats.importing.model import Claim
from lossless.ground.basics.errors import InputError, Problem, QuantityError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import LONGEST_QUANTITY, NUMBER, format_rate, parse_length, parse_rate
from lossless.ground.documents.json.document import load_json
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import Document


class FileLine(NamedTuple):
    """A line of a file, counted from 1."""

    file: str
    line: int

    def problem(self, message: str) -> Problem:
        """Return a problem at this line."""
        return Problem(self.file, self.line, 1, message)


class FileCable(NamedTuple):
    """One cable in a file. ``b_words`` are possible names of the port at end ``b``, as LLDP has them.

    ``heard``: end ``a`` learned of the cable by LLDP.
    """

    a: CableEnd
    b: CableEnd
    speed_bps: int | None
    cable_m: int | None
    place: FileLine
    b_words: tuple[str, ...] = ()
    heard: bool = False


class CableFile(NamedTuple):
    """The content of one file about cabling: cables, device roles in its own words, interface speeds, and problems.

    ``speeds`` are configured speeds of interfaces, ``rated`` those of their type where none is configured.
    """

    cables: tuple[FileCable, ...] = ()
    roles: tuple[tuple[str, str, FileLine], ...] = ()
    speeds: tuple[tuple[CableEnd, int], ...] = ()
    rated: tuple[tuple[CableEnd, int], ...] = ()
    problems: tuple[Problem, ...] = ()


_MM = {
    "km": Decimal(1_000_000),
    "m": Decimal(1000),
    "cm": Decimal(10),
    "mi": Decimal("1609344"),
    "ft": Decimal("304.8"),
    "in": Decimal("25.4"),
}
"""Millimeters of the units that NetBox has for cables (netbox-community/netbox netbox/dcim/choices.py @7f2e159,
CableLengthUnitChoices; later releases add kilometers and miles)."""
_SPELT = {
    "kilometers": "km",
    "kilometres": "km",
    "meters": "m",
    "metres": "m",
    "meter": "m",
    "metre": "m",
    "centimeters": "cm",
    "centimetres": "cm",
    "miles": "mi",
    "feet": "ft",
    "foot": "ft",
    "inches": "in",
    "inch": "in",
}
LENGTH_UNITS = (*_MM, *_SPELT)
_DECIMAL_COMMA = re.compile(r"^(\s*[0-9]+),([0-9]{1,2})(?![0-9])")
"""A decimal comma, ``2,5``, as many spreadsheets have it; ``1,500`` is ambiguous, and not accepted as a length."""
PORT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}")
"""The pattern of port names of a switch that cabling files may give an intent: names without slashes."""
_SONIC_PORT = re.compile(r"Ethernet[0-9]+")
"""The pattern of SONiC's own port names; other names of a neighbor for a port are its alias or description."""


def sonic_spelling(port: str) -> str:
    """Return a port name with the capital of SONiC's own names; any other name unchanged."""
    return port.capitalize() if _SONIC_PORT.fullmatch(port.capitalize()) else port


def parse_cable_length(text: str, unit: str = "") -> int:
    """Return a cable length in whole meters, rounded up; ``unit`` applies to a number without a unit.

    Raises:
        QuantityError: not a number with a known unit, too long a text, or a length of 0.
    """
    if len(text) > LONGEST_QUANTITY:
        raise QuantityError(f"{text[:20]!r}... is no length: it has {len(text):,} characters")
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*+([A-Za-z]*)\s*", _DECIMAL_COMMA.sub(r"\1.\2", text))
    word = ((match[2] if match else "") or unit).strip().lower()
    scale = _MM.get(_SPELT.get(word, word))
    if match is None or scale is None:
        why = "has no unit" if match is not None and not word else "is no length"
        raise QuantityError(f"{text.strip()!r} {why}; write it like 3m (units: {', '.join(_MM)})")
    length_m = int((Decimal(match[1]) * scale / 1000).to_integral_value(ROUND_CEILING))
    if length_m == 0:
        raise QuantityError(f"{text.strip()!r} is no cable; the shortest counts as 1m")
    return length_m


def parse_speed(text: str, unit: str = "") -> int:
    """Return a link speed in b/s, of ``400G``, ``400GbE``, ``400 Gb/s``; ``unit`` applies to a number without a unit.

    Raises:
        QuantityError: the text is not a rate, or has no unit.
    """
    bare = re.sub(r"(?i)(?<=[mgt])(?:be|e|b)$", "", text.strip())
    return parse_rate(f"{bare}{unit}" if re.fullmatch(NUMBER, bare) else bare)


def merge_cables(cables: Iterable[FileCable], problems: list[Problem]) -> tuple[FileCable, ...]:
    """Return each cable with a known port once, with the facts of all files.

    Contradictions, repeated lines, and ends that are joined to themselves go to ``problems``.
    """
    named = list(_with_own_ports(list(cables)))
    at: dict[CableEnd, FileCable] = {}
    first_of: dict[tuple[str, CableEnd, CableEnd], FileCable] = {}
    for cable in named:
        mine = _turned(cable)
        if mine.a == mine.b:
            problems.append(mine.place.problem(f"{_end(mine.a)} is joined to itself"))
            continue
        others = [at[end] for end in (mine.a, mine.b) if end.port is not None and end in at]
        clashing = next((other for other in others if not _are_one(mine, other)), None)
        if clashing is not None:
            problems.append(_contradiction(mine, clashing))
            continue
        # Both ends may tell of a cable, and LLDP tells of one by each protocol; a line that is there twice is an error.
        before = first_of.setdefault((cable.place.file, cable.a, cable.b), cable)
        if before is not cable and not cable.heard:
            message = f"{_end(mine.a)} already has a cable in line {before.place.line}"
            problems.append(mine.place.problem(message))
            continue
        whole = _with(others[0], mine, problems) if others else mine
        at |= dict.fromkeys((end for end in (whole.a, whole.b) if end.port is not None), whole)
    return tuple(dict.fromkeys(at.values()))


def _with_own_ports(cables: list[FileCable]) -> Iterator[FileCable]:
    """Yield cables with the far device's own name for its port if an end in the files has it, else the likeliest.

    Where several fit, ``b_words`` keeps all words.
    """
    own = {cable.a for cable in cables} | {cable.b for cable in cables if not cable.b_words}
    for cable in cables:
        if not cable.b_words:
            yield cable
            continue
        words = [word for word in cable.b_words if PORT_NAME.fullmatch(word)]
        known = [word for word in words if CableEnd(cable.b.device, word) in own]
        known = known or [word for word in words if _SONIC_PORT.fullmatch(word)] or words
        unsure = cable.b_words if len(known) > 1 else ()
        yield cable._replace(b=CableEnd(cable.b.device, next(iter(known), None)), b_words=unsure)


def _turned(cable: FileCable) -> FileCable:
    """Return a cable with its ends sorted by device and port, so that statements from both ends are comparable."""
    a, b = sorted((cable.a, cable.b), key=_key)
    return cable._replace(a=a, b=b)


def _key(end: CableEnd) -> tuple[str, str]:
    return end.device, end.port or ""


def _are_one(cable: FileCable, other: FileCable) -> bool:
    """Return whether two entries may be one cable: their devices match, and so do their ports where both are known."""
    return all(
        mine.device == there.device and (mine.port == there.port or None in (mine.port, there.port))
        for mine, there in zip(*_aligned(cable, other), strict=True)
    )


def _aligned(
    cable: FileCable, other: FileCable
) -> tuple[tuple[CableEnd, CableEnd], tuple[CableEnd, CableEnd]]:
    """Return the ends of two cables in an order in which the matching ends correspond."""
    turned = other.a != cable.a and (other.b == cable.a or other.a == cable.b)
    return (cable.a, cable.b), ((other.b, other.a) if turned else (other.a, other.b))


def _contradiction(cable: FileCable, other: FileCable) -> Problem:
    end = next(end for end in (cable.a, cable.b) if end in (other.a, other.b))
    far, there = (each.b if each.a == end else each.a for each in (cable, other))
    where = f"{other.place.file}:{other.place.line}"
    return cable.place.problem(f"{_end(end)} is joined to {_end(far)} here, and to {_end(there)} in {where}")


def _with(first: FileCable, second: FileCable, problems: list[Problem]) -> FileCable:
    """Return one cable with the facts of two entries; of two values that differ the first is kept, with a problem."""
    mine, theirs = _aligned(first, second)
    a, b = (near if near.port is not None else other for near, other in zip(mine, theirs, strict=True))
    whole = first._replace(a=a, b=b)
    for field, shown in (("speed_bps", format_rate), ("cable_m", lambda length: f"{length} m")):
        known, stated = getattr(first, field), getattr(second, field)
        if known is None:
            whole = whole._replace(**{field: stated})
        elif stated is not None and stated != known:
            where = f"{first.place.file}:{first.place.line}"
            words = f"{_end(second.a)} to {_end(second.b)}: {shown(stated)} here, {shown(known)} in {where}"
            problems.append(second.place.problem(words))
    return whole


def _end(end: CableEnd) -> str:
    return f"{end.device} {end.port}" if end.port else end.device


_SHOWN = "device, port, device, port, length"
_HEADS = ("device", "port", "device", "port")


def read_cabling(text: str, file: str) -> tuple[Claim, ...]:
    """Return the cables of a cabling file. A first line of headings, blank lines and comments (``#``) are skipped.

    Raises:
        InputError: the text is not CSV, or it has lines that are no cable or name a port again; located.
    """
    problems: list[Problem] = []
    claims = []
    seen: dict[CableEnd, int] = {}
    for number, cells in _lines(text, file):
        claim = _claim(cells, file, number, problems)
        if claim is not None:
            claims.append(claim)
            problems += _twice(claim, seen, file, number)
    if problems:
        raise InputError(problems)
    return tuple(claims)


def _lines(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    # strict: a quote that is never closed is said, not taken for the rest of the file.
    reader = csv.reader(text.splitlines(), skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            bare = [cell.strip() for cell in cells]
            is_head = reader.line_num == 1 and _is_head(bare)
            if any(bare) and not bare[0].startswith("#") and not is_head:
                yield reader.line_num, bare
    except csv.Error as error:
        raise InputError([Problem(file, reader.line_num, 1, f"not CSV: {error}")]) from None


def _is_head(cells: list[str]) -> bool:
    """Return whether a line has column headings: each of the first four cells contains the word for its column."""
    words = [cell.lower() for cell in cells[:4]]
    return len(words) == 4 and all(head in word for head, word in zip(_HEADS, words, strict=True))


def _claim(cells: list[str], file: str, number: int, problems: list[Problem]) -> Claim | None:
    if len(cells) not in (4, 5) or not all(cells[:4]):
        message = f"{', '.join(cells)!r} is no cable; expected {_SHOWN}"
        problems.append(Problem(file, number, 1, message))
        return None
    try:
        cable_m = parse_length(cells[4]) if cells[4:] and cells[4] else None
    except QuantityError as error:
        problems.append(Problem(file, number, 1, str(error)))
        return None
    if cable_m == 0:
        problems.append(Problem(file, number, 1, f"{cells[4]!r} is no cable; the shortest counts as 1m"))
        return None
    return Claim("cabling", CableEnd(cells[0], cells[1]), CableEnd(cells[2], cells[3]), cable_m)


def _twice(claim: Claim, seen: dict[CableEnd, int], file: str, number: int) -> Iterator[Problem]:
    for end in (claim.near, claim.far):
        first = seen.setdefault(end, number)
        if first != number or claim.near == claim.far:
            yield Problem(file, number, 1, f"{end.device} {end.port} already has a cable in line {first}")


_NEIGHBOR = re.compile(r"(?m)^Interface:[^\S\n]*+([^,\n]*+), via:")
_TABLE_BEGINS = re.compile(r"\s*(Capability codes|LocalPort\b)")
_RULE = re.compile(r"-{3,}(?: +-{3,})+")
_COLUMNS = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")


class LldpNeighbor(NamedTuple):
    """One neighbor that a port learned by LLDP: its name, and its names for its own port, best first.

    ``line`` is its line in the file, counted from 1.
    """

    port: str
    name: str
    ports: tuple[str, ...]
    line: int = 1


def device_of(file: str, devices: Collection[str]) -> str:
    """Return the device that an LLDP file belongs to: the one that the file or its folder is named after, else the only
    one there is.

    Raises:
        InputError: the device cannot be determined.
    """
    path = PurePath(file)
    for candidate in (path.name, path.stem, path.parent.name):
        if candidate in devices:
            return candidate
    if len(devices) == 1:
        return next(iter(devices))
    message = "cannot tell which device this is of; name it DEVICE.txt or DEVICE.json, or put it in DEVICE/"
    raise InputError([Problem(file, None, None, message)])


def looks_like_lldp(text: str) -> bool:
    """Return whether a text is output of ``show lldp table``, ``show lldp neighbors`` or ``lldpctl`` without JSON."""
    return _TABLE_BEGINS.match(text) is not None or _NEIGHBOR.search(text) is not None


def read_lldp(text: str, file: str) -> tuple[LldpNeighbor, ...]:
    """Return the LLDP neighbors of the ports of one device.

    Raises:
        InputError: the text is neither a table nor a list nor JSON of LLDP, located.
    """
    if text.lstrip().startswith(("{", "[")):
        return read_lldp_json(load_json(text, file))
    if _NEIGHBOR.search(text):
        return tuple(_of_list(text))
    return tuple(_of_table(text, file))


def _of_list(text: str) -> Iterator[LldpNeighbor]:
    """Yield the neighbors in the default output of `lldpctl`, which `show lldp neighbors` prints too."""
    port, line, fields = "", 0, dict[str, str]()
    for number, words in enumerate([*text.splitlines(), "Interface: , via:"], 1):
        begins = _NEIGHBOR.match(words)
        if begins is None:
            key, _, value = words.strip().partition(":")
            fields.setdefault(key, value.strip())
            continue
        if port and fields.get("SysName"):
            # A port is told by what kind of name it is, and the name.
            _, _, name = fields.get("PortID", "").partition(" ")
            yield LldpNeighbor(port, fields["SysName"], _words(name.strip(), fields.get("PortDescr")), line)
        port, line, fields = begins[1], number, {}


def _of_table(text: str, file: str) -> Iterator[LldpNeighbor]:
    lines = text.splitlines()
    rules = [number for number, line in enumerate(lines) if _RULE.fullmatch(line.strip())]
    if not rules or not rules[0] or lines[rules[0] - 1].split()[:3] != [*_COLUMNS[:3]]:
        message = (
            f"not what `show lldp table` prints: no line with {', '.join(_COLUMNS)}, nor JSON of lldpctl"
        )
        raise InputError([Problem(file, 1, 1, message)])
    starts = [match.start() for match in re.finditer(r"-+", lines[rules[0]])]
    for number, line in enumerate(lines[rules[0] + 1 :], rules[0] + 2):
        # A line of dashes and the count end the table.
        if not line.strip() or set(line.strip()) == {"-"}:
            break
        cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        if cells[0] and cells[1]:
            yield LldpNeighbor(cells[0], cells[1], _words(cells[2], *cells[4:]), number)


def read_lldp_json(document: Document) -> tuple[LldpNeighbor, ...]:
    """Return the LLDP neighbors in the output of `lldpctl -f json` or `-f json0`, without those that have no name.

    Raises:
        InputError: it is other JSON, located.
    """
    section, at = _first(document.data.get("lldp"), ("lldp",))
    interfaces = section.get("interface", {}) if isinstance(section, dict) else None
    if not isinstance(interfaces, dict | list):
        message = "not what `lldpctl -f json` prints: no lldp, or no interface in it"
        raise InputError([Problem(document.file, 1, 1, message)])
    heard = [
        (path, neighbor)
        for path, port, seen in _seen(interfaces, (*at, "interface"))
        if (neighbor := _heard(port, seen)) is not None
    ]
    spans = document.locate_many([path for path, _ in heard], "key")
    return tuple(neighbor._replace(line=spans[path].line) for path, neighbor in heard)


def _seen(interfaces: Any, at: Path) -> Iterator[tuple[Path, str, Any]]:
    """Yield the path of each interface in the JSON of lldpctl, its name, and the data received there.

    One interface is an object, several are a list of objects. In ``json`` the key of an interface is its name, in
    ``json0`` it has a field with its name.
    """
    groups = interfaces if isinstance(interfaces, list) else [interfaces]
    for index, group in enumerate(groups):
        path: Path = (*at, index) if isinstance(interfaces, list) else at
        if not isinstance(group, dict):
            continue
        if isinstance(group.get("name"), str):
            yield (*path, "name"), group["name"], group
        else:
            for port, seen in group.items():
                yield (*path, port), port, seen


def _heard(port: str, seen: Any) -> LldpNeighbor | None:
    if not isinstance(seen, dict):
        return None
    remote = _object(seen.get("port"))
    neighbor = _system_name(_object(seen.get("chassis")))
    if not neighbor:
        return None
    return LldpNeighbor(port, neighbor, _words(_text(_object(remote.get("id"))), _text(remote.get("descr"))))


def _system_name(chassis: dict[str, Any]) -> str:
    """Return the name of a chassis: the key of its object, in json0 its field; empty for a chassis without a name."""
    if "id" in chassis:
        return _text(chassis.get("name"))
    return next((name for name, value in chassis.items() if isinstance(value, dict)), "")


def _first(value: Any, at: Path) -> tuple[Any, Path]:
    """Return a JSON value, or the first item of a list that is not empty, and the path of it."""
    return (value[0], (*at, 0)) if isinstance(value, list) and value else (value, at)


def _object(value: Any) -> dict[str, Any]:
    first, _ = _first(value, ())
    return first if isinstance(first, dict) else {}


def _text(value: Any) -> str:
    """Return a text in the JSON of lldpctl, which json0 wraps in a list of objects with a value; else empty."""
    first, _ = _first(value, ())
    inner = first.get("value") if isinstance(first, dict) else first
    return inner if isinstance(inner, str) else ""


def _words(*words: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))
