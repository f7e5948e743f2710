"""CNPs must arrive on the intended priority.

Severity: warning
Subject: running device

## What it does
With `--since`, looks for hosts that received CNPs between the captures (`rp_cnp_handled`, `rp_cnp_ignored`), and no
packet of the priority that the intent has for them (`rx_prioN_packets`). Only a host with one NIC and one port of an
RDMA device is checked: with several, the NIC of an RDMA device is unknown.

## Why it breaks a lossless fabric
CNPs have a class of their own, with strict priority, so that they are not late. On the priority of bulk traffic they
wait behind that; on the priority of RDMA they wait behind the data that they should slow down, and are paused with it.

## Bad
```text earlier
# host host1
==> ethtool -S eth0
     rx_prio0_packets: 8
     rx_prio3_packets: 1000
     rx_prio6_packets: 0
==> rdma statistic show link mlx5_0/1
link mlx5_0/1 rp_cnp_handled 100 rp_cnp_ignored 0
```
```text capture beside=pair.yaml
# host host1
==> ethtool -S eth0
     rx_prio0_packets: 20599
     rx_prio3_packets: 88112
     rx_prio6_packets: 0
==> rdma statistic show link mlx5_0/1
link mlx5_0/1 rp_cnp_handled 20691 rp_cnp_ignored 0   # <- here
```

## Good
```text earlier
# host host1
==> ethtool -S eth0
     rx_prio0_packets: 8
     rx_prio3_packets: 1000
     rx_prio6_packets: 100
==> rdma statistic show link mlx5_0/1
link mlx5_0/1 rp_cnp_handled 100 rp_cnp_ignored 0
```
```text capture beside=pair.yaml
# host host1
==> ethtool -S eth0
     rx_prio0_packets: 8
     rx_prio3_packets: 88112
     rx_prio6_packets: 20691
==> rdma statistic show link mlx5_0/1
link mlx5_0/1 rp_cnp_handled 20691 rp_cnp_ignored 0
```

## Fix
Set DSCP and priority of CNPs on the hosts that send them (`ecn/roce_np/cnp_dscp`, `cnp_802p_prio`), and let this host
trust DSCP.

## Sources
- Linux mlx5/counters.rst @16f448d: rx_prioN_packets counts what the port received of each priority
- Linux commit e1f24a79f424 (mlx5): CNPs that the reaction point has handled, and has ignored
- NVIDIA, MLNX_EN 5.8, Explicit Congestion Notification: cnp_dscp and cnp_802p_prio of the notification point
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.nics import nics
from lossless.checks.rules.host_counters.rdma_ports import CNPS_HANDLED, CNPS_IGNORED, rdma_ports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.counting import Count
    from lossless.checks.rules.host_counters.rdma_ports import RdmaPort
    from lossless.checks.rules.running_subjects import RunningDevice


def check(device: RunningDevice) -> Results:
    """Yield a violation for a host of one NIC that received CNPs, but no packet of the intent's priority for them.

    Only by counts between two captures.
    """
    intended = device.intended_host
    priority = None if intended is None else intended.dcqcn.cnp_priority
    interfaces, ports = nics(device), rdma_ports(device, CNPS_HANDLED)
    if (
        not isinstance(priority, int)
        or len(interfaces) != 1
        or len(ports) != 1
        or interfaces[0].whole is None
    ):
        return
    handled = ports[0].counted(CNPS_HANDLED)
    if isinstance(handled, MissingInput) or not handled.between:
        return
    arrived = handled.amount + (ports[0].amount(CNPS_IGNORED, handled) or 0)
    received = {
        number: placed.number
        for number, placed in interfaces[0].parts("priority_rx_packets", "priority").items()
    }
    if arrived and priority not in received:
        yield MissingInput("no capture says how many packets of the priority of CNPs a NIC received")
    elif arrived and not received[priority]:
        others = sorted(number for number in received if received[number])
        yield _cnps_on_another_priority(ports[0], handled, arrived, priority, others)


def _cnps_on_another_priority(
    port: RdmaPort, handled: Count, arrived: int, priority: int, others: Sequence[int]
) -> Violation:
    listed = ", ".join(map(str, others)) or "none that was captured"
    return Violation(
        origin=handled.placed.origin,
        message=f"{port.label} received {arrived:,} CNPs between the captures, none of priority {priority}",
        note=f"the intent has CNPs on priority {priority}; the NIC received packets of priority {listed}",
        help="set DSCP and priority of CNPs on the hosts that send them, and let this host trust DSCP",
        elements=(port.element,),
        data={"cnps": arrived, "intended": priority, "received": [*others]},
    )
