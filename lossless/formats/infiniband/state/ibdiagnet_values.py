"""Values in the notation of ibdiagnet's files: GUIDs of one length, and counters that a device does not have.

A counter that a device does not have is ``NA`` or ``N/A``; in a table it is also -1 or -2 in 64 bits, as decimal or as
hexadecimal (HyungKwang/My-Programing check_ib_link_status_v45.py @c7c8a97: ``0xfffffffffffffffe`` of devices with FDR,
``-1`` by ibdiagnet 2.8.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.known import UNKNOWN, Unknown
from lossless.ground.documents.printed_values import value_of
from lossless.model.fabric.state.readings import StateReading

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.basics.known import Maybe
    from lossless.model.fabric.state.readings import Identity

_NOT_THERE = 2**64 - 2
_GUID_DIGITS = 18


def guid_of(word: str) -> str:
    """Return a GUID with all its digits, however many are printed; any other text unchanged."""
    digits = word.strip().lower().removeprefix("0x")
    is_number = 0 < len(digits) <= _GUID_DIGITS - 2 and all(digit in "0123456789abcdef" for digit in digits)
    return f"{int(digits, 16):#0{_GUID_DIGITS}x}" if is_number else word.strip()


def count_of(word: str) -> int | Unknown | None:
    """Return a count, UNKNOWN where the device does not have it, None where the word is not a count."""
    value = value_of(word)
    if isinstance(value, Unknown):
        return UNKNOWN
    if not isinstance(value, int):
        return None
    return value if 0 <= value < _NOT_THERE else UNKNOWN


def said(identity: Identity, name: str, value: Maybe[int | float | str], path: Path) -> StateReading:
    """Return a reading of a port's current value."""
    return StateReading(identity, name, value, "", "now", path, str(path[-1]))
