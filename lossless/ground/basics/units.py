"""Parses and formats quantities with units.

Sizes are bytes, rates bits per second, lengths meters, durations nanoseconds: integers throughout, so that
no threshold is ever a rounding error. A bare number is refused wherever its unit is not obvious.
"""

from __future__ import annotations

import re

from lossless.ground.basics.errors import QuantityError

_NUMBER = r"(\d+(?:\.\d+)?)"
_SIZE_BYTES = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_SIZE_BYTES |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_RATE_BPS = {"M": 10**6, "G": 10**9, "T": 10**12}
_DURATION_NS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_LENGTH_MM = {"m": 10**3, "cm": 10, "km": 10**6}
LIGHT_IN_FIBRE_M_PER_S = 198_000_000
"""Signal speed in a cable: sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b."""


def _scaled(text: str, units: dict[str, int], what: str, example: str) -> int:
    match = re.fullmatch(rf"{_NUMBER}\s*([A-Za-zµ]+)", text.strip())
    if match is None or match[2] not in units:
        why = "has no unit" if re.fullmatch(_NUMBER, text.strip()) else f"is not a {what}"
        raise QuantityError(f"{text.strip()!r} {why}; write it like {example} (units: {', '.join(units)})")
    value = _exact(match[1], units[match[2]])
    if value is None:
        raise QuantityError(
            f"{text!r} is finer than this {what} can be; the smallest step is 1 of the base unit"
        )
    return value


def _exact(digits: str, scale: int) -> int | None:
    whole, _, fraction = digits.partition(".")
    numerator = int(whole + fraction) * scale
    value, rest = divmod(numerator, 10 ** len(fraction))
    return None if rest else value


def parse_size(text: str) -> int:
    """Return bytes: ``800 KiB`` is 819,200, ``150 kB`` is 150,000.

    Raises:
        QuantityError: no unit, an unknown unit, or less than a whole byte.
    """
    return _scaled(text, _SIZE_BYTES, "size", "800 KiB or 150 kB")


def parse_rate(text: str) -> int:
    """Return bits per second: ``400G``, ``400 Gb/s`` and ``400Gbps`` are 400,000,000,000.

    Raises:
        QuantityError: no unit, or an unknown one.
    """
    bare = re.sub(r"(?:b/s|bps|bit/s|bit)$", "", text.strip())
    return _scaled(bare, _RATE_BPS, "rate", "400G or 1.6T")


def parse_length(text: str) -> int:
    """Return whole meters, rounded up: a cable of 2.5 m counts as 3 m.

    Raises:
        QuantityError: no unit, or an unknown one.
    """
    return -(-_scaled(text, _LENGTH_MM, "length", "3m or 30m") // 1000)


def parse_duration(text: str) -> int:
    """Return nanoseconds: ``600ms`` is 600,000,000.

    Raises:
        QuantityError: no unit, or an unknown one.
    """
    return _scaled(text, _DURATION_NS, "duration", "200ms or 4us")


def parse_percent(text: str) -> int:
    """Return whole percent, 0 to 100: ``20%`` is 20.

    Raises:
        QuantityError: no percent sign, or out of range.
    """
    match = re.fullmatch(r"(\d{1,3})\s*%", text.strip())
    if match is None or int(match[1]) > 100:
        raise QuantityError(f"{text!r} is not a percentage; write a whole number from 0% to 100%")
    return int(match[1])


def parse_link_count(text: str) -> tuple[int, int]:
    """Return the number of links and their rate: ``2 x 400G`` is (2, 400,000,000,000).

    Raises:
        QuantityError: not of the form ``N x RATE``.
    """
    match = re.fullmatch(r"(\d+)\s*[x×]\s*(.+)", text.strip())
    if match is None or int(match[1]) == 0:
        raise QuantityError(f"{text!r} does not say how many links of which rate; write it like 2 x 400G")
    return int(match[1]), parse_rate(match[2])


def format_rate(rate_bps: int) -> str:
    """Return a rate in its usual notation: ``400G``, ``1.6T``."""
    for unit in ("T", "G", "M"):
        value = rate_bps / _RATE_BPS[unit]
        if value >= 1:
            return f"{value:g}{unit}"
    return f"{rate_bps} b/s"


def format_capacity(rate_bps: int) -> str:
    """Return a sum of rates: ``12.8 Tb/s``."""
    return re.sub(r"([MGT])$", r" \1b/s", format_rate(rate_bps))


def format_bytes(size_bytes: int) -> str:
    """Return bytes with thousands separated: ``283,648 B``."""
    return f"{size_bytes:,} B"


def size_text(size_bytes: int) -> str:
    """Return bytes in the notation of intents, in the largest unit that keeps them whole: ``800 KiB``."""
    for unit in ("MiB", "KiB", "MB", "kB"):
        if size_bytes and size_bytes % _SIZE_BYTES[unit] == 0:
            return f"{size_bytes // _SIZE_BYTES[unit]} {unit}"
    return f"{size_bytes} B"


def format_duration(duration_ns: int) -> str:
    """Return a duration in the largest unit that keeps it whole: ``600 ms``."""
    for unit in ("s", "ms", "us"):
        if duration_ns and duration_ns % _DURATION_NS[unit] == 0:
            return f"{duration_ns // _DURATION_NS[unit]} {unit}"
    return f"{duration_ns} ns"
