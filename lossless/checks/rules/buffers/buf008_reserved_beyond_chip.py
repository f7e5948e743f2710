"""Reserved buffer must leave the chip some buffer to share.

Severity: error
Subject: device

## What it does
Adds up `size` of the buffer profiles of every group and queue of a deployed switch, over the ports that are not down,
and compares the sum with the buffer of the chip: as much or more is an error. Groups of the dynamic buffer model count
with the computed size. On NVIDIA switches with pools of fixed size the sum, the shared headroom and all ingress pools
must fit together, else it is a warning; elsewhere pools may count one buffer twice. The buffer that an NVIDIA switch
takes outside of its rows for each port that is up is not counted: rendered pools leave room for it, some shipped ones
do not (HWSKU Mellanox-SN4600C-D48C40). BUF007 reports headroom that fills the chip even without the reserved buffer of
queues.

## Why it breaks a lossless fabric
The `size` of a profile is taken from the chip even if no packet uses it. Where nothing is left, the driver refuses the
profile or the pool, and the groups that name it have no headroom.

## Bad
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"egress_lossy_profile": {
    "size": "91600000"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"egress_lossy_profile": {
    "size": "9216"
  }}
}
```

## Fix
Reserve the need of one frame, or that of the vendor's row, and share the rest; make the pools smaller by the reserved
size.

## Sources
- sonic-swss cfgmgr/buffer_pool_mellanox.lua @1469e8d (pools are what reserved and shared headroom leave)
- sonic-buildimage device/**/buffers_defaults_*.j2 @086b03b: in all 98 files of NVIDIA that are no links and state
  sizes, ingress pools and shared headroom stay below the chip, up to 96 % of it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import by_switch
from lossless.analysis.buffers.headroom.port import is_nvidia
from lossless.analysis.buffers.headroom.sums import ReservedSum, headroom_sums, reserved_sum
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import Pool


def check(device: Device) -> Results:
    """Yield a violation where reserved buffer fills the chip, or exceeds it with the pools of an NVIDIA switch.

    Switches with virtual output queues are left out, and those on which headroom alone leaves nothing to share, which
    BUF007 reports.
    """
    switch = device.buffers.fabric.switches[0]
    chip = _chip_bytes(switch)
    reserved = reserved_sum(switch) if chip and not switch.qos.voq else None
    if reserved is None or chip is None:
        return
    full = reserved.bytes >= chip
    overcommitted = is_nvidia(switch) and bool(_sized(device)) and reserved.bytes + _pooled(switch) > chip
    if (full or overcommitted) and not _headroom_fills(device):
        yield _nothing_left(reserved, chip) if full else _pools_too_large(device, switch, reserved, chip)


def _chip_bytes(switch: Switch) -> int | None:
    """Return an upper bound of the chip's bytes: the larger of its known buffer and the largest pool, or None."""
    chip = switch.profile.asic.buffer_bytes if switch.profile else None
    return max(filter(None, (chip, *(pool.size_bytes for pool in switch.qos.pools))), default=None)


def _pooled(switch: Switch) -> int:
    """Return the sum of the ingress pools and their shared headroom in bytes."""
    return sum(pool.total_bytes for pool in switch.qos.pools if pool.kind == "ingress")


def _sized(device: Device) -> list[tuple[int, Pool]]:
    """Return the ingress pools with a configured size, each with that size in bytes before it."""
    return [
        (pool.size_bytes, pool)
        for pool in device.switch.qos.pools
        if pool.kind == "ingress" and pool.size_bytes is not None
    ]


def _headroom_fills(device: Device) -> bool:
    """Return whether the headroom alone leaves nothing to share, which BUF007 reports."""
    sums = (headroom_sums(sets) for sets in by_switch(device.buffers))
    return any(
        not demand.fits for demands in sums if not isinstance(demands, MissingInput) for demand in demands
    )


def _nothing_left(reserved: ReservedSum, chip: int) -> Violation:
    profile = reserved.largest
    written = profile.origin.path[:1] == ("BUFFER_PROFILE",)
    return Violation(
        origin=profile.origin.at("size") if written else profile.origin,
        message=f"groups and queues reserve {format_bytes(reserved.bytes)}, and the chip has {format_bytes(chip)}",
        note=f"{profile.name} reserves {format_bytes(profile.reserved_bytes)} for each, "
        f"{format_bytes(reserved.largest_bytes)} in all",
        help=f"lower the size of {profile.name}: it is reserved for every group and queue that names it"
        if written
        else "use shorter cables, fewer lossless classes or a shared headroom pool",
        data={"reserved_bytes": reserved.bytes, "chip_bytes": chip, "profile": profile.name},
    )


def _pools_too_large(device: Device, switch: Switch, reserved: ReservedSum, chip: int) -> Violation:
    pooled = _pooled(switch)
    _, largest = max(_sized(device), key=lambda sized: (sized[0], sized[1].name))
    over = reserved.bytes + pooled - chip
    return Violation(
        origin=largest.origin.at("size"),
        message=f"ingress pools and shared headroom of {format_bytes(pooled)} and {format_bytes(reserved.bytes)} "
        f"reserved for groups and queues are {format_bytes(over)} more than the chip's {format_bytes(chip)}",
        note="on NVIDIA chips a pool is what reserved buffer and shared headroom leave of the whole",
        help=f"make the ingress pools {format_bytes(over)} smaller, or remove their size and let the dynamic buffer "
        "model compute it",
        data={"reserved_bytes": reserved.bytes, "pools_bytes": pooled, "chip_bytes": chip},
        severity="warning",
    )
