"""Numbers and lists of priorities as orchagent reads them.

Numbers are read by std::stoi and std::stoul: blanks and a sign may lead, all text after the digits is ignored, and text
without digits throws (sonic-swss orchagent/qosorch.cpp @bcd579d, orchagent/bufferorch.cpp @51de623).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterable

INT_MAX = 2**31 - 1
"""The largest result of std::stoi; it throws on larger numbers."""
UINT64_MAX = 2**64 - 1
_MOST_DIGITS = 20

MASK_FIELDS = ("pfc_enable", "pfcwd_sw_enable")
"""The fields of PORT_QOS_MAP that list priorities."""


def read_number(text: str, most: int = INT_MAX) -> int | None:
    """Return the number that orchagent reads from a text, None if reading it throws."""
    match = re.match(r"[ \t\n\v\f\r]*([+-]?)0*([0-9]+)", text, re.ASCII)
    if match is None or len(match[2]) > _MOST_DIGITS or int(match[2]) > most:
        return None
    return -int(match[2]) if match[1] == "-" else int(match[2])


def bit_of(number: int) -> int:
    """Return the bit that orchagent sets for a number in a list of priorities: it keeps eight bits, the shift five."""
    return number % 256 % 32


def read_priorities(text: str) -> tuple[int, ...]:
    """Return the priorities that a comma list names; parts that are no priority are left out (rule SWS009)."""
    numbers = (read_number(part.strip()) for part in text.split(","))
    bits = {bit_of(number) for number in numbers if number is not None}
    return tuple(priority for priority in PRIORITIES if priority in bits)


def priority_list(priorities: Iterable[int]) -> str:
    """Return priorities as a comma list."""
    return ",".join(map(str, priorities))
