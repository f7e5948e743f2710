"""A stormed queue must be back before the transport gives up.

## What it does
Adds up how long a queue is dead for a sender, detection and one poll and, with action drop, restoration, and
compares it with the patience of the hosts' queue pairs: 4.096 us x 2^T x (R + 1) for `ib_timeout` T and
`ib_retry_count` R. Action forward delivers again after detection; action alert ends nothing and is not
judged. A restoration that is never set is WD005's. A deployed file says nothing of hosts and is not judged.

## Why it breaks a lossless fabric
A queue pair that runs out of retries goes to the error state, and the job with it. Where the queue comes back
only after that, the watchdog saves the fabric and still kills every job that crossed the port for a moment.

## Bad
```yaml intent base=leaf-spine
pfc:
  watchdog:
    restoration: 40s   # <- here
```

```yaml intent base=leaf-spine
hosts:
  nccl:
    ib_timeout: 14   # <- here
```

## Good
```yaml intent base=leaf-spine
pfc:
  watchdog:
    restoration: 40s
hosts:
  nccl:
    ib_timeout: 21
```

## Fix
Shorten restoration, or give the transport more patience with `NCCL_IB_TIMEOUT`.

## Sources
- InfiniBand Architecture Specification, volume 1, 9.7.6.1.3 (local ACK timeout; 0 waits for ever)
- NVIDIA/nccl src/transport/net_ib/connect.cc @5067397 (defaults 20 and 7)
- sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.fabric.known import Unknown
from lossless.findings import Related
from lossless.rules.base import Gap, Hit, Rule
from lossless.rules.places import below
from lossless.rules.watchdog.rows import watched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.fabric.hosts import Transport
    from lossless.fabric.view import View
    from lossless.rules.watchdog.rows import Rows

RULE = Rule(
    code="WD008",
    name="watchdog-outlasts-transport",
    severity="error",
    summary="A stormed queue must be back before the transport gives up",
    sources=(
        "InfiniBand Architecture Specification, volume 1, 9.7.6.1.3",
        "NVIDIA/nccl src/transport/net_ib/connect.cc @5067397",
        "sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b",
    ),
)
_TIMEOUT_UNIT_NS = 4096
_MS = 10**6


def check(view: View) -> Iterator[Hit | Gap]:
    """Yield a hit per watchdog and transport where the queue comes back too late."""
    transports = tuple(dict.fromkeys(_transports(view)))
    for rows in watched(view):
        if not rows.accepted or rows.watchdog.action == "alert":
            continue
        if not transports:
            yield Gap("the transport's timeout and retries are not known", rows.places)
        for transport in transports:
            yield from _judge(rows, transport)


def _transports(view: View) -> Iterator[Transport]:
    for host, _ in view.host_kinds:
        if host.transport is not None and not isinstance(host.transport, Unknown):
            yield host.transport


def patience_ns(transport: Transport) -> int | None:
    """Return how long a queue pair keeps trying, None where it waits for ever (timeout 0).

    4.096 us x 2^timeout x (retries + 1): InfiniBand Architecture Specification, volume 1, 9.7.6.1.3.
    """
    if transport.timeout == 0:
        return None
    return _TIMEOUT_UNIT_NS * (1 << transport.timeout) * (transport.retry_count + 1)


def _judge(rows: Rows, transport: Transport) -> Iterator[Hit]:
    patience = patience_ns(transport)
    if patience is None:
        return
    dead_ms = (rows.watchdog.detection_ms or 0) + rows.poll_ms + _restoration_ms(rows)
    if dead_ms * _MS > patience:
        yield _hit(rows, transport, dead_ms, patience)


def _restoration_ms(rows: Rows) -> int:
    """Return how long packets are dropped before the queue is restored, 0 where none are or WD005 speaks."""
    return (rows.watchdog.restoration_ms or 0) if rows.watchdog.action == "drop" else 0


def _hit(rows: Rows, transport: Transport, dead_ms: int, patience: int) -> Hit:
    detection_ms, restoration_ms = rows.watchdog.detection_ms or 0, _restoration_ms(rows)
    in_time_ms = patience // _MS - detection_ms - rows.poll_ms
    # Where no sound restoration would be short enough, only a more patient transport helps.
    mendable = restoration_ms > in_time_ms >= max(detection_ms, rows.poll_ms)
    at_transport = below(transport.origin, "ib_timeout")
    restoring = f" + restoration {restoration_ms}" if restoration_ms else ""
    return Hit(
        origin=rows.at("restoration_time") if mendable else at_transport,
        message=f"a stormed queue is back after {dead_ms / 1000:.2f} s, the transport gives up "
        f"after {patience / 10**9:.2f} s",
        note=f"detection {detection_ms} + poll {rows.poll_ms}{restoring} = {dead_ms} ms; "
        f"4.096 us x 2^{transport.timeout} x {transport.retry_count + 1} = {patience / _MS:.0f} ms",
        help=(f"restoration of at most {in_time_ms} ms, or " if mendable else "")
        + f"ib_timeout {_timeout_for(transport, dead_ms)}",
        elements=rows.elements,
        places=rows.places,
        data={
            "dead_ms": dead_ms,
            "patience_ms": round(patience / _MS, 3),
            "timeout": transport.timeout,
            "retry_count": transport.retry_count,
        },
        related=(Related(at_transport, "how long the transport keeps trying"),) if mendable else (),
    )


def _timeout_for(transport: Transport, dead_ms: int) -> int:
    timeout = transport.timeout
    while _TIMEOUT_UNIT_NS * (1 << timeout) * (transport.retry_count + 1) < dead_ms * _MS:
        timeout += 1
    return timeout
