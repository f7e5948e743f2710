"""The switches of a fabric whose queues repeatedly exceed Kmax must mark packets.

Severity: warning
Subject: running fabric

## What it does
Looks at the lossless queues of all switches together whose WRED profile marks. This rule fires once, in place of
CTR003, where queues exceeded their Kmax at least twice (two queues, or one with peaks of two sizes, which are of two
times), no switch has marked a packet and WRED has dropped none. With `--since` peaks are those that rose between the
captures, and marks those since then. Switches that are not known to count marks (`QUEUE_COUNTER_CAPABILITIES` in
STATE_DB) are *not checked*.

## Why it breaks a lossless fabric
One queue without marks has a wrong profile. A fabric without marks has no congestion control: senders send packets that
may not be marked, or no profile was ever bound. Only PFC limits the load, and its pauses propagate.

## Bad
```json capture beside=leaf.json
{
  "COUNTERS_QUEUE_NAME_MAP": {"Ethernet0:3": "oid:0x15000000000301", "Ethernet8:3": "oid:0x15000000000357"},
  "COUNTERS:oid:0x15000000000301": {
    "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": "0", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": "0"
  },
  "COUNTERS:oid:0x15000000000357": {
    "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": "0",
    "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": "0"   // <- here
  },
  "USER_WATERMARKS:oid:0x15000000000301": {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": "4181000"},
  "USER_WATERMARKS:oid:0x15000000000357": {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": "6815744"},
  "QUEUE_COUNTER_CAPABILITIES|WRED_ECN_QUEUE_ECN_MARKED_PKT_COUNTER": {"isSupported": "true"}
}
```

## Good
```json capture beside=leaf.json
{
  "COUNTERS_QUEUE_NAME_MAP": {"Ethernet0:3": "oid:0x15000000000301", "Ethernet8:3": "oid:0x15000000000357"},
  "COUNTERS:oid:0x15000000000301": {
    "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": "0", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": "7120"
  },
  "COUNTERS:oid:0x15000000000357": {
    "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": "0", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": "90113"
  },
  "USER_WATERMARKS:oid:0x15000000000301": {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": "4181000"},
  "USER_WATERMARKS:oid:0x15000000000357": {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": "6815744"},
  "QUEUE_COUNTER_CAPABILITIES|WRED_ECN_QUEUE_ECN_MARKED_PKT_COUNTER": {"isSupported": "true"}
}
```

## Fix
Check on a host that packets of RDMA leave with ECT (`tcpdump`: the last two bits of the ToS byte are 1 or 2), and that
DCQCN is on; then that `ecnconfig -l` shows the profile on the switches, with `ecn` other than `ecn_none`.

## Sources
- sonic-net/sonic-buildimage#4545: a profile without `wred_green_enable` marks nothing
- RFC 3168, section 5: only packets with ECT may be marked, all others are dropped in their place
- sonic-net/SONiC doc/qos/ECN_and_WRED_statistics_HLD.md @98de38f: the counters of marks, and their capabilities
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counters.ecn_marks import MARKS, UnmarkedPeak, unmarked_peaks
from lossless.checks.rules.counting import Count, counted, each
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation where no switch marks, though queues stood above Kmax more than once."""
    peaks: list[UnmarkedPeak] = []
    for device in fabric.devices:
        items = list(unmarked_peaks(device))
        yield from dict.fromkeys(item for item in items if isinstance(item, MissingInput))
        peaks += (item for item in items if isinstance(item, UnmarkedPeak))
    times = {(peak.queue, peak.reading.number) for peak in peaks}
    if len(times) < 2 or any(_has_marked(device) for device in fabric.devices):
        return
    peaks.sort(key=lambda peak: -(peak.reading.number or 0))
    yield _no_marks_in_fabric(peaks, len(times))


def _has_marked(device: RunningDevice) -> bool:
    """Return whether a switch has marked a packet in the period of its counters."""
    counts = (
        counted(device, placed, "port", "queue") for placed in each(device.state, MARKS, "port", "queue")
    )
    return any(isinstance(count, Count) and count.amount for count in counts)


def _no_marks_in_fabric(peaks: Sequence[UnmarkedPeak], times: int) -> Violation:
    highest = peaks[0]
    queues = tuple(dict.fromkeys(peak.queue for peak in peaks))
    others = {peak.queue: peak.marks.placed.origin for peak in peaks if peak.queue != highest.queue}
    of_queues = "a queue" if len(queues) == 1 else f"{len(queues)} queues"
    return Violation(
        origin=highest.marks.placed.origin,
        message=f"{of_queues} stood above Kmax {times} times or more, and no switch that was captured marked a packet",
        note=(
            f"highest: {highest.queue} held {highest.reading.number:,} bytes, its Kmax is {highest.kmax:,}; marks "
            f"{highest.marks.window}"
        ),
        help="check that hosts send RDMA with ECT, and that switches have the configured WRED profile bound",
        elements=queues,
        related=tuple(RelatedPlace(origin, f"{queue} has no marks") for queue, origin in others.items()),
        data={"times": times, "peak_bytes": highest.reading.number, "kmax_bytes": highest.kmax},
    )
