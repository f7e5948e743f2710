"""What LLDP saw: ``show lldp table`` as text, ``lldpctl -f json`` as JSON, one file a device.

Neither says of which device it is; the name of the file, or of its folder, must.
The table is that of sonic-utilities scripts/lldpshow @b67b1bb.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from lossless.errors import InputError, Problem
from lossless.records import NamedTuple
from lossless.source import load_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_RULE = re.compile(r"-{3,}(?: +-{3,})+")
_COLUMNS = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")


class Heard(NamedTuple):
    """One neighbour that a port heard of: its name, and the words it has for its own port, best first.

    ``line`` is where that stands in the file, counted from 1.
    """

    port: str
    neighbor: str
    ports: tuple[str, ...]
    line: int = 1


def device_of(file: str, devices: Collection[str]) -> str:
    """Return the device that a file is of: the only one there is, or the one whose name the file or folder has.

    Raises:
        InputError: it cannot be told.
    """
    path = PurePath(file)
    for candidate in (path.name, path.stem, path.parent.name):
        if candidate in devices:
            return candidate
    if len(devices) == 1:
        return next(iter(devices))
    message = "cannot tell which device this is of; name it DEVICE.txt or DEVICE.json, or put it in DEVICE/"
    raise InputError([Problem(file, None, None, message)])


def read_lldp(text: str, file: str) -> tuple[Heard, ...]:
    """Return what the ports of one device heard.

    Raises:
        InputError: neither a table nor JSON of LLDP, located.
    """
    if text.lstrip().startswith(("{", "[")):
        return tuple(_of_json(text, file))
    return tuple(_of_table(text, file))


def _of_table(text: str, file: str) -> Iterator[Heard]:
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
            yield Heard(cells[0], cells[1], _words(cells[2], cells[4] if len(cells) > 4 else ""), number)


def _of_json(text: str, file: str) -> Iterator[Heard]:
    document = load_text(text, f"{file}.json" if not file.lower().endswith(".json") else file)
    section = document.data.get("lldp")
    interfaces = section.get("interface", {}) if isinstance(section, dict) else None
    if not isinstance(interfaces, dict | list):
        raise InputError(
            [Problem(file, 1, 1, "not what `lldpctl -f json` prints: no lldp, or no interface in it")]
        )
    # One interface is an object, several are a list of objects with one key each.
    for index, group in enumerate([interfaces] if isinstance(interfaces, dict) else interfaces):
        path = ("lldp", "interface") if isinstance(interfaces, dict) else ("lldp", "interface", index)
        for port, seen in group.items() if isinstance(group, dict) else ():
            heard = _heard(port, seen)
            if heard is not None:
                yield heard._replace(line=document.locate((*path, port), "key").line)


def _heard(port: str, seen: Any) -> Heard | None:
    if not isinstance(seen, dict):
        return None
    chassis, remote = _object(seen.get("chassis")), _object(seen.get("port"))
    # The chassis is keyed by its name, or has no name and its fields stand there themselves.
    named = [name for name, value in chassis.items() if isinstance(value, dict) and name != "id"]
    if not named:
        return None
    identity = _object(remote.get("id"))
    words = (str(identity.get("value", "")), str(remote.get("descr", "")))
    return Heard(port, named[0], _words(*words))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _words(*words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))
