"""Without a shared headroom pool, size must hold xon and xoff.

Severity: warning
Fix: unsafe
Subject: device

## What it does
Looks at the lossless profiles that an NVIDIA switch uses whose pool has no `xoff` of its own. `size` below `xon` +
`xoff` is a warning; a difference of 1 KiB is left alone, because two shipped rows have it. On other chips shipped rows
do not follow this relation. Where the remaining headroom is too small for its link, BUF001 and BUF002 report that
instead.

## Why it breaks a lossless fabric
On NVIDIA chips `size` is the buffer that a group owns. Headroom beyond it must come from a shared headroom pool;
without such a pool, that part does not exist. The dynamic buffer model then sets up a shared headroom pool of 640 KiB
for the whole switch, independent of the need of its groups.

## Bad
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {
    "size": "240000"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {
    "size": "250880"
  }}
}
```

## Fix
Set `size` to `xon` + `xoff`, or give the pool a shared headroom pool.

## Sources
- sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b (size = xon + xoff without a shared headroom pool)
- sonic-swss cfgmgr/buffer_pool_mellanox.lua @1469e8d (640 KiB where a profile asks for more than its size)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import LinkNeed, given_headroom, link_need, unbacked_bytes
from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.buffers.headroom import ProfileUse, written_profiles
from lossless.checks.rules.fixes import field
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device


def check(device: Device) -> Results:
    """Yield a violation per used lossless profile row with size below xon + xoff, and no shared headroom.

    Only on NVIDIA switches. Profiles that BUF001 or BUF002 report are left out, and differences of at most 1 KiB.
    """
    for use in written_profiles(device.view):
        short = unbacked_bytes(device.switch, use.profile)
        if short and not _too_small(device, use):
            yield _headroom_not_backed(device, use, short)


def _too_small(device: Device, use: ProfileUse) -> bool:
    """Return whether the headroom within ``size`` is too small for a link, which BUF001 and BUF002 report."""
    given = given_headroom(device.switch, use.profile)
    links = (link_need(ports) for ports in use.sets)
    needs = (link.need for link in links if isinstance(link, LinkNeed))
    return any(need is not None and given < need.headroom_bytes for need in needs)


def _headroom_not_backed(device: Device, use: ProfileUse, short: int) -> Violation:
    profile = use.profile
    needed = (profile.xon_bytes or 0) + profile.xoff_bytes
    dynamic = device.switch.qos.buffer_model == "dynamic"
    outcome = (
        "and the switch lends it from a shared headroom pool of 640 KiB that it makes for all groups"
        if dynamic
        else "and no pool shares headroom"
    )
    return Violation(
        origin=profile.origin.at("size"),
        message=f"size of {format_bytes(profile.reserved_bytes)} is {format_bytes(short)} short of xon + xoff, "
        f"{format_bytes(needed)}, {outcome}",
        note="without a shared headroom pool a group has no more than its size",
        fix=field(profile.origin.at("size"), str(needed)),
        help=f"set size to {needed}, or give {profile.pool.name if profile.pool else 'the pool'} xoff",
        data={
            "size_bytes": profile.reserved_bytes,
            "xon_bytes": profile.xon_bytes,
            "xoff_bytes": profile.headroom_bytes,
            "short_bytes": short,
        },
    ).on_ports(*use.sets)
