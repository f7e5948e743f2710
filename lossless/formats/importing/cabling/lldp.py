"""LLDP output, one file a device: ``show lldp table`` and ``show lldp neighbors``, ``lldpctl -f json`` and ``json0``.

None contains the name of its device; the name of the file, or of its folder, must.
The table is that of sonic-utilities scripts/lldpshow @b67b1bb, the list and its fields that of lldpd/lldpd
src/client/display.c @012ec0d, the JSON that of src/client/json_writer.c @06987a2: json omits lists of one and
makes names keys, json0 keeps both.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.json.document import load_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document

_NEIGHBOR = re.compile(r"(?m)^Interface:\s*([^,]*), via:")
_TABLE_BEGINS = re.compile(r"\s*(Capability codes|LocalPort\b)")
_RULE = re.compile(r"-{3,}(?: +-{3,})+")
_COLUMNS = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")


class LldpNeighbor(NamedTuple):
    """One neighbor that a port received: its name, and its names for its own port, best first.

    ``line`` is its line in the file, counted from 1.
    """

    port: str
    name: str
    ports: tuple[str, ...]
    line: int = 1


def device_of(file: str, devices: Collection[str]) -> str:
    """Return the device that a file belongs to: the only one there is, or the one whose name the file or folder has.

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
    """Return whether a text other than JSON is LLDP output of a command."""
    return _TABLE_BEGINS.match(text) is not None or _NEIGHBOR.search(text) is not None


def read_lldp(text: str, file: str) -> tuple[LldpNeighbor, ...]:
    """Return the neighbors that the ports of one device received.

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
    """Return the neighbors in the output of `lldpctl -f json` or `-f json0`.

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
    """Yield the path of each interface, its name, and the data received there.

    One interface is an object, several are a list of objects. Each has its name for a key; in json0 it has a name.
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
    """Return a value, or the first of a list, and its path."""
    return (value[0], (*at, 0)) if isinstance(value, list) and value else (value, at)


def _object(value: Any) -> dict[str, Any]:
    first, _ = _first(value, ())
    return first if isinstance(first, dict) else {}


def _text(value: Any) -> str:
    """Return a text, which json0 wraps in a list of objects with a value."""
    first, _ = _first(value, ())
    inner = first.get("value") if isinstance(first, dict) else first
    return inner if isinstance(inner, str) else ""


def _words(*words: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))
