"""The RDMA of a job must not fail with a completion error.

Severity: warning
Subject: running fabric

## What it does
Takes the first work completion with an error from each log of NCCL or UCX, and reports its meaning. Flushed work
requests (error 5) are no cause: a queue pair that has failed, or that a job closes, flushes all its remaining requests.
A log with only flushed requests is *not checked*: the first error is in the log of another process or host. Of errors
12 and 13 the note has the causes that captures and the intent show: a port of either end that is down, a GID that the
peer cannot reach, a traffic class that is not lossless, the culprit of pauses and losses.

## Why it breaks a lossless fabric
Error 12 means that a packet was sent repeatedly and never answered: the path is down, drops the class, or the peer is
on another fabric. Error 13 means that the peer answered, and had no buffer posted. Most others come from a program or
its memory, and no change to the fabric helps against those.

## Bad
```text capture
node-2:5776:5902 [0] NCCL WARN NET/IB : Got completion from peer 10.2.0.5<33092> with error 12,   # <- here
opcode 0, len 0, vendor err 129 (Recv)
node-2:5776:5902 [0] NCCL INFO transport/net.cc:1134 -> 6
```

## Good
```text capture
NET/IB : Got completion from peer 10.5.0.34<33956> with error 5, opcode 0, len 1, vendor err 244 (Recv)
```

## Fix
Error 12: see that both ports reach each other (`ib_write_bw` between them, GIDs or partitions of one fabric), then look
for drops of the class along the path. Error 13: look at the peer's process. Others: look at the program.

## Sources
- InfiniBand Architecture Specification, volume 1, 11.6.2 (completion return status)
- linux-rdma/rdma-core libibverbs/verbs.h @85d8a41 (enum ibv_wc_status)
- NVIDIA/nccl#1170: error 12 usually means that NICs cannot talk to each other; #426, #1664
- spdk/spdk#298: work requests of a connection that ends are flushed
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.rdma_ports import FLUSHED, job_events, shown_causes
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.host_counters.rdma_ports import JobEvent
    from lossless.checks.rules.running_subjects import RunningFabric


class Meaning(NamedTuple):
    """The name of a completion status, its cause for the note, and the remedy for the help."""

    name: str
    says: str
    help: str


_OF_THE_NETWORK = frozenset({12, 13})
"""The errors whose cause may be the path, or a peer that does not receive."""
_PROGRAM = "look at the program and its memory regions; no change to the fabric helps against it"
_MEANINGS = {
    12: Meaning(
        "transport retries exceeded",
        "the peer never answered",
        "see that both ports reach each other, then look for drops of the class along the path",
    ),
    13: Meaning(
        "RNR retries exceeded",
        "the peer answered that it had no receive buffer posted",
        "look at the peer's process: it is too slow, stopped, or posts too few buffers",
    ),
    1: Meaning("local length error", "a message did not fit its buffer", _PROGRAM),
    4: Meaning("local protection error", "a buffer is not registered, or no more", _PROGRAM),
    9: Meaning("remote invalid request", "the peer refused the request", _PROGRAM),
    10: Meaning("remote access error", "the peer's memory may not be accessed so", _PROGRAM),
    11: Meaning("remote operation error", "the peer could not do what it was asked", _PROGRAM),
}


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation per log with a failed completion other than a flushed work request."""
    for device in fabric.devices:
        for events in job_events(device).values():
            known = [event for event in events if isinstance(event.value("wc_status"), int)]
            causes = [event for event in known if event.value("wc_status") != FLUSHED]
            if causes:
                yield _completion_error(fabric, causes)
            elif known:
                yield MissingInput(
                    "the log has flushed work requests only: what came first is in another log"
                )


def _completion_error(fabric: RunningFabric, failed: Sequence[JobEvent]) -> Violation:
    first = failed[0]
    status = first.readings["wc_status"].number or 0
    meaning = _MEANINGS.get(status, Meaning("failed", "", _PROGRAM))
    more = f"; {len(failed) - 1} more after it" if len(failed) > 1 else ""
    shown = shown_causes(fabric, first) if status in _OF_THE_NETWORK else ()
    return Violation(
        origin=first.placed.origin,
        message=f"RDMA of a job on {first.host}{f' to {first.peer}' if first.peer else ''} failed with error {status}: "
        f"{meaning.name}",
        note_lines=tuple(
            filter(
                None, (f"{meaning.says}{more}".removeprefix("; "), *(f"shown: {each.text}" for each in shown))
            )
        ),
        help=shown[0].help if shown else meaning.help,
        elements=(first.host,),
        data={"status": status, "errors": len(failed), "causes": [each.text for each in shown]},
    )
