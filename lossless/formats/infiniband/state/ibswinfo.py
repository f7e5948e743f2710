"""Reads ``ibswinfo`` of an unmanaged switch: rows ``name | value``, those of a power supply indented.

A row without a value is UNKNOWN; so is one with text in place of a number, which is a problem. Form read from
treydock/infiniband_exporter collectors/fixtures/ibswinfo @992ebe1 (stanford-rc/ibswinfo prints it).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents.printed_lines import measured
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from lossless.ground.basics.records import Maybe
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import Identity, StateItems

_ROW = re.compile(r"(\s*)(\S[^|]*+)\|\s?(.*)")
_PART = re.compile(r"(PSU|fan#)([0-9]+)(?: (.*))?")
_SIGN = re.compile(r"^part number +\|.*\n(?:.*\n){0,8}?(?:PSID|GUID) +\|", re.MULTILINE)
_GUID = re.compile(r"^GUID +\| *(0x[0-9a-fA-F]{1,16})", re.MULTILINE)
_UPTIME = re.compile(r"([0-9]{1,6})d-([0-9]{1,2}):([0-9]{2}):([0-9]{2})")
_NUMBERS = frozenset({"W", "C", "rpm", "V", "A"})
_KINDS = {"PSU": "psu", "fan#": "fan"}


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is of ``ibswinfo``: it has the part number of a switch, then ``PSID`` or ``GUID``."""
    return bool(_SIGN.search(section.head))


def read(section: PrintedSection) -> StateItems:
    """Yield the value of each row of ``ibswinfo``, by GUID of the switch, power supply and fan."""
    guid = _GUID.search(section.text)
    switch: Identity = (("guid", guid[1]),) if guid else ()
    supply: Identity = ()
    for line in section.lines:
        match = _ROW.match(line.text)
        if match is None:
            continue
        heading, word = match[2].rstrip(), match[3].rstrip()
        label, unit = _split(heading)
        part = _PART.fullmatch(label)
        # A supply's first row is not indented, as those of its parts are.
        below = supply if match[1] else ()
        if part:
            below = ((_KINDS[part[1]], part[2]),)
            supply = below if part[1] == "PSU" else ()
        name = _name(label, part)
        value = _value(word, unit)
        if value is UNKNOWN and word:
            yield section.problem(line, f"{heading}: expected a number, not {word!r}", word)
        path = section.place(line, heading)
        yield StateReading(
            (*switch, *below), name, value, "s" if name == "uptime" else unit, "now", path, heading
        )


def _split(label: str) -> tuple[str, str]:
    """Return the name of a row of ``ibswinfo``, and the unit in parentheses at its end, empty without one."""
    bare = label.removesuffix(")")
    at = bare.find(" (", bare.rfind(")") + 1)
    return (label[:at], bare[at + 2 :]) if 0 <= at < len(bare) - 2 and bare != label else (label, "")


def _name(label: str, part: re.Match[str] | None) -> str:
    if part is not None:
        return "speed" if part[1] == "fan#" else (part[3] or "status").replace(" ", "_")
    return label.lower().replace(" ", "_").replace("/", "")


def _value(word: str, unit: str) -> Maybe[int | float | str]:
    if unit in _NUMBERS:
        return measured(word)
    match = _UPTIME.fullmatch(word)
    if match:
        days, hours, minutes, seconds = map(int, match.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if word.isascii() and word.isdecimal() and len(word) < 10:
        return int(word)
    return word or UNKNOWN
