"""A sender must not ignore CNPs.

Severity: warning
Subject: running device

## What it does
Looks for RDMA ports that received CNPs and ignored them (`rp_cnp_ignored`), and whose reaction point is off for a
lossless priority of the intent (`ecn/roce_rp/enable`), or which have handled none in the same time (`rp_cnp_handled`);
the second is of medium confidence. Where a port handled some CNPs and ignored others, the latter may belong to queue
pairs that had ended: they are *not checked*. With `--since`, all counts are between the captures.

## Why it breaks a lossless fabric
A sender that ignores CNPs does not slow down: DCQCN works on all other hosts. The queues that it fills pause the other
senders, which did slow down, and it takes their bandwidth.

## Bad
```text capture
# host host1
==> rdma statistic show link mlx5_0/1
link mlx5_0/1 np_ecn_marked_roce_packets 0 np_cnp_sent 0 rp_cnp_handled 0 rp_cnp_ignored 20591   # <- here
```

## Good
```text capture
# host host1
==> rdma statistic show link mlx5_0/1
link mlx5_0/1 np_ecn_marked_roce_packets 0 np_cnp_sent 0 rp_cnp_handled 20591 rp_cnp_ignored 0
```

## Fix
Turn the reaction point on for the priority of RDMA (`echo 1 > /sys/class/net/IF/ecn/roce_rp/enable/3`, or
`ROCE_CC_PRIO_MASK` of the firmware), and read it back.

## Sources
- Linux commit e1f24a79f424 (mlx5): CNPs that the reaction point has handled, and has ignored
- NVIDIA, Understanding mlx5 Linux Counters: rp_cnp_ignored does not rise where congestion control is on; class Error
- ROCm/mori#658: the reaction point is on or off by priority
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.rdma_ports import (
    CNPS_HANDLED,
    CNPS_IGNORED,
    enabled_priorities,
    rdma_ports,
)
from lossless.ground.basics.records import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.counting import Count
    from lossless.checks.rules.host_counters.rdma_ports import RdmaPort
    from lossless.checks.rules.running_subjects import RunningDevice

_BOTH = MissingInput(
    "CNPs were ignored beside others that were handled: they may be of queue pairs that had ended"
)


def check(device: RunningDevice) -> Results:
    """Yield a violation per RDMA port that ignored CNPs, if it handled none or its reaction point is off for RDMA."""
    off = _without_reaction_point(device)
    for port in rdma_ports(device, CNPS_IGNORED):
        ignored = port.counted(CNPS_IGNORED)
        if isinstance(ignored, MissingInput):
            yield ignored
        elif ignored.amount:
            handled = port.amount(CNPS_HANDLED, ignored)
            yield _cnps_ignored(port, ignored, off) if off or handled == 0 else _BOTH


def _without_reaction_point(device: RunningDevice) -> Sequence[int]:
    """Return the lossless priorities of the intent with the reaction point off on all interfaces; none if unknown."""
    on, intended = enabled_priorities(device, "rp"), device.intended_host
    if on is None or intended is None or intended.pfc_priorities is UNKNOWN:
        return ()
    return sorted({*intended.pfc_priorities} - on)


def _cnps_ignored(port: RdmaPort, ignored: Count, off: Sequence[int]) -> Violation:
    note = "it has handled none in the same time"
    if off:
        note = f"its reaction point is off for priority {', '.join(map(str, off))}, which is lossless"
    return Violation(
        origin=ignored.placed.origin,
        message=f"{port.label} has ignored {ignored.amount:,} CNPs {ignored.window_of('its driver was loaded')}",
        note=note,
        help="turn the reaction point of DCQCN on for the priority of RDMA, and read it back",
        elements=(port.element,),
        data={"ignored": ignored.amount, "off": [*off]},
        confidence=None if off else "medium",
    )
