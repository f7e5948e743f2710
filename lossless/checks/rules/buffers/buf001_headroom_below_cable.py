"""Headroom must hold at least the cable and the frame that cannot be interrupted.

Severity: error
Subject: buffers

## What it does
Compares the headroom of each lossless priority group (`xoff`) with the bytes on its cable there and back, by the real
length where it is known. Headroom below the cable alone is an error; below the cable and one frame of the port's MTU it
is a warning. BUF002 checks for more than that. Some rows that vendors ship for 1500 m and 2000 m fail this check.

On NVIDIA chips without a shared headroom pool, where `size` is below `xoff`, only the part of `size` beyond `xon`
counts. Where a `BUFFER_PG` row still names the profile of another speed or length, the finding points to that row and
not to the profile. In the dynamic buffer model the switch computes headroom from `CABLE_LENGTH` and
`LOSSLESS_TRAFFIC_PATTERN`.

## Why it breaks a lossless fabric
A pause takes half the round trip to reach the peer, and the bytes that the peer has sent by then fill the other half.
Headroom that is smaller than this overflows at every pause of a link at line rate, and the overflow is dropped.

## Bad
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {
    "size": "21456",
    "xoff": "2000"   // <- here
  }}
}
```

```yaml intent base=leaf-spine
hardware:
  leaf: {profile: nvidia-sn4700, hwsku: Mellanox-SN4700-O32}
  spine: {profile: nvidia-sn4700, hwsku: Mellanox-SN4700-O32}
topology:
  leaf_spine:
    uplinks: 4 x 400G
    cables:
      uplink: 1500m   # <- here
```

## Good
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {
    "size": "250880",
    "xoff": "231424"
  }}
}
```

```yaml intent base=leaf-spine
hardware:
  leaf: {profile: nvidia-sn4700, hwsku: Mellanox-SN4700-O32}
  spine: {profile: nvidia-sn4700, hwsku: Mellanox-SN4700-O32}
topology:
  leaf_spine:
    uplinks: 4 x 400G
    cables:
      uplink: 300m
```

## Fix
Give the group the headroom of the vendor's row for this speed and length; where that row itself is too small,
shorten the cable or choose a HWSKU whose row covers it.

## Sources
- arithmetic: 2 x length x rate at 198,000 km/s (sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b)
- sonic-buildimage device/*/*/*/pg_profile_lookup.ini @086b03b: 24 shipped rows lie below the cable alone
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.buffers.headroom import ProfileHeadroom, profile_headrooms, row_help
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per port set and buffer profile with headroom below the bytes on the cable and one frame."""
    for headroom in profile_headrooms(view):
        if isinstance(headroom, MissingInput):
            yield headroom
        elif headroom.given_bytes < headroom.link.frame_bytes:
            yield _headroom_below_cable(headroom)


def _headroom_below_cable(headroom: ProfileHeadroom) -> Violation:
    link = headroom.link
    certain = headroom.given_bytes < link.cable_bytes
    return headroom.violation(
        f"the cable alone, {format_bytes(link.cable_bytes)}"
        if certain
        else f"the cable and one frame, {format_bytes(link.frame_bytes)}",
        note=f"{format_bytes(link.cable_bytes)} are on the cable there and back at 198,000 km/s; "
        f"the peer also finishes a frame it has begun, up to {format_bytes(link.mtu_bytes)}",
        help_text=_help(headroom),
        severity="error" if certain else "warning",
    )


def _help(headroom: ProfileHeadroom) -> str:
    profile, need = headroom.profile, headroom.link.need
    fix = row_help(headroom.ports, profile, need) if need is not None else ""
    if fix:
        return fix
    if need is None or need.headroom_bytes <= profile.xoff_bytes:
        return "shorten the cable, or choose a HWSKU whose row for this length holds it"
    return f"give the group {format_bytes(need.headroom_bytes)} ({need.method})"
