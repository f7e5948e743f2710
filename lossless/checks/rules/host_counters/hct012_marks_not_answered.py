"""A receiver must answer marked packets with CNPs.

Severity: warning
Subject: running device

## What it does
Looks for RDMA ports that received packets with an ECN mark (`np_ecn_marked_roce_packets`) and sent no CNP in the same
time (`np_cnp_sent`), where the notification point is off for all priorities (`ecn/roce_np/enable`; one that is on turns
it on for the port), or where the intent has DCQCN on for the host, with medium confidence. Without either it is *not
checked*: marked datagrams have no CNP. With `--since`, all counts are between the captures.

## Why it breaks a lossless fabric
Switches mark packets, and the senders are not notified. They send at full rate until PFC stops them, and the pauses
propagate: the fabric behaves as if it had no ECN, and only the counters of the receivers show it.

## Bad
```text capture beside=pair.yaml
# host host1
==> rdma statistic show link mlx5_0/1
link mlx5_0/1 np_ecn_marked_roce_packets 441882 np_cnp_sent 0 rp_cnp_handled 312 rp_cnp_ignored 0   # <- here
```

## Good
```text capture beside=pair.yaml
# host host1
==> rdma statistic show link mlx5_0/1
link mlx5_0/1 np_ecn_marked_roce_packets 441882 np_cnp_sent 20911 rp_cnp_handled 312 rp_cnp_ignored 0
```

## Fix
Turn the notification point on (`echo 1 > /sys/class/net/IF/ecn/roce_np/enable/3`, or `ROCE_CC_PRIO_MASK` of the
firmware), and read it back.

## Sources
- Linux commit e1f24a79f424 (mlx5): packets with CE that the notification point received, and CNPs that it sent for them
- ROCm/mori#658, and the DCQCN guide of NVIDIA that it names: any priority turns the notification point of a port on
- Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015 (the first marked packet of a flow is
  answered with a CNP)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.rdma_ports import (
    CNPS_SENT,
    MARKS_RECEIVED,
    enabled_priorities,
    rdma_ports,
)

if TYPE_CHECKING:
    from lossless.checks.rules.counting import Count
    from lossless.checks.rules.host_counters.rdma_ports import RdmaPort
    from lossless.checks.rules.running_subjects import RunningDevice

_NO_CNPS = MissingInput("no capture has the CNPs that were sent for marked packets in the same time")
_UNWANTED = MissingInput(
    "marked packets had no CNP; nothing says that CNPs are wanted, or the packets no datagrams"
)


def check(device: RunningDevice) -> Results:
    """Yield a violation per RDMA port with ECN-marked packets and no CNP.

    Its host must have its notification points off for all priorities of all interfaces, or DCQCN on in the intent.
    """
    for port in rdma_ports(device, MARKS_RECEIVED):
        marks = port.counted(MARKS_RECEIVED)
        if isinstance(marks, MissingInput):
            yield marks
            continue
        sent = port.amount(CNPS_SENT, marks)
        if marks.amount and sent is None:
            yield _NO_CNPS
        elif marks.amount and not sent:
            yield from _unanswered(device, port, marks)


def _unanswered(device: RunningDevice, port: RdmaPort, marks: Count) -> Results:
    is_off = enabled_priorities(device, "np") == frozenset()
    intended = device.intended_host
    wanted = None if intended is None else intended.dcqcn.enabled
    if is_off or wanted is True:
        yield _marks_not_answered(port, marks, is_off=is_off)
    elif wanted is not False:
        yield _UNWANTED


def _marks_not_answered(port: RdmaPort, marks: Count, *, is_off: bool) -> Violation:
    window = marks.window_of("its driver was loaded")
    return Violation(
        origin=marks.placed.origin,
        message=f"{port.label} received {marks.amount:,} packets with an ECN mark {window}, and sent no CNP",
        note="its notification point is off for all priorities"
        if is_off
        else "the intent has DCQCN on for this host",
        help="turn the notification point of DCQCN on, and read it back",
        elements=(port.element,),
        data={"marked": marks.amount},
        confidence=None if is_off else "medium",
    )
