"""Parses and formats quantities with units, formats lists of names and numbers, and suggests the nearest valid name.

Sizes are bytes, rates bits per second, lengths meters, durations nanoseconds: integers throughout. A
quantity without a unit is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import QuantityError

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence


NUMBER = r"[0-9]+(?:\.[0-9]+)?"
BLANKS = " \t"
"""May stand around a number and its unit. Line breaks may not, nor other digits than ASCII's: no reader of what is
rendered takes them, and Python's ``\\d`` and ``\\s`` would."""
LONGEST_QUANTITY = 40
"""Characters; no quantity has more, and Python refuses to read numbers of thousands of digits."""
SIZE_BYTES = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9}
SIZE_BYTES |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
RATE_BPS = {"M": 10**6, "G": 10**9, "T": 10**12}
PER_SECOND = ("b/s", "bps", "bit/s", "bit")
"""Words that may follow the unit of a rate."""
DURATION_NS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_WORK_NS = {**DURATION_NS, "min": 60 * 10**9, "h": 3600 * 10**9}
LENGTH_MM = {"m": 10**3, "cm": 10, "km": 10**6}
LIGHT_IN_FIBRE_M_PER_S = 198_000_000
"""Signal speed in a cable: sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b."""


def unsigned_number(text: str) -> int | None:
    """Return the number that digits of ASCII spell; None for other texts, and for more digits than a quantity has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_QUANTITY else None


def _scaled(text: str, units: dict[str, int], what: str, example: str) -> int:
    if len(text) > LONGEST_QUANTITY:
        raise QuantityError(f"{text[:20]!r}... is not a {what}: it has {len(text):,} characters")
    stripped = text.strip(BLANKS)
    match = re.fullmatch(rf"({NUMBER})[{BLANKS}]*([A-Za-zµ]+)", stripped)
    if match is None or match[2] not in units:
        why = "has no unit" if re.fullmatch(NUMBER, stripped) else f"is not a {what}"
        raise QuantityError(f"{stripped!r} {why}; write it like {example} (units: {', '.join(units)})")
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
        QuantityError: not a number with a known unit, or not a whole number of bytes.
    """
    return _scaled(text, SIZE_BYTES, "size", "800 KiB or 150 kB")


def parse_rate(text: str) -> int:
    """Return bits per second: ``400G``, ``400 Gb/s`` and ``400Gbps`` are 400,000,000,000.

    Raises:
        QuantityError: not a number with a known unit, or not a whole number of bits per second.
    """
    bare = re.sub(rf"(?:{'|'.join(PER_SECOND)})\Z", "", text.strip(BLANKS))
    return _scaled(bare, RATE_BPS, "rate", "400G or 1.6T")


