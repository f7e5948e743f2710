"""The connections of a job must be established, and its collectives must end.

Severity: warning
Subject: running fabric

## What it does
Reports the calls that failed in logs of NCCL, RCCL, UCX and aws-ofi-nccl, with the meaning of their error: a queue pair
that could not be connected (`ibv_modify_qp`), memory that could not be registered, a socket, an endpoint of UCX without
an answer, a request of libfabric. The note has the causes that captures and the intent show; without one the help names
the next step. A call that is tried again is no failure. Sockets that fail after RDMA has failed are no finding: a
process that ends closes its own. Where nothing else failed, a collective that PyTorch gave up is reported. A log in
which peers only closed connections is *not checked*: what came first is in the log of the peer.

## Why it breaks a lossless fabric
To connect a queue pair on RoCE the kernel looks for the route and the MAC address of the peer's GID. Where there is
no path between two NICs, or the GID is of another network, it fails before the first packet of RDMA, and no counter
moves.

## Bad
```text capture
n1:571:598 [0] misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error Network is unreachable   # <- here
n1:571:598 [0] NCCL INFO transport/net_ib.cc:579 -> 2
```

## Good
```text capture
n1:571:598 [0] NCCL INFO Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, curr state INIT,
next state RTR, local GID index 3, local GID ::ffff:10.1.0.4, remote GID ::ffff:10.1.0.9, retrying 1/34 after 100 msec
```

## Fix
By the error: 110, see that the NIC reaches the peer's address, and set `NCCL_CROSS_NIC=0` where rails have no path
between them; 101 and 113, add the route; 61 and 22, choose a GID of RoCE v2 that both ends have; 19, give the
container the interface; 12, raise the limit of locked memory.

## Sources
- Linux drivers/infiniband/core/addr.c @010e85f (addr_resolve, process_one_req: ETIMEDOUT after one second without a
  neighbor, EINVAL for GIDs of two families) and core/cache.c (rdma_get_gid_attr: ENODATA without a GID, EINVAL
  outside the table)
- NVIDIA/nccl src/misc/ibvwrap.cc and src/os/linux.cc @5067397
- aws/aws-ofi-nccl src/platform-aws.cpp @2daf7d3 (EHOSTUNREACH: packets dropped by a security group)
- NVIDIA/nccl#769, #2013 (a link-local GID; rails without a path between them), nccl-tests#185, NVIDIA/nccl#799 and
  #925 (interfaces of containers), openucx/ucx#2501
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.rdma_ports import (
    FLUSHED,
    first_of,
    job_events,
    link_layers,
    shown_causes,
)
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.host_counters.rdma_ports import JobEvent
    from lossless.checks.rules.running_subjects import RunningFabric


class CallError(NamedTuple):
    """The meaning of the error of a call, and the remedy."""

    says: str
    help: str


_PING = "ping the peer's address from the interface of this NIC"
_QUEUE_PAIR = {
    110: CallError(
        "no neighbor answered for the peer's address: there is no path between these two NICs, or it needs a router",
        f"{_PING}; where rails have no path between them, set NCCL_CROSS_NIC=0",
    ),
    101: CallError(
        "the interface of this NIC has no route to the peer's address",
        "see `ip route get PEER from LOCAL`, and give each RDMA interface a route to the networks of the others",
    ),
    113: CallError(
        "no neighbor answered for the peer's address",
        _PING,
    ),
    61: CallError(
        "the table of GIDs has none at the index that was asked for",
        "see show_gids: choose an index of RoCE v2 that exists on all NICs, or leave NCCL_IB_GID_INDEX unset",
    ),
    22: CallError(
        "the GIDs of both ends do not fit, or the index is outside the table, or the link layers differ",
        "compare show_gids and ibstat of both hosts; leave NCCL_IB_GID_INDEX unset, and name ports of one layer in "
        "NCCL_IB_HCA",
    ),
    19: CallError(
        "the interface of the GID is down, gone, or in another network namespace",
        "see `ip link` where the job runs: a container needs the interface of the NIC, or the network of the host",
    ),
}
_ON_INFINIBAND = CallError(
    "", "see that the ports of both ends are Active, and in one partition (ibstat, ibqueryerrors)"
)
_MEMORY = {
    12: CallError(
        "the limit of locked memory is too low", "set it to unlimited for the job (ulimit -l, LimitMEMLOCK)"
    ),
    14: CallError(
        "the memory of the GPU cannot be registered",
        "load nvidia-peermem, or use a kernel and driver with DMA-BUF",
    ),
    1: CallError(
        "the process lacks the permission", "give the container /dev/infiniband and the capability IPC_LOCK"
    ),
}
_MEMORY[13] = _MEMORY[1]
_QUEUES = CallError(
    "locked memory, or the memory of the NIC for queues, is used up",
    "set the limit of locked memory to unlimited (ulimit -l); else use fewer queue pairs and channels",
)
_OPEN = CallError(
    "the process lacks the permission to open the NIC: peers that use theirs wait for it without an end",
    "give the container the device of each NIC below /dev/infiniband, or leave it out by NCCL_IB_HCA on all hosts",
)
_ENDED = CallError(
    "the peer's process ended, or something between them closed the connection",
    "read the log of the peer first",
)
_SOCKET = {
    111: CallError("no process listens there: the peer's has ended, or a firewall rejects it", _ENDED.help),
    110: CallError(
        "nothing answered: a firewall drops it, or the address is of an interface that others do not reach",
        "name an interface that all hosts reach in NCCL_SOCKET_IFNAME, and open its ports between them",
    ),
    113: CallError(
        "the address cannot be reached: it is that of a bridge or of another network, or a firewall rejects it",
        "name an interface that all hosts reach in NCCL_SOCKET_IFNAME",
    ),
    103: _ENDED,
    104: _ENDED,
}
_SOCKET[101] = _SOCKET[113]
_ENDPOINT = CallError(
    "the peer did not answer", "see that both ports reach each other, and that the peer still runs"
)
_LIBFABRIC = {
    113: CallError(
        "packets were dropped: on EFA by a security group",
        "allow all traffic within the security group, in and out, on both instances",
    )
}
_OTHER = CallError("", "run it with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET, and see what precedes it")
_BY_CALL = {"UD endpoint": _ENDPOINT, "ibv_open_device": _OPEN}
_TABLES = {
    "connect": _SOCKET,
    "ibv_modify_qp": _QUEUE_PAIR,
    "ibv_create_ah": _QUEUE_PAIR,
    "libfabric": _LIBFABRIC,
}
_LATE = ("connect", "UD endpoint")
"""Calls that fail as well after a process has ended for another reason."""


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation per log, call and error; per log of timed-out collectives if no call or completion failed."""
    for device in fabric.devices:
        for events in job_events(device).values():
            failed = _first_failures(events)
            for same in grouped(
                ((each.value("failed_call"), each.value("errno")), each) for each in failed
            ).values():
                yield _failed(fabric, same)
            if any(each.value(name) is not None for each in events for name in ("wc_status", "failed_call")):
                continue
            stuck = [each for each in events if each.placed.reading.name == "collective_timeout"]
            if stuck:
                yield _stuck(fabric, stuck)
            elif any(each.value("peer_closed") is not None for each in events):
                yield MissingInput(
                    "the log has closed connections only: what came first is in the log of the peer"
                )


