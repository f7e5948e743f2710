"""The captures of a fabric must be taken at the same time.

Severity: info
Subject: running fabric

## What it does
Compares the times of captures (`# taken` in the output of the collector). A capture for `--since` that was taken after
the one it is compared with is a warning: either the two are swapped, or the clock was set back. So are two snapshots of
one switch that are named as captures of one time: the readings are a mixture of both. With `--since`, two devices whose
counting times do not overlap are information. Rules that compare devices do not compare these and report them as *not
checked*. Counting times that overlap may begin and end at any time.

## Why it breaks a lossless fabric
It does not. But the pauses that one switch has received are compared with those that its neighbor has sent. Where the
neighbor has counted at another time, the two numbers are unrelated, and a search for the source of a storm ends at the
wrong device.

## Bad
```text earlier
# lossless switch state 1
# switch leaf1
# taken 1767229200 UTC
==> sonic-db-cli COUNTERS_DB HGETALL 'COUNTERS:oid:0x1000000000002'
{'SAI_PORT_STAT_PFC_3_RX_PKTS': '20'}
==> end
```
```text capture
# lossless switch state 1   # <- here
# switch leaf1
# taken 1767225600 UTC
==> sonic-db-cli COUNTERS_DB HGETALL 'COUNTERS:oid:0x1000000000002'
{'SAI_PORT_STAT_PFC_3_RX_PKTS': '17'}
==> end
```

## Good
```text earlier
# lossless switch state 1
# switch leaf1
# taken 1767225000 UTC
==> sonic-db-cli COUNTERS_DB HGETALL 'COUNTERS:oid:0x1000000000002'
{'SAI_PORT_STAT_PFC_3_RX_PKTS': '12'}
==> end
```
```text capture
# lossless switch state 1
# switch leaf1
# taken 1767225600 UTC
==> sonic-db-cli COUNTERS_DB HGETALL 'COUNTERS:oid:0x1000000000002'
{'SAI_PORT_STAT_PFC_3_RX_PKTS': '17'}
==> end
```

## Fix
Take captures of all devices at once (`parallel-ssh`, `ansible -f`), twice, and let the clocks follow one NTP server.

## Sources
- lossless collector: `# taken` is what `date -u +%s` prints before the counters are read
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.counting import CountedTime, common_s, counted_time
from lossless.ground.basics.findings import Origin, RelatedPlace
from lossless.ground.basics.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric

_NS_PER_S = 1_000_000_000
_SNAPSHOT = "switch state"
"""The form of a capture of the whole state of a SONiC switch."""


def throughout(fabric: RunningFabric) -> Results:
    """Yield violations for several snapshots, captures in the wrong order, and counting times that do not overlap."""
    yield from (_mixed(device, taken) for device in fabric.devices if len(taken := _snapshots(device)) > 1)
    times = [(device, time) for device in fabric.devices if (time := counted_time(device)) is not None]
    yield from (_swapped(device, time) for device, time in times if time.end_s < time.start_s)
    in_order = [pair for pair in times if pair[1].end_s >= pair[1].start_s]
    if in_order:
        first = min(in_order, key=lambda pair: pair[1].end_s)
        later = [pair for pair in in_order if common_s([first[1], pair[1]]) <= 0 and pair is not first]
        if later:
            yield _apart(*first, sorted(later, key=lambda pair: pair[1]))


def _snapshots(device: RunningDevice) -> Mapping[int, str]:
    """Return the files of the snapshots of a switch by their time in seconds since 1970, in ascending order."""
    taken = {
        capture.taken_at: capture.file
        for capture in device.state.captures
        if capture.form == _SNAPSHOT and capture.taken_at is not None
    }
    return dict(sorted(taken.items()))


def _mixed(device: RunningDevice, taken: Mapping[int, str]) -> Violation:
    (*earlier, last), files = taken, [*taken.values()]
    return Violation(
        origin=Origin(files[-1], ()),
        message=f"{device.name} has {len(files)} snapshots, the first {_said(last - earlier[0])} before the last",
        note="what is read of it is a mixture of them",
        help="name one, and an earlier one with --since",
        elements=(device.name,),
        related=tuple(RelatedPlace(Origin(file, ()), "an earlier snapshot") for file in files[:-1]),
        severity="warning",
    )


def _swapped(device: RunningDevice, time: CountedTime) -> Violation:
    return Violation(
        origin=_origin(device),
        message=f"the capture of {device.name} was taken {_said(time.start_s - time.end_s)} before the earlier one",
        note="both times are those of the clock of the device",
        help="swap the captures; where they are in order, look at the clock of the device",
        elements=(device.name,),
        severity="warning",
    )


def _apart(
    ended: RunningDevice, time: CountedTime, later: Sequence[tuple[RunningDevice, CountedTime]]
) -> Violation:
    device, began = later[0]
    others = len(later) - 1
    also = f", as did {others} {'other' if others == 1 else 'others'}" if others else ""
    return Violation(
        origin=_origin(device),
        message=(
            f"{device.name} began to count {_said(began.start_s - time.end_s)} after {ended.name} had ended{also}, "
            "and is not compared with it"
        ),
        note="each by its own clock, from its earlier capture to its later one",
        help="take the captures of all devices at once, and let their clocks follow one server",
        elements=tuple(device.name for device, _ in later),
        related=(RelatedPlace(_origin(ended), f"{ended.name} was captured here"),),
    )


def _origin(device: RunningDevice) -> Origin:
    files = [capture.file for capture in device.state.captures if capture.taken_at is not None]
    return Origin(files[-1], ())


def _said(duration_s: int) -> str:
    return format_duration(duration_s * _NS_PER_S)
