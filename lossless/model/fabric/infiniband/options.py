"""Interprets the keys of opensm's configuration by the table in ``profiles/opensm/options.toml``.

Nothing is checked here: a text is interpreted as opensm does, with a term for a loss that opensm does not report.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from lossless.ground.basics.data_files import data_dir
from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.load import read_profile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.infiniband.subnet import Flavour

Kind = Literal[
    "bool", "u8", "u16", "u32", "u64", "i32", "text", "file", "pairs", "pair", "numbers", "per-sl", "mask"
]
Loss = Literal["", "no number", "too wide", "silently zero", "silently false", "replaced"]
"""The effect of opensm's reading on a text.

None; refused with a message (the first two); replaced without a message (the next two), or with one.
"""

KINDS = get_args(Kind)
BITS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
"""Widths of the whole numbers, by kind."""

LINE_BYTES = 1022
"""Most bytes of a line that opensm reads in one piece, without its break: it reads the rest as another line.

opensm/osm_subnet.c (osm_subn_parse_conf_file: fgets of 1023) of NilsBlach/opensm @3130f6c, and run.
"""

TRUE = "TRUE"
_C_NUMBER = re.compile(r"\s*[+-]?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")


class Option(NamedTuple):
    """One key of opensm.conf.

    ``default`` is the text that ``opensm -c`` writes, None where no such file was available. ``legal`` is the range
    that opensm accepts, without the range ``gap``: it replaces other values by ``replaced``. ``choices`` is the same
    for words. ``wire`` is the range of the field on the wire, which opensm does not check, ``safe`` the range that does
    a subnet no harm. ``restart``: SIGHUP does not apply a new value.
    """

    key: str
    kind: Kind
    default: str | None
    unit: str
    restart: bool
    legal: tuple[int, int] | None
    replaced: str | None
    choices: tuple[str, ...]
    wire: tuple[int, int] | None
    safe: tuple[int, int] | None
    secret: bool
    alias: str | None
    only: Flavour | None
    trap: str
    gap: tuple[int, int] | None = None

    def known_to(self, flavour: Flavour) -> bool:
        """Return whether an opensm of this flavor has the key."""
        return self.only in (None, flavour)


class OptionValue(NamedTuple):
    """A text as opensm interprets it: its value, None where the earlier value is kept; and the loss."""

    value: int | bool | str | None
    loss: Loss = ""


def options() -> Mapping[str, Option]:
    """Return all options by key, those of one flavor included."""
    return _table()[0]


def option(key: str) -> Option | None:
    """Return the option of a key, None where neither flavor is known to have it; keys are case-sensitive."""
    return options().get(key)


def known_keys(flavour: Flavour) -> tuple[str, ...]:
    """Return the keys that a flavor is known to have. NVIDIA's has more than those of the table."""
    return tuple(key for key, definition in options().items() if definition.known_to(flavour))


def engines(flavour: Flavour) -> tuple[str, ...]:
    """Return the known words of ``routing_engine`` of a flavor; NVIDIA's may support more."""
    table = _table()[1]
    return table["upstream"] if flavour == "upstream" else (*table["upstream"], *table["nvidia"])


def taken(definition: Option, text: str) -> OptionValue:
    """Return the value of an option as opensm interprets its text.

    Of a repeated key, a text without a value leaves the earlier value.
    """
    if definition.kind == "bool":
        return OptionValue(text == TRUE, "" if text in (TRUE, "FALSE") else "silently false")
    if definition.kind == "i32":
        return _signed(definition, text)
    if definition.kind in BITS:
        return _whole_number(definition, text)
    if definition.choices and text not in definition.choices:
        return OptionValue(definition.replaced, "replaced")
    return OptionValue(None if text == "(null)" else text)


def c_number(text: str) -> int | None:
    """Return a number in C's notation with base 0, octal after a leading 0; None where the whole text is not one."""
    match = _C_NUMBER.match(text)
    if match is None or match.end() != len(text):
        return None
    return _from_c(text)


def _from_c(text: str) -> int:
    digits = text.strip().lstrip("+-").lower()
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    return int(digits, base) * (-1 if "-" in text else 1)


def _leading_number(text: str) -> int:
    match = _C_NUMBER.match(text)
    return _from_c(match[0]) if match else 0


def _signed(definition: Option, text: str) -> OptionValue:
    """Return the value of a text that opensm does not check: the low 32 bits of the number at its beginning."""
    number = _leading_number(text)
    low = (number + 2**31) % 2**32 - 2**31
    loss: Loss = "silently zero" if c_number(text) is None else "" if low == number else "replaced"
    return _within(definition, low, loss)


def _whole_number(definition: Option, text: str) -> OptionValue:
    number = c_number(text)
    if number is None:
        return OptionValue(None, "no number")
    # strtoul has 64 bits, and takes -1 for the largest of them.
    number = number if number >= 0 else number + 2**64
    if not 0 <= number < 2 ** BITS[definition.kind]:
        return OptionValue(None, "too wide")
    return _within(definition, number, "")


def _within(definition: Option, number: int, loss: Loss) -> OptionValue:
    kept = definition.legal is None or definition.legal[0] <= number <= definition.legal[1]
    if not kept or (definition.gap is not None and definition.gap[0] <= number <= definition.gap[1]):
        return OptionValue(int(definition.replaced or 0), "replaced")
    return OptionValue(number, loss)


@cache
def _table() -> tuple[dict[str, Option], dict[str, tuple[str, ...]]]:
    data = read_profile(f"{data_dir('profiles')}/opensm/options.toml")
    rows = {key: _option(key, row) for key, row in data["options"].items()}
    return rows, {flavour: tuple(words) for flavour, words in data["engines"].items()}


def _option(key: str, row: Mapping[str, Any]) -> Option:
    return Option(
        key=key,
        kind=row["kind"],
        default=row.get("default"),
        unit=row.get("unit", ""),
        restart=row.get("restart", False),
        legal=_range(row, "legal"),
        replaced=row.get("replaced"),
        choices=tuple(row.get("choices", ())),
        wire=_range(row, "wire"),
        safe=_range(row, "safe"),
        secret=row.get("secret", False),
        alias=row.get("alias"),
        only=row.get("only"),
        trap=row.get("trap", ""),
        gap=_range(row, "gap"),
    )


def _range(row: Mapping[str, Any], name: str) -> tuple[int, int] | None:
    return (row[name][0], row[name][1]) if name in row else None
