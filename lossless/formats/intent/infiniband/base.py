"""Types that the parts of an InfiniBand intent share: named rates, GUIDs, and keys of files."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema

from lossless.formats.intent.base import MAX_BUNDLE, refused, shown, whole_number
from lossless.ground.basics import units
from lossless.ground.basics.errors import QuantityError
from lossless.ground.basics.nearest import suggestion

RateName = Literal["HDR100", "HDR", "NDR200", "NDR", "XDR"]
RATE_GBPS: dict[RateName, int] = {"HDR100": 100, "HDR": 200, "NDR200": 200, "NDR": 400, "XDR": 800}
"""Rates a link can be stated to have, slowest generation first, in Gb/s one way."""
RATE_NAMES: tuple[str, ...] = tuple(RATE_GBPS)
_LINKS = re.compile(r"\s*(\d{1,7})\s*[x×]\s*(\S+)\s*")
_HEX64 = re.compile(r"0[xX][0-9A-Fa-f]{1,16}|[0-9A-Fa-f]{16}|[0-9A-Fa-f]{4}(:[0-9A-Fa-f]{4}){3}")
MOST_64_BITS = 2**64 - 1


def _rated_links(value: object) -> tuple[int, str]:
    match = _LINKS.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        raise refused(f"{shown(value)} does not say how many links of which rate; write it like 2 x NDR")
    if match[2] not in RATE_NAMES:
        raise refused(f"{match[2]} is no rate of InfiniBand{_meant(match[2])}")
    if int(match[1]) > MAX_BUNDLE:
        raise refused(f"{int(match[1]):,} links in one bundle; the most is {MAX_BUNDLE:,}")
    return int(match[1]), match[2]


def _meant(rate: str) -> str:
    """Return the names of the rate that is written in bits per second or as ``NDR400``, else the nearest name."""
    in_gbps = re.fullmatch(r"[HNX]DR(\d{3})", rate)
    try:
        rate_bps = units.parse_rate(f"{in_gbps[1]}G" if in_gbps else rate)
    except QuantityError:
        return suggestion(rate, RATE_NAMES, most=None)
    names = [name for name, gbps in RATE_GBPS.items() if gbps * 10**9 == rate_bps]
    return f"; that of {rate} is {' or '.join(names)}" if names else suggestion("", RATE_NAMES, most=None)


RatedLinks = Annotated[
    tuple[int, str],
    BeforeValidator(_rated_links),
    WithJsonSchema(
        {
            "type": "string",
            "description": "2 x NDR",
            "pattern": rf"^\s*0*[1-9]\d*\s*[x×]\s*({'|'.join(RATE_NAMES)})\s*$",
        }
    ),
]


def number_64(value: object) -> int:
    """Return a number of 64 bits: in hexadecimal, as four groups, or as YAML reads it.

    Raises:
        PydanticCustomError: the value is not a number of 64 bits.
    """
    if isinstance(value, str) and _HEX64.fullmatch(value):
        return int(value.replace(":", ""), 16)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_64_BITS:
        raise refused(f"{shown(value)} is no number of 64 bits; write it like 0x0002c90300a1b2c3")
    return value


def _guid(value: object) -> int:
    guid = number_64(value)
    if guid == 0:
        raise refused("0 is no GUID: opensm takes it as not given")
    return guid


_HEX_SCHEMA = {"type": ["string", "integer"], "minimum": 0, "pattern": "^(0[xX])?[0-9A-Fa-f:]{1,19}$"}
Number64 = Annotated[int, BeforeValidator(number_64), WithJsonSchema(_HEX_SCHEMA)]
Guid = Annotated[int, BeforeValidator(_guid), WithJsonSchema({**_HEX_SCHEMA, "minimum": 1})]


def _option_text(value: object) -> str:
    """Return a value as the text of opensm.conf: TRUE and FALSE for booleans."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        raise refused(
            f"{shown(value)} is spelled differently in every file; write it in quotes, as the file spells it"
        )
    if not isinstance(value, int | str):
        raise refused(f"expected one value, found {shown(value)}")
    text = str(value)
    if "\n" in text or "\r" in text:
        raise refused("a value is one line")
    return text


OptionText = Annotated[
    str, BeforeValidator(_option_text), WithJsonSchema({"type": ["string", "integer", "boolean"]})
]
"""The value of a key of opensm.conf: true and false of YAML become TRUE and FALSE, the words that opensm takes."""
SettingText = Annotated[str, BeforeValidator(_text), WithJsonSchema({"type": ["string", "integer"]})]
"""The value of a key of a file that is written unchanged; no booleans, since each file spells them differently."""


def _word(value: object) -> object:
    if not isinstance(value, str) or re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{0,62}", value) is None:
        raise refused(f"{shown(value)} is no key; expected letters, digits, '_', '.' and '-'")
    return value


SettingKey = Annotated[str, BeforeValidator(_word)]


def _variable(value: object) -> object:
    if not isinstance(value, str) or re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", value) is None:
        raise refused(f"{shown(value)} is no name of an environment variable: keys are never written here")
    return value


Variable = Annotated[
    str,
    BeforeValidator(_variable),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$"}),
]
ServiceLevel = Annotated[int, *whole_number(0, 15, "an SL")]
DataVl = Annotated[int, *whole_number(0, 14, "a data VL")]
"""A data VL, 0 to 14; VL15 carries management and is in no table (InfiniBand specification, 3.5.7)."""
ArbitrationWeight = Annotated[int, *whole_number(0, 255, "a weight")]
