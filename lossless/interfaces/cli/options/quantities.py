"""Quantities of a link as options take them, within the possible range of a link.

The bounds catch a slip of a unit: 40 km in place of 40 m is a possible link, 40,000 km is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lossless.ground.basics.errors import QuantityError
from lossless.ground.basics.limits import FRAMES_AHEAD
from lossless.ground.basics.units import (
    format_bytes,
    format_duration,
    parse_duration,
    parse_length,
    parse_percent,
    parse_rate,
    parse_size,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST_CABLE_M = 1_000_000
_LONGEST_DELAY_NS = 1_000_000
_LONGEST_WORK_S = 7 * 24 * 3600
LEAST_MTU_BYTES, MOST_MTU_BYTES = 68, 9216
"""Range of PORT|mtu (sonic-port.yang @086b03b)."""
MOST_LOSSLESS_MTU_BYTES = 9216
"""Maximum of LOSSLESS_TRAFFIC_PATTERN|mtu (sonic-lossless-traffic-pattern.yang @086b03b)."""
_SMALLEST_PACKET_BYTES = 64
_MOST_CHARACTERS = 40
"""No quantity is longer; Python itself refuses numbers of thousands of digits."""


class Quantity(click.ParamType):  # type: ignore[type-arg]
    """A quantity with its unit, as people write it."""

    def __init__(self, name: str, parse: Callable[[str], int]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the quantity in its base unit."""
        if isinstance(value, int):
            return value
        try:
            return self._parse(value)
        except QuantityError as error:
            self.fail(str(error), param, ctx)


def _short(parse: Callable[[str], int]) -> Callable[[str], int]:
    def read(text: str) -> int:
        if len(text) > _MOST_CHARACTERS:
            raise QuantityError(f"{text[:20]!r}... is no quantity: it has {len(text):,} characters")
        return parse(text)

    return read


def _cable(text: str) -> int:
    length_m = parse_length(text)
    if not 0 < length_m <= _LONGEST_CABLE_M:
        raise QuantityError(f"{text!r} is no cable: it has 1 m to {_LONGEST_CABLE_M // 1000:,} km")
    return length_m


def _rate(text: str) -> int:
    rate_bps = parse_rate(text)
    if rate_bps == 0:
        raise QuantityError(f"{text!r} is no speed")
    return rate_bps


def _bytes(text: str, what: str) -> int:
    """Return bytes: a frame is in bytes wherever it is written, with the unit or without."""
    if text.isascii() and text.isdecimal():
        return int(text)
    try:
        return parse_size(text)
    except QuantityError as error:
        raise QuantityError(f"{text!r} is no {what}; write bytes, like 9100 or 4 KiB") from error


def _frame(what: str, least_bytes: int, most_bytes: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        size_bytes = _bytes(text, what)
        if not least_bytes <= size_bytes <= most_bytes:
            limits = f"{least_bytes} to {format_bytes(most_bytes)}"
            raise QuantityError(f"{text!r} is no {what}: it has {limits}")
        return size_bytes

    return read


def _delay(text: str) -> int:
    delay_ns = parse_duration(text)
    if delay_ns > _LONGEST_DELAY_NS:
        raise QuantityError(
            f"{text!r} is no delay on a link: it has at most {format_duration(_LONGEST_DELAY_NS)}"
        )
    return delay_ns


def _work_time(text: str) -> int:
    """Return how long people or switches take for something, in whole seconds."""
    seconds = -(-parse_duration(text) // 10**9)
    if not 0 < seconds <= _LONGEST_WORK_S:
        raise QuantityError(f"{text!r} is no time for a step: it takes 1 s to {_LONGEST_WORK_S // 3600} h")
    return seconds


RATE = Quantity("RATE", _short(_rate))
CABLE = Quantity("LENGTH", _short(_cable))
PORT_MTU = Quantity("BYTES", _short(_frame("MTU of a port", LEAST_MTU_BYTES, MOST_MTU_BYTES)))
LOSSLESS_MTU = Quantity(
    "BYTES", _short(_frame("lossless packet", _SMALLEST_PACKET_BYTES, MOST_LOSSLESS_MTU_BYTES))
)
PERCENT = Quantity("PERCENT", _short(parse_percent))
DELAY = Quantity("TIME", _short(_delay))
WORK_TIME = Quantity("TIME", _short(_work_time))


def parse_frames(text: str) -> int:
    """Return a number of frames, 0 for ``any``.

    Raises:
        QuantityError: the text is neither.
    """
    if text.strip().lower() == "any":
        return 0
    if not text.strip().isdecimal() or not 1 <= int(text) <= FRAMES_AHEAD:
        raise QuantityError(f"{text!r} is no number of frames; expected 1 to {FRAMES_AHEAD:,}, or any")
    return int(text)
