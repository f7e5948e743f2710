"""Two captures of one interface: the earlier counters that belong to it, and the counts in between.

A driver that is loaded again starts all its counters from 0. So where one counter is smaller than before, none is
compared.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from lossless.checks.rules.counting import Count, difference
from lossless.ground.basics.records import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.model.fabric.state import Identity, PlacedReading

    Readings = Sequence[PlacedReading]


def earlier_of(readings: Readings, then: Sequence[Readings], now: Sequence[Readings]) -> Readings | None:
    """Return the earlier counters of the same interface; None where there are none, or the match is not certain.

    A match is the only earlier interface of the same name, or the one in a file of the same name. An interface without
    a name matches the only one without a name, if each capture has one, or the one in a file of the same name. ``then``
    and ``now`` are all interfaces of the two captures.
    """
    name = _interface(readings)
    before, after = ([each for each in all_of if _interface(each) == name] for all_of in (then, now))
    if not (len(before) == 1 and (name or len(after) == 1)):
        before, after = (
            [each for each in some if _file(each) == _file(readings)] for some in (before, after)
        )
    return before[0] if len(before) == 1 and (name or len(after) == 1) else None


def since(readings: Readings, earlier: Readings) -> Readings | None:
    """Return a NIC's readings with their counts since an earlier capture; None where the driver was loaded in between.

    Counters that the earlier capture does not have are unknown.
    """
    # Where one file has a counter twice, the first counts, as in all rules about NICs.
    then = {_key(placed): placed for placed in reversed(earlier)}
    counts = [_count(placed, then.get(_key(placed))) for placed in readings]
    if any(isinstance(count, Count) and not count.between for count in counts):
        return None
    return [_with(placed, count) for placed, count in zip(readings, counts, strict=True)]


def _count(placed: PlacedReading, earlier: PlacedReading | None) -> Count | None:
    if placed.number is None or earlier is None or earlier.number is None:
        return None
    count = difference(placed, earlier, placed.number, earlier.number)
    return count if isinstance(count, Count) else None


def _with(placed: PlacedReading, count: Count | None) -> PlacedReading:
    """Return a reading with its count as the value; a counter that the driver does not have stays None."""
    if placed.reading.value is None:
        return placed
    return placed._replace(
        reading=placed.reading._replace(value=UNKNOWN if count is None else count.amount, ceiling=None)
    )


def _key(placed: PlacedReading) -> tuple[str, Identity]:
    return placed.reading.name, placed.reading.identity


def _interface(readings: Readings) -> str:
    return readings[0].part("device") or ""


def _file(readings: Readings) -> str:
    return PurePath(readings[0].file).name
