"""Sets of priorities in the notations of NICs: a bit each, or a flag each."""

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
