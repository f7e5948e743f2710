"""The pool of lossless groups must be named ingress_lossless_pool.

Severity: error
Subject: device

## What it does
Looks for a deployed device with PFC whose `BUFFER_POOL` has no `ingress_lossless_pool`, where buffermgrd has to make
a lossless group: that is an error. An ingress pool under another name from which no profile draws is a warning: it
takes buffer that nothing uses. The usual second pool, `ingress_lossy_pool`, and zero pools are left alone.

## Why it breaks a lossless fabric
buffermgrd has the name built in. It reads that pool's mode before it makes the headroom profile of a speed and a cable,
and keeps waiting where the pool is not there: PFC is on, and no group has headroom. A renamed pool is accepted by the
schema.

## Bad
```json config_db base=leaf
{
  "BUFFER_POOL": {
    "ingress_rdma_pool": {"type": "ingress", "mode": "dynamic", "size": "1000000"}   // <- here
  }
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_POOL": {
    "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "78000000"}
  }
}
```

## Fix
Name the pool `ingress_lossless_pool`, and let the profiles that drew from the other name draw from it.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp @029506c (INGRESS_LOSSLESS_PG_POOL_NAME), cfgmgr/buffermgrdyn.cpp @0160f0a
- sonic-buildimage device/**/buffers_defaults_*.j2 @086b03b (161 shipped pool sets: none has such a pool)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.model.hardware.buffers import INGRESS_LOSSLESS_POOL, INGRESS_LOSSY_POOL

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.view import PortSet


_USUAL = frozenset({INGRESS_LOSSLESS_POOL, INGRESS_LOSSY_POOL})


def check(device: Device) -> Results:
    """Yield a violation where ``ingress_lossless_pool`` is missing but needed, else one per unused ingress pool.

    Pools with their usual name and zero pools are not reported as unused.
    """
    pools = device.tables.table("BUFFER_POOL")
    if not pools:
        return
    if INGRESS_LOSSLESS_POOL not in pools:
        sets = [ports for ports in device.view.lossless_sets if _needs_pool(ports)]
        if sets:
            yield _missing(device, sets)
            return
    others = [name for name in pools if name not in _USUAL and "zero" not in name]
    drawn = (
        {row.reference("pool") for row in device.tables.table("BUFFER_PROFILE").values()} if others else ()
    )
    for name in others:
        if pools[name].fields.get("type") == "ingress" and name not in drawn:
            yield _idle(device, name)


def _needs_pool(ports: PortSet) -> bool:
    """Return whether buffermgrd has to make a profile for a group, and not just to name one in the file."""
    groups = [ports.qos.groups[priority] for priority in ports.qos.pfc.priorities]
    return any(
        group is not None
        and group.generated
        and (group.buffer is None or group.buffer.origin.path[:1] != ("BUFFER_PROFILE",))
        for group in groups
    )


def _missing(device: Device, sets: list[PortSet]) -> Violation:
    return Violation(
        origin=device.tables.origin("BUFFER_POOL").key(),
        message=f"there is no pool {INGRESS_LOSSLESS_POOL}, the only one buffermgrd makes lossless groups in: "
        "PFC is on, and no group has headroom",
        help=f"name the ingress pool of lossless traffic {INGRESS_LOSSLESS_POOL}",
    ).on_ports(*sets)


def _idle(device: Device, name: str) -> Violation:
    row = device.tables.table("BUFFER_POOL")[name]
    size = row.fields.get("size")
    return Violation(
        origin=device.tables.origin("BUFFER_POOL", row),
        message=f"no profile draws from the ingress pool {name}{f' of {size} B' if size else ''}: buffermgrd "
        f"makes lossless groups in {INGRESS_LOSSLESS_POOL} only",
        help=f"remove the pool, or let it be {INGRESS_LOSSLESS_POOL}",
        data={"size": size},
        severity="warning",
    )
