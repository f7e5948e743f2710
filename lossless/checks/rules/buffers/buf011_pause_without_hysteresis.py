"""A pause must end well below where it begins.

Severity: warning
Fix: unsafe
Subject: device

## What it does
Looks at `xon` and `xon_offset` of the lossless profiles that a deployed switch uses. A profile without both is a
warning. So is an `xon` that is not below the threshold at which a single group pauses: alpha B / (1 + alpha), or
`static_th`, at most B. B is the pool without headroom, of one part where the chip divides its buffer. All 3,607 rows
that vendors ship have one of the two, and an `xon` below this threshold. The size of `xon_offset` is not checked: 1,977
shipped rows have less than two frames.

## Why it breaks a lossless fabric
XON is sent once a group holds no more than `xon`, or its threshold less `xon_offset`. Where this is the threshold
itself, every packet that leaves ends the pause and the next arrival starts another one. The link alternates quickly
between the two, and each pause uses headroom again.

## Bad
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {
    "xon": "0"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {
    "xon": "19456"
  }}
}
```

## Fix
Set `xon` (on NVIDIA chips) or `xon_offset` as the vendor's row for this speed and length has it. Where the group
pauses below even that `xon`, raise its `dynamic_th` or enlarge the pool.

## Sources
- opencomputeproject/SAI inc/saibuffer.h @0826205 (XON_TH and XON_OFFSET_TH, both 0 where they are not set)
- sonic-buildimage device/*/*/*/pg_profile_lookup.ini @086b03b
- Choudhury and Hahne, Dynamic queue length thresholds, 1998 (the threshold of a group that is alone)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import trigger, whatever_the_parts
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.buffers.headroom import ProfileUse, written_profiles
from lossless.checks.rules.fixes import field
from lossless.checks.rules.locations import places
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.ground.basics.findings import Edit
    from lossless.model.hardware.model import HeadroomRow


def check(device: Device) -> Results:
    """Yield a violation per used lossless profile row with neither xon nor xon_offset, or xon at or above XOFF."""
    for use in written_profiles(device.view):
        profile = use.profile
        if not profile.xon_bytes and not profile.xon_offset_bytes:
            yield _pause_without_hysteresis(
                device, use, "has neither xon nor xon_offset: a pause ends where it begins"
            )
        elif profile.xon_bytes:
            yield from _above_trigger(device, use, profile.xon_bytes)


def _above_trigger(device: Device, use: ProfileUse, xon_bytes: int) -> Results:
    start = trigger(device.switch, use.profile)
    if isinstance(start, MissingInput):
        yield MissingInput(start.reason, places(use.sets))
        return
    threshold = whatever_the_parts(
        start,
        lambda one: int(one.threshold_bytes(1)) if 0 < int(one.threshold_bytes(1)) <= xon_bytes else None,
    )
    if isinstance(threshold, MissingInput):
        yield MissingInput(threshold.reason, places(use.sets))
    elif threshold is not None:
        problem = f"ends a pause at {format_bytes(xon_bytes)} and begins it at {format_bytes(threshold)} at the latest"
        yield _pause_without_hysteresis(device, use, problem, threshold)


def _pause_without_hysteresis(
    device: Device, use: ProfileUse, problem: str, threshold: int | None = None
) -> Violation:
    profile, row = use.profile, device.tables.row("BUFFER_PROFILE", use.profile.name)
    written = row is not None and "xon" in row.fields
    return Violation(
        origin=profile.origin.at("xon") if written else profile.origin.key(),
        message=f"{profile.name} {problem}",
        note="xon is in bytes of the group, xon_offset in bytes below its threshold",
        help=_help(use, threshold),
        fix=_fix(use, threshold),
        data={
            "xon_bytes": profile.xon_bytes,
            "xon_offset_bytes": profile.xon_offset_bytes,
            "threshold_bytes": threshold,
        },
    ).on_ports(*use.sets)


def _row(use: ProfileUse) -> HeadroomRow | None:
    ports = use.sets[0]
    hwsku = ports.switch.hwsku
    return hwsku.row_covering(ports.speed_bps, ports.cable.configured_m or 0) if hwsku else None


def _fix(use: ProfileUse, threshold: int | None) -> tuple[Edit, ...]:
    row = _row(use)
    if row is None or (threshold is not None and row.xon_bytes >= threshold):
        return ()
    xon = field(use.profile.origin.at("xon"), str(row.xon_bytes))
    offset = row.xon_offset_bytes
    return xon + (field(use.profile.origin.at("xon_offset"), str(offset)) if offset else ())


def _help(use: ProfileUse, threshold: int | None) -> str:
    row = _row(use)
    if row is not None and threshold is not None and row.xon_bytes >= threshold:
        return f"raise dynamic_th, or enlarge the pool: the vendor's xon for this speed and length is {row.xon_bytes}"
    if row is None:
        return "set xon or xon_offset as the vendor's row for this speed and length has it"
    both = f"xon to {row.xon_bytes}"
    return f"set {both} and xon_offset to {row.xon_offset_bytes}" if row.xon_offset_bytes else f"set {both}"
