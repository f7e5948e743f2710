"""A queue that stood above Kmax must have marked packets.

Severity: warning

## What it does
Looks at queues whose WRED profile marks, and whose peak since the last clear, in the last period or at the last poll
is above Kmax. Where the switch counts marks, has marked no packet there, and WRED has dropped none, this rule fires.
Without the capability of the counter in STATE_DB, or another queue with marks, a count of 0 is not checked: not all
switches count them. Nor is a count since a clear: the peak may be older.

## Why it breaks a lossless fabric
Above Kmax all packets that can be marked are. Without marks senders do not slow down, and PFC is all that holds them
back: congestion at one port becomes pauses in the fabric.

## Bad
```json capture beside=leaf.json
{
  "COUNTERS_QUEUE_NAME_MAP": {"Ethernet8:3": "oid:0x15000000000357"},
  "COUNTERS:oid:0x15000000000357": {
    "SAI_QUEUE_STAT_PACKETS": "84120331", "PFC_WD_STATUS": "operational",
    "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": "0",
    "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": "0"   // <- here
  },
  "USER_WATERMARKS:oid:0x15000000000357": {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": "6815744"},
  "QUEUE_COUNTER_CAPABILITIES|WRED_ECN_QUEUE_ECN_MARKED_PKT_COUNTER": {"isSupported": "true"}
}
```

## Good
```json capture beside=leaf.json
{
  "COUNTERS_QUEUE_NAME_MAP": {"Ethernet8:3": "oid:0x15000000000357"},
  "COUNTERS:oid:0x15000000000357": {
    "SAI_QUEUE_STAT_PACKETS": "84120331", "PFC_WD_STATUS": "operational",
    "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": "0",
    "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": "90113"
  },
  "USER_WATERMARKS:oid:0x15000000000357": {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": "6815744"},
  "QUEUE_COUNTER_CAPABILITIES|WRED_ECN_QUEUE_ECN_MARKED_PKT_COUNTER": {"isSupported": "true"}
}
```

## Fix
Compare the WRED profile that runs (`ecnconfig -l`, `QUEUE|PORT|N`) with the configured one: `wred_green_enable` must be
true, `ecn` at least `ecn_green`. Check that hosts send with ECT(0).

## Sources
- sonic-net/sonic-buildimage#4545: a profile without `wred_green_enable` marks nothing
- sonic-swss orchagent/qosorch.cpp @e6b0c5b: the weight of WRED is 0, so that the queue counts and not its average
- sonic-swss orchagent/portsorch.cpp @e6b0c5b: QUEUE_COUNTER_CAPABILITIES says which counters of WRED the switch has
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counters.ecn_marks import (
    COUNTERS_OF_MARKS,
    MARKS,
    WRED_DROPS,
    counts_marks,
    peaks_above_kmax,
)
from lossless.checks.rules.counting import is_off
from lossless.ground.basics.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state.device_state import DeviceState, PlacedReading

_NOT_COUNTED = MissingInput("whether the switch counts ECN marks is not known")


def check(device: RunningDevice) -> Results:
    """Yield a violation per queue above Kmax that has marked nothing."""
    is_counted = counts_marks(device.state)
    for peak, kmax in _above_kmax(device):
        port, queue = peak.part("port") or "", peak.part("queue") or ""
        marks = device.state.of(MARKS, port=port, queue=queue)
        reason = None if marks is None else _not_comparable(device.state, marks, port, queue)
        if marks is None or not is_counted:
            yield _NOT_COUNTED
        elif reason is not None:
            yield MissingInput(reason)
        elif marks.number == 0 and device.state.value(WRED_DROPS, port=port, queue=queue) == 0:
            yield _violation(device, marks, peak, kmax)


def _above_kmax(device: RunningDevice) -> Iterator[tuple[PlacedReading, int]]:
    """Yield the highest recent peak of each queue that marks, where it is above Kmax, and Kmax."""
    peaks = grouped(
        ((peak.part("port"), peak.part("queue")), (peak, kmax)) for peak, kmax in peaks_above_kmax(device)
    )
    for of_queue in peaks.values():
        yield max(of_queue, key=lambda pair: pair[0].number or 0)


def _not_comparable(state: DeviceState, marks: PlacedReading, port: str, queue: str) -> str | None:
    """Return why marks of 0 say nothing of a peak, None where they do."""
    if is_off(state, COUNTERS_OF_MARKS):
        return f"counter group {COUNTERS_OF_MARKS} is off: its counters do not move"
    if marks.reading.since == "clear":
        return "ECN marks count since a clear, and the peak of the queue may be older"
    dropped = state.of(WRED_DROPS, port=port, queue=queue)
    if marks.number is None or dropped is None or dropped.number is None:
        return "no capture has the marks and the WRED drops of each queue"
    return None


def _violation(device: RunningDevice, marks: PlacedReading, peak: PlacedReading, kmax: int) -> Violation:
    port, queue = peak.part("port") or "", peak.part("queue") or ""
    return Violation(
        origin=marks.origin,
        message=f"queue {queue} of {port} held {peak.number:,} bytes, Kmax is {kmax:,}, and it marked no packet",
        note="WRED has dropped none either, so the profile is not applied, or marks neither kind of packet",
        help="compare ecnconfig -l with the configured WRED profile, and bind it to the queue again",
        elements=(f"{device.name}:{port}:{queue}",),
        confidence="medium",
        data={"peak_bytes": peak.number, "kmax_bytes": kmax},
    )
