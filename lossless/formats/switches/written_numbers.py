"""Numbers, lists and ranges as EOS and NX-OS both write them, and lines of both that take a setting back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

DSCP_NAMES = {
    "default": 0,
    "ef": 46,
    **{f"cs{number}": 8 * number for number in range(1, 8)},
    **{f"af{high}{drop}": 8 * high + 2 * drop for high in range(1, 5) for drop in range(1, 4)},
}
"""DSCPs by name: the default and class selectors (RFC 2474), assured (RFC 2597), expedited forwarding (RFC 3246)."""
REMOVED = object()
"""The value of a key that a negated line sets: it and all keys that begin with it are no longer set."""
_BPS = {"bps": 1, "kbps": 10**3, "mbps": 10**6, "gbps": 10**9}
MOST = 4096
"""How many interfaces a range may name, more than a switch has."""
_NUMBERS = r"[0-9]{1,4}(?:/[0-9]{1,4}){0,5}"
_RANGE = re.compile(rf"(.*?)({_NUMBERS})-(?:([A-Za-z-]+)(?=[0-9]))?({_NUMBERS})")


class RateLimit(NamedTuple):
    """The shape rate of a queue or port, in b/s or in percent of the port; neither if its unit is another."""

    bps: int | None
    percent: int | None


def limit(amount: str, unit: str | None) -> RateLimit:
    """Return the shape rate of an amount and a unit; a rate in packets, or without a unit, is unknown."""
    if unit == "percent":
        return RateLimit(None, int(amount))
    return RateLimit(int(amount) * _BPS[unit] if unit in _BPS else None, None)


def forget(settings: dict[tuple[str | int, ...], Any], key: tuple[str | int, ...]) -> None:
    """Remove the settings whose keys begin with a key."""
    for other in [each for each in settings if each[: len(key)] == key]:
        del settings[other]


def names_of_range(text: str) -> list[str]:
    """Return the interfaces of a range; a text that is no range, counts more than one number, or too far, is a name.

    Parts that the end of a range omits are those of its first name: ``Ethernet1/1-4`` and ``Ethernet1/1-1/4`` count the
    last number, ``Ethernet49/1-52/1`` and ``Ethernet49-52/1`` the slot.
    """
    match = _RANGE.fullmatch(text)
    if match is None:
        return [text]
    kind, first, last = match[1], match[2].split("/"), match[4].split("/")
    if match[3] and match[3].lower() != kind.lower():
        return [text]
    if len(first) == 1:
        first += last[1:]
    last = first[: len(first) - len(last)] + last
    counted = [place for place, number in enumerate(first) if number != last[place]]
    if len(first) != len(last) or len(counted) > 1:
        return [text]
    place = counted[0] if counted else len(first) - 1
    low, high = int(first[place]), int(last[place])
    if not 0 <= high - low < MOST:
        return [text]
    return [kind + "/".join((*first[:place], str(n), *first[place + 1 :])) for n in range(low, high + 1)]


def indexes(text: str, most: int, names: Mapping[str, int] | None = None) -> list[int] | None:
    """Return the numbers of a list with commas, blanks and ranges; None if it is empty, or an item is not valid."""
    numbers: list[int] = []
    for part in re.sub(r"(?:(?<!\s)\s++)?-\s*+", "-", text.lower()).replace(",", " ").split():
        if names and part in names:
            numbers.append(names[part])
            continue
        low, dash, high = part.partition("-")
        first = _number(low, names)
        last = _number(high, names) if dash else first
        if first is None or last is None or not first <= last <= most:
            return None
        numbers += range(first, last + 1)
    return numbers or None


def _number(text: str, names: Mapping[str, int] | None) -> int | None:
    if names and text in names:
        return names[text]
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else None
