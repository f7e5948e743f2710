"""`cir` and `pir` are bytes per second, and no more than the port can send.

Severity: warning
Confidence: medium
Subject: device

## What it does
Multiplies `cir` and `pir` of schedulers in use by 8 and compares with the fastest port they are used on. A guaranteed
rate (`cir`) above it is a warning. A limit (`pir`) above it that would fit as bits per second reads as one: a warning
on a queue with strict scheduling, which it was to keep in bounds, otherwise information, because it then does nothing.
Larger limits mean "none", and limits in packets are not checked.

## Why it breaks a lossless fabric
A rate in bits is eight times the intended one. A strict queue with an intended 80 % of the link has all of it, and the
lossless queues behind it are starved; a guarantee above the link rate leaves no bandwidth for other guarantees.

## Bad
```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.cnp": {
    "cir": "1000000000",
    "pir": "400000000000"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.0": {
    "cir": "200000000000"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.cnp": {
    "cir": "1000000000",
    "pir": "50000000000"
  }}
}
```

## Fix
Divide the rate by 8: 400 Gb/s is 50,000,000,000 bytes per second.

## Sources
- opencomputeproject/SAI inc/saischeduler.h @0051fac (bytes or packets per second, 0 is no limit)
- sonic-swss orchagent/qosorch.cpp @03a2683 (the numbers reach the chip as they stand)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.locations import places
from lossless.checks.rules.scheduling.scheduler_use import STRICT, queue_names, scheduler_uses
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from lossless.checks.rules.scheduling.scheduler_use import SchedulerUse
    from lossless.checks.rules.subjects import Device


def check(device: Device) -> Results:
    """Yield a violation per ``cir`` above the fastest port of its scheduler, and per ``pir`` that would fit as bits."""
    for use in scheduler_uses(device.view):
        scheduler = use.scheduler
        if not (scheduler.cir or scheduler.pir) or scheduler.meter != "bytes":
            continue
        speeds = [ports.speed_bps for ports in use.sets if ports.speed_bps]
        if len(speeds) < len(use.sets):
            yield MissingInput("the port's speed is not known", places(use.sets))
            continue
        for field, rate in (("cir", scheduler.cir), ("pir", scheduler.pir)):
            if rate and _impossible(field, rate, max(speeds)):
                yield _rate_unit_slip(use, field, rate, max(speeds))


def _impossible(field: str, rate: int, speed_bps: int) -> bool:
    return rate * 8 > speed_bps and (field == "cir" or rate <= speed_bps)


def _rate_unit_slip(use: SchedulerUse, field: str, rate: int, speed_bps: int) -> Violation:
    bits = rate <= speed_bps
    harmless = field == "pir" and use.scheduler.kind != STRICT
    return Violation(
        origin=use.scheduler.origin.at(field),
        message=f"{field} of {queue_names(use.numbers)} is {format_rate(rate * 8)} "
        f"on ports of at most {format_rate(speed_bps)}",
        note=f"{field} counts bytes per second: {rate:,} x 8 = {rate * 8:,} b/s"
        + (f"; as bits it would be {format_rate(rate)}" if bits else ""),
        help=f'if {format_rate(rate)} is meant: "{field}": "{rate // 8}"'
        if bits
        else f"lower {field} to what the port can send",
        data={field: rate, "rate_bps": rate * 8, "speed_bps": speed_bps},
        severity="info" if harmless else None,
    ).on_ports(*use.sets)
