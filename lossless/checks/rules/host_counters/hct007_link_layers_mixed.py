"""A job must not use InfiniBand and RoCE together.

Severity: warning
Subject: running device

## What it does
Looks in logs of NCCL for hosts of which one job uses ports of both link layers: `[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE`. That
line lists the ports that `NCCL_IB_HCA` leaves. The "NET/IB" in front of it does not give the link layer: it is printed
for RoCE as well.

## Why it breaks a lossless fabric
The two link layers are two fabrics. NCCL spreads its channels over all ports it finds: a channel between ports of
different link layers never connects, and one on the Ethernet port for management or storage runs at the speed of that
port, outside the lossless class.

## Bad
```text capture
node-2:5776:5898 NCCL INFO NET/IB : Using [0]ibP111p0s0:1/IB [1]rdmaP1111p0s2:1/RoCE [RO]; OOB eth0   # <- here
```

## Good
```text capture
sz-k8s-master:2548:2607 NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB ens255f0np0
```

## Fix
Name the ports of one fabric in `NCCL_IB_HCA`, or leave the others out: `NCCL_IB_HCA=^mlx5_1`.

## Sources
- NVIDIA/nccl src/transport/net_ib/init.cc @5067397: what the line lists
- NVIDIA/nccl#302 (an Ethernet port among four of InfiniBand), #1412 and #1664 (ports that NCCL should not use)
- logs of NCCL in public notes: an IB and a RoCE port, then a transport retry counter that was exceeded
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.host_counters.rdma_ports import first_of
from lossless.ground.basics.findings import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state import PlacedReading

_LAYERS = ("IB", "RoCE")
"""The link layers as NCCL spells them; sysfs uses other words, also for ports that no job uses."""


def check(device: RunningDevice) -> Results:
    """Yield a violation per host of a log with ports of both link layers."""
    used = grouped(
        ((placed.file, placed.part("host") or device.name), placed)
        for placed in device.state.every("link_layer")
        if placed.reading.value in _LAYERS and placed.part("device") is not None
    )
    for (_, host), ports in used.items():
        by_layer = grouped((str(placed.reading.value), placed) for placed in ports)
        if len(by_layer) > 1:
            yield _link_layers_mixed(host, by_layer["IB"], by_layer["RoCE"])


def _link_layers_mixed(
    host: str, infiniband: Sequence[PlacedReading], roce: Sequence[PlacedReading]
) -> Violation:
    # The smaller group has the wrong ports; with groups of equal size the wrong one is unknown.
    fewer = [*infiniband, *roce] if len(infiniband) == len(roce) else min(infiniband, roce, key=len)
    excluded = ",".join(map(_name, fewer))
    return Violation(
        origin=fewer[0].origin,
        message=f"a job on {host} uses {_names(infiniband)} on InfiniBand and {_names(roce)} on RoCE",
        note="a port cannot talk to one of the other link layer",
        help="name the ports of one fabric in NCCL_IB_HCA"
        + ("" if len(infiniband) == len(roce) else f", or leave the others out: NCCL_IB_HCA=^{excluded}"),
        elements=tuple(f"{host}:{_name(placed)}" for placed in fewer),
        data={"infiniband": [*map(_name, infiniband)], "roce": [*map(_name, roce)]},
    )


def _names(ports: Sequence[PlacedReading]) -> str:
    return first_of([*map(_name, ports)])


def _name(placed: PlacedReading) -> str:
    return placed.part("device") or ""
