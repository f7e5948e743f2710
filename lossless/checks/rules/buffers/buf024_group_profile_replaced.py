"""A lossless group must name the profile of its port's own speed and length.

Severity: warning
Fix: unsafe
Subject: device

## What it does
Looks on deployed switches of the traditional buffer model at the `BUFFER_PG` rows of ports with PFC in service that
name another profile than `pg_lossless_<speed>_<length>_profile` of the port's own speed and cable length, where the
switch has a headroom row, or the file a profile, of that name. A row that names a profile without headroom counts where
it is for exactly the numbers that buffermgrd writes. The finding is only information where both profiles have the same
headroom and threshold, and where the row still names the generated profile of another speed or length: the switch
replaces it by the right one. Where there is no headroom row the group keeps its profile (BUF003). BUF001 and BUF002
report headroom that is too small for the cable.

## Why it breaks a lossless fabric
At every start, as soon as it has speed, length, admin status and `pfc_enable` of the port, buffermgrd overwrites the
row with the profile of speed and length. The headroom and threshold in the file, which were checked and simulated, are
then not those in use. A row for other numbers than a run of `pfc_enable` (`3-4`) stays, and buffermgrd adds a second
row for the same groups.

## Bad
```json config_db base=leaf
{
  "BUFFER_PG": {"Ethernet0|3": {
    "profile": "ours"   // <- here
  }},
  "BUFFER_PROFILE": {"ours": {
    "pool": "ingress_lossless_pool", "size": "319456", "xon": "19456", "xoff": "300000", "dynamic_th": "0"
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_PG": {"Ethernet0|3": {
    "profile": "pg_lossless_400000_5m_profile"
  }}
}
```

## Fix
Name the profile of the port's own speed and length. For another headroom or threshold on some ports, use the dynamic
buffer model, or change that profile, which all ports of that speed and length share.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b (doSpeedUpdateTask; since @60a90d7 in 2018, by slices of pfc_enable since
  @a3f4fbb in 2022)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import row_of
from lossless.checks.rules.pfc.priorities import in_service
from lossless.ground.basics.findings import Edit, Origin
from lossless.ground.basics.units import format_bytes
from lossless.model.hardware.buffers import is_pg_profile_name, pg_profile_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.qos import BufferProfile, PriorityGroup
    from lossless.model.fabric.view import PortSet


def check(device: Device) -> Results:
    """Yield violations on profiles that BUFFER_PG rows name and that buffermgrd (traditional model) replaces."""
    if device.switch.qos.buffer_model == "traditional":
        serving = filter(None, map(in_service, device.view.lossless_sets))
        yield from merged(violation for ports in serving for violation in _violations(device, ports))


def _violations(device: Device, ports: PortSet) -> Iterator[Violation]:
    cable_m = ports.cable.configured_m
    if not ports.speed_bps or not cable_m:
        return
    own = pg_profile_name(ports.speed_bps, cable_m)
    made = _made(device, ports, own, cable_m)
    groups = (ports.qos.groups[priority] for priority in ports.qos.pfc.priorities)
    rows = {
        group.origin: group for group in groups if group is not None and group.origin.path[0] == "BUFFER_PG"
    }
    for group in rows.values():
        profile = group.buffer
        if group.generated:
            yield from _lossy_in_file(device, ports, group, own)
        elif made and profile is not None and profile.lossless and row_of(profile) and profile.name != own:
            has_row = device.tables.row("BUFFER_PROFILE", own) is not None
            yield _group_profile_replaced(ports, group, profile, own, made, has_row=has_row)


def _lossy_in_file(device: Device, ports: PortSet, group: PriorityGroup, own: str) -> Iterator[Violation]:
    """Yield a violation for a BUFFER_PG row whose profile has no headroom, and which buffermgrd overwrites."""
    written = device.tables.written("BUFFER_PG")[str(group.origin.path[-1])]
    name = written.reference("profile")
    if name in device.tables.table("BUFFER_PROFILE"):
        yield Violation(
            origin=group.origin.at("profile"),
            message=f"the group names {name}, and {ports.rate} over {ports.cable.configured_m} m has {own}: "
            "buffermgrd writes that one into the row",
            note=f"{name} has no headroom, and is not what runs",
            help=f"name {own}",
            data={"profile": name, "own": own},
        ).on_ports(ports)


def _made(device: Device, ports: PortSet, own: str, cable_m: int) -> tuple[int | None, int | None] | None:
    """Return xoff in bytes and threshold of the profile that the switch uses, by its row or the HWSKU's headroom row.

    It is None where there is neither row.
    """
    tables, hwsku = device.tables, ports.switch.hwsku
    row = tables.row("BUFFER_PROFILE", own)
    if row is not None:
        number = tables.number
        threshold = number("BUFFER_PROFILE", row, "dynamic_th")
        th = threshold if threshold is not None else number("BUFFER_PROFILE", row, "static_th")
        return number("BUFFER_PROFILE", row, "xoff"), th
    lookup = hwsku.row(ports.speed_bps, cable_m) if hwsku else None
    return (lookup.headroom_bytes, lookup.threshold) if lookup else None


def _group_profile_replaced(
    ports: PortSet,
    group: PriorityGroup,
    profile: BufferProfile,
    own: str,
    made: tuple[int | None, int | None],
    *,
    has_row: bool,
) -> Violation:
    threshold = profile.static_th_bytes if profile.dynamic_th is None else profile.dynamic_th
    given = (profile.xoff_bytes, threshold)
    place = group.origin
    shared, _, numbers = str(place.path[-1]).rpartition("|")
    stays = numbers not in _runs(ports.qos.pfc.priorities)
    return Violation(
        origin=group.origin.at("profile"),
        message=f"the group names {profile.name}, and {ports.rate} over {ports.cable.configured_m} m has {own}: "
        f"buffermgrd {'puts a row with that one beside it' if stays else 'writes that one into the row'}",
        note="both profiles say the same" if given == made else _change(given, made),
        help=f"name {own}",
        data={"profile": profile.name, "own": own, "headroom_bytes": given[0], "own_headroom_bytes": made[0]},
        fix=tuple(
            Edit(Origin(place.file, (*place.path[:1], f"{port.name}|{numbers}", "profile")), "set", own)
            for port in ports.ports
        )
        if has_row and ports.ports[0].name == shared
        else (),
        severity="info" if given == made or is_pg_profile_name(profile.name) else None,
    ).on_ports(ports)


def _change(given: tuple[int, int | None], made: tuple[int | None, int | None]) -> str:
    """Return the note on the headroom and threshold in use, where they differ from those in the file."""
    headroom = f"headroom of {format_bytes(made[0] or 0)} in place of {format_bytes(given[0])}"
    threshold = f"threshold {made[1]} in place of {given[1]}"
    changed = [
        text for text, same in ((headroom, given[0] == made[0]), (threshold, given[1] == made[1])) if not same
    ]
    return f"what runs is then {' and '.join(changed)}"


def _runs(priorities: tuple[int, ...]) -> set[str]:
    """Return the groups in the keys of rows that buffermgrd writes: ``3-4`` for consecutive priorities."""
    starts = [p for p in priorities if p - 1 not in priorities]
    ends = [p for p in priorities if p + 1 not in priorities]
    return {
        f"{first}-{last}" if first < last else str(first) for first, last in zip(starts, ends, strict=True)
    }
