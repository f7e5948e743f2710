"""The content of captures of running state, value by value, before any conclusion.

A capture is one file: a database dump, the output of a command, an answer over gNMI, counters of a NIC, a log. Each
value of it is one reading, with its object, its unit, and the start of its count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Path
    from lossless.ground.basics.records import Maybe

Identity = tuple[tuple[str, str], ...]
"""The object of a reading, as pairs of a kind and a name: ``(("port", "Ethernet4"), ("queue", "3"))``.

``object`` is an object of none of the kinds below: ``switch``, a debug counter, ``RIF:Vlan1000``.

Kinds are ``namespace``, ``port``, ``queue`` (its number) and ``queue_kind`` (``UC``, ``MC``, ``ALL``), ``priority``,
``pg``, ``pool``, ``profile``, ``tc``, ``dscp``, ``buffer``, ``device``, ``path``, ``guid``, ``lid``, ``partition``,
``error``, ``source``; ``table`` and ``key`` of a database row; of hosts also ``ring`` (a queue of the driver),
``lane``, ``qp``, ``peer`` and ``event`` (the number of an event in its log).
"""
CountedSince = Literal[
    "boot", "clear", "last poll", "user clear", "persistent clear", "period", "now", "unknown"
]
"""The start of a count or of a peak; ``now`` for a value that does not count: a status, a setting, a size."""


_COUNTED_UNITS = frozenset({"packets", "bytes", "frames", "events", "errors"})
_NOT_COUNTING: frozenset[CountedSince] = frozenset({"now", "unknown"})
_SIGN_BIT = 1 << 63
"""Counts from here on are negative numbers; a counter of bytes at 1.6 Tb/s would need a year and a half."""


class StateReading(NamedTuple):
    """One value of a capture.

    ``name`` is the common name of a counter in all sources where that is known (``pfc_rx``, ``dropped_packets``), else
    the printed one. ``value`` is UNKNOWN where the capture lacks it (``N/A``, ``-``), None where the device has none.
    ``unit`` is that of the value: ``packets``, ``bytes``, ``us``; empty without one. ``path`` is the place in the file:
    keys of JSON, or section, line and heading of a text; ``heading`` is the printed name. ``ceiling`` is the largest
    value of a counter that saturates, None for all others.
    """

    identity: Identity
    name: str
    value: Maybe[int | float | str]
    unit: str = ""
    since: CountedSince = "unknown"
    path: Path = ()
    heading: str = ""
    ceiling: int | None = None

    @property
    def is_saturated(self) -> bool:
        """Whether the counter is at its ceiling: it has counted at least that much."""
        return self.ceiling is not None and self.value == self.ceiling

    @property
    def is_no_count(self) -> bool:
        """Whether it is a counter with an impossible value: below 0, as a number or as its 64 bits.

        Tools that subtract the value of a counter at a clear print such a value if it has begun again since
        (sonic-utilities scripts/pg-drop @03cd422, get_counters).
        """
        counts = self.unit in _COUNTED_UNITS or self.since not in _NOT_COUNTING
        return (
            counts
            and isinstance(self.value, int)
            and not 0 <= self.value < _SIGN_BIT
            and not self.is_saturated
        )


class StateCapture(NamedTuple):
    """The content of one file, or of a section of it. ``form`` names its form: ``COUNTERS_DB``, ``show pfc counters``.

    ``device`` is the device that it names, None without one; ``problems`` are parts that could not be read, ``notes``
    facts for a reader of the report: a clear, objects without names, a namespace that failed. ``taken_at`` is the time
    of the capture, in seconds since 1970 (UTC) by the device's clock, None where it is unknown.
    """

    file: str
    form: str
    readings: tuple[StateReading, ...]
    device: str | None = None
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    taken_at: int | None = None
