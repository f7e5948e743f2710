"""A queue that stood above Kmax must have marked packets.

Severity: warning
Subject: running device

## What it does
Looks at queues with a WRED profile that marks, and with a peak above Kmax since the last clear, in the last period or
at the last poll. This rule fires where the switch counts marks, has marked no packet there, and WRED has dropped none.
With `--since` peaks are those that rose between the captures, and marks those since then. Without the capability of the
counter in STATE_DB, or another queue with marks, a count of 0 is not checked: not all switches count them. Nor is a
count since a clear: the peak may be older.

## Why it breaks a lossless fabric
Above Kmax every ECN-capable packet is marked. Without marks senders do not slow down, and only PFC stops them:
congestion at one port becomes pauses in the fabric.

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
Compare the applied WRED profile (`ecnconfig -l`, `QUEUE|PORT|N`) with the configured one: `wred_green_enable` must be
true, `ecn` at least `ecn_green`. Check that hosts send with ECT(0).

## Sources
- sonic-net/sonic-buildimage#4545: a profile without `wred_green_enable` marks nothing
- sonic-swss orchagent/qosorch.cpp @e6b0c5b: the weight of WRED is 0, so that the queue counts and not its average
- sonic-swss orchagent/portsorch.cpp @e6b0c5b: QUEUE_COUNTER_CAPABILITIES says which counters of WRED the switch has
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counters.ecn_marks import unmarked_peaks
from lossless.checks.rules.counting import other_ports
from lossless.ground.basics.findings import grouped

if TYPE_CHECKING:
    from lossless.checks.rules.counters.ecn_marks import UnmarkedPeak
    from lossless.checks.rules.running_subjects import RunningDevice


def check(device: RunningDevice) -> Results:
    """Yield a violation per queue number with peaks above Kmax, no marks and no WRED drops, at the highest peak."""
    peaks: list[UnmarkedPeak] = []
    for item in unmarked_peaks(device):
        if isinstance(item, MissingInput):
            yield item
        else:
            peaks.append(item)
    peaks.sort(key=lambda peak: -(peak.reading.number or 0))
    # Of one queue there may be peaks of several windows.
    highest = {peak.queue: peak for peak in reversed(peaks)}
    unmarked = [peak for peak in peaks if highest[peak.queue] is peak]
    for same in grouped((peak.reading.part("queue"), peak) for peak in unmarked).values():
        yield _no_marks_above_kmax(same)


def _no_marks_above_kmax(same: list[UnmarkedPeak]) -> Violation:
    worst = same[0]
    port, queue = worst.reading.part("port"), worst.reading.part("queue")
    others = f", nor did {other_ports([peak.marks for peak in same])}" if len(same) > 1 else ""
    return Violation(
        origin=worst.marks.placed.origin,
        message=(
            f"queue {queue} of {port} held {worst.reading.number:,} bytes, Kmax is {worst.kmax:,}, and it marked no "
            f"packet {worst.marks.window}{others}"
        ),
        note="WRED has dropped none either, so the profile is not applied, or marks neither kind of packet",
        help="compare ecnconfig -l with the configured WRED profile, and bind it to the queue again",
        elements=tuple(peak.queue for peak in same),
        confidence="medium",
        data={"peak_bytes": worst.reading.number, "kmax_bytes": worst.kmax},
    )
