"""How orchagent reads text.

Numbers are read by std::stoi and std::stoul: blanks and a sign may lead, whatever follows the digits is ignored,
and text without digits throws (sonic-swss orchagent/qosorch.cpp @bcd579d, orchagent/bufferorch.cpp @51de623).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.sonic.read.tables import single_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.device import Device
    from lossless.formats.sonic.read.tables import Row

INT_MAX = 2**31 - 1
"""What std::stoi can return at most; it throws on more."""
UINT64_MAX = 2**64 - 1
_SHOWN = 4
_MOST_DIGITS = 20


def read_number(text: str, most: int = INT_MAX) -> int | None:
    """Return the number that orchagent makes of a text, None where reading it throws."""
    match = re.match(r"[ \t\n\v\f\r]*([+-]?)0*([0-9]+)", text, re.ASCII)
    if match is None or len(match[2]) > _MOST_DIGITS or int(match[2]) > most:
        return None
    return -int(match[2]) if match[1] == "-" else int(match[2])


def is_canonical(text: str) -> bool:
    """Return whether a text is a number as everyone writes it: digits, no leading zero, perhaps a minus."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and (digits[0] != "0" or digits == "0")


def listed(names: Sequence[str]) -> str:
    """Return ``a, b, c, d and 3 more``."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def known(device: Device, port: str) -> str:
    """Return a port as findings name it: ``leaf1:Ethernet0``."""
    return f"{device.switch.name}:{port}"


def own_rows(device: Device, table: str, row: Row) -> list[str]:
    """Return the keys that a joined key stands for and that have a row of their own as well."""
    written = device.tables.data.get(table)
    return [key for key in single_keys(row.key) if isinstance(written, dict) and key in written]
