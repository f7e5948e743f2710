"""A cable or a transceiver that is bad.

Severity: warning
Subject: running device

## What it does
Looks for InfiniBand ports whose counter of symbol errors has stopped at 65,535, or counts on beyond it with 64 bits,
and whose link has recovered from errors at least once. Fewer symbol errors may have accumulated over years: they are
*not checked*, as are those without a recovery. With `--since`, it looks for any number of both between the captures, on
a link that was not down in between: one that comes up counts them too. The number of times that the link went down is
no sign: it counts restarts of hosts.

## Why it breaks a lossless fabric
A packet with an error is dropped, and the sender detects it by a timeout. While a link recovers it sends nothing, and
all traffic over it waits. One such link slows every collective that uses it.

## Bad
```text capture
Errors for 0x2c903006e29b0 "MF0;switch-a:SX6036/U1"
   GUID 0x2c903006e29b0 port 7: [SymbolErrorCounter == 65535] [LinkErrorRecoveryCounter == 7]   # <- here
```

## Good
```text capture
Errors for 0x2c903006e29b0 "MF0;switch-a:SX6036/U1"
   GUID 0x2c903006e29b0 port 8: [LinkDownedCounter == 9] [PortRcvSwitchRelayErrors == 16]
```

## Fix
Clean or replace the cable or transceiver, at both ends of the link; clear the counters of the port and look again
after an hour.

## Sources
- InfiniBand Architecture Specification, volume 1, 16.1.3.5 (SymbolErrorCounter, LinkErrorRecoveryCounter)
- Linux Documentation/ABI/stable/sysfs-class-infiniband @031616c (the same two: minor link errors on a lane, recoveries
  that were completed)
- an ibqueryerrors of a fabric in public notes: ports 5 and 7, 65,535 symbol errors, 8 and 7 recoveries
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.subnet_counters.ports import (
    RECOVERIES,
    SYMBOL_ERRORS,
    has_bad_cable,
    infiniband_ports,
)

if TYPE_CHECKING:
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.checks.rules.subnet_counters.ports import CountedPort

_ONE_CAPTURE = MissingInput("symbol errors of one capture: since when they were counted is not known")
_TRAINED = MissingInput(
    "symbol errors between the captures, on a link that did not recover from them, or was down"
)


def check(device: RunningDevice) -> Results:
    """Yield a violation per InfiniBand port with a bad cable."""
    for port in infiniband_ports(device):
        if has_bad_cable(port):
            yield _cable_bad(port)
        elif port.number(SYMBOL_ERRORS):
            yield _TRAINED if port.between(SYMBOL_ERRORS) else _ONE_CAPTURE


def _cable_bad(port: CountedPort) -> Violation:
    recoveries = port.number(RECOVERIES) or 0
    errors = port.alongside(RECOVERIES, SYMBOL_ERRORS)
    counted = port.counters[SYMBOL_ERRORS]
    # A counter that stood at its ceiling before has counted an unknown number since.
    said = "an unknown number of" if errors is None else f"{errors:,}"
    more = " or more" if counted.reading.is_saturated and errors is not None else ""
    return Violation(
        origin=counted.origin,
        message=f"the cable at {port.name} is bad: {said} symbol errors{more}, {recoveries:,} recoveries",
        note="both between the captures, and the link was not down"
        if port.between(RECOVERIES)
        else "both since the counters were cleared, which may be long ago",
        help="clean or replace the cable or transceiver, clear the counters and look again after an hour",
        elements=(port.element,),
        data={"symbol_errors": errors, "recoveries": recoveries},
    )
