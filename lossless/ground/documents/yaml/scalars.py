"""Scalars by the core schema of YAML 1.2.2, section 10.3.2.

`no`, `on`, `10:20:30`, `2024-01-01` and `1_000` are text; `010` is ten. Numbers that are not finite are
refused: no quantity of a fabric is infinite.
"""

from __future__ import annotations

import re

from lossless.ground.basics.limits import DIGITS

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_STARTS = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_TAG_PREFIX = "tag:yaml.org,2002:"
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "null": (type(None),),
}

Scalar = str | int | float | bool | None


class ScalarError(ValueError):
    """An invalid scalar; the message has the reason."""


def plain(text: str) -> Scalar:
    """Return the value of an unquoted scalar; raises ScalarError for a number that is not finite in Python."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _BASED.fullmatch(text):
        return _integer(text)
    if _NOT_FINITE.fullmatch(text):
        raise ScalarError(f"{text} is not a finite number; quote it if it is text")
    return _float(text) if _FLOAT.fullmatch(text) else text


def tagged(text: str, tag: str) -> Scalar:
    """Return the value of a scalar with an explicit type, as in `!!str 26`; raises ScalarError."""
    kind = tag.removeprefix(_TAG_PREFIX)
    if tag == "!" or (kind == "str" and kind != tag):
        return text
    if kind == tag or kind not in _TYPES:
        raise ScalarError(f"unknown tag {shown(tag)}; expected !!str, !!int, !!float, !!bool or !!null")
    value = plain(text)
    # bool is a subclass of int, and `!!int true` is no integer.
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "bool"):
        raise ScalarError(f"'{text}' is not what its tag {shown(tag)} says")
    return float(value) if kind == "float" and value is not None else value


def shown(tag: str) -> str:
    """Return a tag in its usual notation: `!!str` for `tag:yaml.org,2002:str`."""
    return "!!" + tag.removeprefix(_TAG_PREFIX) if tag.startswith(_TAG_PREFIX) else tag


def _integer(text: str) -> int:
    if len(text) > DIGITS:
        raise ScalarError(f"{text[:20]}... has more than {DIGITS} digits, the most that is read")
    return int(text) if _INTEGER.fullmatch(text) else int(text, 0)


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ScalarError(f"{text[:20]} is too large a number")
    return number


def text_scalar(name: str) -> str:
    """Return a name as a YAML scalar that is parsed as text: in quotes where it could be a number or another word."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", name)
    words = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
    return name if plain and name.lower() not in words else f'"{name}"'
