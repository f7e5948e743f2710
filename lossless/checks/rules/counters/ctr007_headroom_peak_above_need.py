"""The headroom peak of a lossless group must not exceed the need of its link.

Severity: warning
Subject: running device

## What it does
Compares the peak occupancy of the headroom of a lossless priority group (`XOFF_ROOM_WATERMARK`) with the need of the
link by its rate and cable. The cable is that of an intent where there is one, else the configured length. A peak above
the vendor's row or the formula of the ASIC is information. A peak above the most that the link can ever need is a
warning: the floor, with the full response time of IEEE 802.3 for the peer and the largest possible waste of cells by
every packet. This second limit needs the cell size of the chip, and is the only one where neither row nor formula is
known. Peaks since the last clear of persistent watermarks, or since an unknown time, are information: cable and
configuration may have been others then. A peak at or below the need is no finding.

## Why it breaks a lossless fabric
Headroom holds the bytes that arrive after a pause was sent. More bytes than the need show that the link differs from
its declaration: the cable is longer, or the peer takes longer to stop than the standard allows. Here the headroom is
large enough by luck. Another port with the headroom of its declared length drops.

## Bad
```json capture beside=leaf-spine.yaml
{
  "COUNTERS_PG_NAME_MAP": {"Ethernet0:3": "oid:0x1a0000000002d2"},
  "USER_WATERMARKS:oid:0x1a0000000002d2": {
    "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES": "518400"   // <- here
  }
}
```

## Good
```json capture beside=leaf-spine.yaml
{
  "COUNTERS_PG_NAME_MAP": {"Ethernet0:3": "oid:0x1a0000000002d2"},
  "USER_WATERMARKS:oid:0x1a0000000002d2": {
    "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES": "97152"
  }
}
```

## Fix
Measure the cable and declare its length, so that the groups get the headroom for it. Where the length is right, look
at the peer: a NIC or switch that obeys pauses late needs other firmware, or more headroom at this end.

## Sources
- IEEE 802.3 clause 31B.3.7 (how long a peer may take to stop)
- sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b (packets that waste cells)
- sonic-net/sonic-mgmt#2174: how a headroom watermark is counted, and that it need not be whole cells
- SONiC doc/buffer-watermark/watermarks_HLD.md @98de38f (which watermark is since when)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counters.headroom_peaks import HeadroomPeak, bounds
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.model.fabric.state import RECENT

if TYPE_CHECKING:
    from lossless.analysis.buffers.headroom.methods import HeadroomBound
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.ground.basics.findings import Severity

    Above = tuple[HeadroomPeak, HeadroomBound]

_NO_CELLS = MissingInput("how much more than the floor small packets take needs the cell size of the chip")


def check(device: RunningDevice) -> Results:
    """Yield a violation per priority group number, link speed and cable length with headroom peaks above the need.

    Peaks of different severity or period are separate violations.
    """
    above: list[Above] = []
    for item in bounds(device):
        if isinstance(item, MissingInput):
            yield item
        elif item[1].explained_bytes is None:
            if item[0].held_bytes > item[1].known.headroom_bytes:
                yield _NO_CELLS
        elif item[0].held_bytes > item[1].explained_bytes:
            above.append(item)
    for same in grouped((_cause(*each), each) for each in above).values():
        yield _headroom_peak_above_need(device, sorted(same, key=lambda each: -each[0].held_bytes))


def _cause(peak: HeadroomPeak, bound: HeadroomBound) -> tuple[object, ...]:
    link = bound.link
    return peak.group, link.speed_bps, link.cable_m, _severity(peak, bound), peak.window


def _severity(peak: HeadroomPeak, bound: HeadroomBound) -> Severity:
    sure = bound.most_bytes is not None and peak.held_bytes > bound.most_bytes
    return "warning" if sure and peak.placed.reading.since in RECENT else "info"


def _headroom_peak_above_need(device: RunningDevice, same: list[Above]) -> Violation:
    (peak, bound), others = same[0], len(same) - 1
    link, most = bound.link, bound.most_bytes
    sure = most is not None and peak.held_bytes > most
    limit = (
        f"can ever need, {format_bytes(most)}"
        if sure and most
        else f"needs, {format_bytes(bound.known.headroom_bytes)}"
    )
    ports = f", as did {others} other {'port' if others == 1 else 'ports'}" if others else ""
    return Violation(
        origin=peak.placed.origin,
        message=(
            f"PG {peak.group} of {peak.port} held {format_bytes(peak.held_bytes)} in its headroom {peak.window}"
            f"{ports}: more than {format_rate(link.speed_bps)} over {link.cable_m} m {limit}"
        ),
        note=_note(bound),
        help=f"measure the cable of {peak.port}, and look for a peer that obeys pauses late",
        elements=tuple(f"{device.name}:{each.port}:PG{each.group}" for each, _ in same),
        severity=_severity(peak, bound),
        confidence=None if sure else "medium",
        data={
            "peak_bytes": peak.held_bytes,
            "since": peak.placed.reading.since,
            "need_bytes": bound.known.headroom_bytes,
            "need_method": bound.known.method,
            "most_bytes": most,
            "speed_bps": link.speed_bps,
            "cable_m": link.cable_m,
        },
    )


def _note(bound: HeadroomBound) -> str:
    known = f"needed by the {bound.known.method}: {format_bytes(bound.known.headroom_bytes)}"
    if bound.most_bytes is None:
        return f"{known}; how much more small packets can take is not known without the cell size of the chip"
    return f"{known}; at most {format_bytes(bound.most_bytes)}, if every packet wastes as much of its cells as it can"
