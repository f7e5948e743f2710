"""Priority groups of lossless priorities must have a lossless profile applied.

Severity: error
Subject: running device

## What it does
Looks at ports that are up and that are lossless by configuration or intent: APPL_DB must have a `BUFFER_PG_TABLE` row
for the priority group, and its profile must have headroom (`xoff`). A group is checked only where APPL_DB has other
rows of the port, or a row of the same group of another port. Otherwise the rows may be missing from the capture, or be
in CONFIG_DB, as in old releases. Without an intent it is a warning.

## Why it breaks a lossless fabric
A group without headroom drops the packets that arrive after its pause. The configuration looks right, other ports work,
and only the port that was broken out, or has no row for its cable, drops.

## Bad
```json capture beside=leaf.json
{
  "PORT_TABLE:Ethernet0": {"admin_status": "up", "oper_status": "up"},
  "PORT_TABLE:Ethernet4": {
    "admin_status": "up", "oper_status": "up"   // <- here
  },
  "BUFFER_PROFILE_TABLE:pg_lossless_400000_5m_profile": {"xoff": "231424", "pool": "ingress_lossless_pool"},
  "BUFFER_PG_TABLE:Ethernet0:3-4": {"profile": "pg_lossless_400000_5m_profile"},
  "BUFFER_PG_TABLE:Ethernet4:0": {"profile": "ingress_lossy_profile"}
}
```

## Good
```json capture beside=leaf.json
{
  "PORT_TABLE:Ethernet0": {"admin_status": "up", "oper_status": "up"},
  "PORT_TABLE:Ethernet4": {"admin_status": "up", "oper_status": "down"},
  "BUFFER_PROFILE_TABLE:pg_lossless_400000_5m_profile": {"xoff": "231424", "pool": "ingress_lossless_pool"},
  "BUFFER_PG_TABLE:Ethernet0:3-4": {"profile": "pg_lossless_400000_5m_profile"}
}
```

## Fix
Give the port `admin_status` in CONFIG_DB and a row for its speed and cable in `pg_profile_lookup.ini`; look into syslog
for `No PG profile configured`.

## Sources
- sonic-net/sonic-buildimage#23354: ports that were broken out get no lossless profile
- sonic-net/sonic-buildimage#5837: no row for speed and cable, so no profile, and only a line in syslog
- sonic-swss orchagent/bufferorch.cpp @e6b0c5b: profiles are applied from BUFFER_PG_TABLE of APPL_DB
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counting import each

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state import DeviceState, PlacedReading

_UNKNOWN_PROFILE = MissingInput("APPL_DB does not have the profile of each priority group")


def check(device: RunningDevice) -> Results:
    """Yield a violation per lossless priority group without an applied lossless profile, of ports that are up.

    A group is checked where APPL_DB has a profile of any group of its port, or of its number on any port.
    """
    profiles = _profiles(device.state)
    if not profiles:
        return
    ports, numbers = (frozenset(names) for names in zip(*profiles, strict=True))
    for status in each(device.state, "oper_status", "port"):
        port = status.part("port") or ""
        lossless = device.lossless.get(port)
        if lossless is None or status.reading.value != "up" or status.part("table") != "PORT_TABLE":
            continue
        for group in sorted(lossless.groups):
            if port not in ports and group not in numbers:
                continue
            profile = profiles.get((port, group))
            has_headroom = None if profile is None else _has_headroom(device.state, profile)
            if profile is not None and has_headroom is None:
                yield _UNKNOWN_PROFILE
            elif not has_headroom:
                yield _lossless_group_unbound(device, status, group, profile)


def _profiles(state: DeviceState) -> Mapping[tuple[str, int], str]:
    """Return the name of the profile that APPL_DB has for each port and priority group."""
    return {
        (placed.part("port") or "", group): str(placed.reading.value)
        for placed in state.named("profile", "port", "pg")
        if placed.part("table") == "BUFFER_PG_TABLE"
        for group in _numbers(placed.part("pg") or "")
    }


def _numbers(key: str) -> range:
    """Return the priority groups in a key: ``3`` or ``3-4``."""
    first, _, last = key.partition("-")
    return range(int(first), int(last or first) + 1)


def _has_headroom(state: DeviceState, profile: str) -> bool | None:
    """Return whether a profile has headroom; None where APPL_DB does not have the profile."""
    xoff = state.of("xoff", table="BUFFER_PROFILE_TABLE", key=profile)
    if xoff is not None:
        return bool(xoff.number)
    return None if state.of("pool", table="BUFFER_PROFILE_TABLE", key=profile) is None else False


def _lossless_group_unbound(
    device: RunningDevice, status: PlacedReading, group: int, profile: str | None
) -> Violation:
    port = status.part("port") or ""
    has = f"has the profile {profile} without headroom" if profile else "has no profile"
    return Violation(
        origin=status.origin,
        message=f"priority group {group} of {port} is lossless by configuration, and {has} applied",
        help=f"give {port} admin_status and a cable length with a row for its speed, and look into syslog",
        elements=(f"{device.name}:{port}:PG{group}",),
        data={"profile": profile},
    ).certain_if(device.intended is not None)
