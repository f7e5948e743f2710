"""Sets of priorities in the notations of NICs: a bit each, or a flag each.

DSCPs by their standard names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterable


def priority_bits(priorities: Iterable[int]) -> int:
    """Return a number with a bit for each priority: 8 for priority 3."""
    return sum(1 << priority for priority in set(priorities))


def priorities_of_bits(bits: int) -> tuple[int, ...]:
    """Return the priorities whose bits are set."""
    return tuple(priority for priority in PRIORITIES if bits >> priority & 1)


def priority_flags(priorities: Iterable[int]) -> tuple[str, ...]:
    """Return ``1`` for each of the eight priorities that is in a set, else ``0``."""
    chosen = frozenset(priorities)
    return tuple("1" if priority in chosen else "0" for priority in PRIORITIES)


def priorities_of_flags(flags: Iterable[bool]) -> tuple[int, ...]:
    """Return the priorities whose flags are set."""
    return tuple(priority for priority, flag in enumerate(flags) if flag)


_OTHER_NAMES = {"EF": 46, "VOICE-ADMIT": 44, "LE": 1}


def dscp_of_name(name: str) -> int | None:
    """Return the DSCP of a name in capital or small letters, None for an unknown name.

    CS0 to CS7 (RFC 2474), AF11 to AF43 (RFC 2597), EF (RFC 3246), VOICE-ADMIT (RFC 5865), LE (RFC 8622).
    """
    text = name.upper()
    if len(text) == 3 and text[:2] == "CS" and text[2] in "01234567":
        return 8 * int(text[2])
    if len(text) == 4 and text[:2] == "AF" and text[2] in "1234" and text[3] in "123":
        return 8 * int(text[2]) + 2 * int(text[3])
    return _OTHER_NAMES.get(text)


def name_of_dscp(dscp: int) -> str | None:
    """Return the name of a DSCP, None where it has none."""
    names = (*(f"CS{n}" for n in range(8)), *(f"AF{x}{y}" for x in range(1, 5) for y in range(1, 4)))
    return next((name for name in (*names, *_OTHER_NAMES) if dscp_of_name(name) == dscp), None)
