"""What rules about ECN marks of queues share: Kmax of a queue, its peaks, and whether its switch counts marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.state.watermarks import MULTICAST, RECENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state.device_state import DeviceState, PlacedReading

PEAK = "shared_watermark_bytes"
MARKS = "ecn_marked_packets"
WRED_DROPS = "wred_dropped_packets"
COUNTERS_OF_MARKS = "WRED_ECN_QUEUE"
"""The counter group of FLEX_COUNTER_TABLE that polls both."""
_CAPABILITY = "WRED_ECN_QUEUE_ECN_MARKED_PKT_COUNTER"


def peaks_above_kmax(device: RunningDevice) -> Iterator[tuple[PlacedReading, int]]:
    """Yield each recent peak of a queue that marks which is above its Kmax, and Kmax."""
    for peak in device.state.every(PEAK):
        port, queue = peak.part("port"), peak.part("queue")
        if port is None or queue is None or peak.part("queue_kind") == MULTICAST:
            continue
        if peak.number and peak.reading.since in RECENT:
            kmax = _kmax(device, port, int(queue))
            if kmax is not None and peak.number > kmax:
                yield peak, kmax


def counts_marks(state: DeviceState) -> bool:
    """Return whether the switch is known to count marks: it says so, or it has counted some."""
    said = state.value("isSupported", table="QUEUE_COUNTER_CAPABILITIES", key=_CAPABILITY)
    return said == "true" or any(marks.number for marks in state.named(MARKS, "queue"))


def _kmax(device: RunningDevice, port: str, queue_number: int) -> int | None:
    """Return Kmax of a queue that marks and is lossless, None for any other."""
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
