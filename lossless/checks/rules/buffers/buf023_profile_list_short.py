"""The profile lists of a port must cover the pools of its lossless traffic.

Severity: error
Subject: device

## What it does
Looks at ports with PFC in service on a deployed switch that have a row in `BUFFER_PORT_EGRESS_PROFILE_LIST` or
`BUFFER_PORT_INGRESS_PROFILE_LIST`. The egress list must have a profile of the pool of every lossless queue, the ingress
list one of the pool of every lossless group. A pool without a profile, or with a zero profile, which SONiC gives ports
out of use, is an error on NVIDIA switches and a warning elsewhere. Ports without such a row, and lists that name a
profile that is not in the file (CFG002), are left alone.

## Why it breaks a lossless fabric
A list limits, for each pool, how much all queues or groups of the port may hold together. NVIDIA's driver gives the
port a limit of 0 in each pool that the list leaves out: its lossless queues have only their reserved buffer, which is
0, and frames that ingress kept are dropped at egress, without a pause. What other chips do was found in no
source.

## Bad
```json config_db base=leaf
{
  "BUFFER_PORT_EGRESS_PROFILE_LIST": {"Ethernet0": {
    "profile_list": "egress_lossy_profile"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_PORT_EGRESS_PROFILE_LIST": {"Ethernet0": {
    "profile_list": "egress_lossless_profile,egress_lossy_profile"
  }}
}
```

## Fix
Name a profile of every pool in the list, as the rows of the other ports do.

## Sources
- sonic-swss orchagent/bufferorch.cpp @e6b0c5b (processEgressBufferProfileList: the list goes to the chip as it is)
- Mellanox/SAI-Implementation mlnx_sai/src/mlnx_sai_buffer.c @e15a189 (mlnx_sai_buffer_apply_port_buffer_profile_list)
- opencomputeproject/SAI inc/saiport.h @1d330f5 (one profile a pool)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import is_nvidia
from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import counted_lossy
from lossless.checks.rules.pfc.priorities import in_service, is_lossy
from lossless.formats.sonic.read.tables import names_in
from lossless.ground.basics.units import joined
from lossless.model.fabric.qos import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.qos import BufferProfile, PortQos
    from lossless.model.fabric.view import PortSet

_SIDES = ("ingress", "egress")


def check(device: Device) -> Results:
    """Yield a violation per profile list (ingress or egress) and set of pools that it leaves out.

    Ports out of service or without PFC are left out, and so are lists with a profile that is not known.
    """
    serving = filter(None, map(in_service, device.view.lossless_sets))
    yield from merged(violation for ports in serving for violation in _violations(device, ports))


def _violations(device: Device, ports: PortSet) -> Iterator[Violation]:
    for number, side in enumerate(_SIDES):
        table = f"BUFFER_PORT_{side.upper()}_PROFILE_LIST"
        row = device.tables.row(table, ports.ports[0].name)
        listed = ports.qos.profile_lists[number]
        named = set(names_in(row.fields.get("profile_list", ""))) if row else set()
        if row is None or not named or named != {profile.name for profile in listed}:
            continue
        pools = {p.pool.name for p in listed if p.pool is not None and not p.is_zero}
        missing = sorted({*_pools(ports.qos, side)} - pools)
        if missing:
            zero = any(profile.is_zero for profile in listed)
            yield _profile_list_short(
                ports, device.tables.origin(table, row, "profile_list"), side, missing, zero=zero
            )


def _pools(qos: PortQos, side: str) -> Iterator[str]:
    """Yield the pools of the lossless groups (``side`` ingress) or lossless queues of a port."""
    for priority in qos.pfc.priorities:
        profile = _group_profile(qos, priority) if side == "ingress" else _queue_profile(qos, priority)
        if profile is not None and profile.pool is not None:
            yield profile.pool.name


def _group_profile(qos: PortQos, priority: int) -> BufferProfile | None:
    group = qos.groups[qos.pausing_group(priority)]
    return group.buffer if group is not None and group.buffer is not None and group.buffer.lossless else None


def _queue_profile(qos: PortQos, priority: int) -> BufferProfile | None:
    number = qos.queue_of(priority)
    queue = qos.queues[number] if number != UNREADABLE and not counted_lossy(qos, priority) else None
    profile = queue.buffer if queue is not None else None
    # SWS014 reports a queue on an ingress pool.
    of_egress = profile is not None and profile.pool is not None and profile.pool.kind != "ingress"
    # PFC005 reports a queue with a zero profile.
    return profile if of_egress and profile and not (is_lossy(profile) or profile.is_zero) else None


def _profile_list_short(
    ports: PortSet, origin: Origin, side: str, pools: list[str], *, zero: bool
) -> Violation:
    what = "group" if side == "ingress" else "queue"
    nvidia = is_nvidia(ports.switch)
    return Violation(
        origin=origin,
        message=f"the {side} profile list names {'a zero' if zero else 'no'} profile of {joined(pools)}, "
        f"which its lossless {what}s are in",
        note=f"an NVIDIA switch then lets all {what}s of the port together hold 0 B of the pool"
        if nvidia
        else f"it says how much all {what}s of the port may hold of each pool",
        help=f"add a profile of {joined(pools)} to the list, as other ports have it",
        data={"side": side, "pools": [*pools]},
        severity=None if nvidia else "warning",
    ).on_ports(ports)
