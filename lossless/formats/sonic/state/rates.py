"""Cells that carry their unit: rates with decimal prefixes, and shares.

Source: sonic-utilities utilities_common/netstat.py, format_brate, format_prate and format_util @965233c.
"""

from __future__ import annotations

import re

from lossless.ground.documents.printed_values import number

_RATE = re.compile(r"([0-9][0-9.]*)\s*([KMGT]?)B/s")
_PER_SECOND = re.compile(r"([0-9][0-9.]*)/s")
_PERCENT = re.compile(r"([0-9][0-9.]*)\s*%")
_PREFIXES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def printed_quantity(cell: str) -> tuple[float, str] | None:
    """Return value and unit of a cell that carries its unit (``14.32 KB/s``, ``64.00%``); None where it has none."""
    text = cell.strip().replace(",", "")
    if match := _RATE.fullmatch(text):
        value = number(match[1], "")
        return (value * _PREFIXES[match[2]], "bytes/s") if isinstance(value, int | float) else None
    for pattern, unit in ((_PER_SECOND, "packets/s"), (_PERCENT, "%")):
        if match := pattern.fullmatch(text):
            value = number(match[1], "")
            return (value, unit) if isinstance(value, int | float) else None
    return None
