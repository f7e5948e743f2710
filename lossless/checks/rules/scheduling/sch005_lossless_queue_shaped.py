"""A lossless queue must not be kept below the speed of its port.

Severity: warning
Subject: device, switch

## What it does
Compares the limit (`pir`, in bytes per second) of the scheduler of each lossless queue with the speed of its ports, and
so the limit of a scheduler that `PORT_QOS_MAP` binds to a whole port. Below the speed is a warning, below one per cent
of it an error: such numbers are a speed in other units. A limit in packets per second is not checked; it depends on
their size. On other systems the limit is that of `shape` or `egress-shaper`; where the speed of a port is not known
there, a limit below 10 Gb/s is a warning, and any other is not checked.

## Why it breaks a lossless fabric
A queue with a limit below the link rate is congested whenever one sender runs at full speed. Since it drops nothing,
the excess is held by pauses all the time, and they spread upstream. The watchdog does not end that: it looks for queues
that a peer keeps paused.

## Bad
```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.1": {
    "cir": "1250000000",
    "pir": "25000000000"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.port": {
    "cir": "400000",
    "pir": "400000"   // <- here
  }},
  "PORT_QOS_MAP": {"Ethernet0": {"scheduler": "scheduler.port"}}
}
```

```text switch base=switch-leaf
interface Ethernet1
   service-profile ROCE
   shape rate 1000 kbps   # <- here
```

## Good
```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.1": {
    "cir": "1250000000",
    "pir": "100000000000"
  }}
}
```

```text switch base=switch-leaf
interface Ethernet1
   service-profile ROCE
   shape rate 100 percent
```

## Fix
Remove `pir`, or set it to the speed of the port: 400G is 50,000,000,000 bytes per second.

## Sources
- opencomputeproject/SAI inc/saischeduler.h @0051fac (bytes or packets per second, 0 is no limit)
- sonic-swss orchagent/qosorch.cpp @03a2683 (pir is passed to the chip unchanged, with or without cir)
- pyavd 6.4.0, schema of eos_cli_config_gen (shape: a rate in kb/s, packets or percent)
- CumulusNetworks/docs content/cumulus-linux-519/.../Quality-of-Service/_index.md @16b8323 (max-rate and port-max-rate
  count kb/s)
- Cisco, Nexus 9000 NX-OS QoS Configuration Guide 10.1(x), "Configuring Queuing and Scheduling" (a maximum rate keeps
  excess packets in the queue)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.ecn.wred_profiles import lossless_queues
from lossless.checks.rules.locations import places
from lossless.checks.rules.scheduling.scheduler_use import (
    SchedulerUse,
    limit_bps,
    lossless_scheduler_uses,
    queue_names,
)
from lossless.formats.sonic.read.tables import whole_number
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import format_rate
from lossless.model.fabric.qos import Scheduler

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device, SwitchConfiguration
    from lossless.model.fabric.view import PortSet

_SLIP = 100
"""A limit this many times below the port's speed is the speed itself in kb/s, Mb/s or Gb/s."""
_SLOWEST_BPS = 10 * 10**9
"""Slower than any rate of the NICs of profiles/nics but 1 Gb/s."""
_WHOLE = 100


