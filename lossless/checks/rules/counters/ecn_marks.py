"""Peaks of queues above Kmax without ECN marks, for the rules on marks of one switch and of a fabric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.checks.rules.counting import Count, count_of
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.state import MULTICAST, RECENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state import DeviceState, PlacedReading

PEAK = "shared_watermark_bytes"
MARKS = "ecn_marked_packets"
WRED_DROPS = "wred_dropped_packets"
_CAPABILITY = "WRED_ECN_QUEUE_ECN_MARKED_PKT_COUNTER"
_NOT_COUNTED = MissingInput("whether the switch counts ECN marks is not known")
_SINCE_A_CLEAR = MissingInput("ECN marks count since a clear, and peaks of queues may be older")


class UnmarkedPeak(NamedTuple):
    """A peak of a queue above its Kmax (``kmax``, in bytes), and the count of its marks, which is 0."""

    device: RunningDevice
    reading: PlacedReading
    kmax: int
    marks: Count

    @property
    def queue(self) -> str:
        """The name of the queue in findings: device, port and queue number."""
        return f"{self.device.name}:{self.reading.part('port')}:{self.reading.part('queue')}"


def unmarked_peaks(device: RunningDevice) -> Iterator[UnmarkedPeak | MissingInput]:
    """Yield the peaks above Kmax of queues without marks and WRED drops; a missing input where these are unknown."""
    for reading, kmax in _peaks_above_kmax(device):
        if not _is_of_time(device, reading):
            continue
        port, queue = reading.part("port") or "", reading.part("queue") or ""
        marks = count_of(device, MARKS, port=port, queue=queue)
        drops = count_of(device, WRED_DROPS, port=port, queue=queue)
        if not _counts_marks(device.state):
            yield _NOT_COUNTED
        elif isinstance(marks, MissingInput) or isinstance(drops, MissingInput):
            yield next(item for item in (marks, drops) if isinstance(item, MissingInput))
        elif marks.amount or drops.amount:
            continue
        elif not marks.between and marks.placed.reading.since == "clear":
            yield _SINCE_A_CLEAR
        elif marks.between == (device.before is not None):
            yield UnmarkedPeak(device, reading, kmax, marks)


def _is_of_time(device: RunningDevice, peak: PlacedReading) -> bool:
    """Return whether a peak is known to lie in the period of the counted marks."""
    if device.before is None:
        return True
    earlier = [
        placed.number
        for placed in device.before.same(peak.reading)
        if placed.reading.since == peak.reading.since
    ]
    # The peak of a period may be older than the earlier capture; a peak since a clear that has risen is not.
    return peak.reading.since == "user clear" and any(
        number is not None and number < (peak.number or 0) for number in earlier
    )


def _peaks_above_kmax(device: RunningDevice) -> Iterator[tuple[PlacedReading, int]]:
    """Yield each recent peak above Kmax of a lossless queue that marks, and its Kmax in bytes."""
    for peak in device.state.every(PEAK):
        port, queue = peak.part("port"), peak.part("queue")
        if port is None or queue is None or peak.part("queue_kind") == MULTICAST:
            continue
        if peak.number and peak.reading.since in RECENT:
            kmax = _kmax(device, port, int(queue))
            if kmax is not None and peak.number > kmax:
                yield peak, kmax


def _counts_marks(state: DeviceState) -> bool:
    """Return whether the switch counts marks, by its capability in STATE_DB or by a counter above 0."""
    said = state.value("isSupported", table="QUEUE_COUNTER_CAPABILITIES", key=_CAPABILITY)
    return said == "true" or any(marks.number for marks in state.named(MARKS, "queue"))


def _kmax(device: RunningDevice, port: str, queue_number: int) -> int | None:
    """Return the Kmax in bytes of a lossless queue that marks; None for any other queue, and where it is not set."""
    configured, lossless = device.ports.get(port), device.lossless.get(port)
    if (
        configured is None
        or configured.qos is None
        or lossless is None
        or queue_number not in lossless.queues
    ):
        return None
    queue = configured.qos.queues[queue_number]
    return queue.wred.green.max_bytes if queue and queue.wred and queue.wred.marks else None
