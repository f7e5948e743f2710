"""The egress pool of lossy traffic must not be larger than the ingress buffer it draws on.

Severity: warning
Confidence: medium
Fix: unsafe
Subject: device

## What it does
Compares the size of the egress pools that lossy queues of a deployed switch use with the ingress pools that its lossy
groups use, shared headroom included. A larger egress pool is a warning. Pools without a size are left alone, because
the switch computes them.

## Why it breaks a lossless fabric
Lossy traffic is meant to be dropped at egress, long before it has filled the buffer. An egress pool that is larger than
the ingress pool never fills: lossy traffic then takes the whole ingress buffer, and lossless groups of the same pool
pause at their first packet.

## Bad
```json config_db base=leaf
{
  "BUFFER_POOL": {"egress_lossy_pool": {
    "size": "158229504"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_POOL": {"egress_lossy_pool": {
    "size": "78000000"
  }}
}
```

## Fix
Make the egress pool of lossy queues no larger than the ingress pool of lossy groups.

## Sources
- Bai et al., Empowering Azure Storage with RDMA, NSDI 2023 (the size of the egress lossy pool)
- sonic-buildimage device/**/buffers_defaults_*.j2 @086b03b: 2 of 161 shipped pool sets are larger, by 1 %
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.fixes import field
from lossless.checks.rules.locations import beside
from lossless.checks.rules.pfc.priorities import is_lossy
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.qos import BufferProfile, Pool


def check(device: Device) -> Results:
    """Yield a violation per egress pool of lossy queues that is larger than the ingress pools of lossy groups.

    VOQ switches and ports without PFC are left out.
    """
    if device.switch.qos.voq:
        return
    ingress, egress = _pools_of_lossy(device)
    sizes = [pool.size_bytes for pool in ingress.values()]
    if None in sizes:
        return
    room = sum(pool.total_bytes for pool in ingress.values())
    for pool in egress.values():
        if pool.size_bytes is not None and pool.size_bytes > room > 0:
            yield _lossy_pool_beyond_ingress(
                pool, pool.size_bytes, [ingress[name] for name in sorted(ingress)], room
            )


def _pools_of_lossy(device: Device) -> tuple[dict[str, Pool], dict[str, Pool]]:
    ingress: dict[str, Pool] = {}
    egress: dict[str, Pool] = {}
    for qos in {id(ports.qos): ports.qos for ports in device.view.lossless_sets}.values():
        for group in qos.groups:
            if group is not None and group.buffer is not None and not group.buffer.lossless:
                _note(ingress, group.buffer, "ingress")
        for queue in qos.queues:
            if queue is not None and queue.buffer is not None and is_lossy(queue.buffer):
                _note(egress, queue.buffer, "egress")
    return ingress, egress


def _note(pools: dict[str, Pool], buffer: BufferProfile, kind: str) -> None:
    if buffer.pool is not None and buffer.pool.kind == kind and "_zero_" not in buffer.name:
        pools[buffer.pool.name] = buffer.pool


def _lossy_pool_beyond_ingress(pool: Pool, size: int, ingress: list[Pool], room: int) -> Violation:
    names = " and ".join(other.name for other in ingress)
    return Violation(
        origin=pool.origin.at("size"),
        message=f"{pool.name} lets lossy queues hold {format_bytes(size)}, and {names} "
        f"{'has' if len(ingress) == 1 else 'have'} {format_bytes(room)}",
        note="lossy traffic is to be dropped at egress, before it fills the ingress buffer",
        help=f"set the size of {pool.name} to {room} or less",
        fix=field(pool.origin.at("size"), str(room)),
        data={"egress_bytes": size, "ingress_bytes": room},
        related=beside(
            pool.origin, *((other.origin.at("size"), f"the size of {other.name}") for other in ingress)
        ),
    )