def _first_failures(events: Sequence[JobEvent]) -> list[JobEvent]:
    """Return the calls that failed, without sockets and endpoints after RDMA has failed."""
    rdma = [
        event.number
        for event in events
        if event.value("wc_status") not in (None, FLUSHED)
        or (event.value("failed_call") is not None and event.value("failed_call") not in _LATE)
    ]
    failed = [event for event in events if event.value("failed_call") is not None]
    return [e for e in failed if e.value("failed_call") not in _LATE or not rdma or e.number < rdma[0]]


def _meaning(call: str, error: object) -> CallError:
    table = _TABLES.get(call, _MEMORY)
    if call in _BY_CALL:
        return _BY_CALL[call]
    if error == 12 and call.startswith("ibv_create"):
        return _QUEUES
    return table.get(error, _MEMORY.get(error, _OTHER)) if isinstance(error, int) else _OTHER


def _failed(fabric: RunningFabric, same: Sequence[JobEvent]) -> Violation:
    first = same[0]
    call, error = str(first.value("failed_call")), first.value("errno")
    meaning = _meaning(call, error)
    if call == "ibv_modify_qp" and meaning is not _OTHER and link_layers(first) == {"IB"}:
        meaning = _ON_INFINIBAND
    shown = () if call == "connect" else shown_causes(fabric, first)
    hosts = tuple(dict.fromkeys(event.host for event in same))
    number = f"error {error}" if isinstance(error, int) else error
    said = f" failed with {number}" if isinstance(number, str) else " failed"
    device = first.placed.part("device")
    target = first.value("remote_gid") or first.peer
    what = f"{call}{f' of {device}' if device else ''}{f' to {target}' if target else ''}{said}"
    connects = call in ("connect", "ibv_modify_qp", "ibv_create_ah", "UD endpoint")
    return Violation(
        origin=first.placed.origin,
        message=f"a job on {first_of(hosts)} {'could not connect' if connects else 'failed'}: {what}",
        note_lines=tuple(filter(None, (meaning.says, *(f"shown: {each.text}" for each in shown)))),
        help=shown[0].help if shown else meaning.help,
        elements=hosts,
        data={
            "call": call,
            "errno": error if isinstance(error, int) else None,
            "failures": len(same),
            "causes": [each.text for each in shown],
        },
    )


def _stuck(fabric: RunningFabric, stuck: Sequence[JobEvent]) -> Violation:
    first = stuck[0]
    ranks = sorted({int(event.placed.part("rank") or 0) for event in stuck})
    lasted = first.placed.number
    shown = shown_causes(fabric, first)
    hosts = tuple(dict.fromkeys(event.host for event in stuck))
    named = f"rank {ranks[0]}" if len(ranks) == 1 else f"{len(ranks)} ranks"
    return Violation(
        origin=first.placed.origin,
        message=f"{first.placed.part('collective') or 'a collective'} of {named} did not end"
        + ("" if lasted is None else f" within {lasted / 1000:,.0f} s"),
        note_lines=(
            "a rank did not join, or the network stalled: the log has no failure of RDMA",
            *(f"shown: {each.text}" for each in shown),
        ),
        help=shown[0].help
        if shown
        else "look for the rank that is missing among those that timed out, and read its log; run with NCCL_DEBUG=INFO",
        elements=hosts,
        data={"ranks": [*ranks], "ms": lasted, "causes": [each.text for each in shown]},
    )
