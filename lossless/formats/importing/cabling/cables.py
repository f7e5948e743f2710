"""Cables in files: two ends each, a speed and a length where the file has them, and their place in the file.

Statements of several files about one cable are merged; a contradiction between them is a problem, and no value is
guessed.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import Problem, QuantityError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate, parse_rate
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class FileLine(NamedTuple):
    """A place in a file: the file, and a line of it counted from 1."""

    file: str
    line: int

    def problem(self, message: str) -> Problem:
        """Return a problem at this line."""
        return Problem(self.file, self.line, 1, message)


class FileCable(NamedTuple):
    """One cable. ``b_words`` are the possible names of the port at end ``b``, where its name is ambiguous.

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
    """The content of one file: cables, the roles of devices in its own words, speeds of interfaces, and its mistakes.

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
_DECIMAL_COMMA = re.compile(r"^(\s*\d+),(\d{1,2})(?!\d)")
"""A decimal comma, ``2,5``, as many spreadsheets have it; ``1,500`` is ambiguous, and not accepted as a length."""
PORT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}")
"""The pattern of names that an intent accepts for a port."""
_SONIC_PORT = re.compile(r"Ethernet[0-9]+")
"""The pattern of SONiC's own port names; other names of a neighbor for a port are its alias or description."""


def sonic_spelling(port: str) -> str:
    """Return a port name with the capital of SONiC's own names; any other name unchanged."""
    return port.capitalize() if _SONIC_PORT.fullmatch(port.capitalize()) else port


def parse_cable_length(text: str, unit: str = "") -> int:
    """Return whole meters, rounded up; ``unit`` applies to a number without a unit.

    Raises:
        QuantityError: no number, no unit or an unknown one, or a length of 0.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", _DECIMAL_COMMA.sub(r"\1.\2", text))
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
    """Return b/s: ``400G``, ``400GbE``, ``400 Gb/s``; ``unit`` applies to a number without a unit.

    Raises:
        QuantityError: the text is not a rate, or has no unit.
    """
    bare = re.sub(r"(?i)(?<=[mgt])(?:be|e|b)$", "", text.strip())
    return parse_rate(f"{bare}{unit}" if re.fullmatch(r"\d+(?:\.\d+)?", bare) else bare)


def merge_cables(cables: Iterable[FileCable], problems: list[Problem]) -> tuple[FileCable, ...]:
    """Return each cable once, with the facts of all files; contradictions are appended to ``problems``."""
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
    """Yield cables with the far device's own name for its port, where it is unambiguous."""
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
    """Return a cable from its lower end to its upper, so that statements from both ends are comparable."""
    a, b = sorted((cable.a, cable.b), key=_key)
    return cable._replace(a=a, b=b)


def _key(end: CableEnd) -> tuple[str, str]:
    return end.device, end.port or ""


def _are_one(cable: FileCable, other: FileCable) -> bool:
    """Return whether two may be one cable: their devices match, and so do their ports where both are known."""
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
    """Return one cable with the facts of two files."""
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
