"""Ports that are down should not keep headroom.

Severity: info
Subject: device

## What it does
Adds up the buffer that lossless groups reserve on ports that are switched off (`admin_status` down), on a deployed
switch of the traditional buffer model. There is one finding per device with reserved buffer. Zero profiles reserve
nothing. Rows that name the profile of the port's own speed and length are left alone on NVIDIA switches, which remove
them once the port is down. The dynamic model frees the buffer itself.

## Why it breaks a lossless fabric
Buffer that is reserved for an unused port is missing in the pool that all others share: thresholds are lower, and
pauses come earlier.

## Bad
```json config_db base=azure
{
  "PORT": {"Ethernet8": {
    "admin_status": "down"
  }},
  "BUFFER_PG": {"Ethernet8|3": {
    "profile": "pg_lossless_100000_300m_profile"   // <- here
  }}
}
```

## Good
```json config_db base=azure
{
  "PORT": {"Ethernet8": {"admin_status": "down"}},
  "BUFFER_PG": {"Ethernet8|3": null, "Ethernet8|4": null}
}
```

## Fix
Remove the `BUFFER_PG` rows of lossless groups on ports that stay down, or name a zero profile.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp @029506c (rows of ports that are down are removed on NVIDIA switches only)
- sonic-buildimage files/build_templates/buffers_config.j2 @0c78370 (zero profiles of inactive ports)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import is_nvidia
from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes
from lossless.model.hardware.buffers import pg_profile_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import PriorityGroup


class _DownPortGroup(NamedTuple):
    port: Port
    group: PriorityGroup
    bytes: int


def check(device: Device) -> Results:
    """Yield one violation for ports that are down with bytes reserved by rows of lossless groups.

    None in the dynamic buffer model. On NVIDIA switches rows with the profile of the port's own speed and length are
    left out: the switch removes them.
    """
    switch = device.switch
    if switch.qos.buffer_model == "dynamic":
        return
    down = [port for port in switch.ports if port.admin_up is False and port.qos is not None]
    groups = [group for port in down for group in _groups(switch, port) if group.bytes]
    if groups:
        yield _headroom_on_down_ports(switch, groups)


def _groups(switch: Switch, port: Port) -> Iterator[_DownPortGroup]:
    own = pg_profile_name(port.speed_bps, port.cable.configured_m)
    for group in port.qos.groups if port.qos else ():
        if group is None or group.buffer is None or not group.buffer.lossless or group.generated:
            continue
        profile = group.buffer
        if is_nvidia(switch) and profile.name == own:
            continue
        lent = profile.pool is not None and bool(profile.pool.shared_headroom_bytes)
        headroom = 0 if lent else profile.xoff_bytes
        yield _DownPortGroup(port, group, max(profile.reserved_bytes, headroom))


def _headroom_on_down_ports(switch: Switch, groups: list[_DownPortGroup]) -> Violation:
    total = sum(group.bytes for group in groups)
    names = tuple(dict.fromkeys(f"{switch.name}:{group.port.name}" for group in groups))
    what = "port that is down keeps" if len(names) == 1 else "ports that are down keep"
    return Violation(
        origin=groups[0].group.origin.at("profile"),
        message=f"{len(names)} {what} {format_bytes(total)} reserved for lossless groups",
        note="the ports in service share what is left",
        help="remove their BUFFER_PG rows, or name a zero profile",
        elements=names,
        data={"reserved_bytes": total, "groups": len(groups)},
    )
