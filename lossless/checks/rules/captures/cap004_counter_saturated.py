"""A counter must not have stopped at its largest value.

Severity: info
Subject: running device

## What it does
Looks for port counters of InfiniBand, which RoCE NICs have as well, that stand at the largest value that they can hold:
15, 255, 65,535 or 4,294,967,295, by the width of each in PortCounters. One finding names all such counters of a port.
Counters of 64 bits, and those whose width is unknown, are not reported.

## Why it breaks a lossless fabric
These counters stop and do not wrap: the value is a lower bound of the events since the counter was last cleared.
Further events are not counted, so a port with a dying cable looks as it did last year.

## Bad
```text capture
Errors for 0x2c903006e29b0 "MF0;switch-a:SX6036/U1"
   GUID 0x2c903006e29b0 port 1: [LinkDownedCounter == 8] [PortXmitWait == 4294967295]   # <- here
```

## Good
```text capture
# Port extended counters: Lid 1719 port 1 (CapMask: 0x5A00 CapMask2: 0x0000002)
PortSelect:......................1
SymbolErrorCounter:..............65535
PortXmitWait:....................4294967295
```

## Fix
Clear the counters of the port with `perfquery -R`, or read them with 64 bits (`perfquery -x`), and compare two captures
one hour apart.

## Sources
- InfiniBand Architecture Specification, volume 1, 16.1.3.5 (PortCounters and their widths)
- linux-rdma/rdma-core libibmad/fields.c @691953d (the same widths)
- leptonai/gpud components/accelerator/nvidia/infiniband/class/testdata @4a8de33 (link_downed at 255)
- an ibqueryerrors of a fabric in public notes: PortXmitWait at 4,294,967,295 on seven of its ports
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.subnet_counters.ports import counted_ports, printed
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.checks.rules.subnet_counters.ports import CountedPort
    from lossless.model.fabric.state import PlacedReading


def check(device: RunningDevice) -> Results:
    """Yield a violation per port with InfiniBand's counters that stand at their largest value."""
    for port in counted_ports(device):
        stopped = [placed for placed in port.counters.values() if placed.reading.is_saturated]
        if stopped:
            yield _counter_saturated(port, stopped)


def _counter_saturated(port: CountedPort, stopped: list[PlacedReading]) -> Violation:
    values = {printed(placed): placed.number for placed in stopped}
    listed = ", ".join(f"{name} at {value:,}" for name, value in values.items())
    return Violation(
        origin=stopped[0].origin,
        message=f"counters of {port.name} have stopped: {listed}",
        note="they have counted at least that much, and count no more",
        help="clear them (perfquery -R) or read them with 64 bits (perfquery -x), and compare two captures",
        elements=(port.element,),
        data={"counters": dict(values)},
        related=tuple(RelatedPlace(placed.origin, "stopped as well") for placed in stopped[1:]),
    )
