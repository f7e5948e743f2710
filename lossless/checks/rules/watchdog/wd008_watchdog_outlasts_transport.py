"""A stormed queue must be back before the transport gives up.

Severity: error

## What it does
Adds up how long a queue is dead for a sender, detection and one poll and, with action drop, restoration, and
compares it with the patience of the hosts' queue pairs: 4.096 us x 2^T x (R + 1) for `ib_timeout` T and
`ib_retry_count` R. Action forward delivers again after detection; action alert ends nothing and is not
judged. A restoration that is never set is WD005's. A deployed file says nothing of hosts; one that was read counts,
beside its intent or beside the file of the switch it hangs on.

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

from lossless.checks.rules.base import Gap, Hit, Results
from lossless.checks.rules.hosts.attached_hosts import attached_hosts
from lossless.checks.rules.locations import below
from lossless.checks.rules.watchdog.watchdog_rows import watched
from lossless.ground.basics.findings import Origin, Related
from lossless.ground.basics.known import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.watchdog.watchdog_rows import WatchdogRows
    from lossless.ground.basics.findings import Json
    from lossless.model.fabric.deployed_devices import DeployedDevices
    from lossless.model.fabric.hosts import Transport
    from lossless.model.fabric.view import View

_TIMEOUT_UNIT_NS = 4096
_MS = 10**6


def check(view: View) -> Results:
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
    return transport.patience_ns


def _judge(rows: WatchdogRows, transport: Transport) -> Iterator[Hit]:
    patience = patience_ns(transport)
    if patience is None:
        return
    dead_ms = (rows.watchdog.detection_ms or 0) + rows.poll_ms + _restoration_ms(rows)
    if dead_ms * _MS > patience:
        yield _hit(rows, transport, dead_ms, patience)


def attached(devices: DeployedDevices) -> Results:
    """Yield a hit per host whose transport gives up before the switch port it hangs on is back."""
    for link in attached_hosts(devices):
        transport, dead_ms = link.host.transport, link.switch.dead_ms
        if transport is None or isinstance(transport, Unknown) or dead_ms is None:
            continue
        patience = patience_ns(transport)
        if patience is not None and dead_ms * _MS > patience:
            yield Hit(
                origin=transport.origin,
                message=_said(dead_ms, patience),
                note=f"4.096 us x 2^{transport.timeout} x {transport.retry_count + 1} = {patience / _MS:.0f} ms",
                help=f"NCCL_IB_TIMEOUT={_timeout_for(transport, dead_ms)}, or a shorter restoration",
                elements=(link.name,),
                data=_data(transport, dead_ms, patience),
                related=(Related(Origin(link.switch.file, ("PFC_WD", link.switch.port)), "the watchdog"),),
            )


def _said(dead_ms: int, patience: int) -> str:
    return (
        f"a stormed queue is back after {dead_ms / 1000:.2f} s, the transport gives up "
        f"after {patience / 10**9:.2f} s"
    )


def _data(transport: Transport, dead_ms: int, patience: int) -> dict[str, Json]:
    return {
        "dead_ms": dead_ms,
        "patience_ms": round(patience / _MS, 3),
        "timeout": transport.timeout,
        "retry_count": transport.retry_count,
    }


def _restoration_ms(rows: WatchdogRows) -> int:
    """Return how long packets are dropped before the queue is restored, 0 where none are or WD005 speaks."""
    return (rows.watchdog.restoration_ms or 0) if rows.watchdog.action == "drop" else 0


def _hit(rows: WatchdogRows, transport: Transport, dead_ms: int, patience: int) -> Hit:
    detection_ms, restoration_ms = rows.watchdog.detection_ms or 0, _restoration_ms(rows)
    in_time_ms = patience // _MS - detection_ms - rows.poll_ms
    # Where no sound restoration would be short enough, only a more patient transport helps; and of a host that was
    # read, its own file is what is not as the fabric needs it.
    mendable = not _is_read(transport) and restoration_ms > in_time_ms >= max(detection_ms, rows.poll_ms)
    at_transport = _at(transport)
    restoring = f" + restoration {restoration_ms}" if restoration_ms else ""
    return Hit(
        origin=rows.at("restoration_time") if mendable else at_transport,
        message=_said(dead_ms, patience),
        note=f"detection {detection_ms} + poll {rows.poll_ms}{restoring} = {dead_ms} ms; "
        f"4.096 us x 2^{transport.timeout} x {transport.retry_count + 1} = {patience / _MS:.0f} ms",
        help=(f"restoration of at most {in_time_ms} ms, or " if mendable else "")
        + f"ib_timeout {_timeout_for(transport, dead_ms)}",
        elements=rows.elements,
        places=rows.places,
        data=_data(transport, dead_ms, patience),
        related=(Related(at_transport, "how long the transport keeps trying"),) if mendable else (),
    )


def _at(transport: Transport) -> Origin:
    """Return where the timeout is written: below what an intent says of NCCL, or on a line of a host's own file."""
    return transport.origin if _is_read(transport) else below(transport.origin, "ib_timeout")


def _is_read(transport: Transport) -> bool:
    """Return whether it stands in a host's own file; an intent has it below ``hosts``, or leaves it out."""
    return transport.origin.path[:1] not in (("hosts",), ("preset",), ())


def _timeout_for(transport: Transport, dead_ms: int) -> int:
    timeout = transport.timeout
    while _TIMEOUT_UNIT_NS * (1 << timeout) * (transport.retry_count + 1) < dead_ms * _MS:
        timeout += 1
    return timeout
