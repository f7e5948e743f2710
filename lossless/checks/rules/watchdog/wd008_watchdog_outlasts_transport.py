"""A stormed queue must be restored before the transport gives up.

Severity: error
Subject: fabric, hosts, attached hosts

## What it does
Adds up how long a queue can be dead for a sender, detection and one poll and, with action drop, restoration, and
compares it with the patience of the hosts' queue pairs: 4.096 us x 2^T x (R + 1) for `ib_timeout` T and
`ib_retry_count` R. That is the time of a storm which ends when the watchdog triggers: up to one poll less where it
begins just before a poll, and more where it goes on, as restoration is a time without pauses. Action forward delivers
again after detection; action alert ends nothing and is not checked. A restoration that is never set is WD005's. A
deployed file has no settings of hosts; a host that was read counts, beside its intent or beside the file of the switch
it is attached to.

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
- InfiniBand Architecture Specification, volume 1, 9.7.6.1.3 (local ACK timeout; 0 waits without limit)
- NVIDIA/nccl src/transport/net_ib/connect.cc @5067397 (defaults 20 and 7)
- sonic-swss orchagent/pfcwdorch.cpp and pfc_restore.lua @e6b0c5b; pfc_detect_broadcom.lua @0cb8610 (intervals that
  were paused from end to end count)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.locations import below, places
from lossless.checks.rules.watchdog.watchdog_rows import watched
from lossless.ground.basics.findings import Origin, RelatedPlace
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.deployed_devices import attached_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.watchdog.watchdog_rows import WatchdogRows
    from lossless.model.fabric.deployed_devices import DeployedDevices
    from lossless.model.fabric.hosts import Transport
    from lossless.model.fabric.view import View

_MS = 10**6


def check(view: View) -> Results:
    """Yield a violation per watchdog and transport where the queue is restored too late."""
    transports = tuple(dict.fromkeys(_transports(view)))
    for rows in watched(view):
        if rows.dead_ms is None:
            continue
        if not transports:
            yield MissingInput("missing timeout and retries of the transport", places(rows.sets))
        for transport in transports:
            patience_ns = _exceeded_ns(transport, rows.dead_ms)
            if patience_ns is not None:
                yield _watchdog_outlasts_transport(rows, transport, rows.dead_ms, patience_ns)


def _transports(view: View) -> Iterator[Transport]:
    for host, _ in view.host_kinds:
        if host.transport is not None and not isinstance(host.transport, Unknown):
            yield host.transport


def _exceeded_ns(transport: Transport, dead_ms: int) -> int | None:
    """Return the patience in ns of a transport that gives up before a queue is back; None for one that does not."""
    patience_ns = transport.patience_ns
    return patience_ns if patience_ns is not None and dead_ms * _MS > patience_ns else None


def attached(devices: DeployedDevices) -> Results:
    """Yield a violation per host whose transport gives up before its switch port restores the queue."""
    for link in attached_hosts(devices):
        transport, dead_ms = link.host.transport, link.switch.dead_ms
        if transport is None or isinstance(transport, Unknown) or dead_ms is None:
            continue
        patience_ns = _exceeded_ns(transport, dead_ms)
        if patience_ns is not None:
            yield _late(transport, dead_ms, patience_ns)._replace(
                help=f"NCCL_IB_TIMEOUT={_timeout_for(transport, dead_ms)}, or a shorter restoration",
                elements=(link.name,),
                related=(
                    RelatedPlace(Origin(link.switch.file, ("PFC_WD", link.switch.port)), "the watchdog"),
                ),
            )


def _late(transport: Transport, dead_ms: int, patience_ns: int) -> Violation:
    timeout, tries = transport.timeout, transport.retry_count + 1
    return Violation(
        origin=transport.origin,
        message=f"a stormed queue can be dead for {dead_ms / 1000:.2f} s, but the transport gives up "
        f"after {patience_ns / 10**9:.2f} s",
        note=f"4.096 us x 2^{timeout} x {tries} = {patience_ns / _MS:.0f} ms",
        data={
            "dead_ms": dead_ms,
            "patience_ms": round(patience_ns / _MS, 3),
            "timeout": timeout,
            "retry_count": transport.retry_count,
        },
    )


def _watchdog_outlasts_transport(
    rows: WatchdogRows, transport: Transport, dead_ms: int, patience_ns: int
) -> Violation:
    without_ms = dead_ms - rows.dropping_ms
    in_time_ms = patience_ns // _MS - without_ms
    # Where no sound restoration would be short enough, only a more patient transport helps; and of a host that was
    # read, its own file is what is not as the fabric needs it.
    least_ms = max(without_ms - rows.poll_ms, rows.poll_ms)
    fixable = not _is_read(transport) and rows.dropping_ms > in_time_ms >= least_ms
    late, at_transport = _late(transport, dead_ms, patience_ns), _at(transport)
    return late._replace(
        origin=rows.at("restoration_time") if fixable else at_transport,
        note=f"{rows.dead_sum}; {late.note}",
        help=(f"restoration of at most {in_time_ms} ms, or " if fixable else "")
        + f"ib_timeout {_timeout_for(transport, dead_ms)}",
        related=(RelatedPlace(at_transport, "how long the transport keeps trying"),) if fixable else (),
    ).on_ports(*rows.sets)


def _at(transport: Transport) -> Origin:
    """Return the place of the timeout: below the NCCL keys of an intent, or on a line of a host's own file."""
    return transport.origin if _is_read(transport) else below(transport.origin, "ib_timeout")


def _is_read(transport: Transport) -> bool:
    """Return whether the transport is in a host's own file; an intent has it below ``hosts``, or leaves it out."""
    return transport.origin.path[:1] not in (("hosts",), ("preset",), ())


def _timeout_for(transport: Transport, dead_ms: int) -> int:
    """Return the least timeout with which the transport keeps trying for ``dead_ms``."""
    while (transport.patience_ns or 0) < dead_ms * _MS:
        transport = transport._replace(timeout=transport.timeout + 1)
    return transport.timeout
