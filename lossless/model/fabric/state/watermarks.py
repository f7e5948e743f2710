"""Peaks that a switch keeps of its buffers: of several windows, the one in which the most was held."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from lossless.model.fabric.state.device_state import DeviceState, PlacedReading
    from lossless.model.fabric.state.readings import CountedSince

MULTICAST = "MC"
"""The kind of queue that no priority is for."""
RECENT: frozenset[CountedSince] = frozenset({"user clear", "period", "last poll"})
"""Since when peaks are that a counter of all time covers, and that the configuration of today stood over."""


def highest_peaks(
    state: DeviceState, name: str, kind: str, windows: Collection[CountedSince] | None = None
) -> Mapping[tuple[str, int], PlacedReading]:
    """Return the highest known peak of each object of a kind (``pg``, ``queue``), by its port and its number.

    It is the highest of some ``windows``, else of all. Multicast queues are left out: no priority is theirs.
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
