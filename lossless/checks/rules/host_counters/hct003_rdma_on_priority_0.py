"""RDMA must not use priority 0 where that has no PFC.

Severity: warning
Subject: running device

## What it does
Looks for NICs all of whose packets, sent and received, were of priority 0, while RDMA was carried and another priority
has PFC, in the NIC or by the intent. RDMA is visible in the NIC's own counters (`vport_rdma`), or in those of the
host's only RDMA device. With `--since` only the traffic between the captures counts. Without RDMA, packets on priority
0 alone are no finding: a host without RDMA has no others. Where RDMA traffic, or the priority with PFC, is unknown, it
is *not checked*.

## Why it breaks a lossless fabric
Switches protect only packets of the priority of the RDMA class. Packets with a wrong marking, or one that is not
trusted, travel with all other traffic: they are dropped under congestion, and RDMA sends again from the lost packet on.

## Bad
```text capture beside=leaf-spine.yaml
# host host1
==> ethtool -S enp178s0f0
     rx_prio0_packets: 420006709813
     tx_prio0_packets: 40316741528   # <- here
     rx_prio1_packets: 0
     tx_prio1_packets: 0
     rx_prio3_packets: 0
     tx_prio3_packets: 0
==> cat /sys/class/infiniband/mlx5_0/ports/1/hw_counters
/sys/class/infiniband/mlx5_0/ports/1/hw_counters/local_ack_timeout_err:2705
/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:1333
```

## Good
```text capture beside=leaf-spine.yaml
# host host1
==> ethtool -S enp178s0f0
     rx_vport_rdma_unicast_packets: 0
     tx_vport_rdma_unicast_packets: 0
     rx_prio0_packets: 845715962
     tx_prio0_packets: 896117891
     rx_prio3_packets: 0
     tx_prio3_packets: 0
```

## Fix
Trust DSCP on the NIC (`mlnx_qos -i IF --trust dscp`), and let jobs mark RDMA with the DSCP of the lossless class: the
traffic class of the RDMA device, `NCCL_IB_TC`, `UCX_IB_TRAFFIC_CLASS`.

## Sources
- bytedance/byteps#179: RDMA slower than TCP, all packets on priority 0, 2,705 ACK timeouts
- NVIDIA/nccl#2383: only priority 5 is lossless, queue pairs made past the kernel are on priority 0
- Linux mlx5/counters.rst @16f448d: rx/tx_prioN count the port, vport_rdma the RDMA of one function
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.nics import carries_rdma, nics, pfc_priorities

if TYPE_CHECKING:
    from lossless.checks.rules.host_counters.nics import Nic
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state import PlacedReading


def check(device: RunningDevice) -> Results:
    """Yield a violation per NIC with RDMA whose packets are all on priority 0, while only other priorities have PFC."""
    for nic in nics(device):
        alone = _on_priority_0_alone(nic)
        rdma = carries_rdma(device, nic)
        if alone is None or rdma is False:
            continue
        paused = pfc_priorities(device, nic)
        if rdma is None:
            yield MissingInput("all packets are of priority 0; no capture says whether RDMA is among them")
        elif paused is None:
            yield MissingInput("all packets are of priority 0; nothing says which priority is lossless")
        elif paused and 0 not in paused:
            yield _rdma_on_priority_0(nic, alone, paused)


def _on_priority_0_alone(nic: Nic) -> PlacedReading | None:
    """Return the counter of packets sent on priority 0, if above 0 while those known of others are 0; else None."""
    sent, received = (nic.parts(f"priority_{way}_packets", "priority") for way in ("tx", "rx"))
    others = [placed.number for counts in (sent, received) for number, placed in counts.items() if number]
    if not others or any(others) or 0 not in sent or not sent[0].number:
        return None
    return sent[0]


def _rdma_on_priority_0(nic: Nic, alone: PlacedReading, paused: frozenset[int]) -> Violation:
    numbers = ", ".join(map(str, sorted(paused)))
    return Violation(
        origin=alone.origin,
        message=f"RDMA of {nic.label} is on priority 0, PFC is for priority {numbers}",
        note=f"it has sent {alone.number or 0:,} packets {nic.window}, none of another priority",
        help="trust DSCP on the NIC, and let jobs mark RDMA with the DSCP of the lossless class",
        elements=(nic.element,),
        data={"sent_on_priority_0": alone.number, "pfc": [*sorted(paused)]},
    )
