"""A NIC must not discard received packets for want of buffers.

Severity: warning
Subject: running device

## What it does
Looks for NICs that have discarded received packets for want of buffers. On a port that carries RDMA, discards of the
port (`rx_discards_phy`, `rx_stat_discard`), or of a priority with PFC where the NIC counts each, are a warning. A NIC
that serves several hosts also counts, by priority, packets for which a host had no buffer (`rx_prioN_buf_discard`).
Discards of the driver's receive rings, and those of a port that is not known to carry RDMA, are information. With
`--since`, discards and RDMA are those between the captures.

## Why it breaks a lossless fabric
These packets crossed the whole fabric and were lost in the host: no switch counts them, and a search for drops in the
fabric finds none. A lossless NIC pauses its switch before it discards. One that discards RDMA has PFC off for the
priority, too little buffer for its cable, or has ended a pause storm of its own.

Discards of rings mean that the kernel did not fetch packets fast enough. RDMA does not use the rings.

## Bad
```text capture
rx_vport_rdma_unicast_packets: 3809045607
rx_packets_phy: 317548853677
rx_discards_phy: 49337   # <- here
```

## Good
```text capture
rx_vport_rdma_unicast_packets: 3809045607
rx_packets_phy: 317548853677
rx_discards_phy: 0
```

## Fix
With RDMA: check PFC and the receive buffer of the priority, the NIC's storm prevention (`tx_pause_storm_error_events`)
and the PCIe slot. Rings: make them longer (`ethtool -G IF rx N`) or give them more cores.

## Sources
- Linux mlx5/counters.rst @16f448d: rx_discards_phy, rx_prioN_discards (lack of receive buffers)
- lore.kernel.org, 20190905215034.22713-15-saeedm@mellanox.com (mlx5e): rx_prioN_buf_discard, buffers of one host
- Linux drivers/net/ethernet/broadcom/bnxt/bnxt.c: rx_total_ring_discards adds up rx_discard_pkts of the rings
- isc-projects/ethq tests/bnxt_en @b91b2e4: 655,430,134 ring discards on a host without PFC
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.host_counters.nics import carries_rdma, nics, pfc_priorities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.host_counters.nics import Nic
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state import PlacedReading

_RINGS = "rx_ring_discards"
_PORT = "rx_discards"
_BY_PRIORITY = ("priority_rx_discards", "priority_rx_buffer_discards")


def check(device: RunningDevice) -> Results:
    """Yield a violation per NIC that discarded received packets: of RDMA, or at its port or in its receive rings."""
    for nic in nics(device):
        lossless = list(_of_rdma(device, nic))
        others = [placed for name in (_RINGS, _PORT) if (placed := nic.placed(name)) and placed.number]
        if lossless:
            yield _receiver_starves(nic, lossless, certain=True)
        elif others:
            yield _receiver_starves(nic, others, certain=False)


def _of_rdma(device: RunningDevice, nic: Nic) -> Iterator[PlacedReading]:
    """Yield the discard counters above 0 of a NIC that carries RDMA: of priorities with PFC, else of the whole port."""
    if not carries_rdma(device, nic):
        return
    paused = pfc_priorities(device, nic)
    counted = [counts for name in _BY_PRIORITY if (counts := nic.parts(name, "priority"))]
    if paused and any(counts.keys() >= paused for counts in counted):
        for counts in counted:
            yield from (placed for number, placed in counts.items() if number in paused and placed.number)
    elif (placed := nic.placed(_PORT)) and placed.number:
        yield placed


def _receiver_starves(nic: Nic, counters: list[PlacedReading], *, certain: bool) -> Violation:
    rings = any(placed.reading.name == _RINGS for placed in counters)
    said = " and ".join(f"{placed.number or 0:,} ({placed.reading.heading})" for placed in counters)
    return Violation(
        origin=counters[0].origin,
        message=f"{nic.label} has discarded received packets for want of buffers: {said}",
        note=nic.window + ("" if certain else "; whether RDMA is among them is not known"),
        help="make the receive rings longer (ethtool -G) or give them more cores"
        if rings
        else "check PFC and the receive buffer of the priority, and the PCIe slot",
        elements=(nic.element,),
        data={placed.reading.heading: placed.number for placed in counters},
        severity=None if certain else "info",
    )
