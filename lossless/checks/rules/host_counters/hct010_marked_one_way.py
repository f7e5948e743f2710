"""The lossless class of a NIC must have packets in both directions.

Severity: warning
Subject: running device

## What it does
Looks for NICs that have sent packets of a priority with PFC and received none of any such priority, or the reverse,
while other priorities had packets in that direction. The priorities with PFC are those of the NIC, else of the intent.
On a NIC that carries RDMA this is a warning. Where RDMA traffic is unknown, a NIC that sends the class and receives
none of it is information, and one that only receives it is *not checked*: a switch may flood it with packets for other
hosts.

## Why it breaks a lossless fabric
A reliable connection of RDMA has data or acknowledgments in both directions. Here the answers use another priority:
their sender does not mark them, or a switch on the path rewrites the DSCP. They share a lossy queue with all other
traffic, and an acknowledgment that is dropped there stops the data in the lossless class.

## Bad
```text capture beside=leaf-spine.yaml
# host host1
==> ethtool -S ens8np0
     rx_vport_rdma_unicast_packets: 4943711983
     rx_prio0_packets: 4943711983
     tx_prio0_packets: 7537659712
     rx_prio3_packets: 0   # <- here
     tx_prio3_packets: 4675230410
```

## Good
```text capture beside=leaf-spine.yaml
# host host1
==> ethtool -S ens8np0
     rx_vport_rdma_unicast_packets: 4943711983
     rx_prio0_packets: 411
     tx_prio0_packets: 7537659712
     rx_prio3_packets: 4943711572
     tx_prio3_packets: 4675230410
```

## Fix
Received none: set the traffic class at the peers, as here (`NCCL_IB_TC`, `UCX_IB_TRAFFIC_CLASS` for each process, or
the global one of the NIC), then look for a switch that rewrites DSCPs. Sent none: set it on this host.

## Sources
- openucx/ucx#10325: 3,964,146 packets a second sent on priority 3, and 4,015,359 answered on priority 0
- Linux mlx5/counters.rst @16f448d: rx_prioN_packets and tx_prioN_packets, of each priority of the port
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.nics import carries_rdma, nics, pfc_priorities

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.rules.host_counters.nics import Nic
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state import PlacedReading

_PAST = {"tx": "sent", "rx": "received"}
_OTHER = {"tx": "rx", "rx": "tx"}
_HELP = {
    "rx": "set the traffic class at the peers too, and look for a switch that rewrites DSCPs",
    "tx": "set the traffic class on this host, for every process that uses RDMA",
}
_FLOODED = MissingInput("no capture says whether a NIC that receives a lossless priority carries RDMA")


def check(device: RunningDevice) -> Results:
    """Yield a violation per NIC with packets of lossless priorities in only one direction.

    In the opposite direction it has packets of other priorities. Without RDMA a NIC is left out; where RDMA is unknown,
    it is reported only if it sends packets of lossless priorities.
    """
    for nic in nics(device):
        paused = pfc_priorities(device, nic)
        rdma = carries_rdma(device, nic)
        if paused and rdma is not False:
            yield from _one_way(nic, paused, certain=rdma is True)


def _one_way(nic: Nic, paused: frozenset[int], *, certain: bool) -> Iterator[Violation | MissingInput]:
    packets = {way: nic.parts(f"priority_{way}_packets", "priority") for way in _PAST}
    if not all(counts.keys() >= paused for counts in packets.values()):
        return
    for way, counts in packets.items():
        lossless = _sum(counts, paused)
        # A NIC without packets of other priorities either may not count by priority at all.
        if lossless or not _sum(counts, counts.keys() - paused):
            continue
        there = _sum(packets[_OTHER[way]], paused)
        if there and (certain or way == "rx"):
            yield _marked_one_way(nic, way, min(paused), counts, there, certain=certain)
        elif there:
            yield _FLOODED


def _sum(counts: Mapping[int, PlacedReading], priorities: frozenset[int] | set[int]) -> int:
    return sum(counts[number].number or 0 for number in priorities)


def _marked_one_way(
    nic: Nic, way: str, priority: int, counts: Mapping[int, PlacedReading], there: int, *, certain: bool
) -> Violation:
    other = _PAST[_OTHER[way]]
    return Violation(
        origin=counts[priority].origin,
        message=f"{nic.label} has {other} {there:,} packets of lossless priorities and {_PAST[way]} none",
        note=nic.window + ("" if certain else "; whether RDMA is among them is not known"),
        help=_HELP[way],
        elements=(nic.element,),
        data={other: there},
        severity=None if certain else "info",
    )
