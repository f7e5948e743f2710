"""Buffer peaks that a switch records: of several windows, the one with the highest peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from lossless.model.fabric.state.device_state import DeviceState, PlacedReading
    from lossless.model.fabric.state.readings import CountedSince

MULTICAST = "MC"
"""The kind of queue that belongs to no priority."""
RECENT: frozenset[CountedSince] = frozenset({"user clear", "period", "last poll"})
"""Windows of peaks that are within the count of all time, and within which the current configuration was in force."""


def highest_peaks(
    state: DeviceState, name: str, kind: str, windows: Collection[CountedSince] | None = None
) -> Mapping[tuple[str, int], PlacedReading]:
    """Return the highest known peak of each object of a kind (``pg``, ``queue``), by its port and its number.

    It is the highest of some ``windows``, else of all. Multicast queues are left out: they belong to no priority.
    """
    highest: dict[tuple[str, int], PlacedReading] = {}
    for peak in state.every(name):
        port, number, bytes_held = peak.part("port"), peak.part(kind) or "", peak.number
        if port is None or not number.isdecimal() or bytes_held is None:
            continue
        if peak.part("queue_kind") == MULTICAST or (
            windows is not None and peak.reading.since not in windows
        ):
            continue
        known = highest.setdefault((port, int(number)), peak)
        if bytes_held > (known.number or 0):
            highest[port, int(number)] = peak
    return highest