def check(device: Device) -> Results:
    """Yield a violation per scheduler that limits lossless queues, or their ports, below the speed of a port."""
    for use in lossless_scheduler_uses(device.view):
        if use.scheduler.pir:
            yield from _slowed(use, f"lossless {queue_names(use.numbers)}")
    for use in _port_scheduler_uses(device):
        if use.scheduler.pir:
            yield from _slowed(use, "a port with PFC")


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per line, limit and port speed of another system, for limits below the speed of the port.

    Limits of lossless queues and of their ports count. A port of unknown speed counts as one of 10 Gb/s; a limit from
    10 Gb/s up is not checked there.
    """
    lossless = set(_lossless_queues(switch))
    speeds = _speeds(switch)
    limits = grouped(
        ((shaper.origin, shaper.limit_bps, shaper.percent, speeds.get(shaper.port)), shaper)
        for shaper in switch.read.shapers
        if any(port == shaper.port and shaper.queue in (None, number) for port, number in lossless)
    )
    for (origin, limit, percent, speed), shapers in limits.items():
        ports = tuple(f"{switch.read.switch.name}:{shaper.port}" for shaper in shapers)
        if percent is not None:
            limit, speed = percent, _WHOLE
        if limit is None:
            yield MissingInput("what a limit counts in is not stated", len(ports))
        elif speed is None and limit >= _SLOWEST_BPS:
            yield MissingInput("the port's speed is not known", len(ports))
        elif limit < (speed or _SLOWEST_BPS):
            queue = shapers[0].queue
            yield Violation(
                origin=origin,
                message=f"{'a port with PFC' if queue is None else f'lossless queue {queue}'} may send "
                f"{f'{percent} %' if percent is not None else format_rate(limit)} of "
                f"{format_rate(speed) if speed and percent is None else 'the speed of its port'}: "
                "what arrives faster is paused, all the time",
                help="leave the limit out",
                data={"limit_percent": percent} if percent is not None else {"limit_bps": limit},
                severity="error" if speed is not None and limit * _SLIP < speed else None,
                elements=ports,
            )


def _lossless_queues(switch: SwitchConfiguration) -> Iterator[tuple[str, int]]:
    for queue in lossless_queues(switch.view):
        for port in queue.ports.ports:
            yield port.name, queue.number


def _speeds(switch: SwitchConfiguration) -> dict[str, int]:
    """Return the speed of each port in bit/s, by its own line, else by the intent."""
    declared = switch.intended.ports if switch.intended is not None else ()
    ports = (*declared, *switch.view.fabric.switches[0].ports)
    return {port.name: port.speed_bps for port in ports if port.speed_bps}


def _port_scheduler_uses(device: Device) -> Iterator[SchedulerUse]:
    """Yield the schedulers of whole ports with PFC (SAI_PORT_ATTR_QOS_SCHEDULER_PROFILE_ID)."""
    rows = (
        (device.tables.row("PORT_QOS_MAP", ports.ports[0].name), ports) for ports in device.view.lossless_sets
    )
    by_scheduler = grouped(
        (row.reference("scheduler"), ports) for row, ports in rows if row and "scheduler" in row.fields
    )
    for name, sets in by_scheduler.items():
        scheduler = _scheduler(device, name)
        if scheduler is not None:
            yield SchedulerUse(scheduler, tuple((ports, 0) for ports in sets))


def _scheduler(device: Device, name: str) -> Scheduler | None:
    row = device.tables.row("SCHEDULER", name)
    if row is None:
        return None
    pir = whole_number(row.fields.get("pir", ""))
    meter = row.fields.get("meter_type", "bytes")
    return Scheduler(name, "", None, device.tables.origin("SCHEDULER", row), pir=pir, meter=meter)


def _slowed(use: SchedulerUse, what: str) -> Results:
    limit = limit_bps(use.scheduler)
    if limit is None:
        yield MissingInput("a limit in packets per second depends on the size of packets", places(use.sets))
        return
    unknown = [ports for ports in use.sets if ports.speed_bps is None]
    if unknown:
        yield MissingInput("the port's speed is not known", places(unknown))
    slowed = [ports for ports in use.sets if ports.speed_bps and limit < ports.speed_bps]
    if slowed:
        yield _lossless_queue_shaped(use.scheduler, slowed, limit, what)


def _lossless_queue_shaped(scheduler: Scheduler, sets: list[PortSet], limit: int, what: str) -> Violation:
    pir, speeds = scheduler.pir or 0, sorted({ports.speed_bps for ports in sets if ports.speed_bps})
    names = ", ".join(map(format_rate, speeds))
    return Violation(
        origin=scheduler.origin.at("pir"),
        message=f"{what} may send {format_rate(limit)} of {names}: what arrives faster is paused, all the time",
        note=f"pir counts bytes per second: {pir:,} x 8 = {limit:,} b/s; {names} would be "
        + ", ".join(f"{speed // 8:,}" for speed in speeds),
        help="remove pir, or set it to the speed of the port",
        data={"pir": pir, "limit_bps": limit, "speeds_bps": list(speeds)},
        severity="error" if limit * _SLIP < speeds[0] else None,
    ).on_ports(*sets)
