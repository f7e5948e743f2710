"""Values as databases and commands write them: numbers, words, and the words for what is not known.

Rates are printed with decimal prefixes (sonic-utilities utilities_common/netstat.py, format_brate @01876d4).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.known import UNKNOWN
from lossless.ground.basics.limits import DIGITS

if TYPE_CHECKING:
    from lossless.ground.basics.known import Maybe

_UNKNOWN_WORDS = frozenset({"", "n/a", "na", "-", "--", "none", "null", "unknown", "unavailable"})
_WHOLE = re.compile(r"[-+]?[0-9]+")
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_RATE = re.compile(r"([0-9.,]+)\s*([KMGT]?)B/s")
_PER_SECOND = re.compile(r"([0-9.,]+)/s")
_PERCENT = re.compile(r"([0-9.]+)\s*%")
_PREFIXES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def stored_value(value: object) -> Maybe[int | float | str]:
    """Return the value of a database's field: numbers have no commas there, and lists do."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return UNKNOWN if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.lower() in _UNKNOWN_WORDS:
        return UNKNOWN
    return number(text, value)


def printed_value(cell: str) -> Maybe[int | float | str]:
    """Return the value of a cell of a printed table."""
    text = cell.strip()
    if text.lower() in _UNKNOWN_WORDS:
        return UNKNOWN
    return number(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text, text)


def number(text: str, otherwise: str) -> int | float | str:
    """Return a number where the text is one, else the other text."""
    if len(text) > DIGITS:
        return otherwise
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else otherwise


def printed_quantity(cell: str) -> tuple[Maybe[int | float | str], str] | None:
    """Return value and unit of a cell that carries its unit (``14.32 KB/s``, ``64.00%``); None where it has none."""
    text = cell.strip()
    if match := _RATE.fullmatch(text):
        value = number(match[1].replace(",", ""), "")
        return (value * _PREFIXES[match[2]] if isinstance(value, int | float) else UNKNOWN), "bytes/s"
    for pattern, unit in ((_PER_SECOND, "packets/s"), (_PERCENT, "%")):
        if match := pattern.fullmatch(text):
            value = number(match[1].replace(",", ""), "")
            return (value if isinstance(value, int | float) else UNKNOWN), unit
    return None