def parse_length(text: str) -> int:
    """Return whole meters, rounded up: a cable of 2.5 m counts as 3 m.

    Raises:
        QuantityError: not a number with a known unit, or not a whole number of millimeters.
    """
    return -(-_scaled(text, LENGTH_MM, "length", "3m or 30m") // 1000)


def parse_duration(text: str) -> int:
    """Return nanoseconds: ``600ms`` is 600,000,000.

    Raises:
        QuantityError: not a number with a known unit, or not a whole number of nanoseconds.
    """
    return _scaled(text, DURATION_NS, "duration", "200ms or 4us")


def parse_work_time(text: str) -> int:
    """Return nanoseconds of a time that people's work takes, in the units of durations, min and h: ``30min``, ``2h``.

    Raises:
        QuantityError: not a number with a known unit, or not a whole number of nanoseconds.
    """
    return _scaled(text, _WORK_NS, "time", "30min or 90s")


def parse_percent(text: str) -> int:
    """Return whole percent, 0 to 100: ``20%`` is 20.

    Raises:
        QuantityError: not a whole number with a percent sign, or more than 100.
    """
    match = re.fullmatch(rf"([0-9]{{1,3}})[{BLANKS}]*%", text.strip(BLANKS))
    if match is None or int(match[1]) > 100:
        raise QuantityError(f"{text!r} is not a percentage; write a whole number from 0% to 100%")
    return int(match[1])


def parse_link_count(text: str) -> tuple[int, int]:
    """Return the number of links and their rate: ``2 x 400G`` is (2, 400,000,000,000).

    Raises:
        QuantityError: not of the form ``N x RATE``, no link, or an invalid rate.
    """
    match = re.fullmatch(rf"([0-9]+)[{BLANKS}]*[x×](.+)", text.strip(BLANKS))
    count = unsigned_number(match[1]) if match is not None else None
    if match is None or not count:
        raise QuantityError(f"{text!r} does not say how many links of which rate; write it like 2 x 400G")
    return count, parse_rate(match[2])


def format_rate(rate_bps: int) -> str:
    """Return a rate in its usual notation: ``400G``, ``1.6T``."""
    for unit in ("T", "G", "M"):
        value = rate_bps / RATE_BPS[unit]
        if value >= 1:
            return f"{value:g}{unit}"
    return f"{rate_bps} b/s"


def format_capacity(rate_bps: int) -> str:
    """Return a rate with the unit of bits per second: ``12.8 Tb/s``."""
    return re.sub(r"([MGT])$", r" \1b/s", format_rate(rate_bps))


def format_bytes(size_bytes: int) -> str:
    """Return bytes with thousands separated: ``283,648 B``."""
    return f"{size_bytes:,} B"


def size_text(size_bytes: int) -> str:
    """Return bytes as intents state them, whole in the first of ``MiB``, ``KiB``, ``MB`` and ``kB``, else in B."""
    for unit in ("MiB", "KiB", "MB", "kB"):
        if size_bytes and size_bytes % SIZE_BYTES[unit] == 0:
            return f"{size_bytes // SIZE_BYTES[unit]} {unit}"
    return f"{size_bytes} B"


def format_duration(duration_ns: int) -> str:
    """Return a duration in the largest unit that keeps it whole: ``600 ms``."""
    for unit in ("s", "ms", "us"):
        if duration_ns and duration_ns % DURATION_NS[unit] == 0:
            return f"{duration_ns // DURATION_NS[unit]} {unit}"
    return f"{duration_ns} ns"


def listed(names: Sequence[str], most: int = 4, separator: str = ", ") -> str:
    """Return at most ``most`` names and the number of the rest: ``a, b, c, d and 3 more``."""
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def joined(names: Iterable[str], most: int | None = None) -> str:
    """Return names as an enumeration, ``a, b and c``; of more than ``most`` the first and the number of the rest."""
    every = list(names)
    if most is not None and len(every) > most:
        return listed(every, most)
    return " and ".join(filter(None, [", ".join(every[:-1]), *every[-1:]]))


def one_of(names: Iterable[str]) -> str:
    """Return names as alternatives: ``a, b or c``."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def spell(priorities: Iterable[int]) -> str:
    """Return PFC priorities in words: ``priority 3``, ``priorities 3 and 4``, or ``no priority``."""
    numbers = [str(priority) for priority in sorted(priorities)]
    if not numbers:
        return "no priority"
    return f"{'priorities' if len(numbers) > 1 else 'priority'} {joined(numbers)}"


def number_ranges(numbers: Iterable[int]) -> str:
    """Return numbers in ascending order, consecutive ones as a range: ``24-25, 27-31``."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


_NAMED = 5
"""The most names that a message lists by default; there may be thousands."""
_SOME_LIKENESS = 0.3
"""The least similarity of two names for one to resemble the other."""


def nearest(name: str, candidates: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the candidate that ``name`` most likely means, or None when none resembles it.

    The order of the candidates does not matter; a name that differs only in case always wins. ``likeness`` is the least
    similarity, as a share of both names.
    """
    from difflib import get_close_matches

    names = sorted(set(candidates))
    for candidate in names:
        if candidate.casefold() == name.casefold():
            return candidate
    close = get_close_matches(name, names, n=1, cutoff=likeness)
    return close[0] if close else None


def ranked(name: str, candidates: Iterable[str]) -> list[str]:
    """Return each candidate once, the nearest to ``name`` first; those that hardly resemble it stay in their order."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=name.casefold(), autojunk=False)

    def likeness(candidate: str) -> float:
        matcher.set_seq1(candidate.casefold())
        ratio = matcher.ratio()
        return ratio if ratio >= _SOME_LIKENESS else 0.0

    return sorted(dict.fromkeys(candidates), key=likeness, reverse=True)


def suggestion(
    name: str, names: Iterable[str], most: int | None = _NAMED, *, meant: str | None = None, see: str = ""
) -> str:
    """Return the end of a message about an unknown name: ``; did you mean leaf1? (others: leaf2, leaf3)``.

    Without a near name it lists the names there are. The nearest come first, at most ``most``, or all without
    it. ``meant`` is the name that is known to be meant, ``see`` the command that lists all names.
    """
    known = list(dict.fromkeys(names))
    if not known:
        return "; there are none"
    near = meant or nearest(name, known)
    others = [other for other in ranked(name, known) if other != near]
    shown = listed(others, most or len(others))
    if see and most and len(others) > most:
        shown += f", see {see}"
    if near is None:
        return f"; there {'is' if len(others) == 1 else 'are'} {shown}"
    return f"; did you mean {near}?" + (f" (others: {shown})" if others else "")


def key_suggestion(
    key: str, known: Iterable[str], stated: Container[str], *, meant: str | None = None
) -> str:
    """Return the end of a message about an unknown key: the known keys that are not in ``stated``.

    The nearest comes first. Where all are stated the text says so; empty where no key is known. ``meant`` is as in
    :func:`suggestion`.
    """
    known = list(known)
    free = [name for name in known if name not in stated]
    if free or not known:
        return suggestion(key, free, most=None, meant=meant) if free else ""
    return f"; every key that is known here is stated already: {', '.join(known)}"
