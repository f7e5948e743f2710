"""Parses printed values: numbers with or without thousands commas, and words for unknown values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.limits import DIGITS
from lossless.ground.basics.records import UNKNOWN, Unknown

if TYPE_CHECKING:
    from lossless.ground.basics.records import Maybe

_UNKNOWN_WORDS = frozenset(
    {"", "n/a", "na", "-", "--", "none", "null", "nil", "nan", "unknown", "unavailable"}
)
_DIGITS = re.compile(r"[0-9]{1,39}|[0-9]{1,3}(?:,[0-9]{3}){1,12}")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,32}")
_MEASURE = re.compile(r"[+-]?[0-9]{1,39}(?:\.[0-9]{1,39})?(?:[eE][+-]?[0-9]{1,2})?")
_WHOLE = re.compile(r"[-+]?[0-9]+")
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?")


def stored_value(value: object) -> Maybe[int | float | str]:
    """Return the value of a field of a database or a document; there commas separate lists, and are not in numbers."""
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
    """Return a number where the text is one, else ``otherwise``."""
    if len(text) > DIGITS:
        return otherwise
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else otherwise


def counted(word: str) -> int | Unknown:
    """Return a count: digits, commas between thousands, or hexadecimal; UNKNOWN for any other text."""
    bare = word.strip()
    if _DIGITS.fullmatch(bare):
        return int(bare.replace(",", ""))
    return int(bare, 16) if _HEXADECIMAL.fullmatch(bare) else UNKNOWN


def measured(word: str) -> int | float | Unknown:
    """Return a number, also with a fraction or an exponent; a whole one is an integer."""
    whole = counted(word)
    if whole is not UNKNOWN or not _MEASURE.fullmatch(word.strip()):
        return whole
    number = float(word)
    return int(number) if number.is_integer() else number


def value_of(word: str) -> int | float | str | Unknown:
    """Return a number where a word is one, UNKNOWN for the words of missing values, else the word."""
    bare = word.strip()
    if bare.lower() in _UNKNOWN_WORDS:
        return UNKNOWN
    number = measured(bare)
    return bare if number is UNKNOWN else number
