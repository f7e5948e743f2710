"""Numbers, ranges and names as EOS writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.switches.written_numbers import names_of_range

if TYPE_CHECKING:
    from collections.abc import Iterator

BYTES = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}
"""Bytes per unit of thresholds; the size of ``segments`` depends on the chip."""
_SPEED = re.compile(r"(?:forced |auto )?([0-9]{1,4})(gfull|ghalf|g-[0-9]|g|full|half)", re.IGNORECASE)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-"


def milliseconds(text: str) -> int | None:
    """Return a time written in seconds, ``0.20``, in ms; None for an invalid number."""
    return round(float(text) * 1000) if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) else None


def threshold_bytes(amount: str, unit: str) -> int | None:
    """Return a threshold in bytes, None if its unit has no fixed size in bytes."""
    return int(amount) * BYTES[unit] if unit in BYTES else None


def speed_bps(text: str) -> int | None:
    """Return the rate of a speed, ``forced 100gfull`` or ``400g-8``; None where it names none."""
    match = _SPEED.fullmatch(text)
    if match is None:
        return None
    return int(match[1]) * (10**9 if match[2].lower().startswith("g") else 10**6)


def interface_names(text: str) -> Iterator[str]:
    """Yield the interfaces that a command names: ``Ethernet1-3,7/1`` are four."""
    prefix = ""
    for part in text.replace(" ", "").split(","):
        written = part if part[:1].isalpha() else prefix + part
        prefix = written[: len(written) - len(written.lstrip(_LETTERS))]
        yield from names_of_range(written)
