"""The NICs of a job must report no event that breaks its connections.

Severity: warning
Subject: running fabric

## What it does
Reports events that NICs reported to NCCL or UCX while a job ran: a port that went down, a NIC that failed, a GID, LID
or P_Key that changed, an access that was refused. Where captures show a port as down, the note says so. Events of the
subnet manager, and those of a port that came up or a queue pair that was connected, are no finding.

## Why it breaks a lossless fabric
A port that goes down loses all that is under way, and the connections of RDMA over it end when their retries do. A
GID that changed leaves connections with an address that no NIC has any more.

## Bad
```text capture
node-1:570:590 [4] NCCL WARN NET/IB : mlx5_4:1 Got non-fatal async event: port error(10)   # <- here
```

## Good
```text capture
node-1:570:590 [4] NCCL WARN NET/IB : mlx5_4:1 Got non-fatal async event: client reregistration(17)
```

## Fix
Port error: clean or replace the cable and the optics of that port, and look for what its switch reports. Catastrophic
error: read the kernel's log of that host, then restart the NIC. Changes of GIDs: keep addresses of RDMA interfaces
while jobs run (DHCP, NetworkManager, keepalived).

## Sources
- NVIDIA/nccl src/transport/net_ib/common.cc @5067397 (ncclIbAsyncThreadMain), openucx/ucx src/uct/ib/base/ib_device.c
  @9466d10
- linux-rdma/rdma-core libibverbs/man/ibv_get_async_event.3 @691953d
- NVIDIA/nccl#905 (port errors: a flapping link), #1819 and openucx/ucx#7613 (addresses changed)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.host_counters.rdma_ports import down_ports, job_events, of_down_port, owner
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.host_counters.rdma_ports import JobEvent
    from lossless.checks.rules.running_subjects import RunningFabric


class _Event(NamedTuple):
    """An event in the words of a finding, its meaning, and the remedy."""

    words: str
    says: str
    help: str


_REFUSED = (
    "look at the memory regions of the job, and at ACS of the PCIe switches; no change to the fabric helps"
)
_EVENTS = {
    "port error": _Event(
        "went down",
        "its link was lost, with all packets under way",
        "clean or replace its cable and optics; see the port of its switch (link flaps, FEC)",
    ),
    "local catastrophic error": _Event(
        "failed", "the NIC or its driver stopped", "see dmesg of the host, then reset the NIC"
    ),
    "GID table change": _Event(
        "changed its GIDs",
        "an address of its interface was set or removed: connections keep the old one",
        "leave the addresses of RDMA interfaces alone while jobs run",
    ),
    "LID change": _Event(
        "changed its LID", "connections keep the old one", "keep LIDs: guid2lid, honor_guid2lid_file"
    ),
    "P_Key change": _Event(
        "changed its P_Keys",
        "a partition changed while the job ran",
        "compare partitions.conf with the job's P_Key",
    ),
    "local access violation work queue error": _Event(
        "reported an access violation",
        "a request, its own or of a peer, does not fit a memory region",
        _REFUSED,
    ),
    "invalid request local work queue error": _Event(
        "reported an invalid request", "it got a request that it may not carry out", _REFUSED
    ),
    "local work queue catastrophic error": _Event(
        "lost a queue pair", "the NIC could not write its completions", "see dmesg of the host"
    ),
    "CQ error": _Event(
        "lost a completion queue", "it overran, or cannot be written", "see dmesg of the host"
    ),
}
"""The events that are reported, by the text of libibverbs (ibv_event_type_str)."""


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation per log, NIC port and kind of event that breaks connections."""
    for device in fabric.devices:
        for events in job_events(device).values():
            seen = [each for each in events if each.value("async_event") in _EVENTS]
            for same in grouped((_key(event), event) for event in seen).values():
                yield _event(fabric, same)


def _key(event: JobEvent) -> tuple[object, ...]:
    return (event.host, event.placed.part("device"), event.placed.part("port"), event.value("async_event"))


def _event(fabric: RunningFabric, same: Sequence[JobEvent]) -> Violation:
    first = same[0]
    event = _EVENTS[str(first.value("async_event"))]
    device, port = first.placed.part("device"), first.placed.part("port")
    name = (
        f"{device}{f' port {port}' if port else ''} of {first.host}" if device else f"a NIC of {first.host}"
    )
    # Each process of a host reports it, and one of several ports of a NIC may be another.
    down = [
        placed
        for placed in down_ports(owner(fabric, first.device, first.host), device or "")
        if first.value("async_event") == "port error"
    ]
    shown = [of_down_port(each, first.host).text for each in down]
    return Violation(
        origin=first.placed.origin,
        message=f"{name} {event.words} while a job ran",
        note_lines=(event.says, *(f"shown: {text}" for text in shown)),
        help=event.help,
        elements=(f"{first.host}:{device}" if device else first.host,),
        data={"event": str(first.value("async_event")), "reports": len(same), "down": [*shown]},
    )
