"""Zero drops of a watchdog that counts no packets do not prove a storm without loss.

Severity: info
Subject: running device

## What it does
Looks for storms that are over, of a watchdog whose action is `drop`, which has counted neither a packet sent nor one
dropped, on a queue that carries traffic. Where the traffic of the queue, or the action, is not captured, it is not
checked.

## Why it breaks a lossless fabric
It does not: either no packet came during the storms, or the platform does not count the packets that the watchdog
drops. A reader who takes the 0 for "no loss" looks for the broken connections of the hosts in the wrong place.

## Bad
```text capture beside=leaf.json
admin@leaf1:~$ show pfcwd stats
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP
-----------  -----------  -------------------------  ------------  ------------
Ethernet8:3  operational                        2/2           0/0           0/0   # <- here
admin@leaf1:~$ show queue counters
     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet8    UC3         8412033      34288446508            0             0
```

## Good
```text capture beside=leaf.json
admin@leaf1:~$ show pfcwd stats
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP
-----------  -----------  -------------------------  ------------  ------------
Ethernet8:3  operational                        0/0           0/0           0/0
admin@leaf1:~$ show queue counters
     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet8    UC3         8412033      34288446508            0             0
```

## Fix
Count losses of storms at the hosts (retransmissions), not by these columns.

## Sources
- sonic-net/sonic-buildimage#19067: two storms detected and restored, traffic dropped, and all columns 0
- sonic-net/sonic-buildimage#5898: a storm without traffic, and all columns 0
- sonic-swss orchagent/pfcactionhandler.cpp @e6b0c5b: the columns are differences of the counters of queue and group
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counting import Count, count_of, counted, each

if TYPE_CHECKING:
    from lossless.checks.rules.running_subjects import RunningDevice

_COLUMNS = ("pfcwd_tx_ok", "pfcwd_tx_drop", "pfcwd_rx_ok", "pfcwd_rx_drop")
_NO_ACTION = MissingInput("whether the watchdog drops or forwards is not known of each queue")


def check(device: RunningDevice) -> Results:
    """Yield a violation per queue with traffic whose watchdog drops, restored it from storms and counted no packets."""
    for placed in each(device.state, "pfcwd_restored", "port", "queue"):
        port, queue = placed.part("port") or "", placed.part("queue") or ""
        restored = counted(device, placed, "port", "queue")
        if (
            not isinstance(restored, Count)
            or not restored.amount
            or not all(device.state.value(column, port=port, queue=queue) == 0 for column in _COLUMNS)
        ):
            continue
        packets = count_of(device, "packets", port=port, queue=queue)
        action = _action(device, port, queue)
        if action is None:
            yield _NO_ACTION
        elif isinstance(packets, MissingInput):
            yield packets
        elif action == "drop" and packets.amount:
            yield _watchdog_counts_nothing(device, restored, queue)


def _action(device: RunningDevice, port: str, queue: str) -> str | None:
    """Return the watchdog's action on a stormed queue: the running one, else the configured one; None if unknown."""
    running = device.state.value("pfcwd_action", port=port, queue=queue)
    if isinstance(running, str):
        return running
    configured = device.ports.get(port)
    if configured is None or configured.qos is None or configured.qos.watchdog is None:
        return None
    return configured.qos.watchdog.action


def _watchdog_counts_nothing(device: RunningDevice, restored: Count, queue: str) -> Violation:
    storms = "a storm" if restored.amount == 1 else f"{restored.amount:,} storms"
    return Violation(
        origin=restored.placed.origin,
        message=f"the watchdog restored {storms} of queue {queue} of {restored.port} and counted no packet",
        note="no packet came during the storms, or the platform does not count what the watchdog drops",
        help="count losses of storms at the hosts, by their retransmissions",
        elements=(f"{device.name}:{restored.port}:{queue}",),
        data={"restored": restored.amount},
    )
