"""A job must send with a traffic class that is lossless, from a GID of RoCE v2.

Severity: warning
Subject: running fabric

## What it does
Compares what logs of jobs show with the intent and with `show_gids`: the traffic class (`NCCL_IB_TC`,
`UCX_IB_TRAFFIC_CLASS`, `tc` of a request of UCX) with the DSCPs that the host's intent maps to a priority with PFC,
and the index of the GID (`NCCL_IB_GID_INDEX`, `UCX_IB_GID_INDEX`, that of a failed queue pair) with the table of the
NIC: it must have a GID there, and of RoCE v2. Hosts of the log that use InfiniBand are left out. A variable that is
not in the log is not known to be unset.

## Why it breaks a lossless fabric
Switches protect the class of a DSCP. A job with another one is sent best effort, and loses packets under congestion.
RoCE v1 has no IP header: no DSCP is in it, and no router passes it on.

## Bad
```text capture
# host host1
==> show_gids
DEV     PORT    INDEX   GID                                     IPv4            VER     DEV
---     ----    -----   ---                                     ------------    ---     ---
mlx5_0  1       2       0000:0000:0000:0000:0000:ffff:0a01:0004 10.1.0.4        v1      eth0
mlx5_0  1       3       0000:0000:0000:0000:0000:ffff:0a01:0004 10.1.0.4        v2      eth0
==> cat job.log
host1:57:58 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth9:10.2.0.4<0>
host1:57:58 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 2.   # <- here
```

## Good
```text capture beside=leaf-spine.yaml
host1:57:58 [0] NCCL INFO NCCL_IB_TC set by environment to 106.
```

## Fix
Set the traffic class to the DSCP shifted by two, plus 2 for ECT(0): 106 for DSCP 26. Leave `NCCL_IB_GID_INDEX` unset,
or set it to an index of RoCE v2 with an IP address.

## Sources
- NVIDIA/nccl src/transport/net_ib/connect.cc @5067397 (traffic class and index of a queue pair)
- RFC 2474, RFC 3168 (the byte is DSCP and ECN); InfiniBand Architecture Specification, annexes A16 (RoCE) and A17
  (RoCE v2)
- NVIDIA/nccl#2383 (jobs on another DSCP than the lossless one), #426 and #769 (jobs on another GID)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.rdma_ports import (
    logged,
    logged_dscps,
    lossless_of,
    owner,
    unfit_gid,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric
    from lossless.model.fabric.state import PlacedReading

_LOGGED = ("traffic_class", "gid_index", "local_gid_index")


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation per DSCP that a host's log shows and that is not lossless, and per unfit GID.

    Hosts with InfiniBand ports in the log are left out.
    """
    for device in fabric.devices:
        hosts = {
            (placed.file, placed.part("host") or device.name): None
            for placed in device.state.every(*_LOGGED)
            if placed.reading.path[:1] == ("log",)
        }
        for file, host in hosts:
            layers = {placed.reading.value for placed in logged(device, file, host, "link_layer")}
            if "IB" not in layers:
                yield from _traffic_class(fabric, device, file, host)
                yield from _gids(fabric, device, file, host)


def _traffic_class(fabric: RunningFabric, device: RunningDevice, file: str, host: str) -> Results:
    sent = logged_dscps(device, file, host)
    lossless = lossless_of(fabric.hosts.get(host))
    if lossless is None:
        if sent and fabric.hosts:
            yield MissingInput("the intent does not say which DSCPs of a job's host are lossless")
        return
    for dscp, placed in sent.items():
        if dscp not in lossless:
            wanted = min(lossless)
            names = ", ".join(map(str, sorted(lossless)))
            yield Violation(
                origin=placed.origin,
                message=f"a job on {host} sends on lossy DSCP {dscp}; lossless is DSCP {names}",
                note=f"traffic class {placed.number} is DSCP {dscp} and ECN bits {(placed.number or 0) & 3}",
                help=f"set {_variable(placed)} to {wanted << 2 | 2}: DSCP {wanted} with ECT(0)",
                elements=(host,),
                data={"dscp": dscp, "lossless": [*sorted(lossless)]},
            )


def _variable(placed: PlacedReading) -> str:
    name = placed.reading.heading
    return name if name.startswith(("NCCL", "UCX")) else "UCX_IB_TRAFFIC_CLASS"


def _gids(fabric: RunningFabric, device: RunningDevice, file: str, host: str) -> Iterator[Violation]:
    captured = owner(fabric, device, host)
    if captured is None:
        return
    used = {placed.part("device") or "" for placed in logged(device, file, host, "link_layer")} - {""}
    for placed in logged(device, file, host, "gid_index", "local_gid_index"):
        own = placed.part("device")
        for name in (own,) if own else sorted(used):
            bad = "" if placed.number is None else unfit_gid(captured, name, placed.number)
            if bad:
                yield Violation(
                    origin=placed.origin,
                    message=f"a job uses a GID that is not of RoCE v2: {bad}",
                    note="without one it cannot send; RoCE v1 has no DSCP, and is not routed",
                    help="set it to an index of RoCE v2 with an IP address (show_gids), or leave it unset",
                    elements=(f"{host}:{name}",),
                    data={"index": placed.number, "device": name},
                )
