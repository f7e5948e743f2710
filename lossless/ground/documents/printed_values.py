"""Values as programs print them: numbers with or without thousands commas, and the words for what is not known."""

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
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?")


def stored_value(value: object) -> Maybe[int | float | str]:
    """Return the value of a field of a database or a document: numbers have no commas there, and lists do."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if not isinstance(value, str):
        return value
    text = value.strip()
    return UNKNOWN if text.lower() in _UNKNOWN_WORDS else number(text, value)


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
