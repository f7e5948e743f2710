"""A port that discards packets and waits for credits.

Severity: warning
Subject: running device

## What it does
Looks for InfiniBand ports that have discarded outbound packets (`PortXmitDiscards`), where the same port reports
packets older than their limit (`PortSwLifetimeLimitDiscards`, `PortSwHOQLifetimeLimitDiscards`), or has waited to send
(`PortXmitWait`). A port discards while its link is down as well: where the link is not known to have been up all the
time, waiting proves nothing, and the finding is information. Without either sign the discards are *not checked*.
Waiting alone is no finding, since a loaded port waits; and where the cable is bad (IBC003), or the port was inactive
(`PortInactiveDiscards`), that is the cause of the discards. With `--since`, all counts are between the captures.

## Why it breaks a lossless fabric
InfiniBand loses no packet for want of a buffer: a sender waits for credits. A packet that waits longer than the
lifetime of its switch or of its head of queue is discarded, so that a subnet does not stall for ever. Each one is
a retransmission after a timeout, and the port behind it was stalled that long.

## Bad
```text capture
Errors for 0x2c903006e29b0 "MF0;switch-a:SX6036/U1"
 GUID 0x2c903006e29b0 port 6: [PortXmitDiscards == 14176] [PortXmitWait == 4294967295]   # <- here
```

## Good
```text capture
Errors for 0x2c903006e29b0 "MF0;switch-a:SX6036/U1"
   GUID 0x2c903006e29b0 port 5: [LinkDownedCounter == 2] [PortXmitWait == 84704351]
```

## Fix
Find the cause of the wait: the next port on the path whose `PortXmitWait` does not grow, a host that reads its memory
too slowly, or a credit loop. Compare two captures to see whether it goes on.

## Sources
- InfiniBand Architecture Specification, volume 1, 16.1.3.5 (PortXmitDiscards, PortXmitWait), 16.1.4.6
  (PortXmitDiscardDetails)
- Linux Documentation/ABI/stable/sysfs-class-infiniband @031616c: a port discards because it is down or congested
- an ibqueryerrors of a fabric in public notes: 14,176 discards on port 6, which waited
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.subnet_counters.ports import has_bad_cable, infiniband_ports

if TYPE_CHECKING:
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.checks.rules.subnet_counters.ports import CountedPort

_DISCARDS = "port_xmit_discards"
_LIFETIMES = ("port_switch_lifetime_limit_discards", "port_switch_hoq_lifetime_limit_discards")


def check(device: RunningDevice) -> Results:
    """Yield a violation per InfiniBand port that discarded packets, and waited for credits or held them too long.

    Ports with a bad cable, or whose discards are all counted as those of an inactive port, are left out.
    """
    for port in infiniband_ports(device):
        discards = port.number(_DISCARDS)
        if (
            not discards
            or has_bad_cable(port)
            or ((port.alongside(_DISCARDS, "port_inactive_discards") or 0) >= discards)
        ):
            continue
        if any(port.alongside(_DISCARDS, name) for name in (*_LIFETIMES, "port_xmit_wait")):
            yield _discards_under_congestion(port, discards)
        else:
            yield MissingInput("no capture says whether the port was congested when it discarded, or down")


def _discards_under_congestion(port: CountedPort, discards: int) -> Violation:
    waited, downed = (port.alongside(_DISCARDS, name) for name in ("port_xmit_wait", "link_downed"))
    certain = downed == 0 or any(port.alongside(_DISCARDS, name) for name in _LIFETIMES)
    times = f"{downed} times" if downed else "how often is not known"
    while_down = "" if certain else f"; a port discards while its link is down, too ({times})"
    return Violation(
        origin=port.counters[_DISCARDS].origin,
        message=f"{port.name} has discarded {discards:,} packets {port.window(_DISCARDS)}",
        note=f"it has waited {waited or 0:,} ticks for credits{while_down}",
        help="follow the path to the port that does not wait"
        if port.between(_DISCARDS)
        else "compare two captures; where both counters grow, follow the path to the port that does not wait",
        elements=(port.element,),
        data={"discards": discards, "wait_ticks": waited, "link_downed": downed},
        severity=None if certain else "info",
    )
